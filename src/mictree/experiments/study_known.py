"""The study on known distributions: where does the error of a learned tree come from?

Forty targets on 6 to 10 variables have distributions that are known exactly, label noise included,
so the true error of every tree is exact. It is the sum of four losses. The *noise floor* is the
least error of any predictor. *Approximation* is what the best tree of the size errs above it.
*Estimation* is what the tree with the fewest errors on the sample errs above that. *Optimisation*
is what the learner's tree errs above the tree with the fewest errors on the sample; it may be
negative. All learners get the same rows and the same folds, by which each chooses a size.

A sample on few variables is a table itself: a count and a share of ones for every input. So the
best trees on the sample come from the dynamic program over subcubes, exact and proved for every
size. No search has a time limit, and no number depends on the machine or on the number of workers.

Invariant: for every tree, floor + approximation + estimation + optimisation = true error.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.stats import kendalltau

from mictree._support.progress import EqualParts, Report
from mictree.excess import against
from mictree.experiments.cache import Cache
from mictree.functions.read_once import ReadOnceDNF
from mictree.growers.rules import ID3, BestFirst, Grower, Growth, Lookahead, TopDown
from mictree.optimal import optimal_trees
from mictree.problems import TableProblem, distributions
from mictree.problems.sample import SampleProblem

SEED = 35
NOISES = (Fraction(0), Fraction(1, 10), Fraction(1, 5))
DISTRIBUTIONS = ("uniform", "product", "chain")
KINDS = ("read-once DNF", "random", "threshold", "staircase", "parity")
TERMS = ((2, 2, 2), (3, 4), (2, 2, 4), (2, 3, 4), (2, 2, 3, 3), (3, 3), (2, 2, 3), (5, 5))
TARGETS = 40
OPTIMAL, TOP = "optimal", "top 3"
RULES: dict[str, Grower] = {
    "TopDown": TopDown(),
    "BestFirst": BestFirst(),
    "ID3": ID3(),
    "Lookahead(2)": Lookahead(2),
}
LOSSES = ("approximation", "estimation", "optimisation")

Ints = np.typing.NDArray[np.int64]
Labels = np.typing.NDArray[np.uint8]


@dataclass(frozen=True)
class Plan:
    """The numbers of the experiment."""

    targets: int = TARGETS  # so many of the forty, all kinds among them
    rows: tuple[int, ...] = (50, 100, 200, 500, 1000, 2000, 5000, 10000)
    repetitions: int = 5
    max_size: int = 12
    folds: int = 5  # of the cross-validation that chooses a size
    draws: int = 2000  # of targets, for bootstrap intervals
    seed: int = SEED


QUICK_PLAN = Plan(targets=10, rows=(50, 500, 5000), repetitions=2, folds=3)


@dataclass(frozen=True)
class Target:
    """A function under a distribution, whose labels are wrong with some probability."""

    number: int
    kind: str
    distribution: str
    noise: Fraction
    problem: TableProblem

    @property
    def name(self) -> str:
        """Its number and kind."""
        return f"{self.number + 1:02d} {self.kind}"

    @cached_property
    def inputs(self) -> Labels:
        """All inputs, a row each."""
        count = len(self.problem.variables)
        return (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.uint8)

    @property
    def floor(self) -> float:
        """The least error of any predictor."""
        (mass, positive), denominator = self.problem.scaled_rows
        return int(np.minimum(positive, mass - positive).sum()) / denominator

    def errors(self, predictions: Labels) -> list[float]:
        """The true error of each row of predictions, one for every input, rounded once."""
        (mass, positive), denominator = self.problem.scaled_rows
        return [int(np.where(row, mass - positive, positive).sum()) / denominator
                for row in predictions]  # fmt: skip

    def draw(self, rows: int, seed: Sequence[int]) -> "Drawn":
        """Independent rows."""
        random = np.random.default_rng(seed)
        chances = np.array([float(chance) for chance in self.problem.probabilities])
        codes = random.choice(len(chances), rows, p=chances / chances.sum())
        rates = np.array([float(rate) for rate in self.problem.truth_table])
        return Drawn(self, codes, (random.random(rows) < rates[codes]).astype(np.int64))


def make_target(number: int, seed: int = SEED) -> Target:
    """One of the forty; kinds take turns, and each meets all distributions and noises."""
    nth, place = divmod(number, len(KINDS))
    kind, noise = KINDS[place], NOISES[nth % len(NOISES)]
    distribution = DISTRIBUTIONS[(nth // len(NOISES) + place) % len(DISTRIBUTIONS)]
    random = np.random.default_rng([seed, 0, number])
    count = sum(TERMS[nth % len(TERMS)]) if kind == KINDS[0] else 6 + nth % 5
    labels = _LABELS[kind](nth, count, random)
    noisy = [noise + (1 - 2 * noise) * int(label) for label in labels]
    chances = _chances(distribution, count, random)
    return Target(number, kind, distribution, noise, TableProblem(noisy, chances))


def _chances(name: str, count: int, random: np.random.Generator) -> Sequence[Fraction] | None:
    """The probability of every input; None where all are equally likely."""
    if name == "product":
        return distributions.product(
            Fraction(int(tenths), 10) for tenths in random.integers(2, 9, count)
        )
    if name == "chain":
        return distributions.markov_chain(count, Fraction(1, 2), Fraction(3, 10), Fraction(7, 10))
    return None


def _signs(count: int) -> Ints:
    """All inputs with 1 for value 0, and -1 for value 1."""
    return 1 - 2 * (np.arange(2**count)[:, None] >> np.arange(count) & 1)


def _read_once(nth: int, count: int, random: np.random.Generator) -> Any:
    formula = ReadOnceDNF.of_sizes(TERMS[nth % len(TERMS)])
    bits = ((1 - _signs(count)) // 2).astype(np.uint8)
    return formula.evaluate(bits, formula.variables)


def _random(nth: int, count: int, random: np.random.Generator) -> Any:
    return random.integers(0, 2, 2**count)


def _threshold(nth: int, count: int, random: np.random.Generator) -> Any:
    weights = random.integers(1, 5, count)
    return (1 - _signs(count)) @ weights > weights.sum()


def _staircase(nth: int, count: int, random: np.random.Generator) -> Any:
    """Whether more of the products of the first 1, 2, ... signs are positive than negative."""
    steps = 3 + 2 * (nth % 2)
    return np.cumprod(_signs(count)[:, :steps], axis=1).sum(axis=1) > 0


def _parity(nth: int, count: int, random: np.random.Generator) -> Any:
    return _signs(count)[:, : 2 + nth % 3].prod(axis=1) < 0


_LABELS: dict[str, Callable[[int, int, np.random.Generator], Any]] = dict(
    zip(KINDS, (_read_once, _random, _threshold, _staircase, _parity), strict=True)
)


class Drawn(NamedTuple):
    """A sample of a target: the number of each row's input, and the labels."""

    target: Target
    codes: Ints
    labels: Ints

    def take(self, chosen: np.ndarray) -> "Drawn":
        """Some of the rows."""
        return Drawn(self.target, self.codes[chosen], self.labels[chosen])

    def error(self, predictions: Labels) -> list[float]:
        """The share of rows that each row of predictions, one for every input, gets wrong."""
        return np.mean(predictions[:, self.codes] != self.labels, axis=1).tolist()


