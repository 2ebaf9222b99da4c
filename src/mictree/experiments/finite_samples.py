"""Section 8.3 and the last supplement: test error against the number of training rows.

Rows are drawn from a known distribution, TopDown, BestFirst and scikit-learn learn trees from them,
and the distribution itself gives the true error of each tree. A test sample is drawn as well, as in
the paper. Beside these stand the limits of many rows: the error of trees grown from the
distribution, and the least error of any tree.
"""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl
from sklearn.tree import DecisionTreeClassifier

from mictree._support.checks import TooLarge
from mictree._support.progress import EqualParts, Report
from mictree.experiments.cache import Cache
from mictree.functions.read_once import ReadOnceDNF
from mictree.growers.rules import BestFirst, Grower, TopDown
from mictree.optimal import optimal_errors
from mictree.problems import FormulaProblem
from mictree.problems.sample import Limits, SampleProblem
from mictree.tree import LEAF, Tree

Bits = np.typing.NDArray[np.uint8]


@dataclass(frozen=True)
class Rows:
    """A sample: a 0/1 matrix whose columns are the problem's variables, and the labels."""

    X: Bits
    y: Bits

    @classmethod
    def draw(cls, problem: FormulaProblem, count: int, seed: list[int]) -> "Rows":
        """Independent rows, labelled by the formula."""
        biases = np.array([float(bias) for bias in problem.biases.values()])
        X = (np.random.default_rng(seed).random((count, len(biases))) < biases).astype(np.uint8)
        return cls(X, problem.formula.evaluate(X, problem.variables))

    def error(self, tree: Tree) -> float:
        """The share of rows that a tree labels wrongly."""
        return float(np.mean(tree.predict(self.X) != self.y))


@dataclass(frozen=True)
class Learned:
    """A tree grown on rows, and the true errors of the trees it went through."""

    tree: Tree
    true_errors: np.typing.NDArray[np.float64]  # index = size; the last repeats


def learn(
    problem: FormulaProblem, rule: Grower, rows: Rows, max_size: int, min_samples_split: int
) -> Learned:
    """Grow a tree on rows; the problem, which the rule does not see, judges every size."""
    sample = SampleProblem(rows.X, rows.y, limits=Limits(min_samples_split=min_samples_split))
    growth = rule.grow(sample, max_size)
    leaves = [problem.root()]
    errors = [float(leaves[0].misclassified(growth.labels[0]))]
    columns = []
    for number, step in enumerate(growth.steps):
        # a column that is constant in the rows offers no literal, so positions may differ
        column = sample.literals.locate(step.position)[0]
        columns.append(column)
        low = 2 * number + 1  # in order of creation
        leaves += problem.children(leaves[step.leaf], column)
        wrong = [
            leaves[leaf].misclassified(growth.labels[leaf]) for leaf in (step.leaf, low, low + 1)
        ]
        errors.append(errors[-1] + float(wrong[1] + wrong[2] - wrong[0]))
    curve = np.array(errors + errors[-1:] * (max_size + 1 - len(errors)))
    split = [step.leaf for step in growth.steps]
    return Learned(Tree.from_splits(problem.variables, split, columns, growth.labels), curve)


def from_sklearn(learner: DecisionTreeClassifier, variables: tuple[str, ...]) -> Tree:
    """A fitted tree over 0/1 columns as one of ours."""
    fitted = learner.tree_
    labels = learner.classes_[fitted.value[:, 0, :].argmax(axis=1)]

    def nested(node: int) -> Any:
        if fitted.children_left[node] == LEAF:
            return int(labels[node])
        low, high = fitted.children_left[node], fitted.children_right[node]
        return fitted.feature[node], nested(low), nested(high)

    return Tree.build(variables, nested(0))


SEED = 38
RULES: tuple[Grower, ...] = (TopDown(), BestFirst())
SKLEARN = "scikit-learn"
LEARNERS = (*(type(rule).__name__ for rule in RULES), SKLEARN)
OPTIMAL_MEMORY = 6 * 2**30  # bytes


