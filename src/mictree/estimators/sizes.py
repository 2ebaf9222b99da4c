"""Which size should a tree have? By cross-validation, or by a price for every split.

``select_size`` fits once in every fold and scores the trees of all sizes; one fit gives all of
them. It chooses the best size, or by the one-standard-error rule of Breiman, Friedman, Olshen and
Stone (Classification and Regression Trees, 1984, section 3.4.3) the smallest tree whose score is
within one standard error of the best. Rows that have an order in time are cut into folds that are
later than their training rows, and rows of one time are never separated.

``penalty_path`` gives the best size for every price per split, as intervals of prices. The cost of
a tree is its error plus the price of its splits. As the price falls, the best size moves along the
lower convex hull of the points (size, error). A cost is certified if no size can cost less: not by
its certified lower bound, and not beyond the sizes that were searched, where the error is at least
the one that no tree can avoid.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing, indexable

from mictree._support.checks import check_count, check_unmasked
from mictree._support.parallel import spread
from mictree._support.words import count_of, show_number
from mictree.columns.data import Data, is_missing, read_array
from mictree.distributed.collections import is_collection
from mictree.estimators.base import TreeModel
from mictree.estimators.kinds import costs_of_labels
from mictree.estimators.predicting import Scorer, read_numeric, read_scoring
from mictree.problems.sample import Coded, SampleProblem, class_weights, weights_among
from mictree.problems.tasks import MatrixCosts, read_cost_matrix

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes


CHOICES = ("one-standard-error", "least")
LARGEST = {"OptimalTreeClassifier": 8, "OptimalTreeRegressor": 8}  # with max_size="auto"
LARGEST_GREEDY = 32
ROUNDING = 1e-12  # costs that differ by less are equal

FloatArray = np.typing.NDArray[np.float64]
RowNumbers = np.typing.NDArray[np.intp]
Choice = Literal["one-standard-error", "least"]
Point = tuple[int, float]  # a size and an error


@dataclass(frozen=True)
class SizeChoice:
    """The chosen size, and the scores from which it was chosen.

    Attributes
    ----------
    size : the chosen number of splits
    scores : by fold and size; higher is better. Accuracy, unless ``scoring`` was given; mean
        squared errors and mean costs are negative.
    folds : of one cross-validation, without its repetitions
    choose : the rule
    scoring : the name of the scoring, or nothing for accuracy
    loss : "mean squared error" of numbers, or "mean cost"; nothing for other scores

    Examples
    --------
    >>> import mictree as mt
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 10, [0, 1, 1, 0] * 10
    >>> choice = mt.select_size(mt.TopDownClassifier(max_size=4), X, y)
    >>> choice.size, choice.means.tolist()
    (3, [0.5, 0.4, 0.65, 1.0, 1.0])
    """

    size: int
    scores: FloatArray
    folds: int
    choose: str
    scoring: str = ""
    loss: str = ""

    @property
    def means(self) -> FloatArray:
        """The mean score by size."""
        return self.scores.mean(axis=0)

    @property
    def measure(self) -> str:
        """What ``shown`` is: "error", or the name of the loss or of the scoring."""
        return self.scoring or self.loss or "error"

    @property
    def title(self) -> str:
        """The head of a column of what is shown."""
        return f"cross-validated {self.measure}"

    @property
    def shown(self) -> FloatArray:
        """The mean error or loss by size, or with a scoring the mean score."""
        if self.scoring:
            return self.means
        return 0.0 - self.means if self.loss else 1 - self.means

    @property
    def standard_errors(self) -> FloatArray:
        """The standard error of the mean by size; repetitions do not make it smaller."""
        return self.scores.std(axis=0, ddof=1) / np.sqrt(self.folds)

    @property
    def frame(self) -> polars.DataFrame:
        """A polars frame with a row for each size."""
        import polars

        sizes = np.arange(len(self.means))
        return polars.DataFrame(
            {
                "size": sizes,
                "score": self.means,
                "standard_error": self.standard_errors,
                "chosen": sizes == self.size,
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the scores with their standard errors against size."""
        from mictree.plotting.curves import draw_sizes

        return draw_sizes(ax, self)

    def _repr_html_(self) -> str:
        from mictree._support.words import to_svg, to_text

        return to_text(repr(self)) + to_svg(self.plot())

    def __repr__(self) -> str:
        score, error = self.means[self.size], self.standard_errors[self.size]
        found = f"score={score:.4f} ± {error:.4f}"
        if self.loss:
            found = f"{self.loss} {self.shown[self.size]:.4g} ± {error:.2g}"
        return (
            f"SizeChoice(size={self.size}, {found}, "
            f"{len(self.scores)} folds, {len(self.means)} sizes, choose={self.choose!r})"
        )


