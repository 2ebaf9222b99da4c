"""MIC over a shared bias, for the formulas of the paper's uniform grid on which TopDown is worst.

Formulas of few variables are certified for every bias; all others are computed at single biases.
"""

from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
import polars as pl

from mictree._support.progress import EqualParts, Report
from mictree.excess import against
from mictree.experiments.cache import Cache
from mictree.families.biases import MicOverBiases, mic_over_biases
from mictree.families.family import grid, up_to
from mictree.families.sweep import sweep
from mictree.growers.rules import BestFirst, TopDown
from mictree.optimal import optimal_errors
from mictree.problems.formula import FormulaProblem

RULES = {"TopDown": TopDown(), "BestFirst": BestFirst()}


@dataclass(frozen=True)
class Plan:
    """Which formulas, and which biases."""

    max_terms: int = 8
    max_literals: int = 8
    max_size: int = 100
    worst: int = 3  # formulas of the grid
    biases: tuple[float, ...] = tuple(round(0.05 + 0.025 * step, 3) for step in range(37))
    certified_variables: int = 6  # formulas of at most so many are candidates for certificates
    certified: int = 4
    certified_size: int = 20
    between: tuple[float, float] = (0.1, 0.9)
    gap: float = 2e-3


@dataclass(frozen=True)
class WorstOverBiases:
    """MIC by bias.

    Attributes
    ----------
    points : a row for each formula, rule and bias of the grid's worst formulas; ``formula`` gives
        the literals of each term
    boxes : the certified boxes of TopDown for the other formulas
    suprema : their largest MIC, between ``lower`` and ``upper``
    """

    plan: Plan
    points: pl.DataFrame
    boxes: pl.DataFrame
    suprema: pl.DataFrame

    @property
    def formulas(self) -> list[str]:
        """The worst formulas of the grid, the worst first."""
        return self.points["formula"].unique(maintain_order=True).to_list()

    def curve(self, formula: str, rule: str) -> tuple[np.ndarray, np.ndarray]:
        """Biases and MIC."""
        rows = self.points.filter(formula=formula, rule=rule)
        return rows["bias"].to_numpy(), rows["mic"].to_numpy()

    def at_half(self, formula: str) -> float:
        """TopDown's MIC under the uniform distribution."""
        return float(self.points.filter(formula=formula, rule="TopDown", bias=0.5)["mic"].item())


def worst_over_biases(
    plan: Plan,
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> WorstOverBiases:
    """Find the worst formulas and follow their MIC over the bias; certify ``n_jobs`` at once.

    Examples
    --------
    >>> small = Plan(3, 2, 8, worst=1, biases=(0.3, 0.5), certified_variables=3, certified=1,
    ...              certified_size=4, gap=0.1)
    >>> found = worst_over_biases(small)
    >>> found.formulas, found.points.height, found.suprema.height
    (['2+2+2'], 4, 1)
    """
    store = cache or Cache()
    parts = EqualParts("biases", 2 + plan.certified, progress)
    parameters = asdict(plan)
    parts.begin("the worst formulas")
    points = store.frame("bias-points", parameters, lambda: _points(plan)).value
    parts.begin("which formulas to certify")
    chosen = store.values("bias-chosen", parameters, lambda: _choose(plan)).value
    boxes, suprema = [], []
    work = [([parameters, sizes], partial(_certify, plan, sizes)) for sizes in chosen]
    made = store.many_values("bias-boxes", work, n_jobs)
    for found in parts.follow(made, (f"certifying {sizes}" for sizes in chosen)):
        boxes += found.value["boxes"]
        suprema.append(found.value["supremum"])
    return WorstOverBiases(plan, points, pl.DataFrame(boxes), pl.DataFrame(suprema))


def _points(plan: Plan) -> pl.DataFrame:
    frame = sweep(grid(plan.max_terms, plan.max_literals), plan.max_size, [TopDown()])
    worst = frame.sort("mic", descending=True, maintain_order=True).head(plan.worst)
    return pl.DataFrame(
        [row for sizes in worst["formula"] for row in _mics(sizes, plan.biases, plan.max_size)]
    )


def _mics(sizes: str, biases: tuple[float, ...], max_size: int) -> list[dict]:
    formula = FormulaProblem.from_sizes(sizes).formula
    rows = []
    for bias in biases:
        problem = FormulaProblem(formula, bias)
        least = optimal_errors(problem, max_size)
        rows += [
            {"formula": sizes, "rule": name, "bias": bias,
             "mic": float(against(rule, problem, least).mic)}
            for name, rule in RULES.items()
        ]  # fmt: skip
    return rows


def _choose(plan: Plan) -> list[str]:
    """The formulas of few variables whose MIC is largest at some of the biases."""
    low, high = plan.between
    inside = tuple(bias for bias in plan.biases if low <= bias <= high)
    family = up_to(plan.certified_variables)
    largest = {}
    for member in family.members:
        sizes = "+".join(str(len(term)) for term in family.formula(member).terms)
        rows = _mics(sizes, inside, plan.certified_size)
        largest[sizes] = max(row["mic"] for row in rows if row["rule"] == "TopDown")
    return sorted(largest, key=lambda sizes: (-largest[sizes], sizes))[: plan.certified]


def _certify(plan: Plan, sizes: str) -> dict:
    formula = str(FormulaProblem.from_sizes(sizes).formula)
    found: MicOverBiases = mic_over_biases(
        TopDown(), formula, plan.between, plan.certified_size, plan.gap
    )
    boxes = found.boxes.with_columns(pl.lit(sizes).alias("formula")).to_dicts()
    low, high = map(float, found.supremum)
    assert not isinstance(found.worst, dict)  # one bias for all variables
    return {
        "boxes": boxes,
        "supremum": {"formula": sizes, "lower": low, "upper": high, "worst": float(found.worst),
                     "complete": found.complete},
    }  # fmt: skip
