"""
Dependent variables
===================

Parity of three variables that form a chain: each repeats the one before it with some probability.
If they are independent (1/2), MIC is 0 here. Dependence makes some trees better than others of
their size, and greed does not find all of them.
"""

import matplotlib.pyplot as plt
import numpy as np

import mictree as mt

parity = [row.bit_count() % 2 for row in range(8)]
stays = np.linspace(0.5, 0.95, 10).round(2)
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
values = []
for stay in stays:
    chain = mt.distributions.markov_chain(3, start=0.5, after_zero=1 - stay, after_one=stay)
    values.append(mt.mic(mt.TopDown(), mt.TableProblem(parity, chain), 7).mic)
axes.plot(stays, values, "o-")
axes.set(xlabel="probability that a variable repeats the one before", ylabel="MIC(7)")
