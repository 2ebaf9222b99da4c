"""The atlas's parts about formulas: biases, two terms, dependence, noise, forests.

Each part is a function that makes a ``Section`` of an experiment's results: words, claims, tables
and drawings. The parts are the worst formulas of the paper's grid over all biases; up to which
shared bias the theorem on two terms holds; variables that depend on each other; labels that are
wrong with some probability; and small forests beside the best single tree.

Each claim is judged by cases in numbers, names its range, and says nothing beyond that range. Where
an interval is certified, the end that is worse for the claim decides.
"""

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from mictree.experiments.dependence import RULES as MIC_RULES
from mictree.experiments.dependence import Dependence
from mictree.experiments.noise import Noise
from mictree.experiments.two_term_biases import TwoTermBiases, conjectures
from mictree.experiments.voting import Voting
from mictree.experiments.worst_over_biases import RULES, WorstOverBiases
from mictree.plotting.curves import draw_voting
from mictree.plotting.families import (
    draw_certified,
    draw_dependence,
    draw_noise,
    draw_points,
    draw_two_terms,
)
from mictree.report.claims import Claim, count_met, decide
from mictree.report.figures import Drawing
from mictree.report.page import Section, Table
from mictree.statements.checks import sentence

BIASED = "biased"
NEAR = 0.01  # the paper calls trees with a smaller MIC near-optimal


def biased_section(found: WorstOverBiases) -> Section:
    """Everything about biases."""
    return Section(
        BIASED,
        "Biases",
        "The worst formulas, over the bias",
        "All variables share one bias. A formula is written as the number of literals of each "
        "term. Formulas of few variables are certified: for every bias of the range, not only at "
        "some, MIC lies between the two lines. Boxes are divided until the largest MIC is known, "
        "so the band is narrow near the largest MIC only. The worst formulas of the paper's grid "
        "have too many variables for that, so they are computed at single biases.",
        tuple(_biased_drawings(found)),
        (worst_at_half(found), near_optimal(found)),
        (_points(found), _suprema(found)),
    )


def biased_range(found: WorstOverBiases) -> str:
    """The formulas at single biases, in words."""
    plan = found.plan
    return (
        f"The {plan.worst} formulas of largest MIC({plan.max_size}) for TopDown at bias 0.5 among "
        f"those of at most {plan.max_terms} terms of at most {plan.max_literals} literals; "
        f"{len(plan.biases)} biases from {plan.biases[0]:g} to {plan.biases[-1]:g}. Entropy, ties "
        "last."
    )


def certified_range(found: WorstOverBiases) -> str:
    """The certified formulas, in words."""
    plan = found.plan
    low, high = plan.between
    return (
        f"The {plan.certified} formulas of at most {plan.certified_variables} variables with the "
        f"largest MIC({plan.certified_size}) of TopDown at the same single biases; every bias "
        f"from {low:g} to {high:g}. Entropy, ties last."
    )


def worst_at_half(found: WorstOverBiases) -> Claim:
    """Whether the uniform distribution is the worst one for these formulas."""
    measured, met = [], []
    for formula in found.formulas:
        biases, mic = found.curve(formula, "TopDown")
        half = found.at_half(formula)
        met.append(bool(mic.max() <= half))
        measured.append(
            f"{formula}: {half:.5f} at bias 0.5, at most {mic.max():.5f} (bias "
            f"{biases[mic.argmax()]:g})."
        )
    return Claim(
        biased_range(found),
        "These formulas are worst at bias 0.5, where they were found.",
        tuple(measured),
        "Cases are the formulas: no other of the biases gives TopDown a larger MIC. "
        f"{count_met(met)}",
        decide(met),
    )


def near_optimal(found: WorstOverBiases) -> Claim:
    """Whether TopDown is near-optimal for every bias of the range, certified."""
    met = (found.suprema["upper"] < NEAR).to_list()
    measured = [
        f"{row['formula']}: the largest MIC lies between {row['lower']:.5f} and {row['upper']:.5f}."
        for row in found.suprema.iter_rows(named=True)
    ]
    return Claim(
        certified_range(found),
        f"Whatever the bias, TopDown's MIC on a formula of few variables is below {NEAR:g}.",
        tuple(measured),
        f"Cases are the formulas: the upper end of the certified interval is below {NEAR:g}. "
        f"{count_met(met)}",
        decide(met),
    )


def _points(found: WorstOverBiases) -> Table:
    rows = []
    for formula in found.formulas:
        for rule in RULES:
            biases, mic = found.curve(formula, rule)
            half = mic[np.isclose(biases, 0.5)]
            rows.append((formula, rule, f"{float(half[0]):.6f}", f"{mic.max():.6f}",
                         f"{biases[mic.argmax()]:g}"))  # fmt: skip
    columns = ("formula", "rule", "MIC at bias 0.5", "largest MIC", "at bias")
    title = f"MIC({found.plan.max_size}) at {len(found.plan.biases)} biases"
    return Table(title, columns, tuple(rows), BIASED)


