"""Learners beside the optimal trees, by size.

``draw_comparison`` has training errors on the left and held-out errors on the right, for several
learners. ``draw_errors`` is for one fitted tree: training error, cross-validated error and the
optimum. Where an optimal error is not proved, a shaded area shows its interval. Colours are from
Okabe and Ito's palette; markers and line styles distinguish the learners, too.

``draw_sets`` has the differences between learners and the optimal trees on many tables.

Held-out rows of a regression tree: predicted beside true numbers, and residuals by leaf.

A tree predicts one number a leaf, so its rows stand in columns on the left. On the right every leaf
has a box: its quartiles, a line at the median, and whiskers over the middle 90% of its rows. A box
far from zero belongs to a leaf that is wrong on one side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from mictree._support.words import DIGITS, show_digits
from mictree.plotting.curves import draw_sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.comparison.result import Comparison
    from mictree.estimators.leaves import LeafResults
    from mictree.estimators.sizes import SizeChoice
    from mictree.experiments.study_tables import TableStudy
    from mictree.optimal import CertifiedErrors


OPTIMAL_COLOUR = "#1A1A1A"
NOT_PROVED_COLOUR = "#C9C9C9"  # the interval of an optimal error that is not proved
LEARNER_LOOKS = (
    ("#0072B2", "o", "solid"), ("#D55E00", "D", (0, (5, 1.5))), ("#009E73", "^", (0, (3, 1, 1, 1))),
    ("#CC79A7", "v", (0, (1, 1))), ("#E69F00", "s", (0, (5, 3))), ("#56B4E9", "P", "solid"),
)  # fmt: skip


def draw_comparison(figure: Figure | None, result: Comparison) -> Figure:
    """Draw training and held-out errors against size, side by side.

    The plot omits size 0, where all learners are the same leaf, with an error that dwarfs the rest.
    The shaded area is the interval of optimal errors that are not proved. An open circle marks a
    size at which the optimal tree errs clearly less on held-out rows than some learner.
    """
    if figure is None:
        from matplotlib import pyplot

        figure = pyplot.figure(layout="constrained")
    panels = 2 if result.held_out else 1
    figure.set_size_inches(5.1 * panels, 4.0)
    axes = figure.subplots(1, panels, sharey=not result.scoring, squeeze=False)[0]
    _draw_training(axes[0], result)
    if result.held_out:
        _draw_held_out(axes[1], result)
    for ax in axes:
        ax.set_xlabel("size (splits)")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.spines[["top", "right"]].set_visible(False)
    errors = axes[:1] if result.scoring else axes
    drawn = [line.get_ydata() for ax in errors for line in ax.lines]
    axes[0].set_ylim(*_range([*drawn, result.optimal_errors.lower[1:]]))
    shown = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        shown |= {
            label: shown.get(label, each) for each, label in zip(handles, labels, strict=True)
        }
    legend = figure.legend(
        [*shown.values()], [*shown], loc="outside upper center", ncols=min(4, len(shown)),
        frameon=False,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)
    return figure


def _range(curves: list[Any]) -> tuple[float, float]:
    """The errors to show: from zero, unless that would leave most of the picture empty."""
    least, most = np.min(np.concatenate(curves)), np.max(np.concatenate(curves))
    bottom = 0.0 if 2 * least <= most else least
    room = 0.05 * max(most - bottom, 0.01)
    return bottom - room, most + room


def _draw_training(ax: Axes, result: Comparison) -> None:
    sizes = np.arange(1, result.max_size + 1)
    lower, upper = (ends[1:] for ends in (result.optimal_errors.lower, result.optimal_errors.upper))
    if not result.proved:
        ax.fill_between(sizes, lower, upper, color=NOT_PROVED_COLOUR, linewidth=0,
                        label="optimal: not yet proved")  # fmt: skip
    ax.plot(sizes, upper, color=OPTIMAL_COLOUR, linewidth=1.2, zorder=3, label="optimal")
    for number, name in enumerate(result.names):
        _draw_learner(ax, sizes, result.training_errors[name][1:], number, name)
    ax.set_title(f"training {result.error_name}", fontsize="medium")
    ax.set_ylabel(result.error_name)


def _draw_held_out(ax: Axes, result: Comparison) -> None:
    sizes = np.arange(1, result.max_size + 1)
    optimal = result.held_out["optimal"].shown
    ax.plot(sizes, optimal[1:], color=OPTIMAL_COLOUR, linewidth=1.2, zorder=3, label="optimal")
    better: set[int] = set()
    for number, name in enumerate(result.names):
        _draw_learner(ax, sizes, result.held_out[name].shown[1:], number, name)
        better |= {size for size, what in enumerate(result.verdicts(name)) if what == "better"}
    if better:
        places = sorted(better)
        ax.plot(places, optimal[places], "o", markersize=10, markerfacecolor="none",
                markeredgecolor=OPTIMAL_COLOUR,
                label="optimal clearly better than some")  # fmt: skip
    folding = result.folding.replace(" cross-validation", "")
    title = ax.set_title(f"held-out {result.measure} ({folding})", fontsize="medium")
    title.set_parse_math(False)


def _draw_learner(ax: Axes, sizes: np.ndarray, errors: np.ndarray, number: int, name: str) -> None:
    place = number % len(LEARNER_LOOKS)
    colour, marker, line = LEARNER_LOOKS[place]
    # each line is narrower than those beneath it, so that equal curves remain visible
    ax.plot(sizes, errors, color=colour, marker=marker, linestyle=line,
            markersize=8.5 - place, linewidth=3.5 - 0.4 * place,
            label=f" {name}" if name.startswith("_") else name)  # fmt: skip


TRAINING_COLOUR, VALIDATED_COLOUR = "#0072B2", "#D55E00"


def draw_errors(
    figure: Figure,
    rule: str,
    errors: np.ndarray | None,
    choice: SizeChoice | None,
    optimal: CertifiedErrors | None,
    size: int,
    measure: str = "error",
) -> Axes:
    """Draw errors against size; a dashed line marks the chosen size.

    Scores are no errors, and have axes of their own beside them. The errors of a rule are None if
    it is the optimum. The ``measure`` says what errors are.
    """
    scored = choice is not None and bool(choice.scoring)
    figure.set_size_inches(7.6, 4.6)
    ax = figure.add_subplot(1, 2 if scored else 1, 1)
    if choice is not None and scored:
        draw_sizes(figure.add_subplot(1, 2, 2), choice)
    ax.axvline(size, color=NOT_PROVED_COLOUR, linestyle=(0, (4, 3)), linewidth=1, zorder=0)
    place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    ax.annotate("chosen", (size, 1), xytext=(4, -4), va="top", fontsize="small", color="#5a5a5a",
                **place)  # fmt: skip
    if errors is not None:
        ax.plot(errors, color=TRAINING_COLOUR, marker="o", markersize=4, label=f"{rule}: training")
    if choice is not None and not scored:
        means, spread = choice.shown, choice.standard_errors
        sizes = np.arange(len(means))
        band = {"color": VALIDATED_COLOUR, "alpha": 0.15, "linewidth": 0}
        ax.fill_between(sizes, means - spread, means + spread, **band)
        ax.plot(sizes, means, color=VALIDATED_COLOUR, marker="D", markersize=4,
                linestyle=(0, (5, 1.5)),
                label=f"{rule}: cross-validated ± standard error")  # fmt: skip
    if optimal is not None:
        sizes = np.arange(len(optimal.upper))
        if not optimal.proved.all():
            ax.fill_between(sizes, optimal.lower, optimal.upper, color=NOT_PROVED_COLOUR,
                            linewidth=0, label="optimal: not yet proved")  # fmt: skip
        ax.plot(sizes, optimal.upper, color=OPTIMAL_COLOUR, marker="s", markersize=3, linewidth=1.2,
                label="optimal: training")  # fmt: skip
    ax.set_xlabel("size (splits)")
    ax.set_ylabel(measure)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    drawn = ax.get_legend_handles_labels()
    legend = figure.legend(*drawn, loc="outside upper center", ncols=2, frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax


ROW_COLOUR, LEAF_COLOUR, LINE_COLOUR = "#0072B2", "#DCE6F0", "#5A5A5A"
MOST_NAMED = 16  # leaves whose predictions have room beside their boxes
MOST_POINTS = 4000  # more are drawn in part, evenly by rank
WHISKERS = (5, 95)  # percentiles


def draw_residuals(figure: Figure, results: LeafResults, target: str) -> tuple[Axes, Axes]:
    """Draw predicted against true numbers, and the residuals of each leaf."""
    figure.set_size_inches(9.2, 4.2)
    left, right = figure.subplots(1, 2)
    _draw_rows(left, results, target)
    _draw_leaves(right, results)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return left, right


def _draw_rows(ax: Axes, results: LeafResults, target: str) -> None:
    shown = np.argsort(results.truth, kind="stable")
    shown = shown[np.linspace(0, len(shown) - 1, min(len(shown), MOST_POINTS)).astype(int)]
    ax.plot(results.predicted[shown], results.truth[shown], linestyle="none", marker="o",
            markersize=4, color=ROW_COLOUR, alpha=0.35, markeredgewidth=0)  # fmt: skip
    ends = [min(results.predicted.min(), results.truth.min()),
            max(results.predicted.max(), results.truth.max())]  # fmt: skip
    ax.plot(ends, ends, color=LINE_COLOUR, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    ax.set_title("held-out rows", fontsize="medium")
    ax.set_xlabel(f"predicted {target}", parse_math=False)
    ax.set_ylabel(f"true {target}", parse_math=False)
    ax.xaxis.set_major_locator(MaxNLocator(6))


def _draw_leaves(ax: Axes, results: LeafResults) -> None:
    leaves = results.leaves
    ax.axhline(0, color=LINE_COLOUR, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    line = {"color": LINE_COLOUR, "linewidth": 1}
    for place, value in enumerate(leaves):
        residuals = results.at(value).residuals
        if len(residuals):
            ax.boxplot(
                residuals, positions=[place], widths=0.6, whis=WHISKERS, showfliers=False,
                patch_artist=True, manage_ticks=False, whiskerprops=line, capprops=line,
                boxprops={"facecolor": LEAF_COLOUR, "edgecolor": LINE_COLOUR, "linewidth": 1},
                medianprops={"color": ROW_COLOUR, "linewidth": 2},
            )  # fmt: skip
    every = -(-len(leaves) // MOST_NAMED)
    names = [show_digits(value, DIGITS) for value in leaves]
    ax.set_xticks(range(0, len(leaves), every), names[::every], rotation=35, ha="right")
    ax.set_xlim(-0.6, len(leaves) - 0.4)
    ax.set_title("residuals of each leaf", fontsize="medium")
    ax.set_xlabel("what the leaf predicts")
    ax.set_ylabel("true minus predicted")


ROPE_COLOUR, OPEN_COLOUR = "#E3E3E3", "#9A9A9A"


def draw_sets(figure: Figure, found: TableStudy, tuned: bool) -> Figure:
    """One panel per learner: on each table, its error above that of the optimal trees, in points.

    Bars are two standard errors on both sides. Where not all sizes are certified the marker is
    hollow. Within the band differences are practically none.
    """
    names, tables = found.learners(tuned)[:-1], found.sets["table"].to_list()[::-1]
    figure.set_size_inches(1.5 + 1.55 * len(names), 1.6 + 0.22 * len(tables))
    axes = figure.subplots(1, len(names), sharey=True, sharex=True, squeeze=False)[0]
    rope = 100 * found.plan.rope
    for ax, name in zip(axes, names, strict=True):
        ax.axvspan(-rope, rope, color=ROPE_COLOUR, zorder=0)
        ax.axvline(0, color=LINE_COLOUR, linewidth=1, zorder=1)
        for table, (mean, spread) in found.differences(name, tuned).items():
            proved = found.certified(table) == found.plan.max_size
            ax.errorbar(
                100 * mean, tables.index(table), xerr=200 * spread, marker="o", markersize=4.5,
                color=ROW_COLOUR, ecolor=OPEN_COLOUR, elinewidth=1,
                markerfacecolor=ROW_COLOUR if proved else "white",
            )  # fmt: skip
        ax.set_title(name.replace(" by ", "\nby "), fontsize=9.5, parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_yticks(range(len(tables)), tables, fontsize=8, parse_math=False)
    axes[0].set_ylim(-0.7, len(tables) - 0.3)
    figure.supxlabel("error above that of the optimal trees (points)", fontsize=10)
    return figure
