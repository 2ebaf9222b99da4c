"""MIC over a bias that all variables share.

Certified results are intervals: a box is a range of biases, and on it MIC lies between two proved
bounds. These functions draw the boxes with the largest MIC of the range, curves through single
biases, which prove nothing between them, and, for each pair of terms, the biases for which
TopDown's trees are optimal. A hatch shows the difference in print without colours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Patch

from mictree.plotting.curves import BETWEEN, GREEDY, OPTIMAL
from mictree.plotting.families import RULE_COLOURS, RULE_LINES

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.experiments.two_term_biases import TwoTermBiases
    from mictree.experiments.worst_over_biases import WorstOverBiases
    from mictree.families.biases import MicOverBiases


LEAST_AXIS_END = 1e-4  # bounds that differ by rounding only would fill a smaller one


def draw_boxes(ax: Axes | None, result: MicOverBiases) -> Axes:
    """Draw the interval of each box, the largest MIC of the range, and where it is proved to be 0.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    result : of one shared bias
    """
    boxes = result.boxes
    if "low" not in boxes.columns:
        raise ValueError("only MIC over one shared bias can be drawn; each variable has its own")
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    _draw_bounds(ax, boxes.filter(boxes["low"] < boxes["high"]))
    points = boxes.filter(boxes["low"] == boxes["high"])
    for low, _, least, most in points.iter_rows():
        ax.plot([low, low], [least, most], marker="_", color=GREEDY)
    low, high = result.supremum
    ax.axhspan(low, high, color=GREEDY, alpha=0.3, linewidth=0, label="largest MIC")
    for number, (start, end, *_) in enumerate(result.optimal_ranges.iter_rows()):
        label = None if number else "proved to be 0"
        style = {"color": OPTIMAL, "linewidth": 5, "solid_capstyle": "butt", "clip_on": False}
        ax.plot([start, end], [0, 0], marker="|", label=label, **style)
    ax.set_xlabel("bias")
    ax.set_ylabel(f"MIC({result.max_size})")
    ax.set_title(f"{result.rule!r}\n{result.formula}", fontsize="medium", parse_math=False)
    ax.set_ylim(0, max(ax.get_ylim()[1], LEAST_AXIS_END))
    ax.margins(x=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
    return ax


def _draw_bounds(ax: Axes, boxes: pl.DataFrame) -> None:
    """Both bounds of MIC on adjacent boxes, and the area between them."""
    edges = np.append(boxes["low"].to_numpy(), boxes["high"].to_numpy()[-1:])
    upper, lower = boxes["mic_upper"].to_numpy(), boxes["mic_lower"].to_numpy()
    ax.stairs(upper, edges, baseline=lower, fill=True, color=BETWEEN)
    ax.stairs(upper, edges, baseline=None, color=GREEDY, label="at most")
    ax.stairs(lower, edges, baseline=None, color=OPTIMAL, linestyle="dashed", label="at least")


def draw_points(figure: Figure, found: WorstOverBiases) -> Figure:
    """One panel for each of the worst formulas of the grid."""
    figure.set_size_inches(10.2, 3.4)
    axes = figure.subplots(1, len(found.formulas), squeeze=False, sharey=True)[0]
    for ax, formula in zip(axes, found.formulas, strict=True):
        for rule, colour in RULE_COLOURS.items():
            ax.plot(
                *found.curve(formula, rule), color=colour, linestyle=RULE_LINES[rule], label=rule
            )
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
        _draw_bounds(ax, boxes.filter(boxes["low"] < boxes["high"]).sort("low"))
        ax.set_title(formula, fontsize=9)
        ax.set_xlabel("bias of every variable")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"MIC({found.plan.certified_size}) of TopDown")
    axes[0].legend(loc="best", frameon=False)
    return figure


# outcome: label, colour, hatch (so that print without colours shows the difference)
OUTCOME_STYLES = {
    "optimal": ("every tree is optimal", OPTIMAL, ""),
    "excess": ("some tree is not", GREEDY, "////"),
    "undecided": ("undecided", "black", ""),
}


def draw_two_terms(ax: Axes | None, result: TwoTermBiases) -> Axes:
    """Draw a bar over the biases for each pair of terms.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    result : the certified outcomes
    """
    pairs = result.plan.pairs
    if ax is None:
        from matplotlib import pyplot

        height = 1.5 + 0.25 * len(pairs)
        ax = pyplot.figure(figsize=(6.4, height), layout="constrained").add_subplot()
    for place, pair in enumerate(pairs):
        for low, high, outcome in result.runs(pair):
            _, colour, hatch = OUTCOME_STYLES[outcome]
            ax.barh(place, high - low, 0.7, low, facecolor=colour, hatch=hatch,
                    edgecolor="white" if hatch else colour, linewidth=0)  # fmt: skip
    ax.axvline(0.5, color="black", linestyle="dotted", linewidth=1)
    ax.set_yticks(range(len(pairs)), [f"{shorter} and {longer}" for shorter, longer in pairs])
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.set_xlabel("bias shared by all variables")
    ax.set_ylabel("literals of the two terms")
    ax.spines[["top", "right"]].set_visible(False)
    named = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0, label=label)
        for label, colour, hatch in (OUTCOME_STYLES["optimal"], OUTCOME_STYLES["excess"])
    ]
    ax.legend(handles=named, frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return ax
