"""
Two trees of one size
=====================

BestFirst's tree with 5 splits, and the best tree with 5 splits. BestFirst perfects the right
branch, where few inputs still err, and leaves half of the inputs to a single answer.
"""

import matplotlib.pyplot as plt

import mictree as mt

problem = mt.FormulaProblem("x1 & x2 | y1 & y2 & y3")
trees = {
    "BestFirst": mt.BestFirst().grow(problem, max_size=5).tree(5),
    "best": mt.optimal_tree(problem, size=5),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 5), layout="constrained")
for (name, tree), place in zip(trees.items(), axes, strict=True):
    tree.draw(place, problem, merge=False)
    place.set_title(f"{name}: error {tree.error(problem, exact=True)}")
