"""
MIC against the bias
====================

The same formula, with every variable 1 with the same probability. TopDown is optimal up to a bias
of about 0.7 and does worst near 0.8, where BestFirst too has its peak. Beyond that BestFirst is
the better one.
"""

import matplotlib.pyplot as plt
import numpy as np

import mictree as mt

biases = np.linspace(0.04, 0.96, 47).round(2)
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for rule in (mt.TopDown(), mt.BestFirst()):
    values = [
        mt.mic(rule, mt.FormulaProblem("x1 & x2 | y1 & y2 & y3", bias), 8).mic for bias in biases
    ]
    axes.plot(biases, values, label=type(rule).__name__)
axes.set(xlabel="bias of every variable", ylabel="MIC(8)")
axes.legend()
