"""The distribution of MIC over the formulas of a setting: TopDown and BestFirst overlaid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.experiments.histograms import Spread

# From Okabe and Ito's palette; the outlines differ too, for readers without colour.
TOPDOWN, BESTFIRST = "#0072B2", "#D55E00"
RULES: tuple[tuple[str, str, str, Literal["solid", "dashed"]], ...] = (
    ("topdown", "TopDown", TOPDOWN, "solid"),
    ("bestfirst", "BestFirst", BESTFIRST, "dashed"),
)
BINS = 50
FAR = 0.05  # the paper calls trees with a larger MIC far from optimal


def draw_settings(figure: Figure, spreads: Sequence[Spread], ties: str) -> Figure:
    """One panel per setting, all with one tie rule, as in the paper."""
    figure.set_size_inches(10.2, 3.7)
    axes = figure.subplots(1, len(spreads))
    for ax, spread in zip(np.atleast_1d(axes), spreads, strict=True):
        draw_spread(ax, spread, ties, _largest(spread))
        ax.set_title(f"{spread.setting.title} ({spread.formulas:,} formulas)", fontsize=10.5)
        ax.set_xlabel(f"MIC({spread.max_size})")
    np.atleast_1d(axes)[0].set_ylabel("number of formulas")
    _legend(figure)
    return figure


def draw_ties(figure: Figure, spread: Spread, all_ties: Sequence[str]) -> Figure:
    """One panel per tie rule of one setting, and one that compares them."""
    figure.set_size_inches(10.2, 6.4)
    axes = figure.subplots(2, 3).ravel()
    largest = _largest(spread)
    for ax, ties in zip(axes, all_ties, strict=False):
        draw_spread(ax, spread, ties, largest)
        ax.set_title(f"ties {ties}", fontsize=10.5)
        ax.set_xlabel(f"MIC({spread.max_size})")
        ax.set_ylabel("number of formulas")
    draw_means(axes[len(all_ties)], spread, all_ties)
    _legend(figure)
    return figure


def draw_spread(ax: Axes, spread: Spread, ties: str, largest: float) -> Axes:
    """Overlay the histograms of both rules, counts on a log axis."""
    edges = np.linspace(0, largest, BINS + 1)
    for rule, _, colour, line in RULES:
        counts, _ = np.histogram(spread.mic(rule, ties), edges)
        ax.stairs(counts, edges, fill=True, baseline=0.5, color=colour, alpha=0.35)
        ax.stairs(counts, edges, baseline=0.5, color=colour, linestyle=line, linewidth=1.3)
    ax.axvline(FAR, color="#6B6B6B", linestyle="dotted", linewidth=1)
    ax.set_yscale("log")
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(0.7, 2.0 * spread.formulas)  # the first bin may hold all formulas
    ax.margins(x=0.01)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def draw_means(ax: Axes, spread: Spread, all_ties: Sequence[str]) -> Axes:
    """The mean MIC of both rules by tie rule."""
    places = np.arange(len(all_ties))[::-1]
    for rule, _, colour, _ in RULES:
        means = [float(spread.mic(rule, ties).mean()) for ties in all_ties]
        marker = "o" if rule == "topdown" else "D"
        ax.plot(means, places, marker, color=colour, markersize=7)
    ax.set_yticks(places, all_ties)
    ax.set_xlim(left=0)
    ax.set_ylim(-0.6, len(all_ties) - 0.4)
    ax.set_title("mean over all formulas, by tie rule", fontsize=10.5)
    ax.set_xlabel(f"mean MIC({spread.max_size})")
    ax.grid(axis="y", color="#E3E3E3")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _largest(spread: Spread) -> float:
    return float(spread.frame["mic"].max()) or 1.0  # type: ignore[arg-type]


def _legend(figure: Figure) -> None:
    handles = [
        Patch(facecolor=f"{colour}59", edgecolor=colour, linestyle=line, label=label)
        for _, label, colour, line in RULES
    ]
    dotted = Line2D([], [], color="#6B6B6B", linestyle="dotted", label=f"MIC = {FAR}")
    figure.legend(handles=[*handles, dotted], loc="outside upper center", ncols=3, frameon=False)
