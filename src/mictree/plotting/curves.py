"""Errors against a size: of trees, of forests, of samples.

Each function draws one result that another module has computed: the curves of a rule and of the
optimum with the area between them, certified intervals and how they became narrow, MIC by the
number of allowed splits, scores by size with the chosen one, the excess error of trees from samples
and its convergence to the exact one, test error by training rows, and the error of a forest beside
those of its trees and of the best single trees. The study's figures stand here too: losses by
training rows, where they turn negative, and orders.
Functions with ``ax`` draw on given axes or on a new figure; those with ``figure`` fill it. Colours
are from Okabe and Ito's palette; line styles and markers distinguish the curves, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.ticker import MaxNLocator, NullLocator

from mictree._support.words import show_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.estimators.sizes import SizeChoice
    from mictree.excess import MicResult, TopResult
    from mictree.experiments.finite_samples import FiniteSamples, FiniteSetting
    from mictree.experiments.sample_size import SampledCase, SampleSizes
    from mictree.experiments.study_known import KnownStudy
    from mictree.experiments.voting import Voting
    from mictree.forests import ForestErrors
    from mictree.optimal import CertifiedErrors


GREEDY, OPTIMAL, EXCESS, BETWEEN = "#D55E00", "#0072B2", "#1A1A1A", "#E3E3E3"


def draw_curves(ax: Axes | None, result: MicResult) -> Axes:
    """Draw greedy, optimal and excess errors against size.

    Each size is a step of width 1 (the last is cut in half), so that the shaded area is the sum of
    the excess errors.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    result : the curves; Fractions are drawn as floats
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    sizes = np.arange(result.max_size + 1)
    greedy, optimal, excess = (
        np.asarray(errors, dtype=float)
        for errors in (result.greedy_errors, result.optimal_errors, result.excess_errors)
    )
    ax.fill_between(sizes, optimal, greedy, step="mid", color=BETWEEN, linewidth=0)
    for errors, label, colour, line in (
        (greedy, "greedy", GREEDY, "solid"),
        (optimal, "optimal", OPTIMAL, "dashed"),
        (excess, "excess (greedy − optimal)", EXCESS, "dotted"),
    ):
        ax.step(sizes, errors, where="mid", color=colour, linestyle=line, label=label)
    _describe(ax, result)
    return ax


def _describe(ax: Axes, result: MicResult) -> None:
    ax.set_xlabel("size (splits)")
    ax.set_ylabel("error")
    title = f"{result.rule}\nMIC({result.max_size}) = {show_number(result.mic, 4)}"
    ax.set_title(title, fontsize="medium", parse_math=False, usetex=False)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.margins(x=0)
    ax.set_ylim(bottom=-0.015 * ax.get_ylim()[1])  # a curve at 0 stays clear of the axis
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)


BAND = {"relaxation": "#BBD7EA", "search": "#E3E3E3"}  # by what certifies the lower end


