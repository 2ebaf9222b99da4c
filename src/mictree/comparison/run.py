"""compare: optimal trees and any learners grow on the same rows and literals.

First on all rows, for the training error; then fold by fold, for the error on held-out rows. Every
fold makes its own literals, from its training rows only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mictree._support.checks import check_count, check_seconds, check_size
from mictree._support.parallel import count_jobs, spread
from mictree._support.progress import Progress, Report, ignore
from mictree._support.time_limit import TimeLimit
from mictree.columns.data import Data
from mictree.comparison.fold import Fold, Learned, Work, learn
from mictree.comparison.held_out import (
    OPTIMAL,
    FloatArray,
    HeldOut,
    Plan,
    check_folds,
    plan_folds,
)
from mictree.comparison.learners import Peer, check_max_size, read_peers
from mictree.comparison.result import Comparison
from mictree.distributed.collections import is_collection
from mictree.estimators.reading import read_labels
from mictree.estimators.scoring import read_scoring
from mictree.optimal import DEFAULT_MEMORY_LIMIT, CertifiedErrors
from mictree.problems.labels import class_weights, read_weights
from mictree.problems.sample import check_thresholds

WHOLE_SHARE = 0.5  # of the time limit, for the search on all rows


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
    X, y : matrix or frame, and labels of any kind
    max_size : the largest size
    time_limit : seconds for all searches together, half of them for the search on all rows; None
        for no limit. Compiling kernels and loading them does not count.
    cv, repeats : folds of the stratified cross-validation, and its number of repetitions; ``cv=0``
        skips cross-validation. ``cv`` may also be a splitter of scikit-learn, which has its own
        repetitions.
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

    Examples
    --------
    >>> import mictree as mt
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
    >>> result = mt.compare("topdown", X, ["even", "odd", "odd", "even"] * 5, max_size=3, cv=0)
    >>> result.mic("topdown")
    (0.0, 0.0)
    """
    check_settings(max_size, time_limit, cv, repeats, random_state, scoring, max_thresholds, n_jobs)
    if max_depth is not None:
        check_size(max_depth, "max_depth")
    peers = _read_learners(learners, max_depth)
    if is_collection(X):
        raise TypeError("compare must have its rows on one machine; X is a Dask collection")
    rows = Data(X).rows
    if not rows:
        raise ValueError("X must have at least one row; it has none")
    coded = read_labels(y, rows)[1]
    plain = weights = read_weights(sample_weight, rows)
    factors = class_weights(class_weight, coded)
    if factors is not None:
        weights = factors[coded.codes] * (1.0 if plain is None else plain)
    for peer in peers:
        peer.check(len(coded.classes), weights is not None)
    plan = plan_folds(X, coded, cv, repeats, groups, random_state, after)
    memory = check_count(memory_limit, "memory_limit")
    scorer = read_scoring(scoring)
    if scorer is not None and len(plan):
        scorer.check(coded.classes)
    work = Work(
        coded,
        weights,
        plain,
        peers,
        int(max_size),
        max_depth,
        max_thresholds,
        memory,
        scorer,
    )
    report = progress or ignore
    everything = np.arange(rows)
    with TimeLimit(time_limit) as limit:
        seconds = _part(limit, WHOLE_SHARE if len(plan) else 1.0)
        whole = learn(work, X, everything, everything, seconds, "all rows", report)
        for peer in peers:
            _check_honest(peer.name, whole.values[peer.name], whole.solved.errors, max_depth)
        done = None if whole.solved.interrupted else _folds(work, X, plan, limit, n_jobs, report)
    return _result(work, whole, plan, done, factors is not None)


def check_settings(
    max_size: Any, time_limit: Any, cv: Any, repeats: Any, random_state: Any, scoring: Any,
    max_thresholds: Any, n_jobs: Any,
) -> None:  # fmt: skip
    """Refuse settings of a comparison that no rows could make right."""
    check_max_size(max_size)
    if time_limit is not None:
        check_seconds(time_limit, "time_limit")
    check_folds(cv, repeats, random_state)
    read_scoring(scoring)
    check_thresholds(max_thresholds)
    count_jobs(n_jobs)


