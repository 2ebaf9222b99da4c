"""MIC over the correlation of neighbours, and over the noise of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mictree.plotting.relabellings import COLOURS, LINES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mictree.experiments.dependence import Dependence
    from mictree.experiments.noise import Noise


def draw_dependence(figure: Figure, found: Dependence) -> Figure:
    """Left: MIC over arrangements; right: the share of optimal ones."""
    figure.set_size_inches(10.2, 3.6)
    left, right = figure.subplots(1, 2)
    for rule, colour in COLOURS.items():
        rows = found.spread(rule)
        place = rows["correlation"].to_numpy()
        most = rows["largest"].to_numpy()
        left.fill_between(place, rows["least"].to_numpy(), most, color=colour, alpha=0.15)
        left.plot(place, most, color=colour, linewidth=0.9, linestyle="dotted")
        left.plot(place, rows["mean"], color=colour, linestyle=LINES[rule], label=rule)
        right.plot(place, rows["optimal"], color=colour, linestyle=LINES[rule], label=rule)
    left.set_ylabel(f"MIC({found.plan.max_size}): mean, largest (dotted)")
    right.set_ylabel("share of arrangements with MIC 0")
    for ax in (left, right):
        ax.set_xlabel("correlation of neighbours")
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="best", frameon=False)
    return figure


def draw_noise(figure: Figure, found: Noise) -> Figure:
    """Left: scaled MIC; right: formulas on which noise changes it."""
    figure.set_size_inches(10.2, 3.6)
    left, right = figure.subplots(1, 2)
    for rule, colour in COLOURS.items():
        rows = found.spread(rule)
        place = rows["noise"].to_numpy()
        left.plot(place, rows["scaled_mean"], color=colour, linestyle=LINES[rule], label=rule)
        right.plot(place, rows["worse"], "^-", color=colour, label=f"{rule}, larger")
        right.plot(place, rows["better"], "v--", color=colour, label=f"{rule}, smaller")
    left.set_ylabel(f"mean MIC({found.plan.max_size}) / (1 − 2 noise)")
    right.set_ylabel("formulas whose scaled MIC noise makes")
    for ax in (left, right):
        ax.set_xlabel("probability of a wrong label")
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(loc="best", frameon=False, fontsize=8)
    return figure
