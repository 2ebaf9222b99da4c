"""
A whole family of formulas
==========================

Every read-once formula of at most 5 terms of at most 5 literals, up to renaming: the MIC of both
rules, in one sweep.
"""

import matplotlib.pyplot as plt
import numpy as np

import mictree as mt

frame = mt.sweep(mt.families.grid(max_terms=5, max_literals=5), max_size=100)
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for rule in ("topdown", "bestfirst"):
    values = np.sort(frame.filter(frame["rule"] == rule)["mic"].to_numpy())
    axes.plot(values, np.arange(1, len(values) + 1) / len(values), label=rule)
axes.set(xlabel="MIC(100)", ylabel="share of the formulas at or below")
axes.legend()
