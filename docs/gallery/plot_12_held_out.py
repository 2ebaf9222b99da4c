"""
Is the optimal tree better on new rows?
=======================================

Training and held-out errors of learners and of the optimal trees, by cross-validation.
"""

from sklearn.datasets import load_iris

import mictree as mt

X, y = load_iris(return_X_y=True, as_frame=True)
result = mt.compare(["topdown", "sklearn"], X, y, max_size=4, cv=3, repeats=1, max_thresholds=6)
print(result)
result.plot()
