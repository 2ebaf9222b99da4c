"""The atlas's third part: criteria, looking ahead, more candidates."""

import itertools

import polars as pl

from mictree.experiments.rankings import LOOKAHEAD, TOP, ZERO, Rankings
from mictree.impurity import CRITERIA
from mictree.plotting.rankings import draw_rankings
from mictree.report.atlas.section import Section
from mictree.report.claims import Claim, count_met, decide
from mictree.report.figures import Drawing
from mictree.report.page import Table

NAME = "ranked"
TENTH = 0.1
TOP_ONE = pl.col("contestant") == TOP.format(1)


def section(found: Rankings) -> Section:
    """Everything about the ranking."""
    return Section(
        NAME,
        "Ranking",
        "Which greedy trees come closest",
        "TopDown with each of four criteria, Lookahead of depth 1 to "
        f"{max(found.plan.depths)} with entropy, and top k: the best tree whose every node tests "
        "one of its k splits of largest gain by entropy. Lookahead 1 is TopDown with entropy. "
        "Top k is no rule but a bound: its trees are chosen with the optimum in view. On "
        "all functions, MIC is that of one representative of each class of symmetric functions, "
        "weighted by the number of functions it stands for: exact for top k, which has no ties to "
        "break; for a rule it is the MIC under the representative's order of variables.",
        (_drawing(found),),
        (
            best_criterion(found),
            further_is_better(found),
            one_is_enough(found),
            two_are_enough(found),
        ),
        tuple(_tables(found)),
    )


def range_of(found: Rankings) -> str:
    """The ranges, in words."""
    ranges = found.plan.ranges
    titles = "; ".join(f"{each.title}, sizes 1 to {each.max_size}" for each in ranges)
    return f"{titles}. Ties {found.plan.ties}."


def best_criterion(found: Rankings, name: str = "gini") -> Claim:
    """Whether one criterion has the least mean MIC everywhere."""
    measured, met = [], []
    for each in found.plan.ranges:
        means = {criterion: found.mean(each.title, criterion) for criterion in CRITERIA}
        met.append(all(means[name] < means[other] - ZERO for other in CRITERIA if other != name))
        listed = ", ".join(f"{criterion} {mean:.6f}" for criterion, mean in means.items())
        measured.append(f"{each.title}: {listed}.")
    return Claim(
        range_of(found),
        f"Of the four criteria, {name} has the least mean MIC.",
        tuple(measured),
        f"Cases are the ranges: its mean is below the other three. {count_met(met)}",
        decide(met),
    )


def further_is_better(found: Rankings) -> Claim:
    """Whether each step of looking further ahead lowers the mean MIC."""
    measured, met = [], []
    depths = found.plan.depths
    for each in found.plan.ranges:
        means = [found.mean(each.title, LOOKAHEAD.format(depth)) for depth in depths]
        met += [more < less - ZERO for less, more in itertools.pairwise(means)]
        listed = ", ".join(f"depth {d} {m:.6f}" for d, m in zip(depths, means, strict=True))
        measured.append(f"{each.title}: {listed}.")
    return Claim(
        range_of(found),
        "To look one split further ahead lowers the mean MIC.",
        tuple(measured),
        f"Cases are the ranges with each step from one depth to the next: the mean falls. "
        f"{count_met(met)}",
        decide(met),
    )


def one_is_enough(found: Rankings) -> Claim:
    """Whether trees that only test splits of largest gain include optimal ones of every size."""
    measured, met = [], []
    for each in found.plan.ranges:
        summary = found.summary(each.title).row(by_predicate=TOP_ONE, named=True)
        met.append(summary["largest"] < ZERO)
        measured.append(
            f"{each.title}: top 1 is optimal on {summary['optimal']:.2%}, largest MIC "
            f"{summary['largest']:.6f}."
        )
    return Claim(
        range_of(found),
        "At every size some optimal tree tests only splits of largest gain, so that the rule's "
        "excess comes from its order of growth and its ties.",
        tuple(measured),
        f"Cases are the ranges: the MIC of top 1 is 0 (below {ZERO:g}) on every "
        f"member. {count_met(met)}",
        decide(met),
    )


def two_are_enough(found: Rankings) -> Claim:
    """Whether a second candidate removes most of what choosing the best split costs."""
    measured, met = [], []
    for each in found.plan.ranges:
        one, two = (found.mean(each.title, TOP.format(top)) for top in (1, 2))
        met.append(two <= TENTH * one)
        measured.append(f"{each.title}: top 1 {one:.6f}, top 2 {two:.6f}.")
    return Claim(
        range_of(found),
        "Trees that may test the second best split too are nearly optimal.",
        tuple(measured),
        f"Cases are the ranges: the mean MIC of top 2 is at most {TENTH:g} of that of "
        f"top 1. {count_met(met)}",
        decide(met),
    )


def _tables(found: Rankings):
    columns = ("contestant", "mean MIC", "largest MIC", "MIC 0 on")
    for each in found.plan.ranges:
        summary = found.summary(each.title)
        rows = tuple(
            (row["contestant"], f"{row['mean']:.7f}", f"{row['largest']:.6f}",
             f"{row['optimal']:.2%}")
            for row in summary.iter_rows(named=True)
        )  # fmt: skip
        title = f"{each.title}: MIC({each.max_size}) over {summary['count'][0]:,}"
        yield Table(title, columns, rows, NAME)


def _drawing(found: Rankings) -> Drawing:
    firsts = "; ".join(
        f"{each.title}: {', '.join(found.summary(each.title)['contestant'].to_list())}"
        for each in found.plan.ranges
    )
    return Drawing(
        "rankings",
        NAME,
        f"Mean MIC of each contestant, the lowest at the top: circles, criteria of TopDown; "
        f"squares, Lookahead; triangles, top k. {range_of(found)} MIC below {ZERO:g} counts as 0.",
        f"Rankings by mean MIC, lowest first. {firsts}.",
        lambda figure: draw_rankings(figure, found),
    )
