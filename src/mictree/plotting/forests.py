"""The error of a forest beside that of its trees and of the best single trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from mictree.plotting.curves import EXCESS, GREEDY, OPTIMAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mictree.forests import ForestErrors

TOTAL = "#009E73"  # from Okabe and Ito's palette, as the others are


def draw_forest(ax: Axes | None, result: ForestErrors) -> Axes:
    """Draw the forest's error, its trees' errors and both optimal curves against size.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    result : the curves; Fractions are drawn as floats
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    sizes = np.arange(len(result.errors))
    spread = np.asarray(result.tree_errors, dtype=float)
    ax.fill_between(sizes, spread.min(0), spread.max(0), color=GREEDY, alpha=0.15, linewidth=0)
    count = result.trees
    total = f"best single tree of {count} × size"
    for errors, label, colour, line in (
        (spread.mean(0), "its trees alone (mean, range)", GREEDY, "dotted"),
        (result.errors, f"vote of {count} trees", EXCESS, "solid"),
        (result.optimal_errors, "best single tree of this size", OPTIMAL, "dashed"),
        (result.optimal_of_total, total, TOTAL, "dashdot"),
    ):
        ax.plot(sizes, np.asarray(errors, dtype=float), color=colour, linestyle=line, label=label)
    ax.set_xlabel("size of each tree (splits)")
    ax.set_ylabel("error")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
    return ax