Learner = Callable[[Drawn, int], Labels]  # rows, and the largest size -> predictions by size


def predict_growth(growth: Growth, columns: Sequence[int], inputs: Labels) -> Labels:
    """What the trees of a growth predict, a row for each size; ``columns`` are those tested."""
    labels = np.array(growth.labels, dtype=np.uint8)
    leaf = np.zeros(len(inputs), dtype=np.intp)
    found = [labels[leaf]]
    for number, (step, column) in enumerate(zip(growth.steps, columns, strict=True)):
        here = leaf == step.leaf
        leaf[here] = 2 * number + 1 + inputs[here, column]
        found.append(labels[leaf])
    return np.array(found + found[-1:] * (growth.max_size + 1 - len(found)))


def by_rule(rule: Grower) -> Learner:
    """A learner that grows by a rule."""

    def learn(drawn: Drawn, max_size: int) -> Labels:
        inputs = drawn.target.inputs
        if drawn.labels.min() == drawn.labels.max():
            return np.full((max_size + 1, len(inputs)), drawn.labels[0], dtype=np.uint8)
        sample = SampleProblem(inputs[drawn.codes], drawn.labels)
        growth = rule.grow(sample, max_size)
        # a column that is constant in the rows offers no literal, so positions may differ
        columns = [sample.literals.locate(step.position)[0] for step in growth.steps]
        return predict_growth(growth, columns, inputs)

    return learn


def as_table(drawn: Drawn) -> TableProblem:
    """The sample as a distribution over all inputs."""
    inputs = len(drawn.target.inputs)
    counts = np.bincount(drawn.codes, minlength=inputs).tolist()
    ones = np.bincount(drawn.codes[drawn.labels == 1], minlength=inputs).tolist()
    shares = [Fraction(one, count or 1) for one, count in zip(ones, counts, strict=True)]
    return TableProblem(shares, [Fraction(count, len(drawn.codes)) for count in counts])


def by_program(top: int | None) -> Learner:
    """A learner that makes the fewest errors on the rows, by ``top`` splits of largest gain."""

    def learn(drawn: Drawn, max_size: int) -> Labels:
        solved = optimal_trees(as_table(drawn), max_size, exact=True, top=top)
        inputs = drawn.target.inputs
        return np.array([solved.tree(size).predict(inputs) for size in range(max_size + 1)])

    return learn


