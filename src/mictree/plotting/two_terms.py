"""For which shared biases TopDown's trees are optimal, for each pair of terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import Patch

from mictree.plotting.curves import GREEDY, OPTIMAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mictree.experiments.two_term_biases import TwoTermBiases

# outcome: label, colour, hatch (so that print without colours shows the difference)
STYLES = {
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
            _, colour, hatch = STYLES[outcome]
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
        for label, colour, hatch in (STYLES["optimal"], STYLES["excess"])
    ]
    ax.legend(handles=named, frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return ax
