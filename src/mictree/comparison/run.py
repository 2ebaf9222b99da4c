"""``compare``: optimal trees and the trees of any learners, grown on the same rows and literals.

First all of them grow on all rows, for their training errors; then on the training rows of each
fold, for their errors on held-out rows. Every fold makes its literals from its training rows alone,
so nothing of a held-out row reaches a tree. All learners choose from the same literals as the
optimal trees do, so what a learner loses is due to its growth. A learner that beats a proved
optimum does not make single trees of the size asked for, and is refused.

``Settings`` holds the keywords that need no rows, ``Inputs`` adds labels, weights and learners. The
time limit is shared: half of it for the search on all rows, the rest for the folds. Ctrl-C ends a
comparison after the search on all rows, or without any fold: a mean over some folds would mean
little.

A ``Peer`` is a learner with a name. It grows one tree of each size from a matrix of ranks and bits
with labels 0, 1, ... Growers do this themselves. For an estimator of another package the size
parameter is set, and the options are switched off that prevent it from growing one plain tree.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from mictree._support.checks import (
    check_categories,
    check_count,
    check_seconds,
    check_size,
    check_unmasked,
)
from mictree._support.parallel import count_jobs, spread
from mictree._support.progress import Progress, Report, TimeLimit, ignore
from mictree.columns.data import Data, read_array
from mictree.comparison.held_out import (
    OPTIMAL,
    ClassTarget,
    FloatArray,
    ForeignModel,
    GrownTree,
    HeldOut,
    LoneLeaf,
    Model,
    NumberTarget,
    Target,
    TrainingSet,
)
from mictree.comparison.result import Comparison
from mictree.distributed.collections import is_collection
from mictree.estimators.predicting import (
    Scorer,
    read_labels,
    read_numeric,
    read_scoring,
    read_targets,
)
from mictree.estimators.sizes import check_after, rank_moments, scale_of, time_folds
from mictree.growers.rules import RULES, Grower, TopDown
from mictree.impurity import name_of
from mictree.optimal import DEFAULT_MEMORY_LIMIT, CertifiedErrors
from mictree.optimal.frontier import SampleOptimalTrees, solve
from mictree.problems.sample import (
    Coded,
    Limits,
    check_thresholds,
    class_weights,
    read_weights,
)
from mictree.problems.tasks import check_loss

WHOLE_SHARE = 0.5  # of the time limit, for the search on all rows
IN_TIME = "cross-validation in order of time"

RowNumbers = np.typing.NDArray[np.intp]


def compare(
    learners: Any,
    X: Any,
    y: Any,
    max_size: int,
    *,
    time_limit: float | None = 60.0,
    cv: Any = 5,
    repeats: int = 3,
    groups: Any = None,
    scoring: Any = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    random_state: int = 0,
    max_thresholds: int | None = None,
    max_depth: int | None = None,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    n_jobs: int | None = None,
    progress: Report | None = None,
    after: Any = None,
    cost_matrix: Any = None,
    loss: str | None = None,
    categories: str = "each",
) -> Comparison:
    """Compare learners with the optimal trees of every size on a data set.

    All of them choose from the same literals, made from the training rows, so the excess of a
    learner is due to its growth alone. Learners of other packages get a matrix of numbers: ordered
    columns as ranks, and a 0/1 column for every other literal.

    Parameters
    ----------
    learners : a learner, a sequence or a mapping of names to learners. A learner is a mictree rule
        or its name, "sklearn", "lightgbm", "xgboost", an estimator with ``max_size``,
        ``max_leaf_nodes``, ``num_leaves`` or ``max_leaves``, or a callable ``(X, y, size)`` that
        returns a fitted model with at most ``size`` splits; with ``sample_weight`` or
        ``class_weight``, a callable ``(X, y, size, sample_weight)``.
    X, y : matrix or frame, and labels of any kind; numbers to predict if a learner is a regressor
    max_size : the largest size
    time_limit : seconds for all searches together, half of them for the search on all rows; None
        for no limit. Compiling kernels and loading them does not count.
    cv, repeats : folds of the stratified cross-validation (numbers are not stratified), and its
        number of repetitions; ``cv=0`` skips cross-validation. ``cv`` may also be a splitter of
        scikit-learn, which has its own repetitions.
    groups : rows of one group are never both in training and in held-out rows of a fold
    scoring : for held-out rows, as in scikit-learn: None for the error, a name such as
        "balanced_accuracy", "neg_log_loss" or "roc_auc", or a callable ``(model, X, y)``. Trees are
        always grown for training error.
    sample_weight : a weight for each row, in searches, fits, errors and scorings by name
    class_weight : None, a mapping of class to weight, or "balanced": factors of the weights in
        searches, fits and errors, on held-out rows too; scorings ignore them
    random_state : random seed for the folds
    max_thresholds : the largest number of thresholds per ordered column; None for all
    max_depth : the largest number of tests on a path, for the optimal trees and the learners;
        callables must enforce it themselves
    memory_limit : in bytes, for each search
    n_jobs : number of folds at once, by joblib, whose ``parallel_config`` also chooses the backend;
        None for one after another. The results are the same as long as no time limit cuts a search;
        n folds at once have n times the time limit together.
    progress : called now and then with a value that has ``what``, ``share`` and ``detail``; see
        ``optimal_trees``
    after : a date, a time or a number for each row: every fold is later than its training rows, and
        equal values stay together, see ``select_size``; there is one such cross-validation,
        whatever ``repeats``
    cost_matrix : what it costs to predict the second class for a row of the first, as of
        ``SampleProblem``; trees are grown and judged by their mean cost. Learners of other packages
        know nothing of it.
    loss : "squared" for numbers to predict, also without a regressor among the learners: errors
        are mean squared errors, and "sklearn" is a ``DecisionTreeRegressor``
    categories : "each" or "subsets", as of ``SampleProblem``. Learners of other packages get a 0/1
        column for each category either way

    Examples
    --------
    >>> import mictree as mt
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
    >>> result = mt.compare("topdown", X, ["even", "odd", "odd", "even"] * 5, max_size=3, cv=0)
    >>> result.mic("topdown")
    (0.0, 0.0)
    """
    settings = Settings(
        max_size=max_size, time_limit=time_limit, cv=cv, repeats=repeats,
        random_state=random_state, scoring=scoring, max_thresholds=max_thresholds, n_jobs=n_jobs,
        class_weight=class_weight, max_depth=max_depth, memory_limit=memory_limit,
        cost_matrix=cost_matrix, numeric=_is_regression(learners, loss), categories=categories,
    )  # fmt: skip
    peers = _read_learners(learners, settings)
    if is_collection(X):
        raise TypeError("compare must have its rows on one machine; X is a Dask collection")
    rows = Data(X).rows
    if not rows:
        raise ValueError("X must have at least one row; it has none")
    inputs = _read_inputs(settings, peers, rows, y, sample_weight)
    plan = _plan_folds(X, inputs.target, settings, groups, after)
    if inputs.scorer is not None and len(plan):
        classes = inputs.target.classes
        labels = inputs.target.truth(np.arange(rows)) if settings.numeric else classes
        inputs.scorer.check(labels, settings.numeric)
    report = progress or ignore
    everything = np.arange(rows)
    with TimeLimit(time_limit) as limit:
        seconds = _part(limit, WHOLE_SHARE if len(plan) else 1.0)
        whole = _learn(inputs, X, everything, everything, seconds, "all rows", report)
        for peer in peers:
            _check_honest(peer.name, whole.values[peer.name], whole.solved.errors, inputs)
        done = None if whole.solved.interrupted else _run_folds(inputs, X, plan, limit, report)
    return _result(inputs, whole, plan, done)


@dataclass(frozen=True)
class Settings:
    """The keywords of ``compare`` that hold no rows; refuses those that no rows could make right.

    It travels to the workers of all folds; the callable ``progress`` stays behind.
    """

    max_size: int
    time_limit: float | None = 60.0
    cv: Any = 5
    repeats: int = 3
    random_state: int = 0
    scoring: Any = None
    max_thresholds: int | None = None
    n_jobs: int | None = None
    class_weight: Any = None
    max_depth: int | None = None
    memory_limit: int = DEFAULT_MEMORY_LIMIT
    cost_matrix: Any = None
    numeric: bool = False  # whether labels are numbers to predict
    categories: str = "each"

    def __post_init__(self) -> None:
        if check_size(self.max_size) == 0:
            raise ValueError(
                "trees are compared at sizes 1 to max_size; max_size must be at least 1"
            )
        if self.time_limit is not None:
            check_seconds(self.time_limit, "time_limit")
        self._check_folds()
        read_scoring(self.scoring)
        check_thresholds(self.max_thresholds)
        check_categories(self.categories)
        count_jobs(self.n_jobs)
        if self.max_depth is not None:
            check_size(self.max_depth, "max_depth")
        if self.numeric:
            for name in ("cost_matrix", "class_weight"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name} needs classes; regressors learn numbers")
        check_count(self.memory_limit, "memory_limit")

    def _check_folds(self) -> None:
        cv, seed = self.cv, self.random_state
        if check_size(self.repeats, "repeats") == 0:
            raise ValueError("repeats must be at least 1; got 0")
        if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
            raise ValueError(f"random_state must be an integer from 0 to 2**32 - 1; got {seed!r}")
        if not hasattr(cv, "split") and check_size(cv, "cv") == 1:
            raise ValueError("cv must be 0 or at least 2; got 1")


@dataclass(frozen=True)
class Inputs:
    """All that searches and learners of a comparison read, but for X."""

    settings: Settings
    peers: tuple[Peer, ...]
    target: Target
    sample_weight: FloatArray | None  # as given
    weights: FloatArray | None  # times the factors of classes
    scorer: Scorer | None  # of held-out rows

    @property
    def max_size(self) -> int:
        """The largest size."""
        return int(self.settings.max_size)

    def weights_of(self, rows: np.ndarray) -> FloatArray | None:
        """The weights of some rows, which must not all be zero."""
        if self.weights is None:
            return None
        some = self.weights[rows]
        if not some.any():
            raise ValueError("the rows of every fold must have some weight; in one all are zero")
        return some


def _read_inputs(
    settings: Settings, peers: tuple[Peer, ...], rows: int, y: Any, sample_weight: Any
) -> Inputs:
    """Labels and weights, which the learners must be able to use."""
    plain = weights = read_weights(sample_weight, rows)
    scorer = read_scoring(settings.scoring)
    if settings.numeric:
        given = read_targets(y, rows)
        for peer in peers:
            peer.check(0, weights is not None, numeric=True)
        target = NumberTarget(given, read_numeric(given, rows))
        return Inputs(settings, peers, target, plain, weights, scorer)
    coded = read_labels(y, rows)[1]
    factors = class_weights(settings.class_weight, coded)
    if factors is not None:
        weights = factors[coded.codes] * (1.0 if plain is None else plain)
    costs = settings.cost_matrix
    for peer in peers:
        peer.check(len(coded.classes), weights is not None, costs=costs is not None)
    return Inputs(settings, peers, ClassTarget(coded, costs), plain, weights, scorer)


def _is_regression(learners: Any, loss: Any) -> bool:
    """Whether labels are numbers to predict: by the loss, or because learners are regressors."""
    from sklearn.base import is_classifier, is_regressor

    if loss is not None:
        check_loss(loss)
    values = learners.values() if isinstance(learners, Mapping) else learners
    several = isinstance(learners, Mapping | Sequence) and not isinstance(learners, str)
    every = values if several else [values]
    each = [one for one in every if hasattr(one, "get_params") and not isinstance(one, type)]
    numeric = loss is not None or any(map(is_regressor, each))
    for one in each:
        if numeric and is_classifier(one):
            raise ValueError(
                "learners must all be regressors if labels are numbers to predict; got "
                f"{type(one).__name__}"
            )
    return numeric


def _read_learners(learners: Any, settings: Settings) -> tuple[Peer, ...]:
    """The learners, whose names must differ."""
    peers = read_peers(learners, settings.max_depth, settings.numeric)
    names = [OPTIMAL, *(peer.name for peer in peers)]
    for name in names[1:]:
        if names.count(name) > 1:
            raise ValueError(
                f"learners must have different names, none of them {OPTIMAL!r}; got {name!r} again"
            )
    return peers


def _result(inputs: Inputs, whole: Learned, plan: Plan, done: list[Fold] | None) -> Comparison:
    """The comparison; ``done`` is None if Ctrl-C ended it before its last fold."""
    folds = done or []
    values = {name: np.array([fold.values[name] for fold in folds]) for name in whole.values}
    unproved = [~fold.proved for fold in folds] or [np.zeros(inputs.max_size + 1)]
    scored, scoring = inputs.scorer is not None, "" if inputs.scorer is None else inputs.scorer.name
    return Comparison(
        names=tuple(peer.name for peer in inputs.peers),
        optimal_errors=whole.solved.errors,
        training_errors={peer.name: whole.values[peer.name] for peer in inputs.peers},
        held_out={name: HeldOut(errors, plan.ratio, scored) for name, errors in values.items()}
        if folds
        else {},
        unproved_folds=np.mean(unproved, axis=0),
        rows=len(inputs.target),
        literals=len(whole.solved.problem.literals),
        classes=inputs.target.classes,
        cv=plan.each,
        repeats=plan.repeats,
        optimal_trees=whole.solved,
        interrupted=done is None,
        splitter=plan.splitter,
        scoring=scoring,
        confusion=_mean_confusion(folds, plan.repeats),
        class_weighted=inputs.settings.class_weight is not None,
        loss=inputs.target.loss,
        labels=inputs.target.shown if isinstance(inputs.target, ClassTarget) else (),
    )


def _mean_confusion(folds: list[Fold], repeats: int) -> tuple[Any, ...]:
    """By size, the sum of the folds' confusion matrices, divided by the repetitions."""
    if not all(fold.confusion for fold in folds):
        return ()  # numbers have none
    by_size = zip(*(fold.confusion for fold in folds), strict=True)
    sums = (sum(matrices[1:], start=matrices[0]) for matrices in by_size)
    return tuple(total if repeats == 1 else total / repeats for total in sums)


