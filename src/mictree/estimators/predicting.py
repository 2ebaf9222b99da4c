"""A fitted tree as a scikit-learn estimator: what it reads and predicts, and how that is judged.

``Reading`` checks X as scikit-learn does, except that frames and texts stay as they are, because a
tree tests columns by their own types. ``Predicting`` follows the splits of a growth in order: after
the first ``size`` of them every row is at its leaf of the tree of that size, so one pass gives the
predictions of all sizes. The copy that is pickled has neither training rows nor unused thresholds.

What classifiers, regressors and policies add stands in ``kinds``. Predictions are measured by a
scikit-learn scoring or a callable (``Scorer``), or class by class (``ClassResults``). Labels are
handled as positions among the sorted classes (``Coded``), numbers to predict as floats.
"""

from __future__ import annotations

import difflib
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from mictree._support.checks import check_size, check_unmasked
from mictree._support.words import show_digits, show_text
from mictree.columns.data import Data, check_loaded, is_missing, read_array
from mictree.columns.literals import Literals
from mictree.distributed.collections import is_collection, is_frame, map_rows
from mictree.estimators import exports
from mictree.growers.data_loop import Splitting
from mictree.problems.sample import Coded, SampleProblem
from mictree.problems.tasks import Task, read_numbers
from mictree.tree import Tree

if TYPE_CHECKING:
    import polars


FloatArray = np.typing.NDArray[np.float64]
Codes = np.typing.NDArray[np.integer]

USEFUL = (
    "accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef", "neg_log_loss", "roc_auc",
    "roc_auc_ovr",
)  # fmt: skip
HEADS = ("class", "rows", "predicted", "recall", "precision")
NEVER = "never predicted"  # the mark of such a class
MOST_CLASSES = 20  # of a confusion matrix in a text


class Reading(BaseEstimator):
    """An estimator that remembers the columns of the X it was fitted on."""

    n_features_in_: int

    def _note_columns(self, X: Any) -> None:
        """Set the attributes that scikit-learn has for the columns of a fit on a collection."""
        if is_frame(X):
            validate_data(self, X=X._meta, reset=True, skip_check_array=True)  # type: ignore[arg-type]
            return
        self.n_features_in_ = int(X.shape[1])
        vars(self).pop("feature_names_in_", None)

    def _read(self, X: Any, reset: bool) -> Data:
        """Check X as scikit-learn does, but leave frames and texts as they are."""
        if is_collection(X):
            raise TypeError(
                "only fit of greedy trees, predict, predict_proba and score take Dask "
                f"collections; call X.compute() first to use {type(self).__name__} otherwise"
            )
        check_loaded(X)
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "biu" and X.size:
            if reset:  # nothing here can fail; skipping check_array makes small fits faster
                self.n_features_in_ = X.shape[1]
                vars(self).pop("feature_names_in_", None)
                return Data(X)
            if X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_"):
                return Data(X)
        if hasattr(X, "columns") and not hasattr(X, "tocsc"):
            data = Data(X, remember=not reset)
            validate_data(self, X=X, reset=reset, skip_check_array=True)  # type: ignore[arg-type]
            if not data.rows or not data.width:
                raise ValueError(
                    f"Found array with {data.rows} sample(s) and {data.width} feature(s) "
                    f"(shape=({data.rows}, {data.width})) while a minimum of 1 is required."
                )
            return data
        # a column is learned, or tested, only if it is finite; the error names one that is not
        options: dict[str, Any] = {"accept_sparse": "csc", "ensure_all_finite": False}
        if isinstance(X, np.ma.MaskedArray) or not hasattr(X, "__array__"):
            X = X if hasattr(X, "tocsc") else read_array(X)
        if getattr(getattr(X, "dtype", None), "kind", None) in ("O", "U", "S"):
            options = {"dtype": None, "ensure_all_finite": False}
        checked = validate_data(self, X=X, reset=reset, **options)  # type: ignore[arg-type]
        return Data(checked, remember=not reset)


