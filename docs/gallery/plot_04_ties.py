"""
What ties do
============

Under the uniform distribution many splits are equally good, and BestFirst's result depends on
which one is made. Here is the MIC of both rules under every way to break ties.
"""

import matplotlib.pyplot as plt
import numpy as np

import mictree as mt

TIES = ("last", "first", "random", "heaviest", "lightest")
problem = mt.FormulaProblem("a1 & a2 | b1 & b2 | c1 & c2 & c3")
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for shift, kind in ((-0.2, mt.TopDown), (0.2, mt.BestFirst)):
    values = [mt.mic(kind(ties=ties, seed=0), problem, 20).mic for ties in TIES]
    axes.bar(np.arange(len(TIES)) + shift, values, 0.38, label=kind.__name__)
axes.set_xticks(range(len(TIES)), TIES)
axes.set_ylabel("MIC(20)")
axes.legend()