def _run_folds(
    inputs: Inputs, X: Any, plan: Plan, limit: TimeLimit, report: Report
) -> list[Fold] | None:
    """All folds; None if Ctrl-C is pressed, as some of them would mean little."""
    run = _run_at_once if count_jobs(inputs.settings.n_jobs) > 1 else _run_in_turn
    try:
        return run(inputs, X, plan, limit, report)
    except KeyboardInterrupt:
        return None


def _run_in_turn(
    inputs: Inputs, X: Any, plan: Plan, limit: TimeLimit, report: Report
) -> list[Fold]:
    """One fold after another; what one leaves of its time is for the rest."""
    done = []
    for number, (train, test) in enumerate(plan.folds):
        what = f"fold {number + 1} of {len(plan)}"
        seconds = _part(limit, 1 / (len(plan) - number))
        learned = _learn(inputs, X, train, test, seconds, what, report, inputs.scorer)
        done.append(_whole_fold(learned.fold))
    return done


def _run_at_once(
    inputs: Inputs, X: Any, plan: Plan, limit: TimeLimit, report: Report
) -> list[Fold]:
    """Several folds at once; each has an equal part of the time."""
    n_jobs = inputs.settings.n_jobs
    workers = count_jobs(n_jobs)
    seconds = _part(limit, workers / len(plan)) if len(plan) else None
    report(Progress("folds", 0.0))
    sent = replace(inputs, settings=replace(inputs.settings, cv=0))  # no worker needs the splitter
    # X is an argument of its own, which joblib passes to each worker once
    calls = [(X, sent, train, test, seconds) for train, test in plan.folds]
    done: list[Fold] = []
    for fold in spread(_learn_fold, calls, n_jobs):
        done.append(_whole_fold(fold))
        report(Progress("folds", len(done) / len(plan)))
    return done