def _suprema(found: WorstOverBiases) -> Table:
    rows = tuple(
        (row["formula"], f"{row['lower']:.6f}", f"{row['upper']:.6f}", f"{row['worst']:.6f}",
         f"{found.boxes.filter(formula=row['formula']).height:,}")
        for row in found.suprema.iter_rows(named=True)
    )  # fmt: skip
    columns = ("formula", "largest MIC: at least", "at most", "nearly attained at bias", "boxes")
    low, high = found.plan.between
    title = f"TopDown, MIC({found.plan.certified_size}), certified from bias {low:g} to {high:g}"
    return Table(title, columns, rows, BIASED)


def _biased_drawings(found: WorstOverBiases):
    told = "; ".join(
        f"{formula}: TopDown at most {found.curve(formula, 'TopDown')[1].max():.4f}, BestFirst at "
        f"most {found.curve(formula, 'BestFirst')[1].max():.4f}"
        for formula in found.formulas
    )
    yield Drawing(
        "worst-over-biases",
        BIASED,
        f"MIC over the bias at single biases. {biased_range(found)}",
        f"Curves of MIC against the bias, one panel for each formula. {told}.",
        lambda figure: draw_points(figure, found),
    )
    told = "; ".join(
        f"{row['formula']}: between {row['lower']:.4f} and {row['upper']:.4f}"
        for row in found.suprema.iter_rows(named=True)
    )
    yield Drawing(
        "certified-biases",
        BIASED,
        f"Certified MIC over the bias: it lies between the two lines. {certified_range(found)}",
        f"Certified bands of MIC against the bias. The largest MIC of each formula: {told}.",
        lambda figure: draw_certified(figure, found),
    )


DEPENDENT, NOISY = "dependent", "noisy"
ZERO = 1e-12  # a smaller MIC is rounding


def dependence_section(found: Dependence) -> Section:
    """Everything about dependent variables."""
    drawing = Drawing(
        "dependence",
        DEPENDENT,
        f"MIC against the correlation of neighbours in the chain. {dependence_range(found)} Left: "
        "band and lines over all arrangements; right: the share on which the rule is optimal.",
        "Curves of MIC against correlation. Largest MIC: "
        + "; ".join(f"{rule} {found.worst(rule)['mic']:.4f}" for rule in MIC_RULES)
        + ".",
        lambda figure: draw_dependence(figure, found),
    )
    return Section(
        DEPENDENT,
        "Dependence",
        "When variables depend on each other",
        "The variables form a Markov chain: each is 1 with probability 1/2 and has the given "
        "correlation with the next. Two-term formulas are those on which the paper proves TopDown "
        "optimal when variables are independent and uniform. Where the variables of both terms "
        "stand in the chain matters: 1122 means that the first term's come first.",
        (drawing,),
        (optimal_when_dependent(found), topdown_is_better(found)),
        (_by_correlation(found),),
    )


def dependence_range(found: Dependence) -> str:
    """The formulas, in words."""
    plan = found.plan
    return (
        f"Every formula of two terms of at most {plan.max_literals} positive literals, in all "
        f"{found.arrangements} arrangements along the chain, up to reading it backwards and "
        f"exchanging equal terms; correlations {', '.join(f'{c:g}' for c in plan.correlations)}; "
        f"sizes 1 to {plan.max_size}. Entropy, ties last."
    )


def optimal_when_dependent(found: Dependence) -> Claim:
    """Whether TopDown stays optimal on two terms at each correlation."""
    spread = found.spread("TopDown")
    met = (spread["largest"] < ZERO).to_list()
    worst = found.worst("TopDown")
    still = [f"{c:g}" for c, holds in zip(spread["correlation"], met, strict=True) if holds]
    return Claim(
        dependence_range(found),
        "TopDown is optimal on every two-term formula, however neighbours correlate.",
        (
            f"Optimal on all arrangements at correlation: {', '.join(still) or 'none'}.",
            f"The largest MIC is {worst['mic']:.5f}, for {worst['arrangement']} at correlation "
            f"{worst['correlation']:g}.",
        ),
        f"Cases are the correlations: MIC is 0 (below {ZERO:g}) on every arrangement. "
        f"{count_met(met)}",
        decide(met),
    )


