"""Which size? Cross-validation that fits once in every fold and scores the trees of all sizes.

The one-standard-error rule is Breiman, Friedman, Olshen and Stone's (Classification and Regression
Trees, 1984, section 3.4.3): the smallest tree whose score is within one standard error of the best.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, indexable

from mictree._support.checks import check_count, check_unmasked
from mictree._support.parallel import spread
from mictree.columns.arrays import read_array
from mictree.columns.data import is_missing
from mictree.distributed.collections import is_collection

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes

from mictree.estimators.base import TreeClassifier
from mictree.estimators.scoring import Scorer, read_scoring
from mictree.problems.labels import Coded, class_weights, weights_among

CHOICES = ("one-standard-error", "least")
LARGEST = {"OptimalTreeClassifier": 8}  # with max_size="auto"
LARGEST_GREEDY = 32

FloatArray = np.typing.NDArray[np.float64]
RowNumbers = np.typing.NDArray[np.intp]
Choice = Literal["one-standard-error", "least"]


@dataclass(frozen=True)
class SizeChoice:
    """The chosen size, and the scores from which it was chosen.

    Attributes
    ----------
    size : the chosen number of splits
    scores : by fold and size; higher is better. Accuracy, unless ``scoring`` was given.
    folds : of one cross-validation, without its repetitions
    choose : the rule
    scoring : the name of the scoring, or nothing for accuracy

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

    @property
    def means(self) -> FloatArray:
        """The mean score by size."""
        return self.scores.mean(axis=0)

    @property
    def measure(self) -> str:
        """What ``shown`` is: "error", or the name of the scoring."""
        return self.scoring or "error"

    @property
    def title(self) -> str:
        """The head of a column of what is shown."""
        return f"cross-validated {self.measure}"

    @property
    def shown(self) -> FloatArray:
        """The mean error by size, or with a scoring the mean score."""
        return self.means if self.scoring else 1 - self.means

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
        from mictree.plotting.sizes import draw_sizes

        return draw_sizes(ax, self)

    def _repr_html_(self) -> str:
        from mictree._support.notebook import to_svg, to_text

        return to_text(repr(self)) + to_svg(self.plot())

    def __repr__(self) -> str:
        score, error = self.means[self.size], self.standard_errors[self.size]
        return (
            f"SizeChoice(size={self.size}, score={score:.4f} ± {error:.4f}, "
            f"{len(self.scores)} folds, {len(self.means)} sizes, choose={self.choose!r})"
        )


def select_size(
    estimator: TreeClassifier,
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
    estimator : a classifier of mictree; its ``max_size`` is the largest size to consider
    X, y : matrix or frame, and labels
    cv : the number of folds, in which classes are in proportion, or a scikit-learn splitter
    repeats : how often to repeat the cross-validation with other folds; only with a number of folds
    choose : "one-standard-error", the smallest size whose score is within one standard error of the
        best; or "least", the smallest size with the best score
    scoring : as in scikit-learn: None for accuracy, a name such as "balanced_accuracy", or a
        callable ``(model, X, y)``. Accuracy is weighted by the estimator's ``class_weight``, as
        its training errors are; scorings are not.
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
    if choose not in CHOICES:
        raise ValueError(f"choose must be one of {', '.join(CHOICES)}; got {choose!r}")
    if not hasattr(estimator, "at_size"):
        raise ValueError(f"estimator must be a classifier of mictree; got {estimator!r}")
    if is_collection(X):
        raise TypeError("select_size must have its rows on one machine; X is a Dask collection")
    X = X if hasattr(X, "shape") else read_array(X)
    labels = check_unmasked(y, "y") if hasattr(y, "shape") else read_array(y)
    sample_weight = check_unmasked(sample_weight, "sample_weight")
    groups = check_unmasked(groups, "groups")
    X, labels, weights, groups = indexable(X, labels, sample_weight, groups)
    model: Any = clone(estimator)
    if isinstance(model.max_size, str):
        model.set_params(max_size=largest_size(model))
    classes, codes = Coded.positions(np.asarray(labels).reshape(-1))  # refuses what is no label
    coded = Coded(tuple(classes.tolist()), codes)
    factors = class_weights(getattr(model, "class_weight", None), coded)
    scorer = read_scoring(scoring)
    if scorer is not None:
        scorer.check(classes)
    if after is not None:
        check_after(cv, repeats, groups)
        splits, folds = time_folds(rank_moments(after, len(np.asarray(labels))), cv), int(cv)
    else:
        splits, folds = _splits(X, labels, cv, repeats, groups, random_state)
    weight = None if weights is None else np.asarray(weights, dtype=float)
    judged = weight  # weights of held-out rows
    if factors is not None and scorer is None:
        judged = factors[codes] * (1.0 if weight is None else weight)
    folds_of = [(X, labels, weight, judged, model, scorer, *fold) for fold in splits]
    curves = list(spread(_score_fold, folds_of, n_jobs))
    if len(curves) < 2:
        raise ValueError(f"cv must give at least 2 folds; got {len(curves)}")
    most = max(map(len, curves))
    scores = np.array([[*curve, *[curve[-1]] * (most - len(curve))] for curve in curves], float)
    choice = SizeChoice(0, scores, folds, choose, "" if scorer is None else scorer.name)
    return replace(choice, size=choose_size(choice))


def _score_fold(
    X: Any, labels: Any, weight: Any, judged: Any, model: Any, scorer: Scorer | None,
    train: RowNumbers, test: RowNumbers,
) -> list[float]:  # fmt: skip
    """The scores of all sizes on the held-out rows of one fold; scorers by name take weights."""
    fitted: Any = clone(model)
    known = _safe_indexing(labels, train)
    if isinstance(getattr(fitted, "class_weight", None), Mapping):  # a fold may lack a rare class
        fitted.set_params(class_weight=weights_among(fitted.class_weight, known))
    fitted.fit(_safe_indexing(X, train), known, None if weight is None else weight[train])
    rows, truth = _safe_indexing(X, test), np.asarray(_safe_indexing(labels, test))
    held = None if judged is None else judged[test]
    if scorer is None:
        return fitted.staged_score(rows, truth, held).tolist()
    return [scorer(fitted.at_size(size), rows, truth, held) for size in _sizes(fitted)]


def largest_size(model: Any) -> int:
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
    return int(np.argmax(means >= means[best] - slack - 1e-12))


def _splits(
    X: Any, y: Any, cv: Any, repeats: int, groups: Any, seed: int
) -> tuple[Iterator[tuple[RowNumbers, RowNumbers]], int]:
    """Training and held-out rows of each fold, and the number of folds of one repetition."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    times = check_count(repeats, "repeats")
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
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold

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


def _sizes(model: Any) -> range:
    return range(model.get_n_leaves() if model._max_size is None else model._max_size + 1)
