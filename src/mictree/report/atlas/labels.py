"""The atlas's second part: MIC of representatives, and of their relabellings."""

from mictree.experiments.relabellings import RULES, Relabellings
from mictree.plotting.relabellings import draw_relabellings
from mictree.report.atlas.section import Section
from mictree.report.claims import Claim, count_met, decide
from mictree.report.figures import Drawing
from mictree.report.page import Table

NAME = "labels"
ERRORS = 3  # standard errors
TENTH = 0.1


def section(found: Relabellings) -> Section:
    """Everything about relabellings."""
    plan = found.plan
    return Section(
        NAME,
        "Names",
        "MIC over all functions, and how much it depends on names",
        "Functions that renaming variables and negating inputs or the output make of one another "
        "have the same optimal errors. The trees that a rule grows on them differ where splits or "
        "leaves tie, because ties are decided by order. So a sweep over one representative of "
        "each class is weighted by its count, and checked against functions drawn at random.",
        (_drawing(found),),
        (representative(found), independent(found)),
        (_table(found, plan.max_size),),
    )


def range_of(found: Relabellings) -> str:
    """The sample, in words."""
    plan = found.plan
    total = found.representatives.filter(rule=next(iter(RULES)))
    return (
        f"All {total['count'].sum():,} functions of {plan.variables} variables, "
        f"{total['members'].sum():,} representatives; {plan.relabellings} relabellings of each of "
        f"{plan.members:,} members drawn by count (seed {plan.seed}). Entropy, ties {plan.ties}, "
        f"sizes 1 to {plan.max_size}."
    )


def representative(found: Relabellings) -> Claim:
    """Whether the weighted mean of representatives is that of all functions."""
    measured, met = [], []
    for rule in RULES:
        mean, error = found.estimate(rule)
        weighted = found.weighted_mean(rule)
        met.append(abs(weighted - mean) <= ERRORS * error)
        measured.append(
            f"{rule}: {weighted:.5f} from representatives, {mean:.5f} ± {error:.5f} from functions "
            "drawn at random."
        )
    return Claim(
        range_of(found),
        "Representatives weighted by count give the mean MIC over all functions.",
        tuple(measured),
        f"Cases are the rules: the two means differ by at most {ERRORS} standard errors. "
        f"{count_met(met)}",
        decide(met),
    )


def independent(found: Relabellings) -> Claim:
    """Whether MIC hardly depends on names."""
    measured, met = [], []
    for rule in RULES:
        spreads = found.spreads.filter(rule=rule)
        width = float((spreads["largest"] - spreads["least"]).mean())  # type: ignore[arg-type]
        mean = float(spreads["mean"].mean())  # type: ignore[arg-type]
        met.append(width <= TENTH * mean)
        measured.append(f"{rule}: mean range {width:.5f}, mean MIC {mean:.5f}.")
    return Claim(
        range_of(found),
        "The MIC of a function hardly depends on the names of its variables.",
        tuple(measured),
        f"Cases are the rules: the mean range over relabellings is at most {TENTH:g} of the mean "
        f"MIC. {count_met(met)}",
        decide(met),
    )


def _table(found: Relabellings, max_size: int) -> Table:
    rows = []
    for rule in RULES:
        spreads = found.spreads.filter(rule=rule)
        mean, error = found.estimate(rule)
        width = spreads["largest"] - spreads["least"]
        rows.append((
            rule, f"{found.weighted_mean(rule):.6f}", f"{found.largest(rule):.6f}",
            f"{mean:.6f} ± {error:.6f}", f"{width.mean():.6f}", f"{width.max():.6f}",
            f"{(width < 1e-12).mean():.2%}",
        ))  # fmt: skip
    columns = (
        "rule", "representatives: weighted mean", "largest", "all functions: estimate ± s.e.",
        "range over relabellings: mean", "largest", "no range",
    )  # fmt: skip
    return Table(f"MIC({max_size}), entropy, ties {found.plan.ties}", columns, tuple(rows), NAME)


def _drawing(found: Relabellings) -> Drawing:
    means = "; ".join(
        f"{rule}: weighted mean {found.weighted_mean(rule):.4f}, estimate for all functions "
        f"{found.estimate(rule)[0]:.4f}"
        for rule in RULES
    )
    return Drawing(
        "relabellings",
        NAME,
        f"{range_of(found)} Left: MIC of the representatives, weighted by count. Middle and right: "
        "for each drawn member the range over its relabellings, their mean, and the "
        "representative's MIC as a dot.",
        f"A histogram of MIC, and bands that show how MIC varies over relabellings. {means}.",
        lambda figure: draw_relabellings(figure, found),
    )
