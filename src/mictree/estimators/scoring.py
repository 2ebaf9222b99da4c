"""How good predictions are: scorings by name or callables, and results for each class."""

from __future__ import annotations

import difflib
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.words import show_digits, show_text
from mictree.problems.labels import Coded

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

    def check(self, classes: Any) -> None:
        """Refuse a scoring by name that cannot judge these classes, before any tree is grown."""
        if not self.named:
            return
        from sklearn.dummy import DummyClassifier

        rows = np.zeros((len(classes), 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that constant answers are poor
            self._apply(DummyClassifier().fit(rows, classes), rows, classes, {})

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
        from mictree._support.notebook import to_table

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
