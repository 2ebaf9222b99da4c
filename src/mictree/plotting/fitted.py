"""The errors of a grown tree by size: training, cross-validated, and the optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from mictree.plotting.sizes import draw_sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.estimators.sizes import SizeChoice
    from mictree.optimal.result import CertifiedErrors

TRAINING, VALIDATED, OPTIMAL = "#0072B2", "#D55E00", "#1A1A1A"  # from Okabe and Ito's palette
OPEN = "#C9C9C9"  # the interval of an optimal error that is not proved


def draw_errors(
    figure: Figure,
    rule: str,
    errors: np.ndarray | None,
    choice: SizeChoice | None,
    optimal: CertifiedErrors | None,
    size: int,
) -> Axes:
    """Draw errors against size; a dashed line marks the chosen size.

    Scores are no errors, and have axes of their own beside them. The errors of a rule are None if
    it is the optimum.
    """
    scored = choice is not None and bool(choice.scoring)
    figure.set_size_inches(7.6, 4.6)
    ax = figure.add_subplot(1, 2 if scored else 1, 1)
    if choice is not None and scored:
        draw_sizes(figure.add_subplot(1, 2, 2), choice)
    ax.axvline(size, color=OPEN, linestyle=(0, (4, 3)), linewidth=1, zorder=0)
    place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    ax.annotate("chosen", (size, 1), xytext=(4, -4), va="top", fontsize="small", color="#5a5a5a",
                **place)  # fmt: skip
    if errors is not None:
        ax.plot(errors, color=TRAINING, marker="o", markersize=4, label=f"{rule}: training")
    if choice is not None and not scored:
        means, spread = 1 - choice.means, choice.standard_errors
        sizes = np.arange(len(means))
        band = {"color": VALIDATED, "alpha": 0.15, "linewidth": 0}
        ax.fill_between(sizes, means - spread, means + spread, **band)
        ax.plot(sizes, means, color=VALIDATED, marker="D", markersize=4, linestyle=(0, (5, 1.5)),
                label=f"{rule}: cross-validated ± standard error")  # fmt: skip
    if optimal is not None:
        sizes = np.arange(len(optimal.upper))
        if not optimal.proved.all():
            ax.fill_between(sizes, optimal.lower, optimal.upper, color=OPEN, linewidth=0,
                            label="optimal: not yet proved")  # fmt: skip
        ax.plot(sizes, optimal.upper, color=OPTIMAL, marker="s", markersize=3, linewidth=1.2,
                label="optimal: training")  # fmt: skip
    ax.set_xlabel("size (splits)")
    ax.set_ylabel("error")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    drawn = ax.get_legend_handles_labels()
    legend = figure.legend(*drawn, loc="outside upper center", ncols=2, frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax
