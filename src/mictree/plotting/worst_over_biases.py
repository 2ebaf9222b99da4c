"""MIC over a shared bias: curves through single biases, and certified boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mictree.plotting.curves import BETWEEN, GREEDY, OPTIMAL
from mictree.plotting.relabellings import COLOURS, LINES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mictree.experiments.worst_over_biases import WorstOverBiases

COLUMNS = 4


def draw_points(figure: Figure, found: WorstOverBiases) -> Figure:
    """One panel for each of the worst formulas of the grid."""
    figure.set_size_inches(10.2, 3.4)
    axes = figure.subplots(1, len(found.formulas), squeeze=False, sharey=True)[0]
    for ax, formula in zip(axes, found.formulas, strict=True):
        for rule, colour in COLOURS.items():
            ax.plot(*found.curve(formula, rule), color=colour, linestyle=LINES[rule], label=rule)
        ax.axvline(0.5, color="#6B6B6B", linewidth=0.8, linestyle="dotted")
        ax.set_title(formula, fontsize=9)
        ax.set_xlabel("bias of every variable")
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"MIC({found.plan.max_size})")
    axes[0].legend(loc="best", frameon=False)
    return figure


def draw_certified(figure: Figure, found: WorstOverBiases) -> Figure:
    """One panel for each formula that was certified."""
    figure.set_size_inches(10.2, 3.2)
    axes = figure.subplots(1, found.suprema.height, squeeze=False, sharey=True)[0]
    for ax, formula in zip(axes, found.suprema["formula"], strict=True):
        boxes = found.boxes.filter(formula=formula)
        wide = boxes.filter(boxes["low"] < boxes["high"]).sort("low")
        edges = np.append(wide["low"].to_numpy(), wide["high"].to_numpy()[-1:])
        upper, lower = wide["mic_upper"].to_numpy(), wide["mic_lower"].to_numpy()
        ax.stairs(upper, edges, baseline=lower, fill=True, color=BETWEEN)
        ax.stairs(upper, edges, baseline=None, color=GREEDY, label="at most")
        ax.stairs(lower, edges, baseline=None, color=OPTIMAL, linestyle="dashed", label="at least")
        ax.set_title(formula, fontsize=9)
        ax.set_xlabel("bias of every variable")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"MIC({found.plan.certified_size}) of TopDown")
    axes[0].legend(loc="best", frameon=False)
    return figure
