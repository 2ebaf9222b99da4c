"""Good trees: which variables they share, and a few that differ, side by side.

``draw_shares`` is a heat map of the share of good trees that test a variable, by size. A dot marks
variables that every good tree of a size tests. ``draw_trees`` draws trees beside one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mictree.plotting.tree import decorations, draw_tree

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.problems.base import Problem
    from mictree.tree import Tree

MOST_SHOWN = 30  # variables, those with the largest shares
COLOURS = "Blues"
HEIGHT, WIDTH = 0.28, 0.45  # of a cell, in inches


def draw_shares(axes: Axes | None, variables: polars.DataFrame) -> Axes:
    """Draw the part of the good trees that test each variable, by size.

    Parameters
    ----------
    axes : where to draw; a new figure if None
    variables : a row for each size and variable, with its share, or null where no tree is good
    """
    sizes = sorted(set(variables["size"].to_list()) - {0})
    names = list(dict.fromkeys(variables["variable"].to_list()))
    shares = np.full((len(names), len(sizes)), np.nan)
    place = {name: number for number, name in enumerate(names)}
    for size, name, share in variables.select("size", "variable", "share").iter_rows():
        if size and share is not None:
            shares[place[name], sizes.index(size)] = share
    filled = np.nan_to_num(shares)
    order = np.argsort(-filled.sum(axis=1), kind="stable")[:MOST_SHOWN]
    if axes is None:
        from matplotlib import pyplot

        figure = pyplot.figure(
            figsize=(2.2 + WIDTH * len(sizes), 1.2 + HEIGHT * len(order)), layout="constrained"
        )
        axes = figure.subplots()
    extent = -0.5, max(len(sizes), 1) - 0.5, max(len(order), 1) - 0.5, -0.5  # of no cells, too
    image = axes.imshow(
        shares[order], cmap=COLOURS, vmin=0.0, vmax=1.0, aspect="auto", extent=extent
    )
    for row, column in zip(*np.nonzero(filled[order] == 1.0), strict=True):
        axes.plot(column, row, "o", color="white", markersize=3)
    axes.set_yticks(range(len(order)), [names[number] for number in order])
    axes.set_xticks(range(len(sizes)), [str(size) for size in sizes])
    axes.set_xlabel("size (splits)")
    rest = len(names) - len(order)
    axes.set_title("share of the good trees that test a variable", fontsize=10)
    if rest:
        axes.set_ylabel(f"{rest} more variables are not shown")
    axes.get_figure(root=True).colorbar(image, ax=axes, label="dot: all of them")  # type: ignore[union-attr]
    return axes


def draw_trees(trees: Sequence[Tree], problem: Problem) -> Figure:
    """Draw trees beside one another, with every split; names of classes stand below the leaves."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(4.2 * max(1, len(trees)), 3.6), layout="constrained")
    for axes, tree in zip(
        np.atleast_1d(figure.subplots(1, max(1, len(trees)))), trees, strict=False
    ):
        terms, notes = decorations(tree, problem, ())
        classes = getattr(problem, "classes", ())
        if classes and all(isinstance(label, int) for label in tree.labels):
            notes = ["" if label < 0 else str(classes[label]) for label in tree.labels]
        draw_tree(axes, tree, terms, notes)
    return figure
