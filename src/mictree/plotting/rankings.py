"""Contestants by mean MIC, one panel for each range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mictree.experiments.rankings import Rankings

COLUMNS = 3
# Okabe and Ito's palette; the markers differ too
KINDS = (("lookahead", "#0072B2", "s"), ("top", "#009E73", "^"), ("", "#D55E00", "o"))
LEAST = 1e-7  # drawn for a mean of 0


def draw_rankings(figure: Figure, found: Rankings) -> Figure:
    """The lowest mean at the top, on a logarithmic axis."""
    ranges = found.plan.ranges
    rows = -(-len(ranges) // COLUMNS)
    figure.set_size_inches(10.2, 3.6 * rows)
    axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for ax in axes[len(ranges) :]:
        ax.set_axis_off()
    for ax, each in zip(axes, ranges, strict=False):
        summary = found.summary(each.title)
        places = np.arange(summary.height)[::-1]
        for name, mean, place in zip(summary["contestant"], summary["mean"], places, strict=True):
            colour, marker = next(k[1:] for k in KINDS if name.startswith(k[0]))
            hollow = {"markerfacecolor": "white"} if mean < LEAST else {}
            ax.plot(max(mean, LEAST), place, marker, color=colour, markersize=6, **hollow)
        ax.set_yticks(places, summary["contestant"].to_list(), fontsize=8)
        ax.set_xscale("log")
        ax.set_xlim(LEAST / 2, 0.5)
        ax.set_title(each.title, fontsize=9)
        ax.set_xlabel(f"mean MIC({each.max_size}); hollow: below {LEAST:g}", fontsize=8)
        ax.grid(axis="x", color="#E3E3E3")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    return figure
