"""Test error against the number of training rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import NullLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.experiments.finite_samples import FiniteSamples, FiniteSetting

# Okabe and Ito's palette; markers differ too, for readers without colour.
LOOKS: dict[str, dict[str, Any]] = {
    "TopDown": {"color": "#0072B2", "marker": "o", "linestyle": "solid"},
    "BestFirst": {"color": "#D55E00", "marker": "D", "linestyle": "solid"},
    "scikit-learn": {"color": "#1A1A1A", "marker": "s", "linestyle": "none", "fillstyle": "none",
                     "markersize": 9},
}  # fmt: skip
OPTIMAL, TESTED = "#009E73", "#1A1A1A"


def draw_finite_samples(figure: Figure, result: FiniteSamples) -> Figure:
    """One panel per distribution."""
    figure.set_size_inches(10.2, 4.1)
    axes = np.atleast_1d(figure.subplots(1, len(result.settings), sharey=True))
    for ax, setting in zip(axes, result.settings, strict=True):
        draw_setting(ax, setting)
    axes[0].set_ylabel("error")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False)
    return figure


def draw_setting(ax: Axes, setting: FiniteSetting) -> Axes:
    """Mean true error with one standard deviation, mean test error, and the optimal error."""
    summary = setting.summary
    for learner, look in LOOKS.items():
        part = summary.filter(learner=learner).sort("rows")
        rows, mean = part["rows"].to_numpy(), part["exact_error"].to_numpy()
        spread = part["exact_error_spread"].fill_null(0).to_numpy()
        ax.plot(rows, mean, label=f"{learner}, true error", zorder=3, **{"markersize": 5, **look})
        if look["linestyle"] != "none":
            ax.fill_between(
                rows, mean - spread, mean + spread, color=look["color"], alpha=0.2, linewidth=0
            )
        if learner != "scikit-learn":
            ax.plot(rows, part["test_error"].to_numpy(), "x", color=TESTED, markersize=6, zorder=5,
                    label="on test rows" if learner == "TopDown" else None)  # fmt: skip
    if setting.limit.optimal_errors is not None:
        least = setting.limit.optimal_errors
        label = f"OPT(D, {len(least) - 1})"
        ax.axhline(least[-1], color=OPTIMAL, linestyle="dashed", label=label)
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_ylim(bottom=0)
    ax.set_xlabel("training rows")
    ax.set_title(setting.title, fontsize=10.5)
    ax.grid(axis="y", color="#E9E9E9")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