def select_size(
    estimator: TreeModel,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    repeats: int = 1,
    choose: Choice = "one-standard-error",
    scoring: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    after: Any = None,
) -> SizeChoice:
    """Choose the size of a tree by cross-validation, with one fit per fold for all sizes.

    Parameters
    ----------
    estimator : a classifier or regressor of mictree; its ``max_size`` is the largest size to
        consider
    X, y : matrix or frame, and labels
    cv : the number of folds, in which classes are in proportion, or a scikit-learn splitter
    repeats : how often to repeat the cross-validation with other folds; only with a number of folds
    choose : "one-standard-error", the smallest size whose score is within one standard error of the
        best; or "least", the smallest size with the best score
    scoring : as in scikit-learn: None for accuracy, a name such as "balanced_accuracy", or a
        callable ``(model, X, y)``. Accuracy is weighted by the estimator's ``class_weight``, as
        its training errors are; scorings are not. None stands for the mean cost if the estimator
        has a ``cost_matrix``, and for the mean squared error of a regressor.
    groups : rows of one group are never both in training and in held-out rows
    sample_weight : a weight for each row, in fits and in scores; a callable does not get them
    random_state : random seed for the folds
    n_jobs : number of folds at once, by joblib, whose ``parallel_config`` also chooses the backend;
        None for one, -1 for one on each core
    after : a date, a time or a number for each row, by which they are ordered: every fold is later
        than its training rows, as in scikit-learn's ``TimeSeriesSplit``, and equal values stay
        together; only with a number of folds

    Examples
    --------
    >>> import mictree as mt
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 10
    >>> y = ["even", "odd", "odd", "even"] * 10
    >>> mt.select_size(mt.TopDownClassifier(max_size=5), X, y)
    SizeChoice(size=3, score=1.0000 ± 0.0000, 5 folds, 6 sizes, choose='one-standard-error')
    """
    settings = _Settings(choose, cv, repeats, scoring, random_state, n_jobs)
    if not hasattr(estimator, "at_size") or not (
        is_classifier(estimator) or is_regressor(estimator)
    ):
        raise ValueError(
            f"estimator must be a classifier of mictree, or a regressor; got {estimator!r}"
        )
    if is_collection(X):
        raise TypeError("select_size must have its rows on one machine; X is a Dask collection")
    X = X if hasattr(X, "shape") else read_array(X)
    labels = check_unmasked(y, "y") if hasattr(y, "shape") else read_array(y)
    sample_weight = check_unmasked(sample_weight, "sample_weight")
    groups = check_unmasked(groups, "groups")
    X, labels, weights, groups = indexable(X, labels, sample_weight, groups)
    model: Any = clone(estimator)
    if isinstance(model.max_size, str):
        model.set_params(max_size=_largest_size(model))
    trial = _read_trial(model, labels, weights, settings)
    if after is not None:
        check_after(cv, repeats, groups)
        splits, folds = time_folds(rank_moments(after, len(np.asarray(labels))), cv), int(cv)
    else:
        splits, folds = _splits(X, labels, groups, settings, is_regressor(model))
    curves = list(spread(_score_fold, [(X, trial, *fold) for fold in splits], settings.n_jobs))
    if len(curves) < 2:
        raise ValueError(f"cv must give at least 2 folds; got {len(curves)}")
    most = max(map(len, curves))
    scores = np.array([[*curve, *[curve[-1]] * (most - len(curve))] for curve in curves], float)
    name = "" if trial.scorer is None else trial.scorer.name
    choice = SizeChoice(0, scores, folds, choose, name, "" if name else model.judged_by)
    return replace(choice, size=choose_size(choice))


