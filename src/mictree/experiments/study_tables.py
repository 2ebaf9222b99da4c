"""The study on real tables: greedy and optimal trees on new rows, at equal size and after tuning.

Every learner gets the same rows, folds and literals, at most so many splits, and as many candidates
to choose from by the same inner folds. A family of candidates is a tree of every size. It is tuned
by size, or by a price per split as in cost-complexity pruning (Breiman et al. 1984, chapter 3).

Optimal trees are proved size by size, as long as the next size is expected to take less than a
fixed amount of work; the expectation depends on counts only, not on a clock. Beyond that, proved
trees are extended at their leaves, and the gap between the bounds is kept. So no number depends on
the machine or on the number of workers.

The data set is the unit. Differences on sets are judged by Wilcoxon's signed ranks with Holm's
correction (Demsar, JMLR 7, 2006) and by the Bayesian signed-rank test with a region of practical
equivalence (Benavoli, Corani, Demsar and Zaffalon, JMLR 18, 2017). Below six sets nothing is
judged. Within a set, the variance over folds is corrected as in Nadeau and Bengio (2003).
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.stats import wilcoxon
from sklearn.tree import DecisionTreeClassifier

from mictree._support.checks import TooLarge
from mictree._support.jit import one_core
from mictree._support.progress import EqualParts, Report, ignore
from mictree._support.words import count_of
from mictree.columns.cells import Reading
from mictree.columns.text_tables import read_file
from mictree.comparison.held_out import (
    ForeignModel,
    GrownTree,
    HeldOut,
    LoneLeaf,
    Model,
    TrainingSet,
)
from mictree.comparison.run import Peer
from mictree.estimators.sizes import penalty_path
from mictree.experiments.cache import Cache
from mictree.experiments.study_known import deal
from mictree.growers.rules import BestFirst, Lookahead, TopDown
from mictree.optimal import DEFAULT_MEMORY_LIMIT
from mictree.optimal.frontier import SampleOptimalTrees, solve
from mictree.problems.sample import Coded, SampleProblem

SEED = 35
TARGETS = ("label", "target", "class")  # columns that hold the labels if none is named
ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow", ".xlsx")
PACKED = (".gz", ".zst", ".bz2", ".xz")
MOST_CLASSES = 20  # different numbers; more are a quantity, not classes
MOST_BYTES = 2 * 2**30  # of memory, for reading a table
BYTES_READ = 6  # of memory for each byte of a text table
UNPACKED = 10  # bytes of a table for each byte of a packed file
FEWEST = 6  # sets, to judge
LEVEL = 0.05
SURE = 0.95
BUNDLED = ("iris", "wine", "breast_cancer", "digits")
OPTIMAL = "optimal"
SIZE, PRICE = "size", "price"

FloatArray = np.typing.NDArray[np.float64]
Rows = np.typing.NDArray[np.intp]


@dataclass(frozen=True)
class Plan:
    """The protocol."""

    max_rows: int = 1000  # of a table; more are cut, classes in proportion
    max_thresholds: int = 20  # of an ordered column
    max_size: int = 8
    folds: int = 5
    repeats: int = 2
    inner_folds: int = 3
    work: float = 4e8  # of one search, in cells of the table that are read; some seconds
    rope: float = 0.01  # smaller differences of errors are practically none
    draws: int = 20_000  # of the Bayesian test
    seed: int = SEED


QUICK_PLAN = Plan(
    max_rows=200, max_thresholds=8, max_size=4, folds=3, repeats=1, inner_folds=2, work=1e7
)


@dataclass(frozen=True)
class DataSet:
    """A table with classes.

    Attributes
    ----------
    digest : of the content that the study uses
    given : rows before the table was cut
    """

    name: str
    X: pl.DataFrame
    labels: Coded
    digest: str
    given: int

    @classmethod
    def of(cls, name: str, X: pl.DataFrame, labels: Any, plan: Plan) -> "DataSet":
        """Cut to the plan's number of rows; refuses labels that are no classes."""
        values = np.asarray(labels)
        classes, codes = Coded.positions(values)
        if len(classes) < 2:
            raise ValueError(f"there must be two classes; all {len(values)} labels are the same")
        if (values.dtype.kind == "f" and (values % 1).any()) or (
            values.dtype.kind in "iuf" and len(classes) > MOST_CLASSES
        ):  # fmt: skip
            raise ValueError(
                f"labels must be classes; there are {len(classes)} different numbers, a quantity"
            )
        if not X.width:
            raise ValueError("there must be a column beside the labels; there is none")
        rows = _cut(codes, plan)
        X, coded = X[rows], Coded(tuple(classes.tolist()), codes[rows])
        text = repr([X.columns, X.dtypes, coded.classes, coded.codes.tolist()]) + X.write_csv()
        digest = hashlib.sha256(text.encode()).hexdigest()
        return cls(name, X, coded, digest, len(values))

    @property
    def codes(self) -> np.ndarray:
        """The position of each row's class."""
        return self.labels.codes.astype(np.int64)