LEARNERS: dict[str, Learner] = {
    **{name: by_rule(rule) for name, rule in RULES.items()},
    TOP: by_program(3),
    OPTIMAL: by_program(None),
}


def deal(labels: Ints, folds: int, seed: Sequence[int]) -> Ints:
    """The fold of each row: rows in random order are dealt out, label by label."""
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.int64)
    fold[order] = np.arange(len(labels)) % folds
    return fold


@dataclass(frozen=True)
class KnownStudy:
    """The results.

    Attributes
    ----------
    exact : a row for each target and size: ``target``, ``kind``, ``distribution``, ``noise``,
        ``variables``, ``floor``, ``size``, ``optimal``
    mics : a row for each target and learner but the optimal one: ``target``, ``learner``, ``mic``
    frame : a row for each target, number of rows, repetition, learner and size: ``train_error``,
        ``true_error``, and whether cross-validation has ``chosen`` the size
    """

    plan: Plan
    exact: pl.DataFrame
    mics: pl.DataFrame
    frame: pl.DataFrame

    @property
    def learners(self) -> list[str]:
        """The names of the learners, the optimal one last."""
        return self.frame["learner"].unique(maintain_order=True).to_list()

    @cached_property
    def losses(self) -> pl.DataFrame:
        """The frame with the floor and the three losses, which sum to ``true_error``."""
        keys = ["target", "rows", "repetition", "size"]
        best = self.frame.filter(learner=OPTIMAL).select(*keys, best="true_error")
        least = self.exact.select("target", "kind", "noise", "floor", "size", "optimal")
        joined = self.frame.join(best, on=keys, maintain_order="left")
        return joined.join(least, on=["target", "size"], maintain_order="left").with_columns(
            approximation=pl.col("optimal") - pl.col("floor"),
            estimation=pl.col("best") - pl.col("optimal"),
            optimisation=pl.col("true_error") - pl.col("best"),
        )

    def mean_losses(self, by: Sequence[str], chosen: bool) -> pl.DataFrame:
        """Mean losses: at the chosen sizes, or over all sizes from 1."""
        which = pl.col("chosen") if chosen else pl.col("size") > 0
        parts = [name for name in ("floor", *LOSSES, "true_error", "size") if name not in by]
        groups = self.losses.filter(which).group_by(*by, maintain_order=True)
        return groups.agg(*(pl.col(part).mean() for part in parts))

    def differences(self, learner: str, rows: int, chosen: bool) -> np.ndarray:
        """By target, the mean true error of a learner above that of the sample's best trees.

        Over all sizes from 1; or, if ``chosen``, each at the sizes that it chose.
        """
        means = self.mean_losses(["target", "rows", "learner"], chosen).filter(rows=rows)
        one, best = (means.filter(learner=name)["true_error"] for name in (learner, OPTIMAL))
        return one.to_numpy() - best.to_numpy()

    def orders(self, rows: int) -> np.ndarray:
        """By target, Kendall's tau-b between learners' exact MICs and mean true errors.

        NaN where all learners have the same MIC, or the same mean error.
        """
        means = self.mean_losses(["target", "rows", "learner"], chosen=False).filter(rows=rows)
        found = []
        for target in self.exact["target"].unique(maintain_order=True):
            both = self.mics.filter(target=target).join(
                means.filter(target=target), on="learner", maintain_order="left"
            )
            # equal trees must tie: rounding does not rank
            pair = [both[name].round(12).to_list() for name in ("mic", "true_error")]
            varies = all(len(set(values)) > 1 for values in pair)
            tau: Any = kendalltau(*pair)
            found.append(float(tau.statistic) if varies else np.nan)
        return np.array(found)

    def interval(self, values: np.ndarray) -> tuple[float, float, float]:
        """The mean over targets, and its 95% bootstrap interval; NaN values are left out."""
        return bootstrap(values, self.plan.draws, [self.plan.seed, 3])

    def optimisation_map(self, learner: str) -> np.ndarray:
        """The mean optimisation loss, by number of rows and by size from 1."""
        means = self.mean_losses(["rows", "size", "learner"], chosen=False)
        return (
            means.filter(learner=learner)["optimisation"]
            .to_numpy()
            .reshape(len(self.plan.rows), self.plan.max_size)
        )

    def overfits(self, learner: str, rows: int) -> list[int]:
        """The sizes at which the sample's best trees have the larger mean true error."""
        losses = self.optimisation_map(learner)[self.plan.rows.index(rows)]
        return (np.flatnonzero(losses < -SAME) + 1).tolist()


SAME = 1e-12  # a smaller difference of mean errors is rounding