def topdown_is_better(found: Dependence) -> Claim:
    """Whether TopDown's mean MIC is the lower one at each correlation."""
    means = {rule: found.spread(rule)["mean"] for rule in MIC_RULES}
    met = (means["TopDown"] < means["BestFirst"] - ZERO).to_list()
    parts = [f"{rule}: {mean.min():.5f} to {mean.max():.5f}." for rule, mean in means.items()]
    return Claim(
        dependence_range(found),
        "TopDown's mean MIC is below BestFirst's, however neighbours correlate.",
        ("Means over the arrangements, from the least to the largest over correlations.", *parts),
        f"Cases are the correlations: TopDown's mean is the smaller one. {count_met(met)}",
        decide(met),
    )


def _by_correlation(found: Dependence) -> Table:
    spreads = [found.spread(rule) for rule in MIC_RULES]
    rows = []
    for place, correlation in enumerate(spreads[0]["correlation"]):
        row = [f"{correlation:g}"]
        for spread in spreads:
            row += [f"{spread['mean'][place]:.6f}", f"{spread['largest'][place]:.6f}",
                    f"{spread['optimal'][place]:.1%}"]  # fmt: skip
        rows.append(tuple(row))
    kinds = ("mean", "largest", "MIC 0 on")
    columns = ("correlation", *(f"{rule}, {kind}" for rule in MIC_RULES for kind in kinds))
    title = f"MIC({found.plan.max_size}) over {found.arrangements} arrangements"
    return Table(title, columns, tuple(rows), DEPENDENT)


def noise_section(found: Noise) -> Section:
    """Everything about noise."""
    told = "; ".join(
        f"{rule}: scaled mean from {found.spread(rule)['scaled_mean'][0]:.5f} to "
        f"{found.spread(rule)['scaled_mean'][-1]:.5f}"
        for rule in MIC_RULES
    )
    drawing = Drawing(
        "noise",
        NOISY,
        f"Scaled MIC against noise. {noise_range(found)} Left: the mean over all formulas; right: "
        "on how many formulas noise makes the scaled MIC larger or smaller than without noise.",
        f"Curves of scaled MIC against the probability of a wrong label. {told}.",
        lambda figure: draw_noise(figure, found),
    )
    return Section(
        NOISY,
        "Noise",
        "When labels are noisy",
        "A label is wrong with a given probability, whatever the input. The excess error of a "
        "given tree then shrinks by the factor 1 - 2 noise, so MIC is divided by it: the scaled "
        "MIC changes only if noise makes the rule choose other splits.",
        (drawing,),
        (noise_keeps(found), noise_never_hurts(found)),
        (_by_noise(found),),
    )


def noise_range(found: Noise) -> str:
    """The formulas, in words."""
    plan = found.plan
    return (
        f"Every read-once DNF on at most {plan.variables} variables ({found.formulas}), uniform "
        f"distribution; noise {', '.join(f'{n:g}' for n in plan.noises)}; sizes 1 to "
        f"{plan.max_size}. Entropy, ties last."
    )


def noise_keeps(found: Noise) -> Claim:
    """Whether noise changes nothing but the scale."""
    return _noise_claim(found, "Noise changes the scaled MIC of no formula.", ("worse", "better"))


def noise_never_hurts(found: Noise) -> Claim:
    """Whether noise never raises the scaled MIC."""
    return _noise_claim(found, "Noise raises the scaled MIC of no formula.", ("worse",))


def _noise_claim(found: Noise, text: str, columns: tuple[str, ...]) -> Claim:
    measured, met = [], []
    for rule in MIC_RULES:
        spread = found.spread(rule)
        met += [
            not any(row[column] for column in columns)
            for row in spread.iter_rows(named=True)
            if row["noise"]
        ]
        counts = ", ".join(
            f"{spread[column].max()} formulas {word}"
            for column, word in (("worse", "larger"), ("better", "smaller"))
        )
        measured.append(f"{rule}: at most {counts}.")
    names = " or ".join({"worse": "larger", "better": "smaller"}[column] for column in columns)
    return Claim(
        noise_range(found),
        text,
        tuple(measured),
        f"Cases are the rules with each noise above 0: no formula has a {names} scaled MIC than "
        f"without noise. {count_met(met)}",
        decide(met),
    )


def _by_noise(found: Noise) -> Table:
    spreads = [found.spread(rule) for rule in MIC_RULES]
    rows = []
    for place, chance in enumerate(spreads[0]["noise"]):
        row = [f"{chance:g}"]
        for spread in spreads:
            row += [f"{spread['mean'][place]:.6f}", f"{spread['scaled_mean'][place]:.6f}",
                    str(spread["worse"][place]), str(spread["better"][place])]  # fmt: skip
        rows.append(tuple(row))
    kinds = ("mean MIC", "scaled", "larger on", "smaller on")
    columns = ("noise", *(f"{rule}, {kind}" for rule in MIC_RULES for kind in kinds))
    title = f"MIC({found.plan.max_size}) over {found.formulas} formulas"
    return Table(title, columns, tuple(rows), NOISY)


