"""Held-out rows of a regression tree: predicted beside true numbers, and residuals by leaf.

A tree predicts one number a leaf, so its rows stand in columns on the left. On the right every leaf
has a box: its quartiles, a line at the median, and whiskers over the middle 90% of its rows. A box
far from zero belongs to a leaf that is wrong on one side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from mictree._support.words import show_digits
from mictree.tree import DIGITS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.estimators.results import LeafResults


ROW_COLOUR, LEAF_COLOUR, LINE_COLOUR = "#0072B2", "#DCE6F0", "#5A5A5A"
MOST_NAMED = 16  # leaves whose predictions have room beside their boxes
MOST_POINTS = 4000  # more are drawn in part, evenly by rank
WHISKERS = (5, 95)  # percentiles


def draw_residuals(figure: Figure, results: LeafResults, target: str) -> tuple[Axes, Axes]:
    """Draw predicted against true numbers, and the residuals of each leaf."""
    figure.set_size_inches(9.2, 4.2)
    left, right = figure.subplots(1, 2)
    _draw_rows(left, results, target)
    _draw_leaves(right, results)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return left, right


def _draw_rows(ax: Axes, results: LeafResults, target: str) -> None:
    shown = np.argsort(results.truth, kind="stable")
    shown = shown[np.linspace(0, len(shown) - 1, min(len(shown), MOST_POINTS)).astype(int)]
    ax.plot(results.predicted[shown], results.truth[shown], linestyle="none", marker="o",
            markersize=4, color=ROW_COLOUR, alpha=0.35, markeredgewidth=0)  # fmt: skip
    ends = [min(results.predicted.min(), results.truth.min()),
            max(results.predicted.max(), results.truth.max())]  # fmt: skip
    ax.plot(ends, ends, color=LINE_COLOUR, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    ax.set_title("held-out rows", fontsize="medium")
    ax.set_xlabel(f"predicted {target}", parse_math=False)
    ax.set_ylabel(f"true {target}", parse_math=False)
    ax.xaxis.set_major_locator(MaxNLocator(6))


def _draw_leaves(ax: Axes, results: LeafResults) -> None:
    leaves = results.leaves
    ax.axhline(0, color=LINE_COLOUR, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    line = {"color": LINE_COLOUR, "linewidth": 1}
    for place, value in enumerate(leaves):
        residuals = results.at(value).residuals
        if len(residuals):
            ax.boxplot(
                residuals, positions=[place], widths=0.6, whis=WHISKERS, showfliers=False,
                patch_artist=True, manage_ticks=False, whiskerprops=line, capprops=line,
                boxprops={"facecolor": LEAF_COLOUR, "edgecolor": LINE_COLOUR, "linewidth": 1},
                medianprops={"color": ROW_COLOUR, "linewidth": 2},
            )  # fmt: skip
    every = -(-len(leaves) // MOST_NAMED)
    names = [show_digits(value, DIGITS) for value in leaves]
    ax.set_xticks(range(0, len(leaves), every), names[::every], rotation=35, ha="right")
    ax.set_xlim(-0.6, len(leaves) - 0.4)
    ax.set_title("residuals of each leaf", fontsize="medium")
    ax.set_xlabel("what the leaf predicts")
    ax.set_ylabel("true minus predicted")