def bootstrap(values: np.ndarray, draws: int, seed: Sequence[int]) -> tuple[float, float, float]:
    """The mean, and the 2.5th and 97.5th percentile of means of resampled values, without NaN."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.nan, np.nan, np.nan
    chosen = np.random.default_rng(seed).integers(0, len(known), (draws, len(known)))
    low, high = np.percentile(known[chosen].mean(axis=1), [2.5, 97.5])
    return float(known.mean()), float(low), float(high)


def known_study(
    plan: Plan,
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
    learners: Mapping[str, Learner] = LEARNERS,
) -> KnownStudy:
    """Learn on samples of every target, ``n_jobs`` targets with a number of rows at once.

    ``learners`` must have "optimal"; those of one's own are not kept in a cache.

    Examples
    --------
    >>> found = known_study(Plan(targets=5, rows=(40,), repetitions=1, max_size=2, folds=2))
    >>> found.frame.height, found.exact["kind"].n_unique()
    (90, 5)
    """
    store = cache if cache is not None and learners is LEARNERS else Cache()
    settings = asdict(plan)
    for name in ("targets", "rows", "draws"):
        del settings[name]  # a part depends on its own only
    numbers = range(plan.targets)
    exact = [(settings | {"target": each}, partial(_exact, plan, each)) for each in numbers]
    work = [
        (settings | {"target": each, "rows": rows}, partial(_fits, plan, each, rows, learners))
        for rows in plan.rows
        for each in numbers
    ]
    parts = EqualParts("known distributions", len(exact) + len(work), progress)
    names = [make_target(each, plan.seed).name for each in numbers]
    known = [
        found.value for found in parts.follow(store.frames("study-exact", exact, n_jobs), names)
    ]
    labels = (f"{rows:,} rows, {name}" for rows in plan.rows for name in names)
    made = parts.follow(store.frames("study-known", work, n_jobs), labels)
    frame = pl.concat([found.value for found in made])
    whole = pl.concat(known)
    least = whole.filter(pl.col("learner").is_null()).drop("learner", "mic")
    mics = whole.filter(pl.col("learner").is_not_null()).select("target", "learner", "mic")
    return KnownStudy(plan, least, mics, frame)


def _exact(plan: Plan, number: int) -> pl.DataFrame:
    """What is known of a target without a sample: least errors by size, and MICs, in one frame."""
    target = make_target(number, plan.seed)
    problem, size = target.problem, plan.max_size
    solved = optimal_trees(problem, size, exact=True)
    least = np.array([float(error) for error in solved.errors])
    mics = {name: float(against(rule, problem, least).mic) for name, rule in RULES.items()}
    best = optimal_trees(problem, size, exact=True, top=3).errors
    mics[TOP] = float(np.mean([float(error) for error in best][1:] - least[1:]))
    about = {
        "target": target.name, "kind": target.kind, "distribution": target.distribution,
        "noise": float(target.noise), "variables": len(problem.variables), "floor": target.floor,
    }  # fmt: skip
    nothing = {"size": None, "optimal": None, "learner": None, "mic": None}
    rows = [about | nothing | {"size": at, "optimal": error} for at, error in enumerate(least)]
    rows += [about | nothing | {"learner": name, "mic": mic} for name, mic in mics.items()]
    kinds = {"size": pl.Int64, "optimal": pl.Float64, "learner": pl.String, "mic": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=kinds)


def _fits(plan: Plan, number: int, rows: int, learners: Mapping[str, Learner]) -> pl.DataFrame:
    """All learners on all samples of one target with one number of rows."""
    target = make_target(number, plan.seed)
    found = []
    for repetition in range(plan.repetitions):
        seed = [plan.seed, 1, number, rows, repetition]
        drawn = target.draw(rows, seed)
        fold = deal(drawn.labels, plan.folds, [*seed, 2])
        for name, learner in learners.items():
            predictions = learner(drawn, plan.max_size)
            size = _choose(learner, drawn, fold, plan)
            found.append(
                pl.DataFrame({"size": range(plan.max_size + 1)}).select(
                    target=pl.lit(target.name),
                    rows=pl.lit(rows),
                    repetition=pl.lit(repetition),
                    learner=pl.lit(name),
                    size="size",
                    train_error=pl.Series(drawn.error(predictions)),
                    true_error=pl.Series(target.errors(predictions)),
                    chosen=pl.col("size") == size,
                )
            )
    return pl.concat(found)


def _choose(learner: Learner, drawn: Drawn, fold: Ints, plan: Plan) -> int:
    """The smallest size with the least error in cross-validation."""
    wrong = np.zeros(plan.max_size + 1, dtype=np.int64)
    for number in range(plan.folds):
        held = drawn.take(fold == number)
        predictions = learner(drawn.take(fold != number), plan.max_size)
        wrong += np.sum(predictions[:, held.codes] != held.labels, axis=1)
    return int(wrong.argmin())
