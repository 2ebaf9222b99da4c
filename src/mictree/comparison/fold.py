"""One piece of a comparison: all trees grown on some rows, and judged on others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from mictree._support.progress import Progress, Report
from mictree.comparison.held_out import OPTIMAL, FloatArray, take_rows
from mictree.comparison.judged import Grown, Judged, Lesson, Model
from mictree.comparison.learners import Peer
from mictree.estimators.scoring import Scorer
from mictree.optimal.search.certified import SampleOptimalTrees, solve
from mictree.problems.labels import Coded
from mictree.problems.sample import SampleProblem


@dataclass(frozen=True)
class Work:
    """The inputs of all searches and learners of a comparison, but for X."""

    coded: Coded
    weights: FloatArray | None  # with the factors of classes
    sample_weight: FloatArray | None  # without
    peers: tuple[Peer, ...]
    max_size: int
    max_depth: int | None
    max_thresholds: int | None
    memory_limit: int
    scorer: Scorer | None  # of held-out rows

    def weights_of(self, rows: np.ndarray) -> FloatArray | None:
        """The weights of some rows, which must not all be zero."""
        if self.weights is None:
            return None
        some = self.weights[rows]
        if not some.any():
            raise ValueError("the rows of every fold must have some weight; in one all are zero")
        return some


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


def learn(
    work: Work,
    X: Any,
    train: np.ndarray,
    test: np.ndarray,
    seconds: float | None,
    what: str,
    report: Report,
    scorer: Scorer | None = None,
) -> Learned:
    """Grow all trees on the training rows; judge them by size on the test rows."""
    report(Progress(what))
    rows = X if test is train else take_rows(X, train)
    others = take_rows(X, test)
    weights = work.weights_of(train)
    problem = SampleProblem(
        rows, Coded(work.coded.classes, work.coded.codes[train]), weights,
        max_thresholds=work.max_thresholds,
    )  # fmt: skip

    def tell(size: Progress) -> None:
        report(replace(size, what=f"{what}: {size.what}"))

    solved = solve(problem, work.max_size, False, work.memory_limit, tell, work.max_depth, seconds)
    codes = work.coded.codes.astype(np.intp)
    lesson = Lesson(problem, rows, codes[train], others, weights)
    plain = None if work.sample_weight is None else work.sample_weight[test]
    judge = _Judge(work.coded.classes, others, codes[test], work.weights_of(test), plain, scorer)
    best = [Grown(lesson, tree) for tree in solved.trees]
    values = {OPTIMAL: judge.all(best)}
    confusion = () if test is train else tuple(judge.confusion(model) for model in best)
    for peer in work.peers:
        report(Progress(f"{what}: {peer.name}"))
        values[peer.name] = judge.all(peer.models(lesson, work.max_size))
    return Learned(solved, values, confusion)


@dataclass(frozen=True)
class _Judge:
    """Errors or scores on some rows."""

    classes: tuple[Any, ...]
    rows: Any
    codes: np.ndarray
    weights: FloatArray | None  # with the factors of classes
    sample_weight: FloatArray | None  # without
    scorer: Scorer | None

    def all(self, models: Iterable[Model]) -> FloatArray:
        """One number for each model; less is better."""
        return np.array([self._one(model) for model in models])

    def _one(self, model: Model) -> float:
        if self.scorer is None:
            return float(np.average(model.codes(self.rows) != self.codes, weights=self.weights))
        judged = Judged(model, self.classes)
        return -self.scorer(judged, self.rows, judged.classes_[self.codes], self.sample_weight)

    def confusion(self, model: Model) -> csr_array:
        """The number or weight of rows by true and predicted class; few classes are predicted."""
        weights = self.sample_weight
        counts = np.ones(len(self.codes), dtype=np.int64) if weights is None else weights
        places = (self.codes, model.codes(self.rows))
        shape = (len(self.classes), len(self.classes))
        return csr_array(coo_array((counts, places), shape=shape))
