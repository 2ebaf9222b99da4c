"""How much MIC depends on the names of variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mictree.plotting.mic_histograms import BESTFIRST, TOPDOWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.experiments.relabellings import Relabellings

COLOURS = {"TopDown": TOPDOWN, "BestFirst": BESTFIRST}
LINES = {"TopDown": "solid", "BestFirst": "dashed"}
BINS = 60


def draw_relabellings(figure: Figure, found: Relabellings) -> Figure:
    """Left: MIC of all representatives, weighted; right: ranges over relabellings."""
    figure.set_size_inches(10.2, 4.2)
    left, *others = figure.subplots(1, 1 + len(COLOURS))
    largest = max(found.largest(rule) for rule in COLOURS)
    edges = np.linspace(0, largest or 1.0, BINS + 1)
    for rule, colour in COLOURS.items():
        rows = found.representatives.filter(rule=rule)
        weights = rows["count"].to_numpy() / rows["count"].sum()
        heights, _ = np.histogram(rows["mic"].to_numpy(), edges, weights=weights)
        left.stairs(heights, edges, color=colour, linestyle=LINES[rule], label=rule)
    left.set_xlabel(f"MIC({found.plan.max_size}) of the representative")
    left.set_ylabel("share of functions")
    left.legend(loc="best", frameon=False)
    for ax, rule in zip(others, COLOURS, strict=True):
        _draw_ranges(ax, found, rule)
    for ax in (left, *others):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_ranges(ax: Axes, found: Relabellings, rule: str) -> None:
    rows = found.spreads.filter(rule=rule).sort("mean")
    place = np.arange(rows.height)
    least, largest = rows["least"].to_numpy(), rows["largest"].to_numpy()
    ax.fill_between(
        place, least, largest, color=COLOURS[rule], alpha=0.25, linewidth=0, label="range"
    )
    ax.plot(
        place,
        rows["representative_mic"],
        ".",
        color="#6B6B6B",
        markersize=2,
        label="representative",
    )
    ax.plot(place, rows["mean"], color=COLOURS[rule], linewidth=1.8, label="mean")
    ax.legend(loc="upper left", frameon=False, fontsize=8)
    ax.set_title(rule, fontsize=10)
    ax.set_xlabel("sampled members, by mean")
    ax.set_ylabel(f"MIC({found.plan.max_size})")
    ax.set_ylim(bottom=0)
