"""The scores of trees by size, with the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mictree.estimators.sizes import SizeChoice

SCORE, CHOSEN = "#0072B2", "#D55E00"  # from Okabe and Ito's palette


def draw_sizes(ax: Axes | None, choice: SizeChoice) -> Axes:
    """Draw mean scores and their standard errors against size; a diamond marks the choice."""
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    means, errors = choice.means, choice.standard_errors
    sizes = np.arange(len(means))
    ax.fill_between(sizes, means - errors, means + errors, color=SCORE, alpha=0.15, linewidth=0)
    ax.plot(sizes, means, color=SCORE, marker="o", markersize=4, label="mean ± standard error")
    ax.plot(
        choice.size, means[choice.size], color=CHOSEN, marker="D", markersize=9, linestyle="none",
        label=f"chosen: {choice.size} split{'' if choice.size == 1 else 's'}",
    )  # fmt: skip
    ax.set_xlabel("size (splits)")
    ax.set_ylabel(f"{choice.scoring or 'score'} on held-out rows", parse_math=False)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower right", frameon=False)
    return ax