class Predicting(Reading, ABC):
    """A fitted tree that predicts; subclasses define ``fit``."""

    _problem: SampleProblem
    _splitting: Splitting
    _max_size: int | None  # as fitted; None if the tree was grown until no leaf could be split

    @abstractmethod
    def at_size(self, size: int) -> Self:
        """A copy that predicts with the tree of a size, as if fitted with that ``max_size``."""

    @abstractmethod
    def _all_sizes(self) -> tuple[Sequence[Splitting], bool]:
        """The trees by size, or True and only the largest if its first splits are the others."""

    @property
    @abstractmethod
    def _values(self) -> np.ndarray:
        """What each leaf predicts, in order of creation."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def predict(self, X: Any, size: int | None = None) -> np.ndarray:
        """What the leaf of each row predicts, in the tree of full or of the given size.

        The most likely class, the mean of numbers, or the action of least cost.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.predict([[0, 1]]).tolist(), model.predict([[0, 1]], size=0).tolist()
        (['odd'], ['even'])
        """
        model = self._sized(size)
        if is_collection(X):
            return map_rows(model.predict, X, model._values[:0])
        return model._values[model._leaves(X)]

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The predictions of the trees of size 0, 1, ... in turn.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> [labels.tolist() for labels in model.staged_predict([[0, 1]])]
        [['even'], ['even'], ['odd'], ['odd']]
        """
        check_is_fitted(self)
        splittings, prefixes = self._all_sizes()
        if prefixes:
            values = self._values
            for node in self._staged_leaves(X):
                yield values[node]
        else:
            for size in range(len(splittings)):
                yield self.predict(X, size)

    def _by_size(self, X: Any, measure: Callable[[np.ndarray], float]) -> FloatArray:
        """A measure of the predictions by size; sizes that were not reached repeat the last one."""
        found = [measure(guess) for guess in self.staged_predict(X)]
        return np.array(found + found[-1:] * (self._largest + 1 - len(found)))

    def apply(self, X: Any, size: int | None = None) -> np.typing.NDArray[np.intp]:
        """The number of the leaf, a node of ``tree_``, that each row reaches.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.apply(X).tolist()
        [2, 5, 3, 6]
        """
        model = self._sized(size)
        return exports.preorder(model._splitting, model._made)[model._leaves(X)]

    def decision_path(self, X: Any, size: int | None = None) -> Any:
        """A sparse 0/1 matrix: the nodes of ``tree_`` that each row visits.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.decision_path([[0, 1]]).toarray().tolist()
        [[1, 0, 0, 0, 1, 1, 0]]
        """
        from scipy.sparse import csr_array

        model = self._sized(size)
        number = exports.preorder(model._splitting, model._made)
        visited = [
            np.array(sorted(number[node] for node in model._path(leaf)), dtype=np.intp)
            for leaf in range(len(number))
        ]
        paths = [visited[leaf] for leaf in model._leaves(X)]
        ends = np.concatenate([[0], np.cumsum([len(path) for path in paths])])
        columns = np.concatenate(paths)
        shape = (len(paths), 2 * model._made + 1)
        return csr_array((np.ones(len(columns), dtype=np.int64), columns, ends), shape=shape)

    def get_depth(self) -> int:
        """The number of tests on the longest path.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.get_depth()
        2
        """
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves, one more than the size.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.get_n_leaves()
        4
        """
        check_is_fitted(self)
        return self._made + 1

    @property
    def _task(self) -> Task:
        """What a leaf costs."""
        return self._fitted("_problem").task

    @property
    def literals_(self) -> Literals:
        """The literals that the tree may test."""
        return self._fitted("_problem").literals

    @property
    def tree_(self) -> Tree:
        """The tree of full size."""
        splitting = self._fitted("_splitting")
        return self.literals_.tree(
            splitting.leaves.tolist(),
            splitting.literals.tolist(),
            splitting.exact_thresholds,
            splitting.labels.tolist(),
        )

    @property
    def feature_importances_(self) -> FloatArray:
        """The share of each column in the drop of impurity; zeros for a lone leaf."""
        splitting = self._fitted("_splitting")
        drop = self._drops()
        columns = [self.literals_.locate(literal)[0] for literal in splitting.literals.tolist()]
        importances = np.bincount(columns, weights=drop, minlength=self.n_features_in_)
        total = importances.sum()
        return importances / total if total > 0 else np.zeros(self.n_features_in_)

    def _drops(self) -> FloatArray:
        """The drop in the tree's impurity by each split."""
        return self._splitting.reaches[self._splitting.leaves] * self._splitting.gains

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle, without the training rows and the thresholds that are not used."""
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        if "_problem" in state:
            grown = [state["_splitting"], *state.get("_splittings", ())]
            used = {literal for splitting in grown for literal in splitting.literals.tolist()}
            literals, place = state["_problem"].literals.only(sorted(used))
            state["_problem"] = state["_problem"].without_rows(literals)
            for name, value in state.items():
                if name == "_splitting":
                    state[name] = value.renumbered(place)
                elif name == "_splittings":
                    state[name] = [splitting.renumbered(place) for splitting in value]
        return state

    def _fitted(self, name: str) -> Any:
        if name not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet; call fit first")
        return self.__dict__[name]

    @property
    def _made(self) -> int:
        """The number of splits of the tree, which may be smaller than ``max_size``."""
        return len(self._splitting.leaves)

    @property
    def _largest(self) -> int:
        """The largest size of curves of errors by size."""
        return self._made if self._max_size is None else self._max_size

    def _check_size(self, size: object) -> int:
        """Check that a size is at most ``max_size``; sizes never reached have the last tree."""
        check_is_fitted(self)
        wanted = check_size(size, "size")
        most = self._made if self._max_size is None else self._max_size
        if wanted > most:
            raise ValueError(f"size must be at most the model's max_size, {most}; got {wanted}")
        return wanted

    def _sized(self, size: int | None) -> Self:
        """The model itself, or its copy of a smaller size."""
        check_is_fitted(self)
        return self if size is None else self.at_size(size)

    def _leaves(self, X: Any) -> np.typing.NDArray[np.intp]:
        """The leaf of each row by order of creation."""
        leaf = np.zeros(0, dtype=np.intp)
        for leaf in self._staged_leaves(X):  # noqa: B007
            pass
        return leaf

    def _staged_leaves(self, X: Any) -> Iterator[np.typing.NDArray[np.intp]]:
        """The leaf of each row after each split; one array, changed in place."""
        check_is_fitted(self)
        data = self._read(X, reset=False)
        leaf = np.zeros(data.rows, dtype=np.intp)
        members = {0: np.arange(data.rows)}
        yield leaf
        thresholds = self._splitting.exact_thresholds
        for step in range(self._made):
            rows = members.pop(int(self._splitting.leaves[step]))
            literal, threshold = int(self._splitting.literals[step]), thresholds[step]
            holds = self.literals_.holds(data, literal, rows, threshold)
            low, high = rows[~holds], rows[holds]
            members[2 * step + 1], members[2 * step + 2] = low, high
            leaf[low], leaf[high] = 2 * step + 1, 2 * step + 2
            yield leaf

    def _path(self, leaf: int) -> list[int]:
        """The leaf and all nodes above it, by order of creation."""
        path = [leaf]
        while path[-1]:
            path.append(int(self._splitting.leaves[(path[-1] - 1) // 2]))
        return path


def read_labels(y: Any, rows: int) -> tuple[np.ndarray, Coded]:
    """The classes, and each label's position among them."""
    y = as_labels(y)
    plain = type(y) is np.ndarray and y.ndim == 1
    labels = y if plain else column_or_1d(y, warn=True)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y must not contain NaN or infinity")
    if len(labels) != rows:
        check_consistent_length(np.empty(rows), labels)
    classes, codes = Coded.positions(labels)
    if labels.dtype.kind not in "biu":
        check_classification_targets(labels)
    return classes, Coded(tuple(classes.tolist()), codes)