def _whole_fold(fold: Fold) -> Fold:
    """A fold whose search Ctrl-C did not end; a search that it ends returns as if in time."""
    if fold.interrupted:
        raise KeyboardInterrupt
    return fold


def _learn_fold(
    X: Any, inputs: Inputs, train: np.ndarray, test: np.ndarray, seconds: float | None
) -> Fold:
    return _learn(inputs, X, train, test, seconds, "", ignore, inputs.scorer).fold


def _part(limit: TimeLimit, share: float) -> float | None:
    """A share of the remaining time, and at least 0.02 s; None without a limit."""
    return None if limit.seconds == math.inf else max(0.02, share * limit.left())


def _check_honest(name: str, errors: FloatArray, optimal: CertifiedErrors, inputs: Inputs) -> None:
    """Reject a learner that beats the proved optimum: it is not a single tree of that size."""
    settings = inputs.settings
    scale = scale_of(optimal.upper) if inputs.target.loss else 1.0
    ahead = np.flatnonzero(errors < optimal.lower - 1e-9 * scale)
    if len(ahead):
        deep = "" if settings.max_depth is None else f" and depth {settings.max_depth}"
        raise ValueError(
            f"a learner must make one tree with at most the splits asked for; {name} makes fewer "
            f"errors than any tree of size {int(ahead[0])}{deep}"
        )


