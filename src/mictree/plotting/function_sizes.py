"""Sizes of greedy trees against least sizes, and pairs of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.ticker import MaxNLocator

from mictree.plotting.tree import draw_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.experiments.function_sizes import FunctionSizes, Witness

KINDS = (("greedy_size_best", "best ties"), ("greedy_size_worst", "worst ties"))
PANEL = 4.0  # inches, of one tree


def draw_function_sizes(figure: Figure, sizes: FunctionSizes) -> Figure:
    """One row for the best and one for the worst ties, one column for each family."""
    families = sizes.plan.variables
    figure.set_size_inches(3.4 * len(families), 6.6)
    axes = figure.subplots(len(KINDS), len(families), squeeze=False)
    for row, (column, words) in enumerate(KINDS):
        for place, (family, variables) in enumerate(families):
            ax = axes[row, place]
            mesh = _draw_counts(ax, sizes, family, column)
            ax.set_title(f"{family}, {variables} variables: {words}", fontsize=10)
            ax.set_xlabel("least size (splits)")
            ax.set_ylabel("greedy size (splits)")
            figure.colorbar(mesh, ax=ax, label="functions")
    return figure


def _draw_counts(ax: Axes, sizes: FunctionSizes, family: str, column: str):
    rows = sizes.of(family)
    least, greedy = rows["perfect_size"].to_numpy(), rows[column].to_numpy()
    most = int(max(greedy.max(), least.max())) + 1
    counts = np.zeros((most, most))
    np.add.at(counts, (greedy, least), rows["count"].to_numpy().astype(float))
    edges = np.arange(most + 1) - 0.5
    shown = np.ma.masked_equal(counts, 0)
    mesh = ax.pcolormesh(edges, edges, shown, cmap="viridis_r", norm=LogNorm(1, counts.max()))
    ax.plot([0, most - 1], [0, most - 1], color="#1A1A1A", linewidth=0.8, linestyle="dashed")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    return mesh


def draw_witnesses(figure: Figure, witnesses: tuple[Witness, ...]) -> Figure:
    """Each function's smallest greedy tree on the left, its smallest tree on the right."""
    heights = [0.9 + 0.55 * (1 + max(w.greedy.depth, w.optimal.depth)) for w in witnesses]
    total = sum(heights)
    figure.set_size_inches(2 * PANEL + 1, total)
    top = 1.0
    for witness, height in zip(witnesses, heights, strict=True):
        share = height / total
        bottom = top - share
        for side, (tree, words) in enumerate(
            ((witness.greedy, "smallest greedy tree"), (witness.optimal, "smallest tree"))
        ):
            place = (0.5 * side + 0.01, bottom + 0.02 * share, 0.48, share * (1 - 0.6 / height))
            ax = figure.add_axes(place)
            draw_tree(ax, tree, {}, [""] * len(tree.tests))
            name = f"{witness.family}, 0x{witness.table:x}"
            ax.set_title(f"{name}\n{words}, {tree.size} splits", fontsize=10, y=1.0)
        top = bottom
    return figure
