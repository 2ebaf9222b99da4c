"""
Greedy and optimal errors
=========================

The paper's example, every variable 1 with probability 1/2. BestFirst splits the leaf with the
largest gain, however few inputs reach it, and pays for it at sizes 5 to 7. TopDown, which weighs
the gain by the leaf's reach, is optimal at every size.
"""

import matplotlib.pyplot as plt

import mictree as mt

problem = mt.FormulaProblem("x1 & x2 | y1 & y2 & y3")
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained", sharey=True)
for rule, place in zip([mt.TopDown(), mt.BestFirst()], axes, strict=True):
    mt.mic(rule, problem, max_size=8).plot(place)
