"""Greedy sizes against the least sizes of all members of a sweep."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from mictree.plotting.curves import GREEDY, OPTIMAL

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

LARGEST = 300.0  # area of the largest disc, in square points


def draw_greedy_sizes(ax: Axes | None, frame: pl.DataFrame) -> Axes:
    """Draw a disc for each pair of sizes; its area is the share of functions that have them.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    frame : of a sweep with one rule; members whose sizes are missing are left out
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.8), layout="constrained").add_subplot()
    known = frame.drop_nulls(["perfect_size", "greedy_size_best", "greedy_size_worst"])
    # the worst ties are rings, so that both show where they agree
    for name, label, face, edge in (
        ("greedy_size_best", "best ties", OPTIMAL, "none"),
        ("greedy_size_worst", "worst ties", "none", GREEDY),
    ):
        functions: Counter[tuple[int, int]] = Counter()
        for least, greedy, count in known.select("perfect_size", name, "count").iter_rows():
            functions[least, greedy] += count
        most = max(functions.values(), default=1)
        least, greedy = zip(*functions, strict=True) if functions else ((), ())
        areas = [LARGEST * count / most for count in functions.values()]
        ax.scatter(least, greedy, areas, facecolors=face, edgecolors=edge, label=label)
        small = [place for place, area in enumerate(areas) if area < 4]  # still to be seen
        marks = [least[place] for place in small], [greedy[place] for place in small]
        ax.scatter(*marks, s=4, color=OPTIMAL if face != "none" else GREEDY)
    limit = known["greedy_size_worst"].max()
    end = int(limit) if isinstance(limit, int) else 1
    ax.plot([0, end], [0, end], color="black", linestyle="dotted", linewidth=1, zorder=0)
    ax.set_xlabel("splits of the smallest tree without error")
    ax.set_ylabel("splits of a greedy tree without error")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    handles, labels = ax.get_legend_handles_labels()
    legend = ax.legend(handles, labels, frameon=False, loc="upper left")
    for handle in legend.legend_handles:
        handle.set_sizes([40.0])  # type: ignore[union-attr]
    return ax
