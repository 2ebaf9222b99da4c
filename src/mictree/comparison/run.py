"""compare: optimal trees and any learners grow on the same rows and literals.

First on all rows, for the training error; then fold by fold, for the error on held-out rows. Every
fold makes its own literals, from its training rows only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mictree._support.checks import check_count, check_seconds, check_size
from mictree._support.progress import Progress, Report, ignore
from mictree.columns.data import Data
from mictree.comparison.held_out import FloatArray, HeldOut, check_folds, folds, take_rows
from mictree.comparison.learners import Lesson, Peer, check_max_size, read_peers
from mictree.comparison.result import OPTIMAL, Comparison
from mictree.estimators.base import read_labels
from mictree.optimal import DEFAULT_MEMORY_LIMIT, CertifiedErrors
from mictree.optimal.search.frontier import SampleOptimalTrees, solve
from mictree.problems.labels import Coded
from mictree.problems.sample import SampleProblem

WHOLE_SHARE = 0.5  # of the time limit, for the search on all rows


def compare(
    learners: Any,
    X: Any,
    y: Any,
    max_size: int,
    *,
    time_limit: float | None = 60.0,
    cv: int = 5,
    repeats: int = 3,
    random_state: int = 0,
    max_thresholds: int | None = None,
    max_depth: int | None = None,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Report | None = None,
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
        returns a fitted model with at most ``size`` splits.
    X, y : matrix or frame, and labels of any kind
    max_size : the largest size
    time_limit : seconds for all searches together, half of them for the search on all rows; None
        for no limit
    cv, repeats : folds of the stratified cross-validation, and its number of repetitions; ``cv=0``
        skips cross-validation
    random_state : random seed for the folds
    max_thresholds : the largest number of thresholds per ordered column; None for all
    max_depth : the largest number of tests on a path, for the optimal trees and the learners;
        callables must enforce it themselves
    memory_limit : in bytes, for each search
    progress : called now and then with a value that has ``what``, ``share`` and ``detail``; see
        ``optimal_trees``

    Examples
    --------
    >>> import mictree as mt
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
    >>> result = mt.compare("topdown", X, ["even", "odd", "odd", "even"] * 5, max_size=3, cv=0)
    >>> result.mic("topdown")
    (0.0, 0.0)
    """
    limit = check_max_size(max_size)
    if max_depth is not None:
        check_size(max_depth, "max_depth")
    peers = read_peers(learners, max_depth)
    names = [peer.name for peer in peers]
    for name in names:
        if [OPTIMAL, *names].count(name) > 1:
            raise ValueError(
                f"learners must have different names, none of them {OPTIMAL!r}; got {name!r} again"
            )
    rows = Data(X).rows
    if not rows:
        raise ValueError("X must have at least one row; it has none")
    coded = read_labels(y, rows)[1]
    for peer in peers:
        peer.check(len(coded.classes))
    count = check_folds(coded, cv, repeats, random_state)
    memory = check_count(memory_limit, "memory_limit")
    clock = _Clock(None if time_limit is None else check_seconds(time_limit, "time_limit"))
    run = _Run(X, coded, peers, limit, max_depth, max_thresholds, memory, clock, progress or ignore)
    everything = np.arange(rows)
    solved, training = run.learn("all rows", everything, everything, WHOLE_SHARE if count else 1.0)
    for name in names:
        _check_honest(name, training[name], solved.errors, max_depth)
    held: dict[str, list[FloatArray]] = {name: [] for name in training}
    unproved = np.zeros(limit + 1)
    for number, (train, test) in enumerate(
        folds(coded, cv, repeats, random_state) if count else ()
    ):
        what = f"fold {number + 1} of {count}"
        found, errors = run.learn(what, train, test, 1 / (count - number))
        unproved += ~found.errors.proved / count
        for name in held:
            held[name].append(errors[name])
    ratio = 1 / (cv - 1) if count else 0.0
    return Comparison(
        names=tuple(names),
        optimal_errors=solved.errors,
        training_errors={name: training[name] for name in names},
        held_out={name: HeldOut(np.array(by_fold), ratio) for name, by_fold in held.items()}
        if count
        else {},
        unproved_folds=unproved,
        rows=rows,
        literals=len(solved.problem.literals),
        classes=coded.classes,
        cv=cv,
        repeats=repeats,
        optimal_trees=solved,
        interrupted=clock.interrupted,
    )


@dataclass(frozen=True)
class _Run:
    """The inputs of all searches and learners of a comparison."""

    X: Any
    coded: Coded
    peers: tuple[Peer, ...]
    max_size: int
    max_depth: int | None
    max_thresholds: int | None
    memory_limit: int
    clock: _Clock
    report: Report

    def learn(
        self, what: str, train: np.ndarray, test: np.ndarray, share: float
    ) -> tuple[SampleOptimalTrees, dict[str, FloatArray]]:
        """Grow all trees on the training rows; return their errors by size on the test rows."""
        self.report(Progress(what))
        codes = self.coded.codes.astype(np.intp)
        rows = self.X if test is train else take_rows(self.X, train)
        problem = SampleProblem(
            rows, Coded(self.coded.classes, self.coded.codes[train]),
            max_thresholds=self.max_thresholds,
        )  # fmt: skip
        found = self._search(problem, what, self.clock.part(share))
        given = Lesson(problem, rows, codes[train], take_rows(self.X, test))
        errors = {OPTIMAL: _errors(map(given.predict, found.trees), codes[test])}
        for peer in self.peers:
            self.report(Progress(f"{what}: {peer.name}"))
            predicted = peer.predictions(given, self.max_size)
            errors[peer.name] = _errors(predicted, codes[test])
        return found, errors

    def _search(
        self, problem: SampleProblem, what: str, seconds: float | None
    ) -> SampleOptimalTrees:
        def report(size: Progress) -> None:
            self.report(replace(size, what=f"{what}: {size.what}"))

        found = solve(
            problem, self.max_size, False, self.memory_limit, report, self.max_depth, seconds
        )
        if found.interrupted:
            self.clock.interrupt()
        return found


class _Clock:
    """The rest of a time limit."""

    def __init__(self, limit: float | None) -> None:
        self.end = None if limit is None else time.monotonic() + limit
        self.interrupted = False

    def interrupt(self) -> None:
        """The first Ctrl-C leaves no time for further searches; the second ends the comparison."""
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
        self.end = time.monotonic()

    def part(self, share: float) -> float | None:
        """A share of the remaining time, and at least 0.02 s."""
        if self.end is None:
            return None
        return max(0.02, share * (self.end - time.monotonic()))


def _errors(predictions: Any, codes: np.ndarray) -> FloatArray:
    """By size: the share of rows that get a wrong label."""
    return np.array([float((labels != codes).mean()) for labels in predictions])


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
