"""A part of the atlas: up to which shared bias the theorem on two terms holds."""

from matplotlib.figure import Figure

from mictree.experiments.two_term_biases import TwoTermBiases, conjectures
from mictree.plotting.two_terms import draw_two_terms
from mictree.report.atlas.section import Section
from mictree.report.claims import Claim, count_met, decide
from mictree.report.figures import Drawing
from mictree.report.page import Table
from mictree.statements.checks import sentence

NAME = "ends"
CONJECTURE_RULE = (
    "A conjecture: it holds if every certified box agrees with it and the ends it names lie in "
    "the intervals between boxes; one box or end that does not is a counterexample, and it fails."
)


def section(found: TwoTermBiases) -> Section:
    """Everything about the ends of the theorem."""
    told = "; ".join(
        f"{shorter} and {longer} literals: up to {bias:.4f}"
        for (shorter, longer), bias in found.last_optimal.items()
    )
    drawing = Drawing(
        "two-term-ends",
        NAME,
        f"For which shared biases TopDown's tree of every size is optimal: {range_of(found)} The "
        "dotted line is the bias of the theorem, 1/2.",
        f"A bar over the biases for each pair of terms. From 1/2 on every tree is optimal: {told}.",
        lambda figure: _draw(figure, found),
    )
    return Section(
        NAME,
        "Two terms",
        "Where the theorem on two terms ends",
        "The paper proves that TopDown's tree of every size is optimal for two terms if every bias "
        "is 1/2. Here all biases are shared but may differ from 1/2. The range is divided into "
        "boxes, and on each it is certified, for every bias inside, that all trees are optimal or "
        "that some tree is not. The pattern is stated as a conjecture.",
        (drawing,),
        (at_every_bias(found), *_conjectures(found)),
        (_table(found),),
    )


def range_of(found: TwoTermBiases) -> str:
    """The pairs and biases, in words."""
    return f"{sentence(found.plan.text)} Entropy; the order of ties does not matter."


def at_every_bias(found: TwoTermBiases) -> Claim:
    """Whether the theorem's conclusion holds for every shared bias."""
    measured, met = [], []
    for pair in found.plan.pairs:
        outcomes = {outcome for _, _, outcome in found.runs(pair)}
        met.append(outcomes == {"optimal"})
        if not met[-1]:
            shown = f"from 1/2 on optimal up to {found.last_optimal[pair]:.6f} at least."
            measured.append(f"{pair[0]} and {pair[1]} literals: {shown}")
    return Claim(
        range_of(found),
        "TopDown's tree of every size is optimal for two terms, whatever their shared bias.",
        tuple(measured) or ("No pair of terms is an exception.",),
        f"Cases are the pairs of lengths: all boxes are certified optimal. {count_met(met)}",
        decide(met),
    )


def _conjectures(found: TwoTermBiases) -> list[Claim]:
    return [
        Claim(range_of(found), check.statement, (sentence(check.detail or check.range_covered),),
              CONJECTURE_RULE, check.verdict)
        for check in conjectures(found)
    ]  # fmt: skip


def _table(found: TwoTermBiases) -> Table:
    rows = tuple(
        (f"{shorter} and {longer}", f"{low:.6f}", f"{high:.6f}", outcome)
        for shorter, longer in found.plan.pairs
        for low, high, outcome in found.runs((shorter, longer))
    )
    columns = ("literals", "from bias", "to bias", "for every bias between")
    return Table("Certified outcomes", columns, rows, NAME)


def _draw(figure: Figure, found: TwoTermBiases) -> Figure:
    figure.set_size_inches(9.0, 1.5 + 0.25 * len(found.plan.pairs))
    draw_two_terms(figure.add_subplot(), found)
    return figure