def draw_band(ax: Axes | None, errors: CertifiedErrors) -> Axes:
    """Draw the errors of the best trees found, and the intervals of those that are not proved.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    errors : the intervals; Fractions are drawn as floats. Sizes that are not proved have hollow
        markers.
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    sizes, proved = errors.sizes, errors.proved
    lower, upper = (np.asarray(each, dtype=float) for each in (errors.lower, errors.upper))
    ax.plot(sizes, upper, color=OPTIMAL, linewidth=1.2, label="best tree found")
    ax.plot(sizes[proved], upper[proved], "o", color=OPTIMAL, markersize=5, label="proved")
    ax.plot(sizes[~proved], upper[~proved], "o", color=OPTIMAL, markerfacecolor="white")
    for kind, colour in BAND.items():
        held = errors.certificate == kind
        if held.any():
            ax.bar(sizes[held], (upper - lower)[held], width=0.8, bottom=lower[held], color=colour,
                   zorder=0, label=f"interval: bound by {kind}")  # fmt: skip
    ax.set_xlabel("size (splits)")
    ax.set_ylabel("least error")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
    return ax


AT_ONCE = 0.02  # of the time: gaps that closed so soon are not drawn
MOST_GAPS = 8  # curves of gaps in one picture: of the sizes whose gaps are the widest at the end


def draw_gaps(ax: Axes | None, errors: CertifiedErrors) -> Axes:
    """Draw how far apart the ends of each interval were against the seconds of the search.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    errors : the intervals with their history; sizes that were proved at once are left out
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    drawn = [each for each in errors.gaps() if len(each[1]) > 1]
    end = max((seconds[-1] for _, seconds, _ in drawn), default=0.0)
    slow = [each for each in drawn if each[2][-1] > 0 or each[1][-1] > AT_ONCE * end]
    shown = sorted(slow, key=lambda each: (-each[2][-1], -each[1][-1]))[:MOST_GAPS]
    for number, (size, seconds, gaps) in enumerate(sorted(shown, key=lambda each: each[0])):
        colour = colormaps["cividis"](0.95 - 0.9 * number / max(1, len(shown) - 1))
        line = ("solid", "dashed", "dashdot", "dotted")[number % 4]
        ax.step([*seconds, end], [*gaps, gaps[-1]], where="post", color=colour, linestyle=line,
                label=f"{size} split{'' if size == 1 else 's'}")  # fmt: skip
    ax.set_xlabel("seconds")
    ax.set_ylabel("upper end minus lower end")
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    if shown:
        ax.legend(loc="upper right", frameon=False)
    return ax


MEAN_COLOUR, LARGEST_COLOUR = "#0072B2", "#D55E00"


