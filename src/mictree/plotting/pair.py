"""Two trees side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mictree.problems.base import Problem
    from mictree.tree import Tree

LEAF_WIDTH, LEVEL_HEIGHT = 0.32, 0.75  # inches that a leaf and a level of a tree take


def draw_pair(
    trees: Sequence[Tree], titles: Sequence[str], heading: str, problem: Problem
) -> Figure:
    """Draw trees beside each other, as wide as they need."""
    from matplotlib import pyplot

    widths = [max(3.0, LEAF_WIDTH * (tree.size + 1)) for tree in trees]
    height = max(3.0, LEVEL_HEIGHT * (1 + max(tree.depth for tree in trees)))
    figure, axes = pyplot.subplots(
        1, len(trees), figsize=(sum(widths), height), width_ratios=widths, layout="constrained"
    )
    for ax, tree, title in zip(axes, trees, titles, strict=True):
        tree.draw(ax, problem, merge=False)  # both have the size of the heading
        ax.set_title(title, fontsize="medium", parse_math=False)
    figure.suptitle(_shorten(heading), fontsize="medium", parse_math=False)
    return figure


def _shorten(text: str, most: int = 120) -> str:
    return text if len(text) <= most else f"{text[: most - 50]} … {text[-45:]}"
