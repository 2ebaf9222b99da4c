"""
A rule of one's own
===================

A rule is one method: how soon a leaf is split. Weigh the gain by a power of the reach: 0 is
BestFirst, 1 is TopDown. What lies between, and beyond?
"""

import matplotlib.pyplot as plt
import numpy as np

import mictree as mt


class Weighted(mt.Grower):
    """Splits the leaf with the largest ``reach ** power * gain``."""

    power = 1.0

    def priority(self, reach, gain, born):
        return reach**self.power * gain


problem = mt.FormulaProblem("a1 & a2 | b1 & b2 | c1 & c2 & c3", 0.45)
powers, values = np.linspace(0, 3, 25), []
for power in powers:
    rule = Weighted()
    rule.power = float(power)
    values.append(mt.mic(rule, problem, max_size=15).mic)
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.plot(powers, values, "o-")
axes.set(xlabel="power of the reach", ylabel="MIC(15)")
