"""The distribution of the MIC of several rules over a family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From Okabe and Ito's palette; outlines differ too, for readers without colour.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("solid", "dashed", "dotted", "dashdot")
BINS = 60


def draw_histogram(ax: Axes | None, values: Mapping[str, np.ndarray], title: str = "") -> Axes:
    """Overlay one histogram per rule, counts on a log axis.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    values : for each rule, as text, the MIC of every member
    title : a description of the family
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    largest = max((float(np.max(mic)) for mic in values.values()), default=0.0) or 1.0
    edges = np.linspace(0, largest, BINS + 1).tolist()
    for number, (label, mic) in enumerate(values.items()):
        colour, line = COLOURS[number % len(COLOURS)], LINES[number % len(LINES)]
        ax.hist(mic, edges, color=colour, alpha=0.3, linewidth=0)
        ax.hist(mic, edges, histtype="step", color=colour, linestyle=line, label=label)
    ax.set_yscale("log")
    ax.set_ylim(bottom=0.7)
    ax.set_xlabel("MIC")
    ax.set_ylabel("members")
    ax.set_title(title, fontsize="medium", parse_math=False)
    ax.margins(x=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
    return ax
