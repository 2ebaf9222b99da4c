"""
Noisy labels
============

Flip the label with some probability. No tree can err less than the noise, the Bayes error; the
excess of the greedy tree shrinks with what is left to learn.
"""

import matplotlib.pyplot as plt
import numpy as np

import mictree as mt

clean = mt.TableProblem.from_formula("x1 & x2 | y1 & y2 & y3").truth_table
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for noise in (0.0, 0.1, 0.2, 0.3):
    noisy = mt.TableProblem(np.where(clean == 1, 1 - noise, noise))
    result = mt.mic(mt.BestFirst(), noisy, max_size=8)
    (line,) = axes.plot(result.greedy_errors, label=f"noise {noise}: MIC(8) = {result.mic:.4f}")
    axes.plot(result.optimal_errors, ":", color=line.get_color())
axes.set(xlabel="size (splits)", ylabel="error; dotted: least")
figure.legend(loc="outside upper center", ncols=2)
