"""Two parts of the atlas: dependent variables, and noisy labels."""

from mictree.experiments.dependence import RULES, Dependence
from mictree.experiments.noise import Noise
from mictree.plotting.dependence import draw_dependence, draw_noise
from mictree.report.atlas.section import Section
from mictree.report.claims import Claim, count_met, decide
from mictree.report.figures import Drawing
from mictree.report.page import Table

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
        + "; ".join(f"{rule} {found.worst(rule)['mic']:.4f}" for rule in RULES)
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
    means = {rule: found.spread(rule)["mean"] for rule in RULES}
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
    spreads = [found.spread(rule) for rule in RULES]
    rows = []
    for place, correlation in enumerate(spreads[0]["correlation"]):
        row = [f"{correlation:g}"]
        for spread in spreads:
            row += [f"{spread['mean'][place]:.6f}", f"{spread['largest'][place]:.6f}",
                    f"{spread['optimal'][place]:.1%}"]  # fmt: skip
        rows.append(tuple(row))
    kinds = ("mean", "largest", "MIC 0 on")
    columns = ("correlation", *(f"{rule}, {kind}" for rule in RULES for kind in kinds))
    title = f"MIC({found.plan.max_size}) over {found.arrangements} arrangements"
    return Table(title, columns, tuple(rows), DEPENDENT)


def noise_section(found: Noise) -> Section:
    """Everything about noise."""
    told = "; ".join(
        f"{rule}: scaled mean from {found.spread(rule)['scaled_mean'][0]:.5f} to "
        f"{found.spread(rule)['scaled_mean'][-1]:.5f}"
        for rule in RULES
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
    for rule in RULES:
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
    spreads = [found.spread(rule) for rule in RULES]
    rows = []
    for place, chance in enumerate(spreads[0]["noise"]):
        row = [f"{chance:g}"]
        for spread in spreads:
            row += [f"{spread['mean'][place]:.6f}", f"{spread['scaled_mean'][place]:.6f}",
                    str(spread["worse"][place]), str(spread["better"][place])]  # fmt: skip
        rows.append(tuple(row))
    kinds = ("mean MIC", "scaled", "larger on", "smaller on")
    columns = ("noise", *(f"{rule}, {kind}" for rule in RULES for kind in kinds))
    title = f"MIC({found.plan.max_size}) over {found.formulas} formulas"
    return Table(title, columns, tuple(rows), NOISY)
