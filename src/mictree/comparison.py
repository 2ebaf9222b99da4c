"""Any learners beside the optimal trees on a data set: training excess and held-out error."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mictree._checks import check_size
from mictree.mic import ROUNDING
from mictree.optimal import DEFAULT_MEMORY_LIMIT, CertifiedErrors
from mictree.optimal.sample import MOST_BUDGETS, Found, SampleOptimalTrees, solve
from mictree.peers import Peer, check_max_size, read_peers
from mictree.problems.labels import Coded
from mictree.problems.sample import SampleProblem

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

OPTIMAL = "optimal"
WHOLE_SHARE = 0.5  # of the time limit, for the search on all rows
CLEAR = 2.0  # a difference of so many standard errors is called clear

FloatArray = np.typing.NDArray[np.float64]
Progress = Callable[["Step"], None]


class Step(NamedTuple):
    """What a comparison is doing."""

    what: str  # "all rows" or "fold 3 of 15"
    found: Found | None  # of the search for optimal trees, while it lasts


@dataclass(frozen=True)
class HeldOut:
    """Errors on held-out rows, by fold and size."""

    errors: FloatArray  # (folds, sizes)
    ratio: float  # held-out rows per training row

    @property
    def mean(self) -> FloatArray:
        """The mean over all folds, by size."""
        return self.errors.mean(axis=0)

    def less(self, other: HeldOut) -> tuple[FloatArray, FloatArray]:
        """The mean of this less the other's errors, fold by fold, and its standard error.

        Folds share training rows, so the variance of a mean is larger than for independent ones
        (Nadeau and Bengio, Inference for the Generalization Error, 2003).
        """
        apart = self.errors - other.errors
        folds = len(apart)
        if folds < 2:
            return apart.mean(axis=0), np.full(apart.shape[1], np.inf)
        variance = apart.var(axis=0, ddof=1) * (1 / folds + self.ratio)
        return apart.mean(axis=0), np.sqrt(variance)


@dataclass(frozen=True)
class Comparison:
    """Learners beside the optimal trees, by size from 0 to ``max_size``.

    Attributes
    ----------
    names : of the learners
    optimal_errors : least training errors, with ``lower``, ``upper`` and ``proved``
    training_errors : for each learner, index = size
    held_out : for each learner and "optimal"; empty without cross-validation
    unproved_folds : by size, the share of folds whose optimal tree is only the best one found
    rows, literals, classes : of the data set
    cv, repeats : folds of one cross-validation, and how often it was done
    optimal_trees : the trees themselves
    """

    names: tuple[str, ...]
    optimal_errors: CertifiedErrors
    training_errors: dict[str, FloatArray]
    held_out: dict[str, HeldOut]
    unproved_folds: FloatArray
    rows: int
    literals: int
    classes: tuple[Any, ...]
    cv: int
    repeats: int
    optimal_trees: SampleOptimalTrees = field(repr=False)

    @property
    def max_size(self) -> int:
        """The largest size."""
        return len(self.optimal_errors) - 1

    @property
    def proved(self) -> bool:
        """Whether every optimal training error is proved."""
        return bool(self.optimal_errors.proved.all())

    def excess(self, name: str) -> tuple[FloatArray, FloatArray]:
        """A learner's training error above the optimum: the least and the most it can be."""
        errors = self.training_errors[name]
        upper = np.minimum(self.optimal_errors.upper, errors)  # it found a tree as well
        return errors - upper, np.maximum(errors - self.optimal_errors.lower, 0)

    def mic(self, name: str) -> tuple[float, float]:
        """The mean excess over sizes from 1: equal numbers where all is proved."""
        least, most = self.excess(name)
        return float(least[1:].mean()), float(most[1:].mean())

    def verdicts(self, name: str) -> list[str]:
        """By size: whether the optimal tree errs less on held-out rows than the learner's.

        "better" and "worse" are clear differences, of two standard errors; else it is "same" where
        all folds agree, and "unclear".
        """
        apart, spread = self.held_out[name].less(self.held_out[OPTIMAL])
        found = []
        for difference, error in zip(apart, spread, strict=True):
            if abs(difference) <= ROUNDING and error <= ROUNDING:
                found.append("same")
            elif abs(difference) <= CLEAR * error:
                found.append("unclear")
            else:
                found.append("better" if difference > 0 else "worse")
        return found

    @property
    def frame(self) -> polars.DataFrame:
        """A polars frame with a row for each learner and size; "optimal" is one of them."""
        import polars

        rows = [row for name in (OPTIMAL, *self.names) for row in self._rows(name)]
        texts = {"learner": polars.String, "size": polars.Int64, "proved": polars.Boolean}
        kinds = {
            name: texts.get(name, polars.String if name == "optimal_is" else polars.Float64)
            for name in rows[0]
        }
        return polars.DataFrame(rows, schema=kinds)

    def _rows(self, name: str) -> Iterator[dict[str, Any]]:
        own = name == OPTIMAL
        errors = self.optimal_errors.upper if own else self.training_errors[name]
        least, most = (0 * errors, 0 * errors) if own else self.excess(name)
        verdicts: list[Any] = [None] * len(errors)
        apart = spread = held = np.full(len(errors), math.nan)
        if self.held_out:
            held = self.held_out[name].mean
            if not own:
                apart, spread = self.held_out[name].less(self.held_out[OPTIMAL])
                verdicts = list(self.verdicts(name))
        for size in range(len(errors)):
            yield {
                "learner": name,
                "size": size,
                "training_error": float(errors[size]),
                "optimal_lower": float(self.optimal_errors.lower[size]),
                "optimal_upper": float(self.optimal_errors.upper[size]),
                "proved": bool(self.optimal_errors.proved[size]),
                "excess_least": float(least[size]),
                "excess_most": float(most[size]),
                "held_out_error": _known(held[size]),
                "held_out_above_optimal": _known(apart[size]),
                "standard_error": _known(spread[size]),
                "optimal_is": verdicts[size],
            }

    def __str__(self) -> str:
        return "\n".join([self.title, "", *self._table(), "", *self.summary])

    @property
    def summary(self) -> list[str]:
        """The MIC of each learner, and where the optimal tree is worth it."""
        lines = []
        for name in self.names:
            least, most = self.mic(name)
            shown = f"= {least:.4g}" if self.proved else f"between {least:.4g} and {most:.4g}"
            lines.append(f"{name}: MIC({self.max_size}) {shown}")
        return lines + self.worth_it

    @property
    def title(self) -> str:
        """The data set and the tests, in a line."""
        tested = (
            f"; held-out error by {self.cv}-fold cross-validation, {self.repeats} times"
            if self.held_out
            else ""
        )
        classes = f"{len(self.classes)} class{'' if len(self.classes) == 1 else 'es'}"
        return f"{self.rows} rows, {self.literals} literals, {classes}{tested}"

    @property
    def worth_it(self) -> list[str]:
        """One line for each learner: at which sizes the optimal tree errs less on new rows."""
        lines = []
        for name in self.names if self.held_out else ():
            found = self.verdicts(name)
            parts = [
                f"{what} at size {_spans(found, what)}"
                for what in ("better", "worse")
                if what in found[1:]
            ]
            text = "; ".join(parts) or "no clear difference at any size"
            lines.append(f"on held-out rows the optimal tree against {name}: {text}")
        if self.unproved_folds.any():
            first = int(np.argmax(self.unproved_folds > 0))
            lines.append(
                f"from size {first} on some folds' optimal trees are only the best found in time"
            )
        return lines

    def columns(self) -> list[str]:
        """The heads of ``cells``."""
        heads = ["size", "optimal", *(["held-out"] if self.held_out else [])]
        for name in self.names:
            heads += [name, "excess", *(["held-out"] if self.held_out else [])]
        return heads

    def cells(self, size: int) -> list[str]:
        """One line of the table: training error, excess and held-out error of each learner.

        A star marks a held-out error that the optimal tree's is clearly below, a plus one that it
        is clearly above.
        """
        errors = self.optimal_errors
        cells = [str(size), f"{errors.upper[size]:.4f}"]
        if not errors.proved[size]:
            cells[1] = f"{errors.lower[size]:.4f}..{errors.upper[size]:.4f}"
        if self.held_out:
            cells.append(f"{self.held_out[OPTIMAL].mean[size]:.4f}")
        for name in self.names:
            least, most = (ends[size] for ends in self.excess(name))
            cells.append(f"{self.training_errors[name][size]:.4f}")
            proved = errors.proved[size]
            cells.append(f"{least:.4f}" if proved else f"{least:.4f}..{most:.4f}")
            if self.held_out:
                mark = {"better": "*", "worse": "+"}.get(self.verdicts(name)[size], " ")
                cells.append(f"{self.held_out[name].mean[size]:.4f}{mark}")
        return cells

    def _table(self) -> list[str]:
        lines = [self.columns(), *(self.cells(size) for size in range(self.max_size + 1))]
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        return [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        ]

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw training and held-out errors against size, side by side."""
        from mictree.plotting.comparison import draw_comparison

        return draw_comparison(figure, self)


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
    max_thresholds: int = 8,
    max_depth: int | None = None,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Progress | None = None,
) -> Comparison:
    """Compare learners with the optimal trees of every size on a data set.

    All of them see the same literals, made once from the rows they learn from, so that the excess
    of a learner is due to its growth alone.

    Parameters
    ----------
    learners : a learner, a sequence or a mapping of names to learners. A learner is a mictree rule
        or its name, "sklearn", "lightgbm", "xgboost", an estimator with ``max_size``,
        ``max_leaf_nodes``, ``num_leaves`` or ``max_leaves``, or a callable ``(X, y, size)`` that
        returns a fitted model of at most so many splits.
    X, y : matrix or frame, and labels of any kind
    max_size : the largest size
    time_limit : seconds for all searches together, half of it for that on all rows; None for any
    cv, repeats : folds of the stratified cross-validation and how often it is done; ``cv=0`` does
        without
    random_state : chooses the folds
    max_thresholds : the most thresholds that a numeric column offers
    max_depth : the most tests on a path of the optimal trees; the learners must keep to it
        themselves
    memory_limit : in bytes, for each search
    progress : called now and then with a ``Step``

    Examples
    --------
    >>> import mictree as mt
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
    >>> result = mt.compare("topdown", X, ["even", "odd", "odd", "even"] * 5, max_size=3, cv=0)
    >>> result.mic("topdown")
    (0.0, 0.0)
    """
    limit = check_max_size(max_size)
    peers = read_peers(learners)
    if len({peer.name for peer in peers} | {OPTIMAL}) <= len(peers):
        raise ValueError(f"learners must have different names, none of them {OPTIMAL!r}")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be a positive number of seconds; got {time_limit!r}")
    coded = Coded.read(y)
    folds = _folds(coded, cv, repeats, random_state)
    clock = _Clock(time_limit)
    told = progress or (lambda step: None)

    def search(problem: SampleProblem, what: str, seconds: float | None) -> SampleOptimalTrees:
        told(Step(what, None))
        report = lambda found: told(Step(what, found))  # noqa: E731
        begin = time.monotonic()
        found = solve(problem, limit, False, memory_limit, report, max_depth, seconds)
        early = seconds is None or time.monotonic() - begin < 0.9 * seconds
        if early and not found.errors.proved[: MOST_BUDGETS + 1].all():
            clock.stop()  # by Ctrl-C, which is meant for the searches still to come too
        return found

    problem = SampleProblem(X, coded, max_thresholds=max_thresholds)
    solved = search(problem, "all rows", clock.part(WHOLE_SHARE if folds else 1.0))
    bits, codes = problem.literals.transform(X), coded.codes.astype(np.intp)
    training = {peer.name: _training_errors(peer, bits, codes, limit) for peer in peers}
    for name, errors in training.items():
        _check_honest(name, errors, solved.errors)
    held: dict[str, list[list[float]]] = {name: [] for name in (OPTIMAL, *training)}
    unproved = np.zeros(limit + 1)
    for number, (train, test) in enumerate(folds):
        part = Coded(coded.classes, coded.codes[train])
        fold = SampleProblem(_take(X, train), part, max_thresholds=max_thresholds)
        seconds = clock.part(1 / (len(folds) - number))
        found = search(fold, f"fold {number + 1} of {len(folds)}", seconds)
        unproved += ~found.errors.proved / len(folds)
        seen, new = (fold.literals.transform(_take(X, rows)) for rows in (train, test))
        held[OPTIMAL].append(
            [float((tree.predict(new) != codes[test]).mean()) for tree in found.trees]
        )
        for peer in peers:
            given = peer.predictions(seen, codes[train], limit, new)
            held[peer.name].append([float((labels != codes[test]).mean()) for _, labels in given])
    ratio = 1 / (cv - 1) if folds else 0.0
    return Comparison(
        tuple(training),
        solved.errors,
        training,
        {name: HeldOut(np.array(errors), ratio) for name, errors in held.items()} if folds else {},
        unproved,
        len(codes),
        len(problem.literals),
        coded.classes,
        cv,
        repeats,
        solved,
    )


class _Clock:
    """What is left of a time limit."""

    def __init__(self, limit: float | None) -> None:
        self.end = None if limit is None else time.monotonic() + limit

    def stop(self) -> None:
        """Leave nothing."""
        self.end = time.monotonic()

    def part(self, share: float) -> float | None:
        """A share of what is left, and a little where nothing is."""
        if self.end is None:
            return None
        return max(0.02, share * (self.end - time.monotonic()))


def _folds(coded: Coded, cv: int, repeats: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and held-out rows of each fold."""
    check_size(cv, "cv")
    if cv == 1:
        raise ValueError("cv must be 0 or at least 2; got 1")
    if check_size(repeats, "repeats") == 0:
        raise ValueError("repeats must be at least 1; got 0")
    if cv == 0:
        return []
    from sklearn.model_selection import RepeatedStratifiedKFold

    counts = np.bincount(coded.codes, minlength=len(coded.classes))
    for label, count in zip(coded.classes, counts, strict=True):
        if 0 < count < cv:
            raise ValueError(
                f"every class must have a row in each of {cv} folds; {label!r} has {count} rows: "
                "use a smaller cv, or cv=0"
            )
    folds = RepeatedStratifiedKFold(n_splits=cv, n_repeats=repeats, random_state=seed)
    return list(folds.split(np.empty((len(coded.codes), 0)), coded.codes))