def read_targets(y: Any, rows: int) -> np.ndarray:
    """Numbers to predict, as given: exact fractions stay what they are."""
    numbers = column_or_1d(as_labels(y), warn=True)
    if numbers.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must hold real numbers")
    if len(numbers) != rows:
        check_consistent_length(np.empty(rows), numbers)
    return numbers


def read_numeric(y: Any, rows: int) -> FloatArray:
    """Numbers to predict, as floats."""
    return read_numbers(read_targets(y, rows), rows)


def as_labels(y: Any) -> Any:
    """Labels as given, lists as arrays; integers and Booleans of pandas' own types as NumPy's."""
    if isinstance(y, list | tuple):
        return read_array(y)
    kind = getattr(y, "dtype", None)
    own = getattr(kind, "kind", None) in ("b", "i", "u") and not isinstance(kind, np.dtype)
    if own and not y.isna().any():  # scikit-learn would make floats of them
        return read_array(y.tolist())
    return check_unmasked(y, "y")


def check_present(y: Any, labels: np.ndarray) -> None:
    """Refuse labels of which one is missing; ``labels`` are those of y as an array."""
    if hasattr(y, "isna"):
        missing = bool(y.isna().any())
    elif labels.dtype.kind == "O":
        missing = any(is_missing(label) or label != label for label in labels)
    else:
        missing = labels.dtype.kind in "fcmM" and bool(np.any(labels != labels))
    if missing:
        raise ValueError("y must not contain missing values")


