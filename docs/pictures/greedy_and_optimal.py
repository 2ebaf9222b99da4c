"""Draw the README's picture; run this file after a change to the drawings."""

from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot

import mictree as mt

FORMULA, SIZE = "x1 & x2 | y1 & y2 & y3", 5


def draw(path: Path) -> None:
    """Write the errors of greedy and optimal trees beside two trees of one size."""
    problem = mt.FormulaProblem(FORMULA, bias=0.5)
    result = mt.mic(mt.BestFirst(), problem, max_size=8)
    greedy, optimal = mt.BestFirst().grow(problem, SIZE).tree(SIZE), mt.optimal_tree(problem, SIZE)
    figure, axes = pyplot.subplots(
        1, 3, figsize=(11, 3.6), width_ratios=(1.1, 1, 1), layout="constrained"
    )
    result.plot(axes[0])
    for ax, tree, title in zip(axes[1:], (greedy, optimal), ("BestFirst", "optimal"), strict=True):
        tree.draw(ax, problem, merge=False)
        ax.set_title(f"{title}, {SIZE} splits: error {tree.error(problem):.4f}")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "mictree"
    draw(Path(__file__).with_suffix(".svg"))
