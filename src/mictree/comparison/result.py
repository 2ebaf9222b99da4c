"""The result of a comparison: its numbers, a table of them, and what follows in plain sentences.

On training rows a learner's excess is certified. The optimum of a size lies between two bounds, and
so does the excess; the learner's own tree bounds the optimum too. On held-out rows there is only
evidence. A difference counts as clear if it is more than ``CLEAR`` standard errors, which are
corrected for folds that share training rows (see ``held_out``). Any other difference is called
unclear, and "same" is kept for errors that are equal in every fold. The advised size follows the
one-standard-error rule of Breiman, Friedman, Olshen and Stone (Classification and Regression Trees,
1984, section 3.4.3).

Every sentence and every cell is computed from the attributes of ``Comparison``, so texts, frames,
pages and plots agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.checks import check_size
from mictree._support.words import count_of, show_digits, show_number, show_spans
from mictree.comparison.held_out import OPTIMAL, HeldOut
from mictree.estimators.sizes import scale_of
from mictree.excess import ROUNDING
from mictree.optimal import CertifiedErrors
from mictree.optimal.certified import advise
from mictree.optimal.frontier import SampleOptimalTrees

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

    from mictree.estimators.optimal import OptimalTree
    from mictree.estimators.predicting import ClassResults


CLEAR = 2.0  # standard errors in a clear difference

FloatArray = np.typing.NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Learners beside the optimal trees, by size from 0 to ``max_size``.

    Attributes
    ----------
    names : of the learners
    optimal_errors : least training errors, with ``lower``, ``upper`` and ``proved``
    training_errors : for each learner, index = size
    held_out : for each learner and "optimal"; empty without cross-validation. ``mean`` is by size,
        less is better; ``shown`` is the mean error or score.
    unproved_folds : by size, the share of folds whose optimal tree is only the best one found
    rows, literals, classes : of the data set
    cv, repeats : folds of one cross-validation, and its number of repetitions
    optimal_trees : the trees themselves
    interrupted : whether Ctrl-C ended the comparison; then ``held_out`` is empty
    splitter : the name of the splitter, if ``cv`` was one
    scoring : the name of the scoring of held-out rows, or nothing for their error
    confusion : by size, the optimal trees' confusion matrix on held-out rows, sparse; see
        ``class_results``
    class_weighted : whether errors are weighted by class
    loss : "mean squared error" or "mean cost", where errors are these and no shares of the rows
    labels : what confusion matrices are by: classes, then actions that are no classes

    Examples
    --------
    >>> import mictree as mt
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> result = mt.compare("topdown", X, y, max_size=3, cv=0)
    >>> result.training_errors["topdown"].tolist()
    [0.5, 0.5, 0.25, 0.0]
    >>> result.proved
    True
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
    interrupted: bool = False
    splitter: str = ""
    scoring: str = ""
    confusion: tuple[Any, ...] = field(default=(), repr=False)
    class_weighted: bool = False
    loss: str = ""
    labels: tuple[Any, ...] = ()

    @property
    def max_size(self) -> int:
        """The largest size."""
        return len(self.optimal_errors) - 1

    @property
    def proved(self) -> bool:
        """Whether every optimal training error is proved."""
        return bool(self.optimal_errors.proved.all())

    def excess(self, name: str) -> tuple[FloatArray, FloatArray]:
        """A learner's training error minus the optimum: its lower and upper bound.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
        >>> result = mt.compare("topdown", X, y, max_size=3, cv=0)
        >>> least, most = result.excess("topdown")
        >>> most.tolist()
        [0.0, 0.0, 0.0, 0.0]
        """
        errors = self.training_errors[name]
        upper = np.minimum(
            self.optimal_errors.upper, errors
        )  # the learner's tree bounds the optimum too
        return errors - upper, np.maximum(errors - self.optimal_errors.lower, 0)

    def mic(self, name: str) -> tuple[float, float]:
        """Bounds on the mean excess over sizes from 1; equal if every optimal error is proved.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
        >>> result = mt.compare("topdown", X, y, max_size=3, cv=0)
        >>> result.mic("topdown")
        (0.0, 0.0)
        """
        least, most = self.excess(name)
        return float(least[1:].mean()), float(most[1:].mean())

    def verdicts(self, name: str) -> list[str]:
        """By size: whether the optimal tree errs less on held-out rows than the learner's tree.

        "better" and "worse" are clear differences, of more than two standard errors. Otherwise the
        verdict is "same" if the errors are equal in all folds, and "unclear" if not.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
        >>> mt.compare("topdown", X, y, max_size=3, cv=2).verdicts("topdown")
        ['same', 'same', 'same', 'same']
        """
        apart, spread = self.held_out[name].less(self.held_out[OPTIMAL])
        found = []
        for difference, error in zip(apart, spread, strict=True):
            if abs(difference) <= self._rounding and error <= self._rounding:
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

        rows = [row for name in (OPTIMAL, *self.names) for row in _rows(self, name)]
        texts = {"learner": polars.String, "size": polars.Int64, "proved": polars.Boolean}
        kinds = {
            name: texts.get(name, polars.String if name == "optimal_is" else polars.Float64)
            for name in rows[0]
        }
        return polars.DataFrame(rows, schema=kinds)

    def __repr__(self) -> str:
        return f"Comparison({self.title}; {', '.join(self.names)}; sizes 0 to {self.max_size})"

    def _repr_html_(self) -> str:
        from mictree._support.words import to_table, to_text

        rows = [self.cells(size) for size in range(self.max_size + 1)]
        return to_table(self.columns(), rows, self.title) + to_text("\n".join(self.summary))

    def __str__(self) -> str:
        return "\n".join([self.title, "", *self._table(), "", *self.summary])

    @property
    def summary(self) -> list[str]:
        """The findings, and what to do."""
        return self.findings + self.advice

    @property
    def findings(self) -> list[str]:
        """The MIC of each learner, and the sizes at which the optimal tree does better."""
        lines = []
        for name in self.names:
            least, most = self.mic(name)
            ends = show_number(least, 4), show_number(most, 4)
            shown = f"= {ends[0]}" if self.proved else f"between {ends[0]} and {ends[1]}"
            unit = f" ({self.loss})" if self.loss else ""
            lines.append(f"{name}: MIC({self.max_size}) {shown}{unit}")
        return lines + self.worth_it + self._explained

    @property
    def _explained(self) -> list[str]:
        """R^2 of the optimal tree of the advised size, on training and on held-out rows."""
        errors, size = self.optimal_errors.upper, self.advised_size
        if self.classes or errors[0] <= 0:
            return []
        line = f"R^2 of the optimal tree of size {size}: {1 - errors[size] / errors[0]:.3f}"
        if not self.held_out or self.scoring:
            return [f"{line} on training rows"]
        mean = self.held_out[OPTIMAL].mean
        return [f"{line} on training rows, {1 - mean[size] / mean[0]:.3f} on new rows"]

    @property
    def error_name(self) -> str:
        """What errors are."""
        return self.loss or "error"

    @property
    def _rounding(self) -> float:
        """The largest difference of errors that rounding may have made."""
        return ROUNDING * (scale_of(self.optimal_errors.upper) if self.loss else 1.0)

    def _show(self, error: float) -> str:
        """An error in a cell."""
        if not self.loss:
            return f"{error:.4f}"
        return show_digits(0.0 if abs(error) <= self._rounding else float(error), 5)

    @property
    def worth_it(self) -> list[str]:
        """One line for each learner: the sizes at which the optimal tree errs less on new rows."""
        lines = []
        for name in self.names if self.held_out else ():
            found = self.verdicts(name)
            parts = [
                f"{what} at size {show_spans(np.flatnonzero(np.array(found) == what).tolist())}"
                for what in ("better", "worse")
                if what in found[1:]
            ]
            text = "; ".join(parts) or "no clear difference at any size"
            lines.append(f"on held-out rows the optimal tree against {name}: {text}")
        if self.unproved_folds.any():
            first = int(np.argmax(self.unproved_folds > 0))
            lines.append(
                f"from size {first} on, some folds' optimal trees are not proved: "
                "the best found in time"
            )
        lines += advise(self.optimal_errors)
        if self.interrupted:
            lines.append(
                "interrupted by Ctrl-C: optimal errors are those proved so far; no rows held out"
            )
        return lines

    @property
    def advice(self) -> list[str]:
        """What to do, one plain sentence for each learner; empty without held-out rows."""
        if not self.held_out:
            return []
        size = self.advised_size
        words = {
            "better": "and clearly better on new rows",
            "worse": "but clearly worse on new rows",
            "same": "and the same on new rows",
            "unclear": "no clear difference on new rows",
        }
        lines = [
            f"the optimal tree is {_ahead(self, name, size)} on training rows, "
            f"{words[self.verdicts(name)[size]]}"
            for name in self.names
        ]
        return [f"use {count_of(size, 'split')}; {lines[0]}", *lines[1:]]

    @property
    def advised_size(self) -> int:
        """The smallest size whose optimal tree is within one standard error of the best one.

        On held-out rows; without them the largest size.
        """
        if not self.held_out:
            return self.max_size
        held = self.held_out[OPTIMAL]
        best = int(held.mean.argmin())
        spread = held.errors[:, best].std(ddof=1) / math.sqrt(self.cv)
        rounding = ROUNDING if self.scoring else self._rounding
        return int(np.argmax(held.mean <= held.mean[best] + spread + rounding))

    @property
    def title(self) -> str:
        """The data set and the tests, in a line."""
        counts = f"{count_of(self.rows, 'row')}, {count_of(self.literals, 'literal')}, "
        counts += count_of(len(self.classes), "class", "es") if self.classes else "numbers"
        counts += ", mean costs" if self.classes and self.loss else ""
        counts += ", errors weighted by class" if self.class_weighted else ""
        if not self.held_out:
            return counts
        return f"{counts}; held-out {self.measure} by {self.folding}"

    @property
    def measure(self) -> str:
        """What is measured on held-out rows."""
        return self.scoring or self.error_name

    @property
    def folding(self) -> str:
        """How rows are held out, in words."""
        if self.splitter:
            return f"{self.splitter}, {count_of(self.cv, 'fold')}"
        often = "" if self.repeats == 1 else f", {self.repeats} times"
        return f"{self.cv}-fold cross-validation{often}"

    def tree_title(self, size: int) -> str:
        """A heading for the tree of a size, "optimal" only if that is proved.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
        >>> result = mt.compare("topdown", X, y, max_size=3, cv=0)
        >>> result.tree_title(3)
        'optimal tree of at most 3 splits'
        """
        most = f"of at most {count_of(size, 'split')}"
        if self.optimal_errors.proved[size]:
            return f"optimal tree {most}"
        return f"best tree found {most}, not proved optimal"

    def model(self, size: int) -> OptimalTree:
        """The optimal tree of a size as an estimator: it predicts, draws, explains and is saved.

        Examples
        --------
        >>> import mictree as mt
        >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
        >>> result = mt.compare("topdown", X, ["even", "odd", "odd", "even"] * 5, max_size=3, cv=0)
        >>> result.model(3).predict([[0, 1]])
        array(['odd'], dtype='<U4')
        """
        from mictree.estimators.optimal import as_model

        return as_model(self.optimal_trees).at_size(size)

    def class_results(self, size: int) -> ClassResults:
        """Recall and precision of each class by the optimal trees of a size, on held-out rows.

        Rows that several cross-validations hold out count once: numbers of rows are means.

        Examples
        --------
        >>> import mictree as mt
        >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
        >>> result = mt.compare("topdown", X, ["even", "odd", "odd", "even"] * 5, max_size=3, cv=2)
        >>> result.class_results(3).recall.tolist()
        [1.0, 1.0]
        """
        from mictree.estimators.predicting import ClassResults

        if not self.confusion:
            raise ValueError("results of classes are those of held-out rows; there are none")
        if not 0 <= check_size(size, "size") <= self.max_size:
            raise ValueError(f"size must be at most max_size, {self.max_size}; got {size}")
        return ClassResults(self.labels or self.classes, self.confusion[size].toarray())

    def columns(self) -> list[str]:
        """The headings of ``cells``.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
        >>> result = mt.compare("topdown", X, y, max_size=3, cv=0)
        >>> result.columns()
        ['size', 'optimal', 'topdown', 'excess']
        """
        heads = ["size", "optimal", *(["held-out"] if self.held_out else [])]
        for name in self.names:
            heads += [name, "excess", *(["held-out"] if self.held_out else [])]
        return heads

    def cells(self, size: int) -> list[str]:
        """One line of the table: training error, excess and held-out error of each learner.

        On held-out rows, a star marks a tree that is clearly worse than the optimal one, and a plus
        one that is clearly better.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
        >>> result = mt.compare("topdown", X, y, max_size=3, cv=0)
        >>> result.cells(3)
        ['3', '0.0000', '0.0000', '0.0000']
        """
        errors = self.optimal_errors
        show = self._show
        held = show if not self.scoring else "{:.4f}".format
        cells = [str(size), show(errors.upper[size])]
        if not errors.proved[size]:
            ends = f"{show(errors.lower[size])}..{show(errors.upper[size])}"
            cells[1] = f"{ends} ({errors.certificate[size]})"
        if self.held_out:
            cells.append(held(self.held_out[OPTIMAL].shown[size]))
        for name in self.names:
            least, most = (ends[size] for ends in self.excess(name))
            cells.append(show(self.training_errors[name][size]))
            proved = errors.proved[size]
            cells.append(show(least) if proved else f"{show(least)}..{show(most)}")
            if self.held_out:
                mark = {"better": "*", "worse": "+"}.get(self.verdicts(name)[size], " ")
                cells.append(f"{held(self.held_out[name].shown[size])}{mark}")
        return cells

    def _table(self) -> list[str]:
        lines = [self.columns(), *(self.cells(size) for size in range(self.max_size + 1))]
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        return [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        ]

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw training and held-out errors against size, side by side.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
        >>> result = mt.compare("topdown", X, y, max_size=3, cv=0)
        >>> len(result.plot().axes)
        1
        """
        from mictree.plotting.comparison import draw_comparison

        return draw_comparison(figure, self)


