"""How often a forest passes the best single tree, by its number of trees and their size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mictree.experiments.voting import Voting

COLUMNS = 3


def draw_voting(figure: Figure, found: Voting) -> Figure:
    """One panel for each target; numbers are percentages of forests."""
    plan = found.plan
    rows = -(-len(plan.targets) // COLUMNS)
    figure.set_size_inches(10.2, 2.9 * rows)
    axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for ax in axes[len(plan.targets) :]:
        ax.set_axis_off()
    for ax, target in zip(axes, plan.targets, strict=False):
        shares = np.zeros((len(plan.trees), plan.max_size))
        for trees, size, share in found.shares(target).iter_rows():
            shares[plan.trees.index(trees), size - 1] = share
        ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto", origin="lower")
        for row, column in np.argwhere(shares > 0):
            share = shares[row, column]
            colour = "white" if share > 0.6 else "#1A1A1A"
            ax.text(column, row, f"{share:.0%}"[:-1], ha="center", va="center", fontsize=7,
                    color=colour)  # fmt: skip
        ax.set_xticks(range(plan.max_size), range(1, plan.max_size + 1), fontsize=8)
        ax.set_yticks(range(len(plan.trees)), plan.trees, fontsize=8)
        ax.set_title(target, fontsize=10)
        ax.set_xlabel("size of each tree (splits)", fontsize=8)
        ax.set_ylabel("trees", fontsize=8)
    return figure