@dataclass(frozen=True)
class _Settings:
    """The keywords of ``select_size`` that hold no rows."""

    choose: Choice
    cv: Any
    repeats: int
    scoring: Any
    random_state: int
    n_jobs: int | None

    def __post_init__(self) -> None:
        if self.choose not in CHOICES:
            raise ValueError(f"choose must be one of {', '.join(CHOICES)}; got {self.choose!r}")


@dataclass(frozen=True)
class _Trial:
    """The model that every fold fits, and what it is fitted and scored with, but for X."""

    model: Any
    labels: Any
    fit_weights: FloatArray | None
    score_weights: FloatArray | None  # of held-out rows
    scorer: Scorer | None
    classes: Any = None  # none of numbers
    task: MatrixCosts | None = None

    def measure(self, fitted: Any, X: Any, truth: np.ndarray, weights: Any) -> FloatArray:
        """The score by size, more is better, of the model without a scorer."""
        if self.task is not None:
            return -fitted._by_size(X, costs_of_labels(self.task, self.classes, truth, weights))
        if self.classes is None:
            return -fitted._staged_costs(X, truth, weights)
        return fitted.staged_score(X, truth, weights)


def _read_trial(model: Any, labels: Any, weights: Any, settings: _Settings) -> _Trial:
    fit_weights = None if weights is None else np.asarray(weights, dtype=float)
    if is_regressor(model):
        numbers = read_numeric(labels, len(labels))
        scorer = read_scoring(settings.scoring)
        if scorer is not None:
            scorer.check(numbers, regression=True)
        return _Trial(model, labels, fit_weights, fit_weights, scorer)
    classes, codes = Coded.positions(np.asarray(labels).reshape(-1))  # refuses what is no label
    factors = class_weights(
        getattr(model, "class_weight", None), Coded(tuple(classes.tolist()), codes)
    )
    scorer = read_scoring(settings.scoring)
    if scorer is not None:
        scorer.check(classes)
    score_weights, task = fit_weights, None
    if getattr(model, "cost_matrix", None) is not None:
        task = read_cost_matrix(model.cost_matrix, tuple(classes.tolist()))
    if factors is not None and scorer is None:
        score_weights = factors[codes] * (1.0 if fit_weights is None else fit_weights)
    return _Trial(model, labels, fit_weights, score_weights, scorer, classes, task)


def was_interrupted(model: Any) -> bool:
    """Whether Ctrl-C ended the search of a fitted model, which keeps what it found."""
    return getattr(model, "_interrupted", False)


def raise_if_interrupted(model: Any) -> None:
    """Pass on a Ctrl-C that ended a search."""
    if was_interrupted(model):
        raise KeyboardInterrupt


def _score_fold(X: Any, trial: _Trial, train: RowNumbers, test: RowNumbers) -> list[float]:
    """The scores of all sizes on the held-out rows of one fold; scorers by name take weights."""
    fitted: Any = clone(trial.model)
    known = _safe_indexing(trial.labels, train)
    if isinstance(getattr(fitted, "class_weight", None), Mapping):  # a fold may lack a rare class
        fitted.set_params(class_weight=weights_among(fitted.class_weight, known))
    if trial.task is not None:
        fitted.set_params(cost_matrix=trial.task.named(trial.classes.tolist(), known))
    weights = None if trial.fit_weights is None else trial.fit_weights[train]
    fitted.fit(_safe_indexing(X, train), known, weights)
    raise_if_interrupted(fitted)
    rows, truth = _safe_indexing(X, test), np.asarray(_safe_indexing(trial.labels, test))
    weights = None if trial.score_weights is None else trial.score_weights[test]
    if trial.scorer is None:
        return trial.measure(fitted, rows, truth, weights).tolist()
    sizes = range(fitted.get_n_leaves() if fitted._max_size is None else fitted._max_size + 1)
    return [trial.scorer(fitted.at_size(size), rows, truth, weights) for size in sizes]


