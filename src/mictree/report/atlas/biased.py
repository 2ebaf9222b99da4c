"""The atlas's fourth part: MIC over the bias, for the worst formulas of the paper's grid."""

import numpy as np

from mictree.experiments.worst_over_biases import RULES, WorstOverBiases
from mictree.plotting.worst_over_biases import draw_certified, draw_points
from mictree.report.atlas.section import Section
from mictree.report.claims import Claim, count_met, decide
from mictree.report.figures import Drawing
from mictree.report.page import Table

NAME = "biased"
NEAR = 0.01  # the paper calls trees with a smaller MIC near-optimal


def section(found: WorstOverBiases) -> Section:
    """Everything about biases."""
    return Section(
        NAME,
        "Biases",
        "The worst formulas, over the bias",
        "All variables share one bias. A formula is written as the number of literals of each "
        "term. Formulas of few variables are certified: for every bias of the range, not only at "
        "some, MIC lies between the two lines. Boxes are divided until the largest MIC is known, "
        "so the band is narrow near the largest MIC only. The worst formulas of the paper's grid "
        "have too many variables for that, so they are computed at single biases.",
        tuple(_drawings(found)),
        (worst_at_half(found), near_optimal(found)),
        (_points(found), _suprema(found)),
    )


def range_of(found: WorstOverBiases) -> str:
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
        range_of(found),
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
    return Table(title, columns, tuple(rows), NAME)


def _suprema(found: WorstOverBiases) -> Table:
    rows = tuple(
        (row["formula"], f"{row['lower']:.6f}", f"{row['upper']:.6f}", f"{row['worst']:.6f}",
         f"{found.boxes.filter(formula=row['formula']).height:,}")
        for row in found.suprema.iter_rows(named=True)
    )  # fmt: skip
    columns = ("formula", "largest MIC: at least", "at most", "nearly attained at bias", "boxes")
    low, high = found.plan.between
    title = f"TopDown, MIC({found.plan.certified_size}), certified from bias {low:g} to {high:g}"
    return Table(title, columns, rows, NAME)


def _drawings(found: WorstOverBiases):
    told = "; ".join(
        f"{formula}: TopDown at most {found.curve(formula, 'TopDown')[1].max():.4f}, BestFirst at "
        f"most {found.curve(formula, 'BestFirst')[1].max():.4f}"
        for formula in found.formulas
    )
    yield Drawing(
        "worst-over-biases",
        NAME,
        f"MIC over the bias at single biases. {range_of(found)}",
        f"Curves of MIC against the bias, one panel for each formula. {told}.",
        lambda figure: draw_points(figure, found),
    )
    told = "; ".join(
        f"{row['formula']}: between {row['lower']:.4f} and {row['upper']:.4f}"
        for row in found.suprema.iter_rows(named=True)
    )
    yield Drawing(
        "certified-biases",
        NAME,
        f"Certified MIC over the bias: it lies between the two lines. {certified_range(found)}",
        f"Certified bands of MIC against the bias. The largest MIC of each formula: {told}.",
        lambda figure: draw_certified(figure, found),
    )