TWO_TERMS = "ends"
CONJECTURE_RULE = (
    "A conjecture: it holds if every certified box agrees with it and the ends it names lie in "
    "the intervals between boxes; one box or end that does not is a counterexample, and it fails."
)


def two_terms_section(found: TwoTermBiases) -> Section:
    """Everything about the ends of the theorem."""
    told = "; ".join(
        f"{shorter} and {longer} literals: up to {bias:.4f}"
        for (shorter, longer), bias in found.last_optimal.items()
    )
    drawing = Drawing(
        "two-term-ends",
        TWO_TERMS,
        f"For which shared biases TopDown's tree of every size is optimal: "
        f"{two_terms_range(found)} The dotted line is the bias of the theorem, 1/2.",
        f"A bar over the biases for each pair of terms. From 1/2 on every tree is optimal: {told}.",
        lambda figure: _draw(figure, found),
    )
    return Section(
        TWO_TERMS,
        "Two terms",
        "Where the theorem on two terms ends",
        "The paper proves that TopDown's tree of every size is optimal for two terms if every bias "
        "is 1/2. Here all biases are shared but may differ from 1/2. The range is divided into "
        "boxes, and on each it is certified, for every bias inside, that all trees are optimal or "
        "that some tree is not. The pattern is stated as a conjecture.",
        (drawing,),
        (at_every_bias(found), *_conjectures(found)),
        (_two_terms_table(found),),
    )


def two_terms_range(found: TwoTermBiases) -> str:
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
        two_terms_range(found),
        "TopDown's tree of every size is optimal for two terms, whatever their shared bias.",
        tuple(measured) or ("No pair of terms is an exception.",),
        f"Cases are the pairs of lengths: all boxes are certified optimal. {count_met(met)}",
        decide(met),
    )


def _conjectures(found: TwoTermBiases) -> list[Claim]:
    return [
        Claim(
            two_terms_range(found),
            check.statement,
            (f"Within the range: {check.detail or check.range_covered}.",),
            CONJECTURE_RULE,
            check.verdict,
        )
        for check in conjectures(found)
    ]


def _two_terms_table(found: TwoTermBiases) -> Table:
    rows = tuple(
        (f"{shorter} and {longer}", f"{low:.6f}", f"{high:.6f}", outcome)
        for shorter, longer in found.plan.pairs
        for low, high, outcome in found.runs((shorter, longer))
    )
    columns = ("literals", "from bias", "to bias", "for every bias between")
    return Table("Certified outcomes", columns, rows, TWO_TERMS)


def _draw(figure: Figure, found: TwoTermBiases) -> Figure:
    figure.set_size_inches(9.0, 1.5 + 0.25 * len(found.plan.pairs))
    draw_two_terms(figure.add_subplot(), found)
    return figure


VOTED = "forests"
MOST = 0.5


def voted_section(found: Voting) -> Section:
    """Everything about forests."""
    told = "; ".join(
        f"{target}: {_where_it_passes(found, target)}" for target in found.plan.targets
    )
    drawing = Drawing(
        "forests",
        VOTED,
        "Percentage of forests whose vote has less error than every single tree of the size of "
        f"their trees; blank is none. {voted_range(found)}",
        f"Maps by number and size of trees. More than half of the forests pass: {told}.",
        lambda figure: draw_voting(figure, found),
    )
    return Section(
        VOTED,
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
        (_voted_table(found),),
    )


def voted_range(found: Voting) -> str:
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
        measured.append(f"{target}: {_where_it_passes(found, target)}.")
    return Claim(
        voted_range(found),
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
        voted_range(found),
        "Some small forest passes the best single tree with as many splits as the whole forest.",
        tuple(measured),
        f"Cases are the targets: for some size and number of trees above 1 more than {MOST:.0%} "
        "of the forests have less error than any single tree with as many splits in total. "
        f"{count_met(met)}",
        decide(met),
    )


def _where_it_passes(found: Voting, target: str) -> str:
    at = found.passes(target)
    return "nowhere" if at is None else f"from {at[0]} trees on, first at size {at[1]}"


def _voted_table(found: Voting) -> Table:
    size = found.plan.max_size
    rows = []
    for target in found.plan.targets:
        for trees in found.plan.trees:
            last = found.frame.filter(target=target, trees=trees, size=size)
            errors = last["error"].mean(), last["optimal"][0], last["optimal_of_total"][0]
            rows.append((target, str(trees), *(f"{error:.6f}" for error in errors)))
    columns = ("target", "trees", "mean error of the vote", "best single tree", "of as many splits")
    return Table(f"Errors at size {size} of each tree", columns, tuple(rows), VOTED)