def draw_tops(ax: Axes | None, result: TopResult) -> Axes:
    """Draw MIC and the largest excess error of each top.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    result : the excess errors; Fractions are drawn as floats. Tops that are not proved have hollow
        markers.
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    tops = np.array(result.tops)
    largest = np.asarray(result.excess_errors, dtype=float).max(axis=1)
    mean = np.asarray(result.mic, dtype=float)
    open_ones = ~np.array(result.proved)
    for values, label, colour, marker, line in (
        (mean, f"MIC({result.max_size})", MEAN_COLOUR, "o", "solid"),
        (largest, "largest excess error", LARGEST_COLOUR, "s", "dashed"),
    ):
        ax.plot(tops, values, color=colour, marker=marker, linestyle=line, label=label)
        ax.plot(tops[open_ones], values[open_ones], marker, color=colour, markerfacecolor="white")
    ax.set_xlabel(f"splits of largest gain allowed at every node ({result.criterion})")
    ax.set_ylabel("excess error")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(bottom=-0.015 * ax.get_ylim()[1])  # a curve at 0 stays clear of the axis
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
    return ax


SCORE_COLOUR, CHOSEN_COLOUR = "#0072B2", "#D55E00"


def draw_sizes(ax: Axes | None, choice: SizeChoice) -> Axes:
    """Draw mean scores and their standard errors against size; a diamond marks the choice."""
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    means, errors = choice.shown if choice.loss else choice.means, choice.standard_errors
    sizes = np.arange(len(means))
    ax.fill_between(
        sizes, means - errors, means + errors, color=SCORE_COLOUR, alpha=0.15, linewidth=0
    )
    ax.plot(
        sizes, means, color=SCORE_COLOUR, marker="o", markersize=4, label="mean ± standard error"
    )
    ax.plot(
        choice.size, means[choice.size], color=CHOSEN_COLOUR, marker="D", markersize=9,
        linestyle="none",
        label=f"chosen: {choice.size} split{'' if choice.size == 1 else 's'}",
    )  # fmt: skip
    ax.set_xlabel("size (splits)")
    ax.set_ylabel(f"{choice.scoring or choice.loss or 'score'} on held-out rows", parse_math=False)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper right" if choice.loss else "lower right", frameon=False)
    return ax


RULE_LOOKS = {"TopDown": ("#0072B2", "o"), "BestFirst": ("#D55E00", "D")}
EXACT_COLOUR = "#1A1A1A"
MOST_CURVES = 5


def draw_excess(figure: Figure, result: SampleSizes) -> Figure:
    """One panel per formula and rule: excess error against size, one curve per number of rows."""
    figure.set_size_inches(10.2, 3.3 * len(result.cases) + 0.3)
    axes = figure.subplots(len(result.cases), len(RULE_LOOKS), sharey="row", squeeze=False)
    for row, sampled in zip(axes, result.cases, strict=True):
        for ax, rule in zip(row, RULE_LOOKS, strict=True):
            _draw_case(ax, sampled, rule, result.plan.rows)
        row[0].set_ylabel("excess error")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=6, frameon=False)
    return figure


def _draw_case(ax: Axes, sampled: SampledCase, rule: str, all_rows: tuple[int, ...]) -> Axes:
    """The mean excess error by size, for some numbers of rows and for the distribution itself."""
    sizes = np.arange(len(sampled.optimal))
    shown = _spaced_evenly(all_rows)
    for number, rows in enumerate(shown):
        colour = colormaps["cividis"](0.95 - 0.9 * number / max(1, len(shown) - 1))
        marker = "osD^v"[number % 5]
        ax.plot(sizes, sampled.excess(rule, rows), color=colour, marker=marker, markersize=3.5,
                linewidth=1.2, label=f"{rows:,} rows")  # fmt: skip
    exact = sampled.exact_excess(rule)
    ax.plot(
        sizes, exact, color=EXACT_COLOUR, linestyle="dashed", linewidth=1.8, label="exact", zorder=4
    )
    ax.set_title(f"{rule}: {sampled.case.name}", fontsize=10.5, parse_math=False)
    ax.set_xlabel("size (splits)")
    ax.margins(x=0.02)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def draw_convergence(figure: Figure, result: SampleSizes) -> Figure:
    """One panel per formula: MIC of trees learned from rows against their number."""
    figure.set_size_inches(10.2, 3.9)
    axes = np.atleast_1d(figure.subplots(1, len(result.cases)))
    for ax, sampled in zip(axes, result.cases, strict=True):
        for rule, (colour, marker) in RULE_LOOKS.items():
            found = np.array([sampled.sampled_mic(rule, rows) for rows in result.plan.rows])
            mean, spread = found.mean(axis=1), found.std(axis=1)
            ax.plot(result.plan.rows, mean, marker=marker, color=colour, markersize=5,
                    label=f"{rule}, from rows")  # fmt: skip
            low = np.maximum(mean - spread, 0)  # no excess is negative
            ax.fill_between(result.plan.rows, low, mean + spread, color=colour,
                            alpha=0.2, linewidth=0)  # fmt: skip
            ax.axhline(sampled.exact_mic(rule), color=colour, linestyle="dashed",
                       label=f"{rule}, exact")  # fmt: skip
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_title(sampled.case.name, fontsize=10.5, parse_math=False)
        ax.set_xlabel("rows")
        ax.set_ylabel(f"MIC({sampled.case.max_size})")
        ax.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    return figure


def _spaced_evenly(all_rows: tuple[int, ...]) -> list[int]:
    """Some of many numbers of rows, evenly spaced, with the first and the last."""
    places = np.linspace(0, len(all_rows) - 1, min(MOST_CURVES, len(all_rows))).round().astype(int)
    return [all_rows[place] for place in places]


LEARNER_LOOKS: dict[str, dict[str, Any]] = {
    "TopDown": {"color": "#0072B2", "marker": "o", "linestyle": "solid"},
    "BestFirst": {"color": "#D55E00", "marker": "D", "linestyle": "solid"},
    "scikit-learn": {"color": "#1A1A1A", "marker": "s", "linestyle": "none", "fillstyle": "none",
                     "markersize": 9},
}  # fmt: skip
BEST_COLOUR, TESTED_COLOUR = "#009E73", "#1A1A1A"


def draw_finite_samples(figure: Figure, result: FiniteSamples) -> Figure:
    """One panel per distribution."""
    figure.set_size_inches(10.2, 4.1)
    axes = np.atleast_1d(figure.subplots(1, len(result.settings), sharey=True))
    for ax, setting in zip(axes, result.settings, strict=True):
        _draw_setting(ax, setting)
    axes[0].set_ylabel("error")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False)
    return figure


def _draw_setting(ax: Axes, setting: FiniteSetting) -> Axes:
    """Mean true error with one standard deviation, mean test error, and the optimal error."""
    summary = setting.summary
    for learner, look in LEARNER_LOOKS.items():
        part = summary.filter(learner=learner).sort("rows")
        rows, mean = part["rows"].to_numpy(), part["exact_error"].to_numpy()
        spread = part["exact_error_spread"].fill_null(0).to_numpy()
        ax.plot(rows, mean, label=f"{learner}, true error", zorder=3, **{"markersize": 5, **look})
        if look["linestyle"] != "none":
            ax.fill_between(
                rows, mean - spread, mean + spread, color=look["color"], alpha=0.2, linewidth=0
            )
        if learner != "scikit-learn":
            ax.plot(rows, part["test_error"].to_numpy(), "x", color=TESTED_COLOUR,
                    markersize=6, zorder=5,
                    label="on test rows" if learner == "TopDown" else None)  # fmt: skip
    if setting.limit.optimal_errors is not None:
        least = setting.limit.optimal_errors
        label = f"OPT(D, {len(least) - 1})"
        ax.axhline(least[-1], color=BEST_COLOUR, linestyle="dashed", label=label)
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_ylim(bottom=0)
    ax.set_xlabel("training rows")
    ax.set_title(setting.title, fontsize=10.5)
    ax.grid(axis="y", color="#E9E9E9")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


TOTAL_COLOUR = "#009E73"


def draw_forest(ax: Axes | None, result: ForestErrors) -> Axes:
    """Draw the forest's error, its trees' errors and both optimal curves against size.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    result : the curves; Fractions are drawn as floats
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    sizes = np.arange(len(result.errors))
    spread = np.asarray(result.tree_errors, dtype=float)
    ax.fill_between(sizes, spread.min(0), spread.max(0), color=GREEDY, alpha=0.15, linewidth=0)
    count = result.trees
    total = f"best single tree of {count} × size"
    for errors, label, colour, line in (
        (spread.mean(0), "its trees alone (mean, range)", GREEDY, "dotted"),
        (result.errors, f"vote of {count} trees", EXCESS, "solid"),
        (result.optimal_errors, "best single tree of this size", OPTIMAL, "dashed"),
        (result.optimal_of_total, total, TOTAL_COLOUR, "dashdot"),
    ):
        ax.plot(sizes, np.asarray(errors, dtype=float), color=colour, linestyle=line, label=label)
    ax.set_xlabel("size of each tree (splits)")
    ax.set_ylabel("error")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
    return ax