def _take_rows(X: Any, rows: RowNumbers) -> Any:
    """Some rows of a matrix, a sparse matrix or a frame."""
    from sklearn.utils import _safe_indexing

    if not hasattr(X, "shape") and not hasattr(X, "columns"):
        X = read_array(X)
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    return _safe_indexing(X, rows)


@dataclass(frozen=True)
class Fold:
    """What a comparison keeps of a fold.

    Attributes
    ----------
    values : for each learner and "optimal", by size; less is better
    confusion : the optimal trees' confusion matrices by size, sparse
    proved : by size, whether the optimal tree is proved
    interrupted : whether Ctrl-C ended the search
    """

    values: dict[str, FloatArray]
    confusion: tuple[csr_array, ...]
    proved: np.typing.NDArray[np.bool_]
    interrupted: bool


@dataclass(frozen=True)
class Learned:
    """The optimal trees of some rows, and all errors by size."""

    solved: SampleOptimalTrees
    values: dict[str, FloatArray]
    confusion: tuple[csr_array, ...] = ()

    @property
    def fold(self) -> Fold:
        """What to keep of it."""
        solved = self.solved
        return Fold(self.values, self.confusion, solved.errors.proved, solved.interrupted)


def _learn(
    inputs: Inputs,
    X: Any,
    train: np.ndarray,
    test: np.ndarray,
    seconds: float | None,
    what: str,
    report: Report,
    scorer: Scorer | None = None,
) -> Learned:
    """Grow all trees on the training rows; measure them by size on the test rows."""
    settings = inputs.settings
    report(Progress(what))
    rows = X if test is train else _take_rows(X, train)
    others = _take_rows(X, test)
    weights = inputs.weights_of(train)
    target = inputs.target
    problem = target.problem(rows, train, weights, settings.max_thresholds, settings.categories)

    def forward(size: Progress) -> None:
        report(replace(size, what=f"{what}: {size.what}"))

    memory = int(settings.memory_limit)
    solved = solve(problem, inputs.max_size, False, memory, forward, settings.max_depth, seconds)
    training = TrainingSet(problem, rows, target.labels(train), others, weights)
    plain = None if inputs.sample_weight is None else inputs.sample_weight[test]
    tested = _TestRows(target, others, test, inputs.weights_of(test), plain, scorer)
    best = [GrownTree(training, tree) for tree in solved.trees]
    values = {OPTIMAL: tested.measure(best)}
    confusion = ()
    if test is not train and isinstance(target, ClassTarget):
        confusion = tuple(tested.confusion(target, model) for model in best)
    for peer in inputs.peers:
        report(Progress(f"{what}: {peer.name}"))
        values[peer.name] = tested.measure(peer.models(training, inputs.max_size))
    return Learned(solved, values, confusion)