def _cut(codes: np.ndarray, plan: Plan) -> Rows:
    """At most so many rows, in their order, drawn with classes in proportion."""
    if len(codes) <= plan.max_rows:
        return np.arange(len(codes))
    order = np.random.default_rng([plan.seed, 4]).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    return np.sort(order[np.arange(plan.max_rows) * len(codes) // plan.max_rows])


class LeftOut(NamedTuple):
    """A table, or a part of it, that the study does not use."""

    name: str
    reason: str


def bundled_sets(plan: Plan) -> list[DataSet]:
    """The tables of classes that come with scikit-learn."""
    from sklearn import datasets

    found = []
    for name in BUNDLED:
        loaded = getattr(datasets, f"load_{name}")()
        X = pl.DataFrame(loaded.data, [str(each) for each in loaded.feature_names])
        found.append(DataSet.of(name, X, loaded.target_names[loaded.target], plan))
    return found


# a column of an odd type, a reader that is not installed, a file that vanishes
UNREADABLE = (ValueError, TypeError, OSError, MemoryError, ImportError, pl.exceptions.PolarsError)


def read_sets(folder: Path, target: str | None, plan: Plan) -> tuple[list[DataSet], list[LeftOut]]:
    """All tables in a folder that can be used, in order of their names, and what is left out."""
    sets: list[DataSet] = []
    left: list[LeftOut] = []
    for path in sorted(each for each in folder.iterdir() if not each.name.startswith(".")):
        try:
            found, notes = _read_set(path, target, plan)
        except UNREADABLE as error:
            left.append(LeftOut(path.name, " ".join(str(error).split())))
            continue
        sets.append(found)
        left += notes
    return sets, left


def _read_set(path: Path, target: str | None, plan: Plan) -> tuple[DataSet, list[LeftOut]]:
    """A table, and the columns of it that are left out."""
    if path.is_dir():
        raise ValueError("it is a folder; tables must lie in the folder that is named")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] and suffixes[-1] in PACKED
    if not suffixes or suffixes[-2 if packed and len(suffixes) > 1 else -1] not in ENDINGS:
        raise ValueError(f"a table must end in {', '.join(ENDINGS)}, perhaps packed")
    need = path.stat().st_size * BYTES_READ * (UNPACKED if packed else 1)
    if need > MOST_BYTES:
        raise TooLarge(
            f"reading it would take about {need / 2**30:.1f} GiB of memory; the limit is "
            f"{MOST_BYTES / 2**30:.0f} GiB"
        )
    found = read_file(path, reading=Reading(target=target))
    frame = found.frame
    name = _find_target(frame.columns, target)
    if name in found.refused:
        raise ValueError(str(found.refused[name]))
    known = frame.filter(pl.col(name).is_not_null())
    notes = []
    if known.height < frame.height:
        missing = count_of(frame.height - known.height, "row")
        notes.append(LeftOut(path.name, f"{missing} without a label"))
    notes += [
        LeftOut(path.name, f"column {column}: {reason}") for column, reason in found.refused.items()
    ]
    X = known.drop(name, *found.refused, strict=False)
    data = DataSet.of(path.name.partition(".")[0], X, known[name].to_numpy(), plan)
    _train(data.labels.classes, data.X, data.codes, plan)  # refuses columns that no tree can use
    return data, notes


def _find_target(columns: Sequence[str], target: str | None) -> str:
    """The column of labels: the one that is named, else label, target or class."""
    names = TARGETS if target is None else (target, *TARGETS)
    for name in names:
        if name in columns:
            return name
    raise ValueError(f"there must be a column {' or '.join(names)}; there is none")


class Candidates(NamedTuple):
    """A tree of every size, and what a price per split is weighed against."""

    models: Sequence[Model]  # index = size
    costs: FloatArray  # training errors, or impurities
    lower: FloatArray | None = None  # bounds on the least training error, of optimal trees


Family = Callable[[TrainingSet, Plan], Candidates]


def _training_errors(training: TrainingSet, models: Iterable[Model]) -> FloatArray:
    return np.array([np.mean(model.codes(training.rows) != training.codes) for model in models])


@dataclass(frozen=True)
class BySize:
    """A learner that ``compare`` takes: a rule, or an estimator."""

    learner: Any

    def __call__(self, training: TrainingSet, plan: Plan) -> Candidates:
        """Learn a tree of each size."""
        models = list(Peer("learner", self.learner).models(training, plan.max_size))
        return Candidates(models, _training_errors(training, models))


def pruned_cart(training: TrainingSet, plan: Plan) -> Candidates:
    """The largest subtree of each size, or smaller, on the path of cost-complexity pruning."""
    plain: Any = DecisionTreeClassifier(random_state=0)
    models: list[Model] = [LoneLeaf(training)]
    if not len(training.problem.literals):
        return Candidates(models * (plan.max_size + 1), np.zeros(plan.max_size + 1))
    X, codes = training.learned_ranks, training.codes
    path = plain.cost_complexity_pruning_path(X, codes)
    costs = [float(path.impurities[-1])]
    for alpha, impurity in zip(path.ccp_alphas[::-1], path.impurities[::-1], strict=True):
        fitted = DecisionTreeClassifier(random_state=0, ccp_alpha=max(float(alpha), 0.0))
        fitted.fit(X, codes)
        size = int(fitted.get_n_leaves()) - 1
        if size > plan.max_size:
            break
        while len(models) <= size:  # sizes between two subtrees have the smaller one
            models.append(models[-1])
            costs.append(costs[-1])
        if size:
            models[size] = ForeignModel(training, "CART pruned", fitted)
            costs[size] = float(impurity)
    more = plan.max_size + 1 - len(models)
    return Candidates(models + models[-1:] * more, np.array(costs + costs[-1:] * more))


# by how much a search of one more split looks at more row sets, nearly; see docs/is-it-worth-it.md
GROWTH = {3: 100.0, 4: 20.0, 5: 10.0, 6: 6.0}
LATER_GROWTH = 4.0
WORDS_A_CELL = 90  # of pairs of literals, counted in the time in which a search reads a cell


def optimal_family(training: TrainingSet, plan: Plan) -> Candidates:
    """The best tree of each size, proved as far as the plan's work allows, then extended."""
    problem = training.problem
    cells = _cells_of(problem)
    with one_core():  # among equally good trees, threads would choose by their timing
        solved = _solve(problem, 1)
        while solved.max_size < plan.max_size and _expected(solved, cells) <= plan.work:
            solved = _solve(problem, solved.max_size + 1)
        grown = [GrownTree(training, tree) for tree in solved.trees]
        more = plan.max_size - solved.max_size
        extended = _extend(training, grown[-1], more, plan) if more else []
    errors = [*solved.errors.upper, *_training_errors(training, extended)]
    lower = [*solved.errors.lower, *([_floor(training)] * more)]
    return Candidates([*grown, *extended], np.array(errors), np.array(lower))


def _solve(problem: SampleProblem, size: int) -> SampleOptimalTrees:
    return solve(problem, size, False, DEFAULT_MEMORY_LIMIT, ignore, steady=True)


def _expected(solved: SampleOptimalTrees, cells: float) -> float:
    """The work of a search with one more split, nearly."""
    return solved.sub_problems * cells * GROWTH.get(solved.max_size, LATER_GROWTH)


def _cells_of(problem: SampleProblem) -> float:
    """The cells that a search reads for one set of rows, nearly."""
    rows = int(problem.class_rows.sum())
    if problem.ranks:
        return rows * (len(problem.ranks) + len(problem.bits))
    return len(problem.literals) ** 2 * (rows / 64 + 1) / WORDS_A_CELL


def _floor(training: TrainingSet) -> float:
    """The training error that no tree can avoid: rows alike but for their class."""
    ranks = np.asarray(training.learned_ranks)
    alike = np.unique(ranks, axis=0, return_inverse=True)[1].reshape(-1)
    counts = np.zeros((int(alike.max()) + 1, training.classes), dtype=np.int64)
    np.add.at(counts, (alike, training.codes), 1)
    return int((counts.sum(axis=1) - counts.max(axis=1)).sum()) / len(ranks)


@dataclass(frozen=True)
class Extended:
    """A tree with trees in place of some leaves."""

    base: GrownTree
    below: Mapping[int, GrownTree]  # by leaf

    def codes(self, rows: Any) -> np.ndarray:
        """The label of each row."""
        tree, literals = self.base.tree, self.base.training.problem.literals
        leaves = tree.apply(literals.transform(rows, tree))
        guess = self.base.codes(rows).astype(np.int64)
        for leaf, model in self.below.items():
            here = np.flatnonzero(leaves == leaf)
            if len(here):
                guess[here] = model.codes(rows[here])
        return guess

    def shares(self, rows: Any) -> FloatArray:
        """Certain of the label."""
        return np.eye(self.base.training.classes)[self.codes(rows)]


MOST_BELOW = 3  # splits in place of a leaf, which are proved at once


def _extend(training: TrainingSet, base: GrownTree, more: int, plan: Plan) -> list[Model]:
    """The best ways to put 1 to ``more`` splits in place of leaves, a few in each."""
    tree = base.tree
    leaves = tree.apply(training.problem.literals.transform(training.rows, tree))
    choices: list[dict[int, GrownTree]] = [{}] * (more + 1)
    saved = np.zeros(more + 1)  # rows, by the number of splits
    for leaf in np.unique(leaves).tolist():
        here = np.flatnonzero(leaves == leaf)
        part = _train(training.problem.classes, training.rows[here], training.codes[here], plan)
        most = min(more, MOST_BELOW)
        solved = _solve(part.problem, most)
        gains = (solved.errors.upper[0] - solved.errors.upper) * len(here)
        sums = saved[:, None] + gains  # by splits elsewhere and here
        for splits in range(more, 0, -1):
            few = range(min(splits, most) + 1)
            best = max(few, key=lambda number: (round(sums[splits - number, number]), -number))
            if best:
                saved[splits] = sums[splits - best, best]
                grown = GrownTree(part, solved.tree(best))
                choices[splits] = choices[splits - best] | {leaf: grown}
    return [Extended(base, choice) for choice in choices[1:]]


def _train(classes: Sequence[Any], rows: Any, codes: np.ndarray, plan: Plan) -> TrainingSet:
    """Rows to learn from, with literals of their own."""
    coded = Coded(tuple(classes), codes.astype(np.int32))
    problem = SampleProblem(rows, coded, max_thresholds=plan.max_thresholds)
    return TrainingSet(problem, rows, codes, rows)


FAMILIES: dict[str, Family] = {
    "CART": BySize(DecisionTreeClassifier(random_state=0)),
    "CART pruned": pruned_cart,
    "TopDown": BySize(TopDown()),
    "BestFirst": BySize(BestFirst()),
    "Lookahead(2)": BySize(Lookahead(2)),
    OPTIMAL: optimal_family,
}


class Tuned(NamedTuple):
    """A learner whose candidate is chosen by inner folds: by size, or by a price per split."""

    name: str
    family: str
    by: str


TUNED = (
    Tuned("CART by size", "CART", SIZE),
    Tuned("CART by pruning", "CART pruned", PRICE),
    Tuned("TopDown by size", "TopDown", SIZE),
    Tuned("BestFirst by size", "BestFirst", SIZE),
    Tuned("Lookahead(2) by size", "Lookahead(2)", SIZE),
    Tuned("optimal by penalty", OPTIMAL, PRICE),
    Tuned("optimal by size", OPTIMAL, SIZE),
)


class Learners(NamedTuple):
    """The families, one of them "optimal", and how they are tuned."""

    families: Mapping[str, Family] = FAMILIES
    tuned: Sequence[Tuned] = TUNED

    @classmethod
    def by_size(cls, families: Mapping[str, Family]) -> "Learners":
        """Families that are tuned by size, each under its own name."""
        return cls(families, [Tuned(name, name, SIZE) for name in families])


def _errors(candidates: Candidates, rows: Any, codes: np.ndarray) -> np.ndarray:
    """How many rows each candidate gets wrong."""
    return np.array([int(np.sum(model.codes(rows) != codes)) for model in candidates.models])


def _prices(costs: FloatArray) -> list[float]:
    """A price in the middle of each range of prices with one best size, high prices first."""
    return [
        2 * each.least if np.isinf(each.most) else float(np.sqrt(each.least * each.most))
        for each in penalty_path(costs, costs, None)
    ]


def _cheapest(costs: FloatArray, price: float) -> int:
    """The smallest size of least cost."""
    return int(np.argmin((costs + price * np.arange(len(costs))).round(12)))


def choose(by: str, outer: Candidates, inner: Sequence[tuple[Candidates, np.ndarray]]) -> int:
    """The size that the inner folds choose; of equally good candidates the smaller tree.

    ``inner`` has for each fold the candidates, and how many held-out rows each gets wrong.
    """
    if by == SIZE:
        return int(sum(wrong for _, wrong in inner).argmin())  # type: ignore[union-attr]
    prices = _prices(outer.costs)
    totals = [sum(wrong[_cheapest(fold.costs, price)] for fold, wrong in inner) for price in prices]
    return _cheapest(outer.costs, prices[int(np.argmin(totals))])


class Split(NamedTuple):
    """A fold: rows to learn from, whole and by inner folds, each with held-out rows."""

    whole: TrainingSet
    test: Rows
    inner: Sequence[tuple[TrainingSet, Rows]]


def _split(data: DataSet, number: int, plan: Plan) -> Split:
    """The rows of a fold, the same for all learners."""
    repeat, place = divmod(number, plan.folds)
    codes, classes = data.codes, data.labels.classes
    held = deal(codes, plan.folds, [plan.seed, 5, repeat]) == place
    train = np.flatnonzero(~held)
    part = deal(codes[train], plan.inner_folds, [plan.seed, 6, number])
    inner = []
    for each in range(plan.inner_folds):
        some = train[part != each]
        inner.append((_train(classes, data.X[some], codes[some], plan), train[part == each]))
    whole = _train(classes, data.X[train], codes[train], plan)
    return Split(whole, np.flatnonzero(held), inner)


def _fold(data: DataSet, number: int, plan: Plan, learners: Learners) -> pl.DataFrame:
    """All learners on one fold of one table."""
    codes, rows = data.codes, list[dict[str, Any]]()
    split = cache(partial(_split, data, number, plan))
    for name, family in learners.families.items():
        try:
            whole, test, inner = split()
            found = family(whole, plan)
            wrong = _errors(found, data.X[test], codes[test])
            parts = [(family(some, plan), data.X[rest], codes[rest]) for some, rest in inner]
            judged = [(each, _errors(each, X, y)) for each, X, y in parts]
            made = _rows(name, found, wrong, len(test))
            for tuned in learners.tuned:
                if tuned.family == name:
                    size = choose(tuned.by, found, judged)
                    made.append(made[size] | {"learner": tuned.name, "tuned": True})
        except Exception as failure:  # learners of other packages raise anything; the rest goes on
            text = f"{type(failure).__name__}: {' '.join(str(failure).split())}"
            made = [{"learner": name, "failure": text}]
        rows += [{"table": data.name, "fold": number} | row for row in made]
    return pl.DataFrame(rows, schema=SCHEMA)


SCHEMA = {
    "table": pl.String, "fold": pl.Int64, "learner": pl.String, "tuned": pl.Boolean,
    "size": pl.Int64, "error": pl.Float64, "train_error": pl.Float64, "gap": pl.Float64,
    "failure": pl.String,
}  # fmt: skip


def _rows(name: str, found: Candidates, wrong: np.ndarray, held: int) -> list[dict[str, Any]]:
    """A row for each size."""
    gaps = np.zeros(len(wrong)) if found.lower is None else found.costs - found.lower
    return [
        {"learner": name, "tuned": False, "size": size, "error": int(count) / held,
         "train_error": None if found.lower is None else float(found.costs[size]),
         "gap": None if found.lower is None else float(gaps[size]), "failure": None}
        for size, count in enumerate(wrong)
    ]  # fmt: skip


@dataclass(frozen=True)
class TableStudy:
    """The results.

    Attributes
    ----------
    sets : a row for each table: ``table``, ``given`` and used ``rows``, ``columns``, ``classes``
    frame : a row for each table, fold, learner and size, or tuned learner: ``error`` on held-out
        rows; of optimal trees also ``train_error`` and its certified ``gap``; or a ``failure``
    left_out : files, columns, rows and learners that are not used, with the ``reason``
    """

    plan: Plan
    sets: pl.DataFrame
    frame: pl.DataFrame
    left_out: pl.DataFrame

    def learners(self, tuned: bool) -> list[str]:
        """The names of the learners, the optimal ones last."""
        known = self.frame.filter(tuned=tuned)["learner"].unique(maintain_order=True).to_list()
        return sorted(known, key=lambda name: name.startswith(OPTIMAL))

    def held_out(self, table: str, learner: str, tuned: bool) -> HeldOut | None:
        """Errors by fold: of the tuned learner, or the mean over all sizes from 1.

        None if the learner failed in some fold.
        """
        found = self.frame.filter(table=table, learner=learner, tuned=tuned)
        if not tuned:
            found = found.filter(pl.col("size") > 0)
        errors = found.group_by("fold").agg(pl.col("error").mean()).sort("fold")["error"]
        if len(errors) < self.plan.folds * self.plan.repeats:
            return None
        return HeldOut(errors.to_numpy()[:, None], 1 / (self.plan.folds - 1))

    def difference(self, table: str, learner: str, tuned: bool) -> tuple[float, float] | None:
        """The learner's mean error above that of the optimal trees, and its standard error."""
        best = self.held_out(table, self.learners(tuned)[-1], tuned)
        other = self.held_out(table, learner, tuned)
        if best is None or other is None:
            return None
        mean, spread = other.less(best)
        return round(float(mean[0]), 12), float(spread[0])

    def differences(self, learner: str, tuned: bool) -> dict[str, tuple[float, float]]:
        """The same by table, without tables on which one of both failed."""
        found = {
            table: self.difference(table, learner, tuned) for table in self.sets["table"].to_list()
        }
        return {table: each for table, each in found.items() if each is not None}

    def judged(self, tuned: bool) -> list["Judged"]:
        """The optimal trees against each other learner; nothing if they failed everywhere."""
        *names, last = self.learners(tuned) or [""]
        if not last.startswith(OPTIMAL):
            return []
        values = [
            np.array([mean for mean, _ in self.differences(name, tuned).values()]) for name in names
        ]
        return judge(names, values, self.plan)

    def certified(self, table: str) -> int:
        """The largest size up to which the optimal trees of all folds are proved."""
        gaps = self.frame.filter(table=table, learner=OPTIMAL, tuned=False)
        if gaps.is_empty():
            return 0  # they failed
        open_sizes = gaps.filter(pl.col("gap") > ROUNDING)["size"]
        return self.plan.max_size if open_sizes.is_empty() else int(open_sizes.min()) - 1  # type: ignore[arg-type]

    def gap(self, table: str) -> float:
        """The largest gap of a training error of optimal trees."""
        gaps = self.frame.filter(table=table, learner=OPTIMAL, tuned=False)["gap"]
        return float(gaps.max() or 0.0)  # type: ignore[arg-type]


ROUNDING = 1e-12


class Judged(NamedTuple):
    """The optimal trees against a learner, over all sets.

    Attributes
    ----------
    sets : how many
    mean, median : of the learner's error less that of the optimal trees
    p_value, adjusted : of the signed-rank test, without and with Holm's correction
    better, same, worse : the chances of the Bayesian test, for the optimal trees
    """

    learner: str
    sets: int
    mean: float
    median: float
    p_value: float
    adjusted: float
    better: float
    same: float
    worse: float

    @property
    def verdict(self) -> str:
        """What follows for the optimal trees: better, worse, practically equal, undecided."""
        if self.sets < FEWEST:
            return TOO_FEW
        if self.same > SURE:
            return "practically equal"
        if self.adjusted < LEVEL:
            return "better" if self.better > self.worse else "worse"
        return "undecided"


TOO_FEW = "too few to judge"


def judge(names: Sequence[str], values: Sequence[np.ndarray], plan: Plan) -> list[Judged]:
    """Judge differences by set, those of each learner in an array."""
    raw = [signed_rank(each) for each in values]
    found = []
    for name, each, p_value, adjusted in zip(names, values, raw, holm(raw), strict=True):
        chances = bayes_signed_rank(each, plan.rope, plan.draws, [plan.seed, 7])
        middle = (float(each.mean()), float(np.median(each))) if len(each) else (np.nan, np.nan)
        found.append(Judged(name, len(each), *middle, p_value, adjusted, *chances))
    return found


def signed_rank(differences: np.ndarray) -> float:
    """The two-sided p-value of Wilcoxon's signed ranks; the ranks of zeros are shared out."""
    if not differences.any():
        return 1.0
    return float(wilcoxon(differences, zero_method="zsplit").pvalue)  # type: ignore[attr-defined]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the given order."""
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    raised = np.maximum.accumulate(np.asarray(p_values)[order] * factors)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted.tolist()


def bayes_signed_rank(
    differences: np.ndarray, rope: float, draws: int, seed: Sequence[int]
) -> tuple[float, float, float]:
    """The chances that a further set's difference is rather above, within or below the rope.

    Sets have Dirichlet weights, with half a set of difference 0 as the prior. Of each draw the most
    probable of the three, for the mean of two sets' differences, counts.
    """
    values = np.concatenate([[0.0], differences])
    strength = np.concatenate([[0.5], np.ones(len(differences))])
    weights = np.random.default_rng(seed).dirichlet(strength, draws)
    sums = (values[:, None] + values) / 2
    above, below = (
        np.sum(weights @ side * weights, axis=1)
        for side in ((sums > rope).astype(float), (sums < -rope).astype(float))
    )
    most = np.argmax([1 - above - below, above, below], axis=0)
    within, over, under = (np.bincount(most, minlength=3) / draws).tolist()
    return over, within, under


def table_study(
    plan: Plan,
    sets: Sequence[DataSet],
    left_out: Sequence[LeftOut] = (),
    cache: Cache | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
    learners: Learners | None = None,
) -> TableStudy:
    """Learn on every fold of every table, ``n_jobs`` folds at once.

    Learners of one's own are not kept in a cache.
    """
    store = cache if cache is not None and learners is None else Cache()
    chosen = learners or Learners()
    settings = asdict(plan)
    for name in ("rope", "draws"):
        del settings[name]  # no fold depends on them
    count = plan.folds * plan.repeats
    work = [
        (settings | {"table": data.name, "digest": data.digest, "fold": number},
         partial(_fold, data, number, plan, chosen))
        for number in range(count)
        for data in sets
    ]  # fmt: skip
    labels = (f"fold {number + 1}, {data.name}" for number in range(count) for data in sets)
    parts = EqualParts("real tables", len(work), progress)
    made = list(parts.follow(store.frames("study-table", work, n_jobs), labels))
    frame = pl.concat([pl.DataFrame(schema=SCHEMA), *(found.value for found in made)])
    about = [
        {"table": data.name, "given": data.given, "rows": data.X.height,
         "columns": data.X.width, "classes": len(data.labels.classes)}
        for data in sets
    ]  # fmt: skip
    failed = frame.filter(pl.col("failure").is_not_null())
    failed = failed.unique(["table", "learner"], keep="first", maintain_order=True)
    notes = [*left_out, *(
        LeftOut(row["table"], f"{row['learner']} failed: {row['failure']}")
        for row in failed.iter_rows(named=True)
    )]  # fmt: skip
    kinds = {"table": pl.String, "given": pl.Int64, "rows": pl.Int64, "columns": pl.Int64,
             "classes": pl.Int64}  # fmt: skip
    return TableStudy(
        plan, pl.DataFrame(about, schema=kinds), frame.filter(pl.col("failure").is_null()),
        pl.DataFrame(notes, schema={"name": pl.String, "reason": pl.String}, orient="row"),
    )  # fmt: skip