def _read_learners(learners: Any, max_depth: int | None) -> tuple[Peer, ...]:
    """The learners, whose names must differ."""
    peers = read_peers(learners, max_depth)
    names = [OPTIMAL, *(peer.name for peer in peers)]
    for name in names[1:]:
        if names.count(name) > 1:
            raise ValueError(
                f"learners must have different names, none of them {OPTIMAL!r}; got {name!r} again"
            )
    return peers


def _result(
    work: Work, whole: Learned, plan: Plan, done: list[Fold] | None, weighted: bool
) -> Comparison:
    """The comparison; ``done`` is None if Ctrl-C ended it before its last fold."""
    folds = done or []
    values = {name: np.array([fold.values[name] for fold in folds]) for name in whole.values}
    unproved = [~fold.proved for fold in folds] or [np.zeros(work.max_size + 1)]
    scored, scoring = work.scorer is not None, "" if work.scorer is None else work.scorer.name
    return Comparison(
        names=tuple(peer.name for peer in work.peers),
        optimal_errors=whole.solved.errors,
        training_errors={peer.name: whole.values[peer.name] for peer in work.peers},
        held_out={name: HeldOut(errors, plan.ratio, scored) for name, errors in values.items()}
        if folds
        else {},
        unproved_folds=np.mean(unproved, axis=0),
        rows=len(work.coded.codes),
        literals=len(whole.solved.problem.literals),
        classes=work.coded.classes,
        cv=plan.each,
        repeats=plan.repeats,
        optimal_trees=whole.solved,
        interrupted=done is None,
        splitter=plan.splitter,
        scoring=scoring,
        confusion=_mean_confusion(folds, plan.repeats),
        class_weighted=weighted,
    )


def _mean_confusion(folds: list[Fold], repeats: int) -> tuple[Any, ...]:
    """By size, the sum of the folds' confusion matrices, divided by the repetitions."""
    by_size = zip(*(fold.confusion for fold in folds), strict=True)
    sums = (sum(matrices[1:], start=matrices[0]) for matrices in by_size)
    return tuple(total if repeats == 1 else total / repeats for total in sums)


def _folds(
    work: Work, X: Any, plan: Plan, limit: TimeLimit, n_jobs: int | None, report: Report
) -> list[Fold] | None:
    """All folds; None if Ctrl-C is pressed, as some of them would mean little."""
    workers = count_jobs(n_jobs)
    try:
        if workers > 1:
            return _spread(work, X, plan, limit, n_jobs, workers, report)
        return _in_turn(work, X, plan, limit, report)
    except KeyboardInterrupt:
        return None


def _in_turn(work: Work, X: Any, plan: Plan, limit: TimeLimit, report: Report) -> list[Fold]:
    """One fold after another; what one leaves of its time is for the rest."""
    done = []
    for number, (train, test) in enumerate(plan.folds):
        what = f"fold {number + 1} of {len(plan)}"
        seconds = _part(limit, 1 / (len(plan) - number))
        learned = learn(work, X, train, test, seconds, what, report, work.scorer)
        done.append(_whole_fold(learned.fold))
    return done


def _spread(
    work: Work, X: Any, plan: Plan, limit: TimeLimit, n_jobs: int | None, workers: int,
    report: Report,
) -> list[Fold]:  # fmt: skip
    """Several folds at once; each has an equal part of the time."""
    seconds = _part(limit, workers / len(plan)) if len(plan) else None
    report(Progress("folds", 0.0))
    # X is an argument of its own, which joblib passes to each worker once
    calls = [(X, work, train, test, seconds) for train, test in plan.folds]
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
    X: Any, work: Work, train: np.ndarray, test: np.ndarray, seconds: float | None
) -> Fold:
    return learn(work, X, train, test, seconds, "", ignore, work.scorer).fold


def _part(limit: TimeLimit, share: float) -> float | None:
    """A share of the remaining time, and at least 0.02 s; None without a limit."""
    return None if limit.seconds == math.inf else max(0.02, share * limit.left())


def _check_honest(
    name: str, errors: FloatArray, optimal: CertifiedErrors, max_depth: int | None
) -> None:
    """Reject a learner that beats the proved optimum: it is not a single tree of that size."""
    ahead = np.flatnonzero(errors < optimal.lower - 1e-9)
    if len(ahead):
        deep = "" if max_depth is None else f" and depth {max_depth}"
        raise ValueError(
            f"a learner must make one tree with at most the splits asked for; {name} makes fewer "
            f"errors than any tree of size {int(ahead[0])}{deep}"
        )
