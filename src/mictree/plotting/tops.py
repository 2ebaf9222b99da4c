"""The excess of the best trees of allowed splits over the optimum, against how many are allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mictree.excess import TopResult

MEAN, LARGEST = "#0072B2", "#D55E00"  # from Okabe and Ito's palette; markers also distinguish them


def draw_tops(ax: Axes | None, result: TopResult) -> Axes:
    """Draw MIC and the largest excess error of each top.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    result : the excess errors; Fractions are drawn as floats. Tops that are not proved have hollow
        markers.
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    tops = np.array(result.tops)
    largest = np.asarray(result.excess_errors, dtype=float).max(axis=1)
    mean = np.asarray(result.mic, dtype=float)
    open_ones = ~np.array(result.proved)
    for values, label, colour, marker, line in (
        (mean, f"MIC({result.max_size})", MEAN, "o", "solid"),
        (largest, "largest excess error", LARGEST, "s", "dashed"),
    ):
        ax.plot(tops, values, color=colour, marker=marker, linestyle=line, label=label)
        ax.plot(tops[open_ones], values[open_ones], marker, color=colour, markerfacecolor="white")
    ax.set_xlabel(f"splits of largest gain allowed at every node ({result.criterion})")
    ax.set_ylabel("excess error")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(bottom=-0.015 * ax.get_ylim()[1])  # a curve at 0 stays clear of the axis
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
    return ax