def _ahead(comparison: Comparison, name: str, size: int) -> str:
    """How much better than a learner the optimal tree is on training rows, in words."""
    least, most = (float(ends[size]) for ends in comparison.excess(name))
    if comparison.loss and most > comparison._rounding:
        shown = show_number(least, 4)
        if most - least > comparison._rounding:
            shown += f" to {show_number(most, 4)}"
        return f"better than {name} by {shown} in {comparison.loss}"
    least, most = 100 * least, 100 * most
    if comparison.loss or most <= 100 * ROUNDING:
        return f"no better than {name}"
    if most < 0.05:
        return f"less than 0.1 points better than {name}"
    points = f"{least:.1f}" if most - least < 0.05 else f"{least:.1f} to {most:.1f}"
    return f"{points} points better than {name}"


def _rows(comparison: Comparison, name: str) -> Iterator[dict[str, Any]]:
    own = name == OPTIMAL
    errors = comparison.optimal_errors.upper if own else comparison.training_errors[name]
    least, most = (0 * errors, 0 * errors) if own else comparison.excess(name)
    verdicts: list[Any] = [None] * len(errors)
    apart = spread = held = np.full(len(errors), math.nan)
    if comparison.held_out:
        held = comparison.held_out[name].shown
        if not own:
            apart, spread = comparison.held_out[name].less(comparison.held_out[OPTIMAL])
            verdicts = list(comparison.verdicts(name))
    names = ("held_out_error", "held_out_above_optimal")
    if comparison.scoring:
        names = ("held_out_score", "held_out_below_optimal")
    for size in range(len(errors)):
        yield {
            "learner": name,
            "size": size,
            "training_error": float(errors[size]),
            "optimal_lower": float(comparison.optimal_errors.lower[size]),
            "optimal_upper": float(comparison.optimal_errors.upper[size]),
            "proved": bool(comparison.optimal_errors.proved[size]),
            "excess_least": float(least[size]),
            "excess_most": float(most[size]),
            names[0]: _known(held[size]),
            names[1]: _known(apart[size]),
            "standard_error": _known(spread[size]),
            "optimal_is": verdicts[size],
        }


def _known(number: float) -> float | None:
    return None if math.isnan(number) else float(number)