def _largest_size(model: Any) -> int:
    """The largest size to consider with ``max_size="auto"``."""
    if model.max_size != "auto":
        raise ValueError(
            f'max_size must be an integer of at least 0 or "auto"; got {model.max_size!r}'
        )
    return LARGEST.get(type(model).__name__, LARGEST_GREEDY)


def choose_size(choice: Any) -> int:
    """The smallest size whose score is good enough; rounding does not decide."""
    means = choice.means
    best = int(means.argmax())
    slack = choice.standard_errors[best] if choice.choose == "one-standard-error" else 0.0
    rounding = ROUNDING
    if getattr(choice, "loss", ""):  # in any unit
        rounding *= scale_of(means)
    return int(np.argmax(means >= means[best] - slack - rounding))


def _splits(
    X: Any, y: Any, groups: Any, settings: _Settings, regression: bool
) -> tuple[Iterator[tuple[RowNumbers, RowNumbers]], int]:
    """Training and held-out rows of each fold, and the number of folds of one repetition."""
    from sklearn.model_selection import (
        GroupKFold,
        KFold,
        StratifiedGroupKFold,
        StratifiedKFold,
    )

    cv, seed = settings.cv, settings.random_state
    times = check_count(settings.repeats, "repeats")
    if times == 0:
        raise ValueError("repeats must be at least 1; got 0")
    if hasattr(cv, "split"):
        if times > 1:
            raise ValueError(f"repeats must be 1 with a splitter of one's own; got {times}")
        return cv.split(X, y, groups), cv.get_n_splits(X, y, groups)
    folds = check_count(cv, "cv")
    parts, what = (y, "rows") if groups is None else (set(np.asarray(groups).tolist()), "groups")
    if len(parts) < 2:
        raise ValueError(f"a size can be chosen by 2 {what} or more; there is {len(parts)}")
    if not 2 <= folds <= len(parts):
        raise ValueError(f"cv must be from 2 to the number of {what}, {len(parts)}; got {folds}")
    common = folds
    if not regression:
        common = int(np.unique(np.asarray(y), return_counts=True)[1].max())
    if groups is None and common == 1:
        raise ValueError(
            f"a size can be chosen if some label occurs twice; all {len(y)} rows have different "
            "ones"
        )
    if groups is None and folds > common:
        raise ValueError(
            f"cv must be at most the number of rows with the most common label, {common}; got "
            f"{folds}"
        )
    plain, grouped = (KFold, GroupKFold) if regression else (StratifiedKFold, StratifiedGroupKFold)
    kind: Any = plain if groups is None else grouped

    def all_folds() -> Iterator[tuple[RowNumbers, RowNumbers]]:
        with warnings.catch_warnings():  # a class with fewer rows than folds is missing from some
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            for number in range(times):
                splitter = kind(folds, shuffle=True, random_state=seed + number)
                yield from list(splitter.split(np.zeros(len(y)), y, groups))

    return all_folds(), folds


def check_after(cv: Any, repeats: Any, groups: Any) -> None:
    """Refuse what does not go with rows in order of time."""
    if hasattr(cv, "split"):
        raise ValueError(f"cv must be a number of folds with after; got {cv!r}")
    if groups is not None:
        raise ValueError("groups and after must not both be given")
    if repeats != 1:
        raise ValueError(f"repeats must be 1 with after, as time has one order; got {repeats}")


def rank_moments(after: Any, rows: int) -> RowNumbers:
    """The place of each row's value among the different ones, which must have an order."""
    given = read_array(after) if isinstance(after, list | tuple) else check_unmasked(after, "after")
    values = np.asarray(given)
    if values.shape != (rows,):
        raise ValueError(f"after must be one value a row; its shape is {values.shape}")
    cells = values.tolist() if values.dtype.kind == "O" else []
    if values.dtype.kind not in "biufmMO" or any(isinstance(cell, str) for cell in cells):
        raise ValueError(f"after must be dates, times or numbers; got {values[0]!r}")
    if any(map(is_missing, cells)) or (not cells and bool((values != values).any())):
        raise ValueError("after must be known in every row; it is missing in some")
    return np.unique(values, return_inverse=True)[1]


