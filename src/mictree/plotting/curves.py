"""The error curve of a rule, the optimal curve, and the difference between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from mictree._support.words import show_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mictree.excess import MicResult

# From Okabe and Ito's palette; line styles also distinguish the curves.
GREEDY, OPTIMAL, EXCESS, BETWEEN = "#D55E00", "#0072B2", "#1A1A1A", "#E3E3E3"


def draw_curves(ax: Axes | None, result: MicResult) -> Axes:
    """Draw greedy, optimal and excess errors against size.

    Each size is a step of width 1 (the last is cut in half), so that the shaded area is the sum of
    the excess errors.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    result : the curves; Fractions are drawn as floats
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    sizes = np.arange(result.max_size + 1)
    greedy, optimal, excess = (
        np.asarray(errors, dtype=float)
        for errors in (result.greedy_errors, result.optimal_errors, result.excess_errors)
    )
    ax.fill_between(sizes, optimal, greedy, step="mid", color=BETWEEN, linewidth=0)
    for errors, label, colour, line in (
        (greedy, "greedy", GREEDY, "solid"),
        (optimal, "optimal", OPTIMAL, "dashed"),
        (excess, "excess (greedy − optimal)", EXCESS, "dotted"),
    ):
        ax.step(sizes, errors, where="mid", color=colour, linestyle=line, label=label)
    _describe(ax, result)
    return ax


def _describe(ax: Axes, result: MicResult) -> None:
    ax.set_xlabel("size (splits)")
    ax.set_ylabel("error")
    title = f"{result.rule}\nMIC({result.max_size}) = {show_number(result.mic, 4)}"
    ax.set_title(title, fontsize="medium", parse_math=False, usetex=False)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.margins(x=0)
    ax.set_ylim(bottom=-0.015 * ax.get_ylim()[1])  # a curve at 0 stays clear of the axis
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