@dataclass(frozen=True)
class Scorer:
    """A measure on held-out rows; more is better.

    Attributes
    ----------
    score : a callable ``(model, X, y)``
    name : what to call it
    named : whether it is one of scikit-learn's by its name; only these take weights
    """

    score: Callable[..., Any]
    name: str
    named: bool

    def __call__(self, model: Any, X: Any, y: Any, weights: Any = None) -> float:
        """The score of a model, one finite number."""
        options = {"sample_weight": weights} if weights is not None and self.named else {}
        score = self._apply(model, X, y, options)
        if not isinstance(score, Real) or not math.isfinite(score):
            raise ValueError(f"a scoring must give one finite number; got {score!r}")
        return float(score)

    def check(self, labels: Any, regression: bool = False) -> None:
        """Refuse a scoring by name that cannot judge these labels, before any tree is grown."""
        if not self.named:
            return
        from sklearn.dummy import DummyClassifier, DummyRegressor

        rows = np.zeros((len(labels), 1))
        constant = DummyRegressor() if regression else DummyClassifier()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that constant answers are poor
            self._apply(constant.fit(rows, labels), rows, labels, {})

    def _apply(self, model: Any, X: Any, y: Any, options: dict[str, Any]) -> Any:
        try:
            return self.score(model, X, y, **options)
        except ValueError as error:
            if not self.named:
                raise
            reason = str(error).partition("\n")[0]
            raise ValueError(f"scoring must suit the labels; {self.name} says: {reason}") from error


def read_scoring(scoring: Any) -> Scorer | None:
    """A scoring by its name, or a callable ``(model, X, y)``; None for none."""
    if scoring is None:
        return None
    if callable(scoring):
        return Scorer(scoring, getattr(scoring, "__name__", "score"), named=False)
    from sklearn.metrics import get_scorer, get_scorer_names

    if scoring not in get_scorer_names():
        near = difflib.get_close_matches(str(scoring), get_scorer_names(), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"scoring must be a name that scikit-learn knows, such as {', '.join(USEFUL)}, or a "
            f"callable (model, X, y); got {scoring!r}{hint}"
        )
    return Scorer(get_scorer(scoring), scoring, named=True)