def time_folds(ranks: RowNumbers, cv: Any) -> list[tuple[RowNumbers, RowNumbers]]:
    """Each fold's training rows, all the earlier ones, and its held-out rows."""
    folds, rows = check_count(cv, "cv"), np.argsort(ranks, kind="stable")
    if folds < 2:
        raise ValueError(f"cv must be at least 2 with after; got {folds}")
    cuts = _cuts(ranks, folds)
    if len(cuts) < folds:
        fewer = next((few for few in range(folds - 1, 1, -1) if len(_cuts(ranks, few)) == few), 0)
        most = f"cv={fewer} does" if fewer else "no number of folds does"
        raise ValueError(
            f"cv must give folds that begin at different times, as rows of one time stay together; "
            f"{folds} folds do not: {most}"
        )
    ends = [*cuts[1:], len(rows)]
    return [(rows[:start], rows[start:end]) for start, end in zip(cuts, ends, strict=True)]


def _cuts(ranks: RowNumbers, folds: int) -> list[int]:
    """Where folds of equal size begin in the sorted rows, each moved to a change of time."""
    size = len(ranks) // (folds + 1)
    return sorted({cut for n in range(folds, 0, -1) if (cut := _cut_near(ranks, n * size))})


def _cut_near(ranks: RowNumbers, last: int) -> int:
    """The number of sorted rows before the change of time nearest to the last so many rows."""
    changes = np.cumsum(np.bincount(ranks))[:-1]
    if not len(changes):
        return 0
    return int(changes[np.abs(changes - (len(ranks) - last)).argmin()])


def last_rows(ranks: RowNumbers, share: float) -> tuple[RowNumbers, RowNumbers]:
    """Earlier rows and, as near as equal times allow, the share of the rows that is last."""
    rows = np.argsort(ranks, kind="stable")
    cut = _cut_near(ranks, round(len(ranks) * share))
    if not cut:
        raise ValueError("some rows must be later than others; all have the same time")
    return rows[:cut], rows[cut:]


@dataclass(frozen=True)
class PriceRange:
    """A range of prices with one best size.

    Attributes
    ----------
    least, most : the prices, from ``least`` (excluded, unless it is 0) to ``most``
    size, error : of the best tree
    certified : whether no tree of any size costs less
    """

    least: float
    most: float
    size: int
    error: float
    certified: bool


