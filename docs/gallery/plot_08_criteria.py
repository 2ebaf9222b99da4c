"""
Four criteria
=============

With entropy and Gini's impurity TopDown grows nearly the same trees. Kearns and Mansour's root
falls behind on the way. The error itself (minority) stalls: it sees no gain in a split that
changes no label.
"""

import matplotlib.pyplot as plt

import mictree as mt

problem = mt.FormulaProblem("a1 & a2 & a3 | b1 & b2 & b3 | c1 & c2 & c3", 0.6)
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for criterion in ("entropy", "gini", "root", "minority"):
    axes.plot(mt.TopDown(criterion=criterion).grow(problem, 21).errors, label=criterion)
axes.plot(mt.optimal_errors(problem, 21), "k:", label="best")
axes.set(xlabel="size (splits)", ylabel="error")
axes.legend()
