"""
The smallest function on which greed never wins
===============================================

If s is 0 the label is a, otherwise it is b. Asking for s first gains nothing by itself, so no
greedy rule does it; yet only then three splits are enough.
"""

import mictree as mt

switch = mt.TableProblem.from_formula("~s & a | s & b")
result = mt.mic(mt.TopDown(), switch, max_size=6)
print(result)
result.plot()