@dataclass(frozen=True)
class _TestRows:
    """The rows on which trees are measured, by their errors or by scores."""

    target: Target
    rows: Any
    numbers: RowNumbers  # among all rows
    weights: FloatArray | None  # with the factors of classes
    sample_weight: FloatArray | None  # without
    scorer: Scorer | None

    def measure(self, models: Iterable[Model]) -> FloatArray:
        """One number for each model; less is better."""
        return np.array([self._measure_one(model) for model in models])

    def _measure_one(self, model: Model) -> float:
        if self.scorer is None:
            return self.target.mean_loss(model.codes(self.rows), self.numbers, self.weights)
        fitted, truth = self.target.scorable(model), self.target.truth(self.numbers)
        return -self.scorer(fitted, self.rows, truth, self.sample_weight)

    def confusion(self, target: ClassTarget, model: Model) -> csr_array:
        """The number or weight of rows by true and predicted class; few classes are predicted."""
        weights, codes = self.sample_weight, target.labels(self.numbers)
        counts = np.ones(len(codes), dtype=np.int64) if weights is None else weights
        places = (codes, target.places(model.codes(self.rows)))
        shape = (len(target.shown), len(target.shown))
        return csr_array(coo_array((counts, places), shape=shape))


@dataclass(frozen=True)
class Plan:
    """The folds of a comparison.

    Attributes
    ----------
    folds : training and held-out rows of each
    each : the number of folds of one cross-validation
    repeats : the number of cross-validations
    splitter : the name of a scikit-learn splitter, ``IN_TIME`` or nothing
    """

    folds: tuple[tuple[RowNumbers, RowNumbers], ...] = ()
    each: int = 0
    repeats: int = 1
    splitter: str = ""

    def __len__(self) -> int:
        return len(self.folds)

    @property
    def ratio(self) -> float:
        """Held-out rows per training row."""
        if not self.splitter:
            return 1 / (self.each - 1) if self.each else 0.0
        return float(np.mean([len(test) / len(train) for train, test in self.folds]))


