"""
The best tree of every size on data
===================================

The wine data: one search proves the least training error of every size, and greedy trees stand
beside it. Both choose from the same tests: at most 8 thresholds a column.
"""

from sklearn.datasets import load_wine

import mictree as mt

X, y = load_wine(return_X_y=True, as_frame=True)
model = mt.OptimalTreeClassifier(max_size=3, max_thresholds=8).fit(X, y)
print(model.frontier_, "proved" if model.proved_ else "bounds")
print(mt.TopDownClassifier(max_size=3, max_thresholds=8).fit(X, y).growth_.errors)
model.draw(size=3)
