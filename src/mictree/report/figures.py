"""Results -> the report's pictures, each with a caption and an alternative text.

A ``Drawing`` is a figure still to be drawn, with its words; ``make`` draws it and, with a folder,
writes it as SVG and PNG. The same results give the same bytes: text is stored as outlines, the ids
within a file come from its name, and no date is written.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib
from matplotlib.figure import Figure

from mictree._support.files import write_whole
from mictree._support.progress import EqualParts, Report
from mictree.experiments.finite_samples import FiniteSamples
from mictree.experiments.histograms import Spread
from mictree.experiments.sample_size import FOLLOWS, SampleSizes
from mictree.growers.rules import TIES
from mictree.plotting.curves import draw_convergence, draw_excess, draw_finite_samples
from mictree.plotting.families import draw_settings, draw_ties
from mictree.plotting.tree import draw_examples
from mictree.report.claims import Results

PAPER_TIES = "last"
PIXELS_PER_INCH = 144
# drawn text is stored as outlines, so that the picture looks the same everywhere
SVG_STYLE: dict[Any, str] = {"svg.fonttype": "path", "font.family": "DejaVu Sans"}


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, with its words."""

    name: str  # of its files, without suffix
    section: str  # the part of the page that shows it
    caption: str
    alt: str
    svg: bytes


@dataclass(frozen=True)
class Drawing:
    """A figure that is still to be drawn."""

    name: str
    section: str
    caption: str
    alt: str
    draw: Callable[[Figure], Figure]
    layout: Literal["constrained"] | None = "constrained"


def pictures(
    results: Results,
    folder: Path | None = None,
    progress: Report | None = None,
) -> tuple[Picture, ...]:
    """Draw everything; with a folder, also write each picture there as SVG and PNG."""
    drawings = list(_drawings(results))
    parts = EqualParts("figures", len(drawings), progress)
    named = parts.each(drawings, lambda drawing: drawing.name)
    return tuple(make(drawing, folder) for drawing in named)


def make(drawing: Drawing, folder: Path | None) -> Picture:
    """Draw one figure."""
    # the salt makes the same figure the same file, run after run
    style: dict[Any, str] = {**SVG_STYLE, "svg.hashsalt": drawing.name}
    with matplotlib.rc_context(style):
        figure = drawing.draw(Figure(layout=drawing.layout))
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # laid out once is enough
        stream = io.BytesIO()
        figure.savefig(stream, format="svg", metadata={"Date": None})
        svg = stream.getvalue()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / f"{drawing.name}.svg", svg)
            pixels = io.BytesIO()
            figure.savefig(pixels, format="png", dpi=PIXELS_PER_INCH)
            write_whole(folder / f"{drawing.name}.png", pixels.getvalue())
    return Picture(drawing.name, drawing.section, drawing.caption, drawing.alt, svg)


def _drawings(results: Results) -> Iterator[Drawing]:
    yield _examples(results)
    yield _settings(results.spreads)
    for spread in results.spreads:
        yield _ties(spread)
    yield _finite(results.finite)
    yield _excess(results.sizes)
    yield _convergence(results.sizes)


def _examples(results: Results) -> Drawing:
    shown = results.examples
    errors = "; ".join(
        f"{each.title}: error {each.error}, least {each.optimal_error}" for each in shown.trees
    )
    return Drawing(
        "example-trees",
        "examples",
        f"Trees for {shown.problem.formula} under the uniform distribution: four staircase trees, "
        "which are TopDown's and optimal; BestFirst's tree of size 5 (entropy, ties last); and one "
        "with x- and y-nodes on its right path. The branch for value 0 goes left.",
        f"Six decision trees. {errors}.",
        lambda figure: draw_examples(figure, shown),
        layout=None,  # a tree is fitted to its axes when it is drawn
    )


def _settings(spreads: tuple[Spread, ...]) -> Drawing:
    means = "; ".join(
        f"{spread.setting.title}: mean {spread.share('topdown', PAPER_TIES, 'mean'):.4f} for "
        f"TopDown, {spread.share('bestfirst', PAPER_TIES, 'mean'):.4f} for BestFirst"
        for spread in spreads
    )
    texts = "; ".join(f"{spread.setting.title}: {spread.setting.text}" for spread in spreads)
    return Drawing(
        "mic-histograms",
        "histograms",
        f"MIC({spreads[0].max_size}) of every read-once DNF in three settings, with entropy and "
        f"ties {PAPER_TIES}; the count axis is logarithmic. {texts}.",
        f"Three histograms in which TopDown's MIC stays near 0 and BestFirst's reaches far to the "
        f"right. {means}.",
        lambda figure: draw_settings(figure, spreads, PAPER_TIES),
    )


