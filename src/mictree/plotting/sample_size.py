"""Excess error by size for growing samples, and the convergence of MIC to the exact one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.ticker import MaxNLocator, NullLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.experiments.sample_size import SampledCase, SampleSizes

LOOKS = {"TopDown": ("#0072B2", "o"), "BestFirst": ("#D55E00", "D")}  # from Okabe and Ito
EXACT = "#1A1A1A"
MOST_CURVES = 5


def draw_excess(figure: Figure, result: SampleSizes) -> Figure:
    """One panel per formula and rule: excess error against size, one curve per number of rows."""
    figure.set_size_inches(10.2, 3.3 * len(result.cases) + 0.3)
    axes = figure.subplots(len(result.cases), len(LOOKS), sharey="row", squeeze=False)
    for row, sampled in zip(axes, result.cases, strict=True):
        for ax, rule in zip(row, LOOKS, strict=True):
            draw_case(ax, sampled, rule, result.plan.rows)
        row[0].set_ylabel("excess error")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=6, frameon=False)
    return figure


def draw_case(ax: Axes, sampled: SampledCase, rule: str, all_rows: tuple[int, ...]) -> Axes:
    """The mean excess error by size, for some numbers of rows and for the distribution itself."""
    sizes = np.arange(len(sampled.optimal))
    shown = telling(all_rows)
    for number, rows in enumerate(shown):
        colour = colormaps["cividis"](0.95 - 0.9 * number / max(1, len(shown) - 1))
        marker = "osD^v"[number % 5]
        ax.plot(sizes, sampled.excess(rule, rows), color=colour, marker=marker, markersize=3.5,
                linewidth=1.2, label=f"{rows:,} rows")  # fmt: skip
    exact = sampled.exact_excess(rule)
    ax.plot(sizes, exact, color=EXACT, linestyle="dashed", linewidth=1.8, label="exact", zorder=4)
    ax.set_title(f"{rule}: {sampled.case.name}", fontsize=10.5, parse_math=False)
    ax.set_xlabel("size (splits)")
    ax.margins(x=0.02)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def draw_convergence(figure: Figure, result: SampleSizes) -> Figure:
    """One panel per formula: MIC of trees learned from rows against their number."""
    figure.set_size_inches(10.2, 3.9)
    axes = np.atleast_1d(figure.subplots(1, len(result.cases)))
    for ax, sampled in zip(axes, result.cases, strict=True):
        for rule, (colour, marker) in LOOKS.items():
            found = np.array([sampled.sampled_mic(rule, rows) for rows in result.plan.rows])
            mean, spread = found.mean(axis=1), found.std(axis=1)
            ax.plot(result.plan.rows, mean, marker=marker, color=colour, markersize=5,
                    label=f"{rule}, from rows")  # fmt: skip
            low = np.maximum(mean - spread, 0)  # no excess is negative
            ax.fill_between(result.plan.rows, low, mean + spread, color=colour,
                            alpha=0.2, linewidth=0)  # fmt: skip
            ax.axhline(sampled.exact_mic(rule), color=colour, linestyle="dashed",
                       label=f"{rule}, exact")  # fmt: skip
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_title(sampled.case.name, fontsize=10.5, parse_math=False)
        ax.set_xlabel("rows")
        ax.set_ylabel(f"MIC({sampled.case.max_size})")
        ax.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    return figure


def telling(all_rows: tuple[int, ...]) -> list[int]:
    """Some of many numbers of rows, evenly spaced, with the first and the last."""
    places = np.linspace(0, len(all_rows) - 1, min(MOST_CURVES, len(all_rows))).round().astype(int)
    return [all_rows[place] for place in places]
