"""A part of the atlas: small forests beside the best single tree."""

import polars as pl

from mictree.experiments.voting import Voting
from mictree.plotting.voting import draw_voting
from mictree.report.atlas.section import Section
from mictree.report.claims import Claim, count_met, decide
from mictree.report.figures import Drawing
from mictree.report.page import Table

NAME = "forests"
MOST = 0.5


def section(found: Voting) -> Section:
    """Everything about forests."""
    told = "; ".join(f"{target}: {_passing(found, target)}" for target in found.plan.targets)
    drawing = Drawing(
        "forests",
        NAME,
        "Percentage of forests whose vote has less error than every single tree of the size of "
        f"their trees; blank is none. {range_of(found)}",
        f"Maps by number and size of trees. More than half of the forests pass: {told}.",
        lambda figure: draw_voting(figure, found),
    )
    return Section(
        NAME,
        "Forests",
        "When a small forest passes the best single tree",
        "Each tree may use, at each leaf, only a few splits drawn at random; the trees vote, and "
        "even votes count half. A leaf of positive rate 1/2 has the same label in all trees, so "
        "votes may lean to one side: at three splits they do on majorities. The error of the vote "
        "is exact. It is compared with the least "
        "error of a single tree of the same size, and of one with as many splits as the whole "
        "forest.",
        (drawing,),
        (passes_same_size(found), passes_same_total(found)),
        (_table(found),),
    )


def range_of(found: Voting) -> str:
    """The forests, in words."""
    plan = found.plan
    return (
        f"Uniform distribution; {', '.join(plan.targets)}; {plan.repetitions} forests each of "
        f"{', '.join(map(str, plan.trees))} trees of 1 to {plan.max_size} splits, TopDown with "
        f"entropy and random ties among {plan.max_features} drawn splits (seeds {plan.seed} to "
        f"{plan.seed + plan.repetitions - 1})."
    )


def passes_same_size(found: Voting) -> Claim:
    """Whether, on every target, most forests of some kind beat the best tree of their size."""
    measured, met = [], []
    for target in found.plan.targets:
        met.append(found.passes(target) is not None)
        measured.append(f"{target}: {_passing(found, target)}.")
    return Claim(
        range_of(found),
        "Some small forest of small trees passes the best single tree of the same size.",
        tuple(measured),
        f"Cases are the targets: for some number and size of trees more than {MOST:.0%} of the "
        f"forests have less error than any single tree of that size. {count_met(met)}",
        decide(met),
    )


def passes_same_total(found: Voting) -> Claim:
    """Whether most forests of some kind beat the best tree with as many splits in total."""
    measured, met = [], []
    for target in found.plan.targets:
        shares = found.shares(target, "optimal_of_total").filter(pl.col("trees") > 1)
        best = shares.sort("share", descending=True, maintain_order=True).head(1)
        share = best["share"].item() if best.height else 0.0
        met.append(share > MOST)
        where = f" ({best['trees'].item()} trees of size {best['size'].item()})" if share else ""
        measured.append(f"{target}: at most {share:.0%} of the forests{where}.")
    return Claim(
        range_of(found),
        "Some small forest passes the best single tree with as many splits as the whole forest.",
        tuple(measured),
        f"Cases are the targets: for some size and number of trees above 1 more than {MOST:.0%} "
        "of the forests have less error than any single tree with as many splits in total. "
        f"{count_met(met)}",
        decide(met),
    )


def _passing(found: Voting, target: str) -> str:
    at = found.passes(target)
    return "nowhere" if at is None else f"from {at[0]} trees on, first at size {at[1]}"


def _table(found: Voting) -> Table:
    size = found.plan.max_size
    rows = []
    for target in found.plan.targets:
        for trees in found.plan.trees:
            last = found.frame.filter(target=target, trees=trees, size=size)
            errors = last["error"].mean(), last["optimal"][0], last["optimal_of_total"][0]
            rows.append((target, str(trees), *(f"{error:.6f}" for error in errors)))
    columns = ("target", "trees", "mean error of the vote", "best single tree", "of as many splits")
    return Table(f"Errors at size {size} of each tree", columns, tuple(rows), NAME)