@dataclass(frozen=True)
class ClassResults:
    """Recall and precision of each class, and the confusion matrix, on some rows.

    Attributes
    ----------
    classes : the labels
    confusion : by true class and predicted class, the number of rows, or their weight

    Examples
    --------
    >>> import mictree as mt
    >>> X, y = [[0], [0], [0], [1]], ["no", "no", "yes", "yes"]
    >>> model = mt.TopDownClassifier(max_size=1).fit(X, y)
    >>> print(model.class_results(X, y))
    class  rows  predicted  recall  precision
    no        2          3   1.000      0.667
    yes       2          1   0.500      1.000
    <BLANKLINE>
    true / predicted  no  yes
    no                 2    0
    yes                1    1
    """

    classes: tuple[Any, ...]
    confusion: np.typing.NDArray[Any]

    @property
    def rows(self) -> np.typing.NDArray[Any]:
        """The number or weight of the rows of each class."""
        return self.confusion.sum(axis=1)

    @property
    def predicted(self) -> np.typing.NDArray[Any]:
        """The number or weight of the rows for which each class is predicted."""
        return self.confusion.sum(axis=0)

    @property
    def recall(self) -> FloatArray:
        """The share of the rows of a class for which it is predicted; NaN for no rows."""
        return _quotients(np.diag(self.confusion), self.rows)

    @property
    def precision(self) -> FloatArray:
        """The share of right predictions of a class; NaN if it is never predicted."""
        return _quotients(np.diag(self.confusion), self.predicted)

    @property
    def never_predicted(self) -> tuple[Any, ...]:
        """The classes that are predicted for none of the rows."""
        found = np.flatnonzero(self.predicted == 0)
        return tuple(self.classes[number] for number in found)

    @property
    def frame(self) -> polars.DataFrame:
        """A polars frame with a row for each class."""
        import polars

        columns = (list(self.classes), self.rows, self.predicted, self.recall, self.precision)
        return polars.DataFrame(dict(zip(HEADS, columns, strict=True)))

    def heads(self) -> tuple[str, ...]:
        """The headings of ``cells``; remarks only if a class is never predicted.

        Examples
        --------
        >>> import mictree as mt
        >>> model = mt.TopDownClassifier(max_size=0).fit([[0], [0], [1]], [0, 0, 1])
        >>> model.class_results([[0], [1]], [0, 1]).heads()
        ('class', 'rows', 'predicted', 'recall', 'precision', 'remark')
        """
        return (*HEADS, "remark") if self.never_predicted else HEADS

    def cells(self) -> list[tuple[str, ...]]:
        """The frame as texts; a class that is never predicted is marked.

        Examples
        --------
        >>> import mictree as mt
        >>> model = mt.TopDownClassifier(max_size=0).fit([[0], [0], [1]], [0, 0, 1])
        >>> for line in model.class_results([[0], [1]], [0, 1]).cells():
        ...     print(line)
        ('0', '1', '2', '1.000', '0.500', '')
        ('1', '1', '0', '0.000', '-', 'never predicted')
        """
        lines = []
        for number, label in enumerate(self.classes):
            rows, predicted = self.rows[number], self.predicted[number]
            shares = (self.recall[number], self.precision[number])
            line = (show_text(str(label)), _show_count(rows), _show_count(predicted),
                    *("-" if math.isnan(share) else f"{share:.3f}" for share in shares),
                    "" if predicted else NEVER)  # fmt: skip
            lines.append(line[: len(self.heads())])
        return lines

    def matrix_heads(self) -> tuple[str, ...]:
        """The headings of ``matrix_cells``.

        Examples
        --------
        >>> import mictree as mt
        >>> model = mt.TopDownClassifier(max_size=0).fit([[0], [0], [1]], [0, 0, 1])
        >>> model.class_results([[0], [1]], [0, 1]).matrix_heads()
        ('true / predicted', '0', '1')
        """
        return ("true / predicted", *(show_text(str(label)) for label in self.classes))

    def matrix_cells(self) -> list[tuple[str, ...]]:
        """The confusion matrix as texts, a line for each true class.

        Examples
        --------
        >>> import mictree as mt
        >>> model = mt.TopDownClassifier(max_size=0).fit([[0], [0], [1]], [0, 0, 1])
        >>> model.class_results([[0], [1]], [0, 1]).matrix_cells()
        [('0', '1', '0'), ('1', '1', '0')]
        """
        return [
            (show_text(str(label)), *map(_show_count, line))
            for label, line in zip(self.classes, self.confusion, strict=True)
        ]

    def __repr__(self) -> str:
        return f"ClassResults({len(self.classes)} classes, {_show_count(self.rows.sum())} rows)"

    def __str__(self) -> str:
        lines = _align(self.heads(), self.cells())
        if len(self.classes) <= MOST_CLASSES:
            return "\n".join([*lines, "", *_align(self.matrix_heads(), self.matrix_cells())])
        return "\n".join([*lines, "", f"(a matrix of {len(self.classes)} classes is not shown)"])

    def _repr_html_(self) -> str:
        from mictree._support.words import to_table

        shown = to_table(self.heads(), self.cells())
        if len(self.classes) > MOST_CLASSES:
            return shown
        return shown + to_table(self.matrix_heads(), self.matrix_cells())


def class_results(
    classes: np.ndarray, labels: Any, codes: Codes, weights: FloatArray | None
) -> ClassResults:
    """Results from true labels and predictions, which are positions among the classes.

    Labels that are no classes get lines of their own.
    """
    found, truth = Coded.positions(labels)
    every = np.concatenate([classes.astype(object), found.astype(object)])
    union = Coded.positions(every)[0].tolist()
    place = {label: number for number, label in enumerate(union)}
    true, known = (
        np.array([place[label] for label in each.tolist()], dtype=np.intp)
        for each in (found, classes)
    )
    pairs = true[truth] * len(union) + known[codes]
    counts = np.bincount(pairs, weights, len(union) ** 2)
    return ClassResults(tuple(union), counts.reshape(len(union), len(union)))


def _quotients(parts: np.typing.NDArray[Any], wholes: np.typing.NDArray[Any]) -> FloatArray:
    """Quotients, NaN where the denominator is 0."""
    return np.divide(parts, wholes, out=np.full(len(wholes), math.nan), where=wholes > 0)


def _show_count(number: Any) -> str:
    """A number of rows, or a weight in four digits or more."""
    return f"{number:,}" if isinstance(number, int | np.integer) else show_digits(float(number), 4)


def _align(heads: tuple[str, ...], lines: list[tuple[str, ...]]) -> list[str]:
    """Lines of cells below headings; the first column and remarks to the left."""
    widths = [max(map(len, column)) for column in zip(heads, *lines, strict=True)]
    left = (heads[0], "remark")
    return [
        "  ".join(
            cell.ljust(width) if head in left else cell.rjust(width)
            for head, cell, width in zip(heads, line, widths, strict=True)
        ).rstrip()
        for line in (heads, *lines)
    ]