def _plan_folds(X: Any, target: Target, settings: Settings, groups: Any, after: Any) -> Plan:
    """Folds in which classes are in proportion, or in order of time, or those of a splitter."""
    cv, times, seed = settings.cv, int(settings.repeats), settings.random_state
    if after is not None:
        check_after(cv, 1, groups)
        ranks = rank_moments(after, len(target))
        return Plan(tuple(time_folds(ranks, cv)), int(cv), 1, IN_TIME) if cv else Plan()
    rows = len(target)
    members = None if groups is None else np.asarray(check_unmasked(groups, "groups"))
    if members is not None and members.shape != (rows,):
        raise ValueError(f"groups must be one value a row; its shape is {members.shape}")
    if hasattr(cv, "split"):
        labels = target.truth(np.arange(rows))
        return _check_plan(cv.split(X, labels, members), type(cv).__name__, rows)
    if cv == 0:
        return Plan()
    if not isinstance(target, ClassTarget):
        return Plan(_plain_folds(rows, cv, times, members, int(seed)), cv, times)
    coded = target.coded
    if members is not None:
        return Plan(_grouped_folds(coded, cv, times, members, int(seed)), cv, times)
    counts = np.bincount(coded.codes, minlength=len(coded.classes))
    label, count = coded.classes[int(counts.argmin())], int(counts.min())
    if count < min(cv, 2):
        raise ValueError(f"cv must be 0 if a class has a single row, as {label!r} has; got {cv}")
    if count < cv:
        raise ValueError(
            f"cv must be 0 or from 2 to the number of rows of the rarest class; {label!r} has "
            f"{count}; got {cv}"
        )
    return Plan(tuple(folds(coded, cv, times, seed)), cv, times)


def _check_plan(splits: Any, name: str, rows: int) -> Plan:
    """The folds of a splitter of one's own."""
    found = []
    for train, test in splits:
        if not len(train) or not len(test):
            raise ValueError(
                f"every fold must have rows to learn from and held-out ones; fold {len(found) + 1} "
                f"of {name} has {len(train)} and {len(test)}"
            )
        found.append((np.arange(rows)[train], np.arange(rows)[test]))
    if len(found) < 2:
        raise ValueError(f"cv must give at least 2 folds; {name} gives {len(found)}")
    return Plan(tuple(found), len(found), 1, name)


def _plain_folds(
    rows: int, cv: int, times: int, groups: np.ndarray | None, seed: int
) -> tuple[tuple[RowNumbers, RowNumbers], ...]:
    """Folds of numbers to predict, which are not stratified and cut no group."""
    from sklearn.model_selection import GroupKFold, KFold

    count = rows if groups is None else len(np.unique(groups))
    if cv > count:
        what = "rows" if groups is None else "groups"
        raise ValueError(f"cv must be at most the number of {what}, {count}; got {cv}")
    kind: Any = KFold if groups is None else GroupKFold
    found = []
    for number in range(times):
        splitter = kind(cv, shuffle=True, random_state=(seed + number) % 2**32)
        found += list(splitter.split(np.zeros((rows, 1)), groups=groups))
    return tuple(found)


def _grouped_folds(
    coded: Coded, cv: int, times: int, groups: np.ndarray, seed: int
) -> tuple[tuple[RowNumbers, RowNumbers], ...]:
    """Folds that cut no group, classes in proportion as far as groups allow."""
    from sklearn.model_selection import StratifiedGroupKFold

    count = len(np.unique(groups))
    if cv > count:
        raise ValueError(f"cv must be at most the number of groups, {count}; got {cv}")
    rows = np.zeros((len(groups), 1))
    found = []
    with warnings.catch_warnings():  # a class in fewer groups than folds is missing from some
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for number in range(times):
            splitter = StratifiedGroupKFold(cv, shuffle=True, random_state=(seed + number) % 2**32)
            found += list(splitter.split(rows, coded.codes, groups))
    return tuple(found)