@dataclass(frozen=True)
class Plan:
    """The numbers of the experiment; the defaults are the paper's."""

    terms: tuple[int, ...] = (3, 3, 4, 5, 3, 4, 3, 5, 4, 4)
    biases: tuple[tuple[float, float], ...] = ((0.5, 0.5), (0.3, 0.7), (0.4, 0.6))
    rows: tuple[int, ...] = (50, 100, 1000, 2000, 3000, 4000, 10000, 20000, 50000)
    repetitions: int = 10
    test_rows: int = 10_000
    max_size: int = 20
    min_samples_split: int = 20
    seed: int = SEED

    def problem(self, biases: tuple[float, float]) -> FormulaProblem:
        """The formula; half of its variables, chosen at random, have the first bias."""
        formula = ReadOnceDNF.of_sizes(self.terms)
        count = len(formula.variables)
        chosen = np.random.default_rng([self.seed, 0]).permutation(count)[: count // 2]
        mixed = np.full(count, biases[1])
        mixed[chosen] = biases[0]
        return FormulaProblem(formula, mixed.tolist())


QUICK_PLAN = Plan((3, 3, 4, 5), rows=(50, 500, 4000), repetitions=3, test_rows=2000, max_size=12)


@dataclass(frozen=True)
class Limit:
    """Errors under the same distribution, without sampling."""

    exact_errors: dict[
        str, list[float]
    ]  # by rule, grown from the distribution itself; index = size
    optimal_errors: list[float] | None  # OPT(D, size), index = size
    refusal: str = ""  # why there are no optimal errors


@dataclass(frozen=True)
class FiniteSetting:
    """All fits under one distribution."""

    name: str
    frame: pl.DataFrame  # a row for each learner, number of rows and repetition
    limit: Limit
    optimal_seconds: float

    @property
    def title(self) -> str:
        """A heading for it."""
        return self.name if self.name == "uniform" else f"biases {self.name}"

    @cached_property
    def summary(self) -> pl.DataFrame:
        """Mean and standard deviation of both errors for each learner and number of rows."""
        measured = ["test_error", "exact_error", "size"]
        return self.frame.group_by("learner", "rows", maintain_order=True).agg(
            *(pl.col(name).mean().alias(name) for name in measured),
            *(pl.col(name).std().alias(f"{name}_spread") for name in measured[:2]),
            pl.col("seconds").sum(),
        )

    def mean_error(self, learner: str, rows: int, column: str = "exact_error") -> float:
        """The mean over repetitions."""
        return float(self.summary.filter(learner=learner, rows=rows)[column].item())


@dataclass(frozen=True)
class FiniteSamples:
    """The whole experiment."""

    plan: Plan
    settings: tuple[FiniteSetting, ...] = field(default=())

    @property
    def fit_seconds(self) -> dict[str, float]:
        """The time of all fits of each learner."""
        fits = pl.concat([setting.frame for setting in self.settings])
        totals = fits.group_by("learner", maintain_order=True).agg(pl.col("seconds").sum())
        return dict(totals.iter_rows())


def finite_samples(
    plan: Plan,
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> FiniteSamples:
    """Fit every learner on every sample; reuse cached fits.

    ``n_jobs`` numbers of rows are worked on at once, by joblib; only ``seconds`` depend on it.
    """
    store = cache or Cache()
    settings = []
    parts = EqualParts("finite samples", len(plan.biases) * (len(plan.rows) + 1), progress)
    for number, biases in enumerate(plan.biases):
        name = _setting_name(biases)
        problem = plan.problem(biases)
        parameters: dict[str, Any] = asdict(plan) | {"biases": biases, "number": number}
        del parameters["rows"]
        fits = [
            (parameters | {"rows": rows}, partial(_fits, plan, problem, number, rows))
            for rows in plan.rows
        ]
        made = store.frames("finite", fits, n_jobs)
        labels = (f"{name}, {rows:,} rows" for rows in plan.rows)
        frame = pl.concat([found.value for found in parts.follow(made, labels)])
        parts.begin(f"{name}, optimal trees")
        limit = store.values(
            "limit", parameters, lambda problem=problem: asdict(_limit(plan, problem))
        )
        settings.append(FiniteSetting(name, frame, Limit(**limit.value), limit.seconds))
    return FiniteSamples(plan, tuple(settings))


def _setting_name(biases: tuple[float, float]) -> str:
    """The name of a distribution."""
    return "uniform" if biases[0] == biases[1] == 0.5 else f"{biases[0]:g} and {biases[1]:g}"


def _fits(plan: Plan, problem: FormulaProblem, setting: int, rows: int) -> pl.DataFrame:
    return pl.DataFrame(list(_each_fit(plan, problem, setting, rows)))


def _each_fit(
    plan: Plan, problem: FormulaProblem, setting: int, rows: int
) -> Iterator[dict[str, Any]]:
    test = Rows.draw(problem, plan.test_rows, [plan.seed, 1, setting])
    for repetition in range(plan.repetitions):
        train = Rows.draw(problem, rows, [plan.seed, 2, setting, rows, repetition])
        for learner in LEARNERS:
            begin = time.perf_counter()
            tree = _fit(plan, problem, learner, train)
            seconds = time.perf_counter() - begin
            yield {
                "rows": rows,
                "repetition": repetition,
                "learner": learner,
                "size": tree.size,
                "train_error": train.error(tree),
                "test_error": test.error(tree),
                "exact_error": float(tree.error(problem)),
                "seconds": seconds,
            }


def _fit(plan: Plan, problem: FormulaProblem, learner: str, train: Rows) -> Tree:
    for rule in RULES:
        if type(rule).__name__ == learner:
            return learn(problem, rule, train, plan.max_size, plan.min_samples_split).tree
    fitted = DecisionTreeClassifier(
        criterion="entropy",
        max_leaf_nodes=plan.max_size + 1,
        min_samples_split=plan.min_samples_split,
        random_state=plan.seed,
    ).fit(train.X, train.y)
    return from_sklearn(fitted, problem.variables)


def _limit(plan: Plan, problem: FormulaProblem) -> Limit:
    exact = {
        type(rule).__name__: rule.grow(problem, plan.max_size).errors.tolist() for rule in RULES
    }
    try:
        least = optimal_errors(problem, plan.max_size, memory_limit=OPTIMAL_MEMORY)
    except TooLarge as refusal:
        return Limit(exact, None, str(refusal))
    return Limit(exact, least.tolist())