def _ties(spread: Spread) -> Drawing:
    means = {ties: spread.share("bestfirst", ties, "mean") for ties in TIES}
    listed = ", ".join(f"{ties} {mean:.4f}" for ties, mean in means.items())
    return Drawing(
        f"mic-ties-{spread.setting.name.replace(' ', '-')}",
        "histograms",
        f"{spread.setting.title.capitalize()}: {spread.setting.text}. The same histogram for every "
        f"tie rule (random with seed {spread.seed}), and the means. Between tie rules the MIC of a "
        f"formula differs by at most {spread.tie_difference('topdown'):.2g} for TopDown and "
        f"{spread.tie_difference('bestfirst'):.2g} for BestFirst.",
        f"Five histograms, one for each tie rule, and a plot of means. Mean MIC of BestFirst: "
        f"{listed}. Mean MIC of TopDown: {spread.share('topdown', 'last', 'mean'):.4f}.",
        lambda figure: draw_ties(figure, spread, TIES),
    )


def _finite(finite: FiniteSamples) -> Drawing:
    plan = finite.plan
    last = plan.rows[-1]
    ends = []
    for setting in finite.settings:
        end = [f"{name} {setting.mean_error(name, last):.3f}" for name in ("TopDown", "BestFirst")]
        least = setting.limit.optimal_errors
        optimal = f", optimal {least[-1]:.3f}" if least is not None else ""
        ends.append(f"{setting.title}: {', '.join(end)}{optimal}")
    return Drawing(
        "finite-samples",
        "finite",
        f"Error of trees learned from rows: {sum(plan.terms)} variables, terms of "
        f"{', '.join(map(str, plan.terms))} literals, at most {plan.max_size} splits, a leaf split "
        f"only with {plan.min_samples_split} rows or more, entropy, ties last. Lines are the mean "
        f"true error of {plan.repetitions} repetitions, bands one standard deviation; crosses are "
        f"the mean error on {plan.test_rows:,} test rows. scikit-learn's tree has "
        f"max_leaf_nodes={plan.max_size + 1}. Of two biases each belongs to half of the variables, "
        f"at random (seed {plan.seed}).",
        f"Error against training rows in three panels; TopDown and scikit-learn fall towards the "
        f"optimal error, BestFirst does not. At {last:,} rows: {'; '.join(ends)}.",
        lambda figure: draw_finite_samples(figure, finite),
    )


def _excess(sizes: SampleSizes) -> Drawing:
    return Drawing(
        "excess-by-size",
        "sizes",
        f"Excess error (true error minus optimal error) at every size of trees learned from rows, "
        f"mean of {sizes.plan.repetitions} repetitions, and of trees grown from the distribution "
        "itself (exact). Uniform distribution, entropy, ties last, leaves of "
        f"{sizes.plan.min_samples_split} rows or more are split (seed {sizes.plan.seed}).",
        "Excess error against size, one panel for each rule and formula; with more rows the curves "
        f"approach the exact one. {_following(sizes)}",
        lambda figure: draw_excess(figure, sizes),
    )


def _convergence(sizes: SampleSizes) -> Drawing:
    return Drawing(
        "mic-from-samples",
        "sizes",
        "MIC of trees learned from rows against their number, mean and one standard deviation of "
        f"{sizes.plan.repetitions} repetitions; dashed, MIC with the distribution known. Settings "
        "as above.",
        f"MIC against rows, one panel for each formula. {_following(sizes)}",
        lambda figure: draw_convergence(figure, sizes),
    )


def _following(sizes: SampleSizes) -> str:
    parts = []
    for sampled in sizes.cases:
        for rule in sampled.exact:
            rows = sampled.rows_to_follow(rule, sizes.plan.rows)
            since = f"from {rows:,} rows on" if rows else "with none of these numbers of rows"
            parts.append(f"{rule}, {sampled.case.name}: {since}")
    return f"Within {FOLLOWS} of the exact curve at every size: {'; '.join(parts)}."
