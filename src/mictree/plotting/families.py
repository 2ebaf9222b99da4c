"""Families of formulas and functions: distributions of MIC, rankings of rules, sizes of trees.

Each function draws one result of a sweep or an experiment: histograms of MIC over the formulas of a
setting or the members of a family, MIC by the names of variables, by the correlation of neighbours
and by the noise of labels, contestants by their mean MIC, greedy sizes against least sizes, and
trees side by side. Colours are from Okabe and Ito's palette; outlines, line styles and markers
differ too, for readers without colour.

Of good trees, ``draw_shares`` is a heat map of the share that test a variable, by size. A dot marks
variables that every good tree of a size tests. ``draw_trees`` draws trees beside one another.

MIC over a bias that all variables share.

Certified results are intervals: a box is a range of biases, and on it MIC lies between two proved
bounds. These functions draw the boxes with the largest MIC of the range, curves through single
biases, which prove nothing between them, and, for each pair of terms, the biases for which
TopDown's trees are optimal. A hatch shows the difference in print without colours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, NullLocator

from mictree.plotting.curves import BETWEEN, GREEDY, OPTIMAL
from mictree.plotting.tree import decorations, draw_tree

if TYPE_CHECKING:
    import polars
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.experiments.dependence import Dependence
    from mictree.experiments.function_sizes import FunctionSizes, Witness
    from mictree.experiments.good_counts import GoodCounts
    from mictree.experiments.histograms import Spread
    from mictree.experiments.noise import Noise
    from mictree.experiments.rankings import Rankings
    from mictree.experiments.relabellings import Relabellings
    from mictree.experiments.two_term_biases import TwoTermBiases
    from mictree.experiments.worst_over_biases import WorstOverBiases
    from mictree.families.biases import MicOverBiases
    from mictree.problems.base import Problem
    from mictree.tree import Tree


TOPDOWN, BESTFIRST = "#0072B2", "#D55E00"
RULES: tuple[tuple[str, str, str, Literal["solid", "dashed"]], ...] = (
    ("topdown", "TopDown", TOPDOWN, "solid"),
    ("bestfirst", "BestFirst", BESTFIRST, "dashed"),
)
SETTING_BINS = 50
FAR_FROM_OPTIMAL = 0.05  # the paper calls trees with a larger MIC far from optimal


def draw_settings(figure: Figure, spreads: Sequence[Spread], ties: str) -> Figure:
    """One panel per setting, all with one tie rule, as in the paper."""
    figure.set_size_inches(10.2, 3.7)
    axes = figure.subplots(1, len(spreads))
    for ax, spread in zip(np.atleast_1d(axes), spreads, strict=True):
        _draw_spread(ax, spread, ties, _largest(spread))
        ax.set_title(f"{spread.setting.title} ({spread.formulas:,} formulas)", fontsize=10.5)
        ax.set_xlabel(f"MIC({spread.max_size})")
    np.atleast_1d(axes)[0].set_ylabel("number of formulas")
    _legend(figure)
    return figure


def draw_ties(figure: Figure, spread: Spread, all_ties: Sequence[str]) -> Figure:
    """One panel per tie rule of one setting, and one that compares them."""
    figure.set_size_inches(10.2, 6.4)
    axes = figure.subplots(2, 3).ravel()
    largest = _largest(spread)
    for ax, ties in zip(axes, all_ties, strict=False):
        _draw_spread(ax, spread, ties, largest)
        ax.set_title(f"ties {ties}", fontsize=10.5)
        ax.set_xlabel(f"MIC({spread.max_size})")
        ax.set_ylabel("number of formulas")
    _draw_means(axes[len(all_ties)], spread, all_ties)
    _legend(figure)
    return figure


def _draw_spread(ax: Axes, spread: Spread, ties: str, largest: float) -> Axes:
    """Overlay the histograms of both rules, counts on a log axis."""
    edges = np.linspace(0, largest, SETTING_BINS + 1)
    for rule, _, colour, line in RULES:
        counts, _ = np.histogram(spread.mic(rule, ties), edges)
        ax.stairs(counts, edges, fill=True, baseline=0.5, color=colour, alpha=0.35)
        ax.stairs(counts, edges, baseline=0.5, color=colour, linestyle=line, linewidth=1.3)
    ax.axvline(FAR_FROM_OPTIMAL, color="#6B6B6B", linestyle="dotted", linewidth=1)
    ax.set_yscale("log")
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(0.7, 2.0 * spread.formulas)  # the first bin may hold all formulas
    ax.margins(x=0.01)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _draw_means(ax: Axes, spread: Spread, all_ties: Sequence[str]) -> Axes:
    """The mean MIC of both rules by tie rule."""
    places = np.arange(len(all_ties))[::-1]
    for rule, _, colour, _ in RULES:
        means = [float(spread.mic(rule, ties).mean()) for ties in all_ties]
        marker = "o" if rule == "topdown" else "D"
        ax.plot(means, places, marker, color=colour, markersize=7)
    ax.set_yticks(places, all_ties)
    ax.set_xlim(left=0)
    ax.set_ylim(-0.6, len(all_ties) - 0.4)
    ax.set_title("mean over all formulas, by tie rule", fontsize=10.5)
    ax.set_xlabel(f"mean MIC({spread.max_size})")
    ax.grid(axis="y", color="#E3E3E3")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _largest(spread: Spread) -> float:
    return float(spread.frame["mic"].max()) or 1.0  # type: ignore[arg-type]


def _legend(figure: Figure) -> None:
    handles = [
        Patch(facecolor=f"{colour}59", edgecolor=colour, linestyle=line, label=label)
        for _, label, colour, line in RULES
    ]
    dotted = Line2D([], [], color="#6B6B6B", linestyle="dotted", label=f"MIC = {FAR_FROM_OPTIMAL}")
    figure.legend(handles=[*handles, dotted], loc="outside upper center", ncols=3, frameon=False)


OUTLINE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
OUTLINE_LINES = ("solid", "dashed", "dotted", "dashdot")
OVERLAID_BINS = 60


def draw_histogram(ax: Axes | None, values: Mapping[str, np.ndarray], title: str = "") -> Axes:
    """Overlay one histogram per rule, counts on a log axis.

    Parameters
    ----------
    ax : where to draw; None makes a new figure
    values : for each rule, as text, the MIC of every member
    title : a description of the family
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(6.4, 4.0), layout="constrained").add_subplot()
    largest = max((float(np.max(mic)) for mic in values.values()), default=0.0) or 1.0
    edges = np.linspace(0, largest, OVERLAID_BINS + 1).tolist()
    for number, (label, mic) in enumerate(values.items()):
        colour, line = (
            OUTLINE_COLOURS[number % len(OUTLINE_COLOURS)],
            OUTLINE_LINES[number % len(OUTLINE_LINES)],
        )
        ax.hist(mic, edges, color=colour, alpha=0.3, linewidth=0)
        ax.hist(mic, edges, histtype="step", color=colour, linestyle=line, label=label)
    ax.set_yscale("log")
    ax.set_ylim(bottom=0.7)
    ax.set_xlabel("MIC")
    ax.set_ylabel("members")
    ax.set_title(title, fontsize="medium", parse_math=False)
    ax.margins(x=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best", frameon=False)
    return ax


LEAF_WIDTH, LEVEL_HEIGHT = 0.32, 0.75  # inches that a leaf and a level of a tree take


def draw_pair(
    trees: Sequence[Tree], titles: Sequence[str], heading: str, problem: Problem
) -> Figure:
    """Draw trees beside each other, as wide as they need."""
    from matplotlib import pyplot

    widths = [max(3.0, LEAF_WIDTH * (tree.size + 1)) for tree in trees]
    height = max(3.0, LEVEL_HEIGHT * (1 + max(tree.depth for tree in trees)))
    figure, axes = pyplot.subplots(
        1, len(trees), figsize=(sum(widths), height), width_ratios=widths, layout="constrained"
    )
    for ax, tree, title in zip(axes, trees, titles, strict=True):
        tree.draw(ax, problem, merge=False)  # both have the size of the heading
        ax.set_title(title, fontsize="medium", parse_math=False)
    figure.suptitle(_shorten(heading), fontsize="medium", parse_math=False)
    return figure


def _shorten(text: str, most: int = 120) -> str:
    return text if len(text) <= most else f"{text[: most - 50]} … {text[-45:]}"


RULE_COLOURS = {"TopDown": TOPDOWN, "BestFirst": BESTFIRST}
RULE_LINES = {"TopDown": "solid", "BestFirst": "dashed"}


def draw_good_counts(figure: Figure, found: GoodCounts) -> Figure:
    """Left: how many best trees functions have, by size; right: how often rules end in one."""
    figure.set_size_inches(10.2, 4.0)
    left, right = figure.subplots(1, 2)
    sizes = sorted(set(found.frame["size"].to_list()))
    shades = np.linspace(0.25, 0.95, len(sizes))
    for size, shade in zip(sizes, shades, strict=True):
        rows = found.at(size).sort("trees")
        weights = rows["count"].to_numpy()
        at_least = 1 - (np.cumsum(weights) - weights) / weights.sum()
        left.step(
            rows["trees"].to_numpy(), at_least, where="pre", label=f"{size}",
            color=colormaps["viridis"](1 - shade),
        )  # fmt: skip
    left.set_xscale("log")
    left.set_xlabel("number of best trees")
    left.set_ylabel("share of functions with at least so many")
    left.legend(title="size", frameon=False)
    for (_, label, colour, line), rule in zip(RULES, found.plan.rules, strict=False):
        chances = [found.mean_chance(rule, size) for size in sizes]
        right.plot(sizes, chances, color=colour, linestyle=line, marker="o", label=label)
    right.set_xlabel("size (splits)")
    right.set_ylabel("mean chance to end in a best tree")
    right.set_ylim(0, 1.02)
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.legend(frameon=False)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def draw_relabellings(figure: Figure, found: Relabellings) -> Figure:
    """Left: MIC of all representatives, weighted; right: ranges over relabellings."""
    figure.set_size_inches(10.2, 4.2)
    left, *others = figure.subplots(1, 1 + len(RULE_COLOURS))
    largest = max(found.largest(rule) for rule in RULE_COLOURS)
    edges = np.linspace(0, largest or 1.0, OVERLAID_BINS + 1)
    for rule, colour in RULE_COLOURS.items():
        rows = found.representatives.filter(rule=rule)
        weights = rows["count"].to_numpy() / rows["count"].sum()
        heights, _ = np.histogram(rows["mic"].to_numpy(), edges, weights=weights)
        left.stairs(heights, edges, color=colour, linestyle=RULE_LINES[rule], label=rule)
    left.set_xlabel(f"MIC({found.plan.max_size}) of the representative")
    left.set_ylabel("share of functions")
    left.legend(loc="best", frameon=False)
    for ax, rule in zip(others, RULE_COLOURS, strict=True):
        _draw_ranges(ax, found, rule)
    for ax in (left, *others):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_ranges(ax: Axes, found: Relabellings, rule: str) -> None:
    rows = found.spreads.filter(rule=rule).sort("mean")
    place = np.arange(rows.height)
    least, largest = rows["least"].to_numpy(), rows["largest"].to_numpy()
    ax.fill_between(
        place, least, largest, color=RULE_COLOURS[rule], alpha=0.25, linewidth=0, label="range"
    )
    ax.plot(
        place,
        rows["representative_mic"],
        ".",
        color="#6B6B6B",
        markersize=2,
        label="representative",
    )
    ax.plot(place, rows["mean"], color=RULE_COLOURS[rule], linewidth=1.8, label="mean")
    ax.legend(loc="upper left", frameon=False, fontsize=8)
    ax.set_title(rule, fontsize=10)
    ax.set_xlabel("sampled members, by mean")
    ax.set_ylabel(f"MIC({found.plan.max_size})")
    ax.set_ylim(bottom=0)


COLUMNS = 3
RULE_KINDS = (("lookahead", "#0072B2", "s"), ("top", "#009E73", "^"), ("", "#D55E00", "o"))
LEAST_MEAN = 1e-7  # drawn for a mean of 0


def draw_rankings(figure: Figure, found: Rankings) -> Figure:
    """The lowest mean at the top, on a logarithmic axis."""
    ranges = found.plan.ranges
    rows = -(-len(ranges) // COLUMNS)
    figure.set_size_inches(10.2, 3.6 * rows)
    axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for ax in axes[len(ranges) :]:
        ax.set_axis_off()
    for ax, each in zip(axes, ranges, strict=False):
        summary = found.summary(each.title)
        places = np.arange(summary.height)[::-1]
        for name, mean, place in zip(summary["contestant"], summary["mean"], places, strict=True):
            colour, marker = next(k[1:] for k in RULE_KINDS if name.startswith(k[0]))
            hollow = {"markerfacecolor": "white"} if mean < LEAST_MEAN else {}
            ax.plot(max(mean, LEAST_MEAN), place, marker, color=colour, markersize=6, **hollow)
        ax.set_yticks(places, summary["contestant"].to_list(), fontsize=8)
        ax.set_xscale("log")
        ax.set_xlim(LEAST_MEAN / 2, 0.5)
        ax.set_title(each.title, fontsize=9)
        ax.set_xlabel(f"mean MIC({each.max_size}); hollow: below {LEAST_MEAN:g}", fontsize=8)
        ax.grid(axis="x", color="#E3E3E3")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


TIE_KINDS = (("greedy_size_best", "best ties"), ("greedy_size_worst", "worst ties"))
TREE_WIDTH = 4.0  # inches, of one tree


def draw_function_sizes(figure: Figure, sizes: FunctionSizes) -> Figure:
    """One row for the best and one for the worst ties, one column for each family."""
    families = sizes.plan.variables
    figure.set_size_inches(3.4 * len(families), 6.6)
    axes = figure.subplots(len(TIE_KINDS), len(families), squeeze=False)
    for row, (column, words) in enumerate(TIE_KINDS):
        for place, (family, variables) in enumerate(families):
            ax = axes[row, place]
            mesh = _draw_counts(ax, sizes, family, column)
            ax.set_title(f"{family}, {variables} variables: {words}", fontsize=10)
            ax.set_xlabel("least size (splits)")
            ax.set_ylabel("greedy size (splits)")
            figure.colorbar(mesh, ax=ax, label="functions")
    return figure


def _draw_counts(ax: Axes, sizes: FunctionSizes, family: str, column: str):
    rows = sizes.of(family)
    least, greedy = rows["perfect_size"].to_numpy(), rows[column].to_numpy()
    most = int(max(greedy.max(), least.max())) + 1
    counts = np.zeros((most, most))
    np.add.at(counts, (greedy, least), rows["count"].to_numpy().astype(float))
    edges = np.arange(most + 1) - 0.5
    shown = np.ma.masked_equal(counts, 0)
    mesh = ax.pcolormesh(edges, edges, shown, cmap="viridis_r", norm=LogNorm(1, counts.max()))
    ax.plot([0, most - 1], [0, most - 1], color="#1A1A1A", linewidth=0.8, linestyle="dashed")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    return mesh


def draw_witnesses(figure: Figure, witnesses: tuple[Witness, ...]) -> Figure:
    """Each function's smallest greedy tree on the left, its smallest tree on the right."""
    heights = [0.9 + 0.55 * (1 + max(w.greedy.depth, w.optimal.depth)) for w in witnesses]
    total = sum(heights)
    figure.set_size_inches(2 * TREE_WIDTH + 1, total)
    top = 1.0
    for witness, height in zip(witnesses, heights, strict=True):
        share = height / total
        bottom = top - share
        for side, (tree, words) in enumerate(
            ((witness.greedy, "smallest greedy tree"), (witness.optimal, "smallest tree"))
        ):
            place = (0.5 * side + 0.01, bottom + 0.02 * share, 0.48, share * (1 - 0.6 / height))
            ax = figure.add_axes(place)
            draw_tree(ax, tree, {}, [""] * len(tree.tests))
            name = f"{witness.family}, 0x{witness.table:x}"
            ax.set_title(f"{name}\n{words}, {tree.size} splits", fontsize=10, y=1.0)
        top = bottom
    return figure


LARGEST_DISC = 300.0  # area of the largest disc, in square points


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
        areas = [LARGEST_DISC * count / most for count in functions.values()]
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


def draw_dependence(figure: Figure, found: Dependence) -> Figure:
    """Left: MIC over arrangements; right: the share of optimal ones."""
    figure.set_size_inches(10.2, 3.6)
    left, right = figure.subplots(1, 2)
    for rule, colour in RULE_COLOURS.items():
        rows = found.spread(rule)
        place = rows["correlation"].to_numpy()
        most = rows["largest"].to_numpy()
        left.fill_between(place, rows["least"].to_numpy(), most, color=colour, alpha=0.15)
        left.plot(place, most, color=colour, linewidth=0.9, linestyle="dotted")
        left.plot(place, rows["mean"], color=colour, linestyle=RULE_LINES[rule], label=rule)
        right.plot(place, rows["optimal"], color=colour, linestyle=RULE_LINES[rule], label=rule)
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
    for rule, colour in RULE_COLOURS.items():
        rows = found.spread(rule)
        place = rows["noise"].to_numpy()
        left.plot(place, rows["scaled_mean"], color=colour, linestyle=RULE_LINES[rule], label=rule)
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


MOST_SHOWN = 30  # variables, those with the largest shares
COLOURS = "Blues"
HEIGHT, WIDTH = 0.28, 0.45  # of a cell, in inches


def draw_shares(axes: Axes | None, variables: polars.DataFrame) -> Axes:
    """Draw the part of the good trees that test each variable, by size.

    Parameters
    ----------
    axes : where to draw; a new figure if None
    variables : a row for each size and variable, with its share, or null where no tree is good
    """
    sizes = sorted(set(variables["size"].to_list()) - {0})
    names = list(dict.fromkeys(variables["variable"].to_list()))
    shares = np.full((len(names), len(sizes)), np.nan)
    place = {name: number for number, name in enumerate(names)}
    for size, name, share in variables.select("size", "variable", "share").iter_rows():
        if size and share is not None:
            shares[place[name], sizes.index(size)] = share
    filled = np.nan_to_num(shares)
    order = np.argsort(-filled.sum(axis=1), kind="stable")[:MOST_SHOWN]
    if axes is None:
        from matplotlib import pyplot

        figure = pyplot.figure(
            figsize=(2.2 + WIDTH * len(sizes), 1.2 + HEIGHT * len(order)), layout="constrained"
        )
        axes = figure.subplots()
    extent = -0.5, max(len(sizes), 1) - 0.5, max(len(order), 1) - 0.5, -0.5  # of no cells, too
    image = axes.imshow(
        shares[order], cmap=COLOURS, vmin=0.0, vmax=1.0, aspect="auto", extent=extent
    )
    for row, column in zip(*np.nonzero(filled[order] == 1.0), strict=True):
        axes.plot(column, row, "o", color="white", markersize=3)
    axes.set_yticks(range(len(order)), [names[number] for number in order])
    axes.set_xticks(range(len(sizes)), [str(size) for size in sizes])
    axes.set_xlabel("size (splits)")
    rest = len(names) - len(order)
    axes.set_title("share of the good trees that test a variable", fontsize=10)
    if rest:
        axes.set_ylabel(f"{rest} more variables are not shown")
    axes.get_figure(root=True).colorbar(image, ax=axes, label="dot: all of them")  # type: ignore[union-attr]
    return axes


def draw_trees(trees: Sequence[Tree], problem: Problem) -> Figure:
    """Draw trees beside one another, with every split; names of classes stand below the leaves."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(4.2 * max(1, len(trees)), 3.6), layout="constrained")
    for axes, tree in zip(
        np.atleast_1d(figure.subplots(1, max(1, len(trees)))), trees, strict=False
    ):
        terms, notes = decorations(tree, problem, ())
        classes = getattr(problem, "classes", ())
        if classes and all(isinstance(label, int) for label in tree.labels):
            notes = ["" if label < 0 else str(classes[label]) for label in tree.labels]
        draw_tree(axes, tree, terms, notes)
    return figure


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