class PenaltyPath(Sequence[PriceRange]):
    """The best size for every price per split, from high prices to low ones."""

    def __init__(self, ranges: Sequence[PriceRange], rounding: float = ROUNDING) -> None:
        self._ranges = tuple(ranges)
        self._rounding = rounding

    def __getitem__(self, number: Any) -> Any:
        return self._ranges[number]

    def __len__(self) -> int:
        return len(self._ranges)

    def at(self, price: float) -> PriceRange:
        """The range of a price; where two sizes cost the same, the one of the smaller tree."""
        return min(self._touching(price), key=lambda each: (each.size, not each.certified))

    def _touching(self, price: float) -> list[PriceRange]:
        """The ranges that hold a price, at their ends but for rounding."""
        if not price >= 0:
            raise ValueError(f"a price must be at least 0; got {price!r}")
        return [
            each
            for each in self._ranges
            if each.least - self._rounding <= price <= each.most + self._rounding
        ]

    @property
    def frame(self) -> polars.DataFrame:
        """A polars frame with a row for each range."""
        import polars

        names = ("size", "error", "least", "most", "certified")
        return polars.DataFrame(
            {
                {"least": "price_from", "most": "price_to"}.get(name, name): [
                    getattr(each, name) for each in self
                ]
                for name in names
            }
        )

    def __str__(self) -> str:
        lines = []
        for each in self:
            most = "on" if math.isinf(each.most) else f"to {each.most:.4g}"
            sure = "" if each.certified else ", not certified"
            splits, error = count_of(each.size, "split"), show_number(each.error, 4)
            lines.append(f"price from {each.least:.4g} {most}: {splits}, error {error}{sure}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from mictree._support.words import to_table

        return to_table(self.frame.columns, self.frame.rows())

    def __repr__(self) -> str:
        return f"PenaltyPath({len(self)} ranges, sizes {', '.join(str(r.size) for r in self)})"


def scale_of(bounds: FloatArray) -> float:
    """How large errors are that have any unit, from bounds on them; rounding grows with it."""
    return float(np.abs(bounds).max()) or 1.0


def penalty_path(
    lower: FloatArray, upper: FloatArray, beyond: float | None, scale: float = 1.0
) -> PenaltyPath:
    """The path of certified errors by size.

    Parameters
    ----------
    lower, upper : bounds on the least error of each size; ``upper`` is attained
    beyond : a lower bound on the error of larger trees; None if no larger tree does better
    scale : how large errors are
    """
    rounding = ROUNDING * scale
    found = list(enumerate(np.asarray(upper, dtype=float).tolist()))
    best, least = (_hull(points, rounding) for points in (found, _possible(lower, beyond)))
    prices = sorted({0.0, *_prices(best), *_prices(least)}, reverse=True)
    ranges: list[PriceRange] = []
    for number, low in enumerate(prices):
        high = prices[number - 1] if number else math.inf
        inside = low + 1 if math.isinf(high) else (low + high) / 2
        size, error = min(best, key=lambda point: (_cost(point, inside), point[0]))
        cheapest = min(_cost(point, inside) for point in least)
        certified = _cost((size, error), inside) <= cheapest + rounding
        last = ranges[-1] if ranges else None
        if last is not None and (last.size, last.certified) == (size, certified):
            ranges[-1] = PriceRange(low, last.most, size, error, certified)
        else:
            ranges.append(PriceRange(low, high, size, error, certified))
    return PenaltyPath(ranges, rounding)


def is_certified(
    lower: FloatArray,
    upper: FloatArray,
    beyond: float | None,
    price: float,
    scale: float = 1.0,
) -> bool:
    """Whether no tree of any size costs less, at this price, than the cheapest one.

    The arguments are those of ``penalty_path``. A whole range of prices may be open around a price
    at which it is certified.
    """
    found, least = (
        min(_cost(point, price) for point in points)
        for points in (enumerate(upper.tolist()), _possible(lower, beyond))
    )
    return found <= least + ROUNDING * scale


def unavoidable(data: Data, problem: SampleProblem, rows: RowNumbers) -> float:
    """The error of every tree: rows that are equal in all columns, but not in what they cost.

    ``rows`` numbers the rows of the problem, in its order, among those of the data.
    """
    group = np.zeros(data.rows, dtype=np.int64)
    for number in range(data.width):
        values = data.column(number)
        if isinstance(values, list):
            seen: dict[object, int] = {}
            found = np.array([seen.setdefault(value, len(seen)) for value in values])
        else:
            found = np.unique(values, return_inverse=True)[1]
        group = np.unique(group * (int(found.max()) + 1) + found, return_inverse=True)[1]
    return problem.cost_of_groups(group[rows]) / problem.total + problem.offset


def _possible(lower: FloatArray, beyond: float | None) -> list[Point]:
    """The least error of each size that is not refuted, and of the size after them."""
    possible = list(enumerate(np.asarray(lower, dtype=float).tolist()))
    if beyond is not None:
        possible.append((len(possible), min(beyond, possible[-1][1])))
    return possible


def _cost(point: Point, price: float) -> float:
    size, error = point
    return error + price * size


def _hull(points: list[Point], rounding: float) -> list[Point]:
    """The lower convex hull, from the smallest size to the first with the least error."""
    hull: list[Point] = []
    for point in points:
        if hull and point[1] >= hull[-1][1] - rounding:
            continue  # more splits, no less error
        while len(hull) > 1 and _slope(hull[-2], point) <= _slope(hull[-2], hull[-1]):
            hull.pop()
        hull.append(point)
    return hull


def _slope(one: Point, other: Point) -> float:
    return (other[1] - one[1]) / (other[0] - one[0])


def _prices(hull: list[Point]) -> list[float]:
    """The prices at which neighbours of a hull cost the same."""
    return [-_slope(one, other) for one, other in pairwise(hull)]