def folds(
    coded: Coded, cv: int, repeats: int, seed: int
) -> Iterator[tuple[RowNumbers, RowNumbers]]:
    """Training and held-out rows of each fold, classes in proportion."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    chosen = RepeatedStratifiedKFold(n_splits=cv, n_repeats=repeats, random_state=seed)
    return chosen.split(np.empty((len(coded.codes), 0)), coded.codes)


Maker = Callable[..., Any]  # (X, y, size) -> model; with weights also (X, y, size, weights)

# One tree whose leaves predict their majority: start from 1/2, full step, no penalty, no pruning.
LIGHTGBM: dict[str, Any] = {
    "n_estimators": 1, "learning_rate": 1.0, "boost_from_average": False, "max_depth": -1,
    "min_child_samples": 1, "min_child_weight": 0.0, "min_split_gain": 0.0, "reg_lambda": 0.0,
    "reg_alpha": 0.0, "subsample": 1.0, "colsample_bytree": 1.0, "min_data_in_bin": 1,
    "feature_pre_filter": False, "enable_bundle": False, "verbose": -1,
}  # fmt: skip
XGBOOST: dict[str, Any] = {
    "n_estimators": 1, "learning_rate": 1.0, "base_score": 0.5, "max_depth": 0,
    "min_child_weight": 0.0, "gamma": 0.0, "reg_lambda": 0.0, "reg_alpha": 0.0, "subsample": 1.0,
    "colsample_bytree": 1.0, "tree_method": "hist",
}  # fmt: skip
NAMES = (*RULES, "sklearn", "lightgbm", "xgboost")


@dataclass(frozen=True)
class Peer:
    """A learner with a name: trees of size 0, 1, 2, ..."""

    name: str
    learner: Any  # a Grower, an estimator, or a callable (X, y, size) or (X, y, size, weights)
    max_depth: int | None = None

    def check(
        self, classes: int, weighted: bool, numeric: bool = False, costs: bool = False
    ) -> None:
        """Refuse a learner that cannot make one tree of these labels, or of weighted rows."""
        if isinstance(self.learner, Grower):
            return
        self._maker(classes)
        params = self.learner.get_params() if hasattr(self.learner, "get_params") else {}
        if params.get("cost_matrix") is not None:
            raise ValueError(
                "all learners are judged by one cost_matrix: give it to compare, not to "
                f"{self.name}"
            )
        if weighted and hasattr(self.learner, "get_params"):
            from sklearn.utils.validation import has_fit_parameter

            if not has_fit_parameter(self.learner, "sample_weight"):
                raise ValueError(
                    f"with sample_weight, a learner's fit must take it; {self.name}'s does not"
                )

    def models(self, training: TrainingSet, max_size: int) -> Iterator[Model]:
        """Learn from rows and labels: a tree of each size from 0."""
        yield LoneLeaf(training)
        if isinstance(self.learner, Grower):
            problem = training.problem.limited(Limits(max_depth=self.max_depth))
            growth = self.learner.grow(problem, max_size)
            for size in range(1, max_size + 1):
                yield GrownTree(training, growth.tree(size))
            return
        make = self._maker(training.learned_classes, training.cost_names)
        if not len(training.problem.literals):  # no column has two values
            yield from [LoneLeaf(training)] * max_size
            return
        weights = () if training.weights is None else (training.weights,)
        for size in range(1, max_size + 1):
            model = make(training.learned_ranks, training.codes, size, *weights)
            if not hasattr(model, "predict"):
                raise TypeError(
                    f"a learner must return a model with predict; {self.name} gave "
                    f"{type(model).__name__}"
                )
            yield ForeignModel(training, self.name, model)

    def _maker(self, classes: int, costs: Any = None) -> Maker:
        learner = self.learner
        if not hasattr(learner, "get_params"):
            return learner
        library = type(learner).__module__.partition(".")[0]
        settings = _settings(learner, library, self.name)
        if library in ("lightgbm", "xgboost") and classes > 2:
            raise ValueError(
                f"a learner must grow one tree; {self.name} grows one for each of {classes} classes"
            )
        deep = {}
        if self.max_depth is not None:
            if "max_depth" not in learner.get_params():
                raise ValueError(
                    f"to limit depth, a learner must have the parameter max_depth; "
                    f"{self.name} has none"
                )
            deep = {"max_depth": self.max_depth}
        if costs is not None and "cost_matrix" in learner.get_params():
            deep |= {"cost_matrix": costs}

        def make(X: Any, y: Any, size: int, *weights: Any) -> Any:
            from sklearn.base import clone

            model: Any = clone(learner)
            model.set_params(**settings(size) | deep)
            return model.fit(X, y, **dict(zip(["sample_weight"], weights, strict=False)))

        return make


def _settings(learner: Any, library: str, name: str) -> Callable[[int], dict[str, Any]]:
    """The parameters that make an estimator grow one tree of a size."""
    known = learner.get_params()
    if library == "lightgbm":
        return lambda size: LIGHTGBM | {"num_leaves": size + 1}
    if library == "xgboost":
        policy = known.get("grow_policy") or "lossguide"
        # growth level by level needs a depth limit that allows the size
        deep = {} if policy == "lossguide" else {"max_depth": 30}
        return lambda size: XGBOOST | deep | {"max_leaves": size + 1, "grow_policy": policy}
    seeded = {"random_state": 0} if known.get("random_state", 0) is None else {}
    if "max_size" in known:
        return lambda size: seeded | {"max_size": size}
    if "max_leaf_nodes" in known:
        return lambda size: seeded | {"max_leaf_nodes": size + 1}
    raise ValueError(
        "an estimator must have a parameter for its size: max_size, max_leaf_nodes, num_leaves or "
        f"max_leaves; {name} has none: pass a callable (X, y, size) that returns a fitted model"
    )


def read_peers(
    learners: Any, max_depth: int | None = None, numeric: bool = False
) -> tuple[Peer, ...]:
    """Named learners, from a mapping, a sequence or a single learner; of classes or of numbers."""
    if isinstance(learners, Mapping):
        named = [(str(name), _peer(learner, numeric)) for name, learner in learners.items()]
        return tuple(Peer(name, peer.learner, max_depth) for name, peer in named)
    if isinstance(learners, str) or not isinstance(learners, Sequence):
        learners = [learners]
    peers: list[Peer] = []
    for peer in (_peer(learner, numeric) for learner in learners):
        uses = sum(other.name.partition(" #")[0] == peer.name for other in peers)
        name = f"{peer.name} #{uses + 1}" if uses else peer.name
        peers.append(Peer(name, peer.learner, max_depth))
    return tuple(peers)


def _peer(learner: Any, numeric: bool) -> Peer:
    if isinstance(learner, str):
        return Peer(learner, _by_name(learner, numeric))
    if isinstance(learner, type):
        raise TypeError(f"a learner must be an instance, not a class; got {learner.__name__}")
    if isinstance(learner, Grower):
        return Peer(_short(learner), learner)
    if hasattr(learner, "fit") and hasattr(learner, "predict") and hasattr(learner, "get_params"):
        return Peer(type(learner).__name__, learner)
    if callable(learner):
        return Peer(getattr(learner, "__name__", repr(learner)), learner)
    raise TypeError(
        "a learner must be a rule, an estimator or a callable (X, y, size); "
        f"got {type(learner).__name__}"
    )


def _short(grower: Grower) -> str:
    """A rule's name and the parameters that differ from the defaults."""
    plain = vars(TopDown())
    changed = [
        f"{name}={name_of(value) if name == 'criterion' else value}"
        for name, value in vars(grower).items()
        if name not in plain or value != plain[name]
    ]
    return f"{type(grower).__name__}({', '.join(changed)})" if changed else type(grower).__name__


def _by_name(name: str, numeric: bool) -> Any:
    if name in RULES:
        return RULES[name]()
    if name == "sklearn":
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        if numeric:
            return DecisionTreeRegressor(random_state=0)
        return DecisionTreeClassifier(criterion="entropy", random_state=0)
    if name in ("lightgbm", "xgboost"):
        from importlib import import_module

        try:
            module = import_module(name)
        except ImportError:
            raise ValueError(f"to compare {name}, install it first; it is not installed") from None
        kind = ("LGBM" if name == "lightgbm" else "XGB") + (
            "Regressor" if numeric else "Classifier"
        )
        return getattr(module, kind)(n_jobs=1, random_state=0)
    raise ValueError(f"a learner must be one of {', '.join(NAMES)}; got {name!r}")