COLUMNS = 3


def draw_voting(figure: Figure, found: Voting) -> Figure:
    """One panel for each target; numbers are percentages of forests."""
    plan = found.plan
    rows = -(-len(plan.targets) // COLUMNS)
    figure.set_size_inches(10.2, 2.9 * rows)
    axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for ax in axes[len(plan.targets) :]:
        ax.set_axis_off()
    for ax, target in zip(axes, plan.targets, strict=False):
        shares = np.zeros((len(plan.trees), plan.max_size))
        for trees, size, share in found.shares(target).iter_rows():
            shares[plan.trees.index(trees), size - 1] = share
        ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto", origin="lower")
        for row, column in np.argwhere(shares > 0):
            share = shares[row, column]
            colour = "white" if share > 0.6 else "#1A1A1A"
            ax.text(column, row, f"{share:.0%}"[:-1], ha="center", va="center", fontsize=7,
                    color=colour)  # fmt: skip
        ax.set_xticks(range(plan.max_size), range(1, plan.max_size + 1), fontsize=8)
        ax.set_yticks(range(len(plan.trees)), plan.trees, fontsize=8)
        ax.set_title(target, fontsize=10)
        ax.set_xlabel("size of each tree (splits)", fontsize=8)
        ax.set_ylabel("trees", fontsize=8)
    return figure


LOSS_COLOURS = {
    "floor": "#C9C9C9", "approximation": "#56B4E9", "estimation": "#E69F00",
    "optimisation": "#D55E00",
}  # fmt: skip


def draw_losses(figure: Figure, found: KnownStudy) -> Figure:
    """One panel per learner: the mean losses at the chosen sizes, against training rows.

    Bars add up to the true error, which a line shows. A negative optimisation loss hangs down from
    the bar that it makes shorter.
    """
    names = found.learners
    figure.set_size_inches(10.2, 6.0)
    axes = figure.subplots(2, -(-len(names) // 2), sharey=True, squeeze=False).ravel()
    means = found.mean_losses(["learner", "rows"], chosen=True)
    for ax, name in zip(axes, names, strict=False):
        part = means.filter(learner=name)
        places, top = np.arange(len(part)), np.zeros(len(part))
        for loss, colour in LOSS_COLOURS.items():
            heights = part[loss].to_numpy()
            inner = loss == "optimisation"
            ax.bar(places, heights, 0.45 if inner else 0.8, bottom=top, color=colour, label=loss,
                   zorder=3 if inner else 2)  # fmt: skip
            top = top + heights
        ax.plot(places, part["true_error"], color=EXACT_COLOUR, marker="o", markersize=3.5,
                linewidth=1.2, label="true error", zorder=4)  # fmt: skip
        ax.set_xticks(places, [f"{rows:,}" for rows in part["rows"]], rotation=40, ha="right",
                      fontsize=8)  # fmt: skip
        ax.set_title(name, fontsize=10.5, parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[len(names) :]:
        ax.set_axis_off()
    for ax in axes[:: -(-len(names) // 2)]:
        ax.set_ylabel("error")
    figure.supxlabel("training rows", fontsize=10)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5,
                  frameon=False)  # fmt: skip
    return figure


def draw_turning(figure: Figure, found: KnownStudy) -> Figure:
    """One panel per learner: the mean optimisation loss by size and training rows, in points."""
    names, plan = found.learners[:-1], found.plan
    across = -(-len(names) // 2)
    figure.set_size_inches(10.2, 5.6)
    axes = figure.subplots(2, across, sharex=True, sharey=True, squeeze=False).ravel()
    maps = {name: found.optimisation_map(name) * 100 for name in names}
    most = max(float(np.abs(each).max()) for each in maps.values()) or 1.0
    image = None
    for ax, name in zip(axes, names, strict=False):
        image = ax.imshow(maps[name], cmap="PuOr_r", vmin=-most, vmax=most, aspect="auto",
                          origin="lower")  # fmt: skip
        for row, column in np.argwhere(maps[name] < -SMALLEST_SHOWN):
            ax.text(column, row, "−", ha="center", va="center", fontsize=9)
        ax.set_title(name, fontsize=10.5, parse_math=False)
        ax.set_xticks(range(plan.max_size), range(1, plan.max_size + 1), fontsize=8)
        ax.set_yticks(range(len(plan.rows)), [f"{rows:,}" for rows in plan.rows], fontsize=8)
    for ax in axes[len(names) :]:
        ax.set_axis_off()
    figure.supxlabel("size (splits)", fontsize=10)
    figure.supylabel("training rows", fontsize=10)
    assert image is not None
    figure.colorbar(image, ax=axes.tolist(), label="optimisation loss (points)", shrink=0.7)
    return figure


SMALLEST_SHOWN = 1e-10  # points


def draw_orders(ax: Axes, found: KnownStudy) -> Axes:
    """Mean Kendall's tau between exact MICs and true errors on samples, with intervals."""
    rows = found.plan.rows
    known = np.array([found.interval(found.orders(each)) for each in rows])
    places = np.arange(len(rows))
    spread = np.abs(known[:, 1:].T - known[:, 0])
    ax.axhline(0, color=EXACT_COLOUR, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    ax.errorbar(places, known[:, 0], spread, color=OPTIMAL, marker="o", markersize=5, capsize=3)
    ax.set_xticks(places, [f"{each:,}" for each in rows])
    ax.set_ylim(-1.05, 1.05)
    ax.set_xlabel("training rows")
    ax.set_ylabel("Kendall's tau, mean over targets")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
