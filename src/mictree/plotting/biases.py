"""Certified intervals of MIC over a shared bias."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mictree.plotting.curves import BETWEEN, GREEDY, OPTIMAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mictree.families.biases import MicOverBiases


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
    wide = boxes.filter(boxes["low"] < boxes["high"])
    edges = np.append(wide["low"].to_numpy(), wide["high"].to_numpy()[-1:])
    upper, lower = wide["mic_upper"].to_numpy(), wide["mic_lower"].to_numpy()
    ax.stairs(upper, edges, baseline=lower, fill=True, color=BETWEEN)
    ax.stairs(upper, edges, baseline=None, color=GREEDY, label="at most")
    ax.stairs(lower, edges, baseline=None, color=OPTIMAL, linestyle="dashed", label="at least")
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
    ax.set_ylim(bottom=0)
    ax.margins(x=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
    return ax