def _take(X: Any, rows: np.ndarray) -> Any:
    from sklearn.utils import _safe_indexing

    if not hasattr(X, "shape") and not hasattr(X, "columns"):
        X = np.asarray(X)
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    return _safe_indexing(X, rows)


def _training_errors(peer: Peer, bits: np.ndarray, codes: np.ndarray, max_size: int) -> FloatArray:
    given = peer.predictions(bits, codes, max_size)
    return np.array([float((labels != codes).mean()) for labels, _ in given])


def _check_honest(name: str, errors: FloatArray, optimal: CertifiedErrors) -> None:
    """No tree is better than the best one, so what is better is no tree of its size."""
    ahead = np.flatnonzero(errors < optimal.lower - 1e-9)
    if len(ahead):
        size = int(ahead[0])
        raise ValueError(
            f"a learner must make one tree with at most the splits asked for; {name} makes fewer "
            f"errors than any tree of size {size}"
        )


def _known(number: float) -> float | None:
    return None if math.isnan(number) else float(number)


def _spans(found: list[str], what: str) -> str:
    """The sizes with a verdict; 1, 2, 3, 7 as "1-3, 7"."""
    spans: list[list[int]] = []
    for size in [size for size, each in enumerate(found) if each == what]:
        if spans and size == spans[-1][-1] + 1:
            spans[-1].append(size)
        else:
            spans.append([size])
    return ", ".join(f"{s[0]}-{s[-1]}" if len(s) > 1 else str(s[0]) for s in spans)
