"""What a leaf costs: mistakes, costs of actions, or squared errors.

A task says what a set of rows costs as a leaf, from sums over its rows that add up when sets are
joined: weights by class (``Errors``, ``MatrixCosts``), costs by action (``ActionCosts``), or
weight, sum and sum of squares of the labels (``Squared``). A leaf costs the least, over its actions
or over all numbers it could predict, of a sum of row costs that are not negative once each row's
least is subtracted. Hence adding rows never lowers the cost of a set, and the costs of disjoint
sets add up to at most that of their union; searches rely on nothing else (decision 11).

Costs are stored as regrets: the least cost of each row is subtracted, and its weighted mean, the
``offset`` of a problem, is added back to errors and bounds. So a constant that is added to all
costs of a row changes no tree.

Here stand also the checks of what a user gives: a cost matrix as an array, a frame or a mapping,
costs by row and action, and numbers to predict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import as_fraction, check_unmasked
from mictree.columns.data import read_array
from mictree.problems.base import SAME_COST

FloatArray = np.typing.NDArray[np.float64]
MOST_LABEL = math.sqrt(np.finfo(float).max) / 2**32  # squares of larger labels might overflow
LEAST_SPREAD = 1e-140  # squares of smaller differences lose digits, or become 0
MOST_COST = 1e289  # sums of larger costs might overflow
MOST_WHOLE = 2**52  # sums of whole numbers below this are exact floats
MOST_WRITTEN = 2**16  # different pairs of costs that are subtracted as decimals


class Outcome(NamedTuple):
    """What some leaves predict, and what that costs."""

    labels: np.ndarray  # positions of actions, or numbers
    costs: FloatArray  # the least cost of each leaf: a sum over its rows, without the offset
    by_action: FloatArray | None = None  # (leaves, actions): the cost of each action
    base: FloatArray | None = None  # by leaf, the sum of what was subtracted from costs

    def until(self, count: int) -> Outcome:
        """Of the first leaves only."""
        by_action, base = (
            None if part is None else part[:count] for part in (self.by_action, self.base)
        )
        return Outcome(self.labels[:count], self.costs[:count], by_action, base)


@dataclass(frozen=True)
class Errors:
    """Every row with another label than its own costs its weight."""

    name = "errors"


@dataclass(frozen=True)
class MatrixCosts:
    """A row costs its weight times what its class and the predicted action say."""

    matrix: FloatArray = field(compare=False)  # (classes, actions) regrets
    least: FloatArray = field(compare=False)  # (classes,) what was subtracted
    actions: tuple[Any, ...]
    written: np.ndarray | None = field(default=None, compare=False)  # as ``RowCosts`` has it
    name = "cost matrix"

    @property
    def given(self) -> FloatArray:
        """The matrix as the user gave it."""
        return self.matrix + self.least[:, None]

    def exact(self) -> list[ExactCosts]:
        """Of each class the regrets, and what was subtracted, as fractions."""
        return exact_costs(self.matrix, self.least, self.written)

    def named(self, classes: Sequence[Any], labels: Any) -> dict[Any, dict[Any, float]]:
        """The matrix as given, by the names of those classes that are among some labels."""
        known = set(np.unique(np.asarray(labels)).tolist())
        return {
            label: dict(zip(self.actions, row, strict=True))
            for label, row in zip(classes, self.given.tolist(), strict=True)
            if label in known
        }

    @property
    def missing_costs(self) -> FloatArray:
        """What missing each class costs: the sum over actions.

        Growth by entropy, Gini or root multiplies the weight of a class by it: the altered priors
        of CART (Breiman et al. 1984, section 4.4).
        """
        return self.matrix.sum(axis=1)

    def class_of_action(self, classes: Sequence[Any]) -> list[int]:
        """For each action its position among the classes, -1 if it is none."""
        places = {label: place for place, label in enumerate(classes)}
        return [places.get(action, -1) for action in self.actions]

    @property
    def shares_actions(self) -> bool:
        """Whether an action is the cheapest for several classes."""
        return bool(((self.matrix == 0).sum(axis=0) > 1).any())

    def weighs_classes(self, classes: Sequence[Any]) -> bool:
        """Whether the actions are the classes, and missing a class costs the same by any other."""
        others = self.matrix[~np.eye(*self.matrix.shape, dtype=bool)].reshape(len(classes), -1)
        right = self.actions == tuple(classes) and not self.matrix.diagonal().any()
        return bool(right and np.all(others == others[:, :1]))

    @cached_property
    def whole(self) -> tuple[FloatArray, float]:
        """The matrix as whole numbers, if it is one of decimals, and what was 1."""
        places = decimals_of(self.matrix)
        if places is None:
            return self.matrix, 1.0
        return np.round(self.matrix * 10.0**places), 10.0**places

    def outcome(self, masses: FloatArray) -> Outcome:
        """Of leaves with these weights by class."""
        matrix, scale = self.whole
        by_action = masses @ matrix / scale
        labels = cheapest(by_action)
        costs = by_action[np.arange(len(labels)), labels]
        return Outcome(labels, costs, by_action, masses @ self.least)

    def leads(self, masses: FloatArray, label: int) -> FloatArray:
        """By how much another action is cheaper than a given one, for some weights by class.

        Exact where weights are whole numbers, and costs too; else differences that rounding alone
        could make are 0.
        """
        matrix, scale = self.whole
        by_action = masses @ matrix
        given = by_action[:, label]
        leads = given - by_action.min(axis=1)
        if (scale == 1.0 and np.any(matrix % 1)) or np.any(masses % 1) or given.max() > MOST_WHOLE:
            leads[leads <= SAME_COST * given] = 0.0
        return leads / scale

    def is_pure(self, present: np.ndarray) -> bool:
        """Whether one action is the cheapest for all classes that are present."""
        return bool((self.matrix[present] == 0).all(axis=0).any())


@dataclass(frozen=True)
class ActionCosts:
    """A row costs what the predicted action costs for it; there are no labels."""

    actions: tuple[Any, ...]
    name = "costs"


@dataclass(frozen=True)
class Squared:
    """A row costs its weight times the square of its distance from the predicted number."""

    name = "squared"


def cheapest(by_action: FloatArray) -> np.typing.NDArray[np.intp]:
    """For each leaf the action of least cost, the first of several; rounding makes none cheaper."""
    return (by_action <= by_action.min(axis=1, keepdims=True) * (1 + SAME_COST)).argmax(axis=1)


Task = Errors | MatrixCosts | ActionCosts | Squared


def are_decimals(numbers: FloatArray, places: int) -> bool:
    """Whether numbers have at most so many decimal places."""
    # the quotient is rounded once, so it is the number exactly if that is such a decimal
    unit = 10.0**places
    return bool(np.all(np.round(numbers * unit) / unit == numbers))


def decimals_of(numbers: FloatArray) -> int | None:
    """The decimal places of numbers, none negative; None if as whole numbers they are too long."""
    largest = float(numbers.max(initial=0.0))
    for places in range(16):
        if largest * 10.0**places >= MOST_WHOLE:
            return None
        if are_decimals(numbers.ravel()[:64], places) and are_decimals(numbers, places):
            return places
    return None


def check_loss(loss: Any) -> None:
    """Refuse what is no loss."""
    if not isinstance(loss, str) or loss != "squared":
        raise ValueError(f'loss must be None or "squared"; got {loss!r}')


def read_cost_matrix(cost_matrix: Any, classes: Sequence[Any]) -> MatrixCosts:
    """A cost for each class and action.

    An array follows the order of the classes, which are the actions too. A frame names classes in
    its index (pandas) or first column (polars) and actions in its header; a mapping has for each
    class a mapping of action to cost. Names may name actions that are no classes.
    """
    if isinstance(cost_matrix, Mapping) or hasattr(cost_matrix, "columns"):
        actions, given = _read_named(cost_matrix, classes)
        numbers = _as_numbers(given, "cost_matrix")
    else:
        given = check_unmasked(cost_matrix, "cost_matrix")
        actions, numbers = tuple(classes), _as_numbers(given, "cost_matrix")
        expected = (len(classes), len(classes))
        if numbers.shape != expected:
            raise ValueError(
                f"cost_matrix must have a row and a column for each of the {len(classes)} classes; "
                f"its shape is {numbers.shape}"
            )
    _check_size(numbers, "cost_matrix")
    if (numbers < 0).any():
        raise ValueError(f"cost_matrix must not be negative; it has {numbers.min():g}")
    least = numbers.min(axis=1)
    matrix, written = _subtract(numbers, least, given)
    return MatrixCosts(matrix, least, actions, written)


def _read_named(given: Any, classes: Sequence[Any]) -> tuple[tuple[Any, ...], list[list[Any]]]:
    """Actions and costs of a mapping or a frame, with rows in the order of the classes."""
    table = given if isinstance(given, Mapping) else _rows_of_frame(given)
    by_name = {str(label): label for label in classes}
    rows: dict[Any, Mapping[Any, Any]] = {}
    for name, row in table.items():
        label = name if name in classes else by_name.get(str(name))
        if label is None:
            raise ValueError(f"cost_matrix must name classes of y; there is no {name!r}")
        if not isinstance(row, Mapping):
            raise ValueError(
                f"cost_matrix must have a mapping of action to cost for each class; {name!r} has "
                f"{type(row).__name__}"
            )
        if label in rows:
            raise ValueError(f"cost_matrix must name a class once; {label!r} is there twice")
        rows[label] = row
    for label in classes:
        if label not in rows:
            raise ValueError(f"cost_matrix must name every class; {label!r} is not there")
    named = list(dict.fromkeys(name for row in rows.values() for name in row))
    if not named:
        raise ValueError("cost_matrix must name an action or more; there is none")
    actions = _ordered_actions(named, classes, by_name)
    for label, row in rows.items():
        for name in named:
            if name not in row:
                raise ValueError(
                    f"cost_matrix must have a cost for all actions; {label!r} has none for {name!r}"
                )
    numbers = [[rows[label][name] for _, name in actions] for label in classes]
    return tuple(action for action, _ in actions), numbers


def _ordered_actions(
    named: Sequence[Any], classes: Sequence[Any], by_name: Mapping[str, Any]
) -> list[tuple[Any, Any]]:
    """Actions and their names as given: classes first, in their order, then the others."""
    found = {}
    for name in named:
        action = name if name in classes else by_name.get(str(name), name)
        if action in found:
            raise ValueError(f"cost_matrix must name an action once; {action!r} is there twice")
        found[action] = name
    first = [label for label in classes if label in found]
    return [(action, found[action]) for action in [*first, *(a for a in found if a not in first)]]


def _rows_of_frame(frame: Any) -> dict[Any, dict[Any, Any]]:
    """A frame as a mapping of class to a mapping of action to cost."""
    columns = list(frame.columns)
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise ValueError(f"cost_matrix must name an action once; {twice!r} is there twice")
    if hasattr(frame, "index"):  # pandas
        labels, columns_of = list(frame.index), [frame[name].tolist() for name in columns]
    else:  # polars has no index: the first column names the classes
        labels = frame[columns[0]].to_list() if columns else []
        columns = columns[1:]
        columns_of = [frame[name].to_list() for name in columns]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise ValueError(f"cost_matrix must name a class once; {twice!r} is there twice")
    return {
        label: {name: values[place] for name, values in zip(columns, columns_of, strict=True)}
        for place, label in enumerate(labels)
    }


class RowCosts(NamedTuple):
    """Costs by row and action as regrets, and what was subtracted from each row.

    ``written`` holds the costs as given where regrets are rounded; otherwise it is None.
    """

    actions: tuple[Any, ...]
    regrets: FloatArray
    least: FloatArray
    written: np.ndarray | None


class ExactCosts(NamedTuple):
    """The costs of a row, or of a class, as fractions: regrets, and what was subtracted."""

    regrets: list[Fraction]
    least: Fraction


def exact_costs(
    regrets: FloatArray, least: FloatArray, written: np.ndarray | None
) -> list[ExactCosts]:
    """Of each row, as it was given."""
    if written is None:
        fractions = [[as_fraction(number) for number in row] for row in regrets.tolist()]
        lowest = map(as_fraction, least.tolist())
        return [ExactCosts(*each) for each in zip(fractions, lowest, strict=True)]
    found = []
    for row in written.tolist():
        costs = [as_fraction(number) for number in row]
        found.append(ExactCosts([cost - min(costs) for cost in costs], min(costs)))
    return found


def read_costs(costs: Any, rows: int) -> RowCosts:
    """A cost for each row and action: an array, or a frame whose columns name the actions."""
    actions, numbers, given = _read_table(costs, rows, "costs")
    least = numbers.min(axis=1)
    regrets, written = _subtract(numbers, least, given)
    return RowCosts(actions, regrets, least, written)


def read_cost_table(
    costs: Any, rows: int, name: str = "costs"
) -> tuple[tuple[Any, ...], FloatArray]:
    """The actions of a table of costs, and its numbers; ``name`` is what messages call it."""
    return _read_table(costs, rows, name)[:2]


def _read_table(costs: Any, rows: int, name: str) -> tuple[tuple[Any, ...], FloatArray, Any]:
    """The same, and the numbers as they were given."""
    if hasattr(costs, "toarray"):
        raise ValueError(f"{name} must be a dense table; it is sparse: pass {name}.toarray()")
    names = list(costs.columns) if hasattr(costs, "columns") else None
    if names is not None and len(set(names)) < len(names):
        raise ValueError(f"{name} must name each action once; its columns are {names}")
    values = costs.to_numpy() if names is not None else check_unmasked(costs, name)
    numbers = _as_numbers(values, name)
    if numbers.ndim != 2 or numbers.shape[1] == 0:
        raise ValueError(
            f"{name} must be a table of rows and actions; its shape is {numbers.shape}"
        )
    if len(numbers) != rows:
        raise ValueError(f"X and {name} must have as many rows; they have {rows}, {len(numbers)}")
    _check_size(numbers, name)
    return tuple(range(numbers.shape[1])) if names is None else tuple(names), numbers, values


def read_numbers(y: Any, rows: int) -> FloatArray:
    """Numbers to predict, as floats."""
    values = read_array(check_unmasked(y, "y"))
    if values.ndim != 1:
        raise ValueError(f"y must have one dimension; its shape is {values.shape}")
    if len(values) != rows:
        raise ValueError(f"X and y must have as many rows; they have {rows}, {len(values)}")
    numbers = _as_numbers(values, "y")
    _check_finite(numbers, "y")
    check_squares(numbers, "y must have squares", "it")
    return numbers + 0.0  # no -0.0


def check_squares(numbers: FloatArray, rule: str, name: str) -> None:
    """Refuse labels whose squares, or those of their differences, no float holds."""
    if not len(numbers):
        return
    if np.abs(numbers).max() > MOST_LABEL:
        largest = np.abs(numbers).max()
        raise ValueError(f"{rule} that a 64-bit float can hold; {name} has {largest:g}")
    if 0 < np.ptp(numbers) < LEAST_SPREAD:
        raise ValueError(
            f"{rule} that a 64-bit float can hold; all numbers of {name} lie within "
            f"{np.ptp(numbers):g}; multiply them, by {1 / LEAST_SPREAD:g} for example"
        )


def _as_numbers(values: Any, name: str) -> FloatArray:
    """Numbers of any kind as floats; texts are no numbers."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{name} must be a table with rows of one length") from None
    if array.dtype.kind in "OUSmMcV":
        wrong = [each for each in array.ravel().tolist() if not _is_number(each)]
        if wrong:
            raise ValueError(f"{name} must hold numbers; it holds {wrong[0]!r}")
    try:
        return np.array(array, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must hold real numbers within 64-bit floats") from None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction | Decimal | np.number | np.bool_)


def _check_finite(numbers: FloatArray, name: str) -> None:
    wrong = numbers[~np.isfinite(numbers)]
    if len(wrong):
        raise ValueError(f"{name} must be finite; it has {wrong.flat[0]:g}")


def _check_size(costs: FloatArray, name: str) -> None:
    """Refuse costs whose sums might not be floats."""
    _check_finite(costs, name)
    if costs.size and np.abs(costs).max() > MOST_COST:
        most = costs.flat[np.abs(costs).argmax()]
        raise ValueError(f"{name} must lie within 1e289, so that sums are floats; it has {most:g}")


def _subtract(
    numbers: FloatArray, least: FloatArray, given: Any
) -> tuple[FloatArray, np.ndarray | None]:
    """Numbers less the least of each row: of decimals as written, so that 0.3 - 0.1 is 0.2.

    Where nearly all differ they are measured, not written, and floats are subtracted. Also returns
    the numbers as given, if results are rounded or may be.
    """
    written = _not_as_floats(numbers, np.asarray(given))
    pairs = np.stack([numbers, np.broadcast_to(least[:, None], numbers.shape)], axis=-1)
    distinct, which = np.unique(pairs.reshape(-1, 2), axis=0, return_inverse=True)
    if not least.any():
        return numbers, written
    if len(distinct) > MOST_WRITTEN:
        return numbers - least[:, None], numbers if written is None else written
    exact = [as_fraction(high) - as_fraction(low) for high, low in distinct.tolist()]
    regrets = [float(number) for number in exact]
    if written is None and exact != [as_fraction(number) for number in regrets]:
        written = numbers
    return np.array(regrets)[which].reshape(numbers.shape), written


def _not_as_floats(numbers: FloatArray, given: np.ndarray) -> np.ndarray | None:
    """Costs as fractions or integers, if floats are other numbers."""
    if given.dtype.kind in "iu":
        return given if np.abs(numbers).max(initial=0) > MOST_WHOLE else None
    if given.dtype.kind != "O":
        return None
    written = np.empty(given.shape, dtype=object)
    written.ravel()[:] = [
        Fraction(int(cost)) if isinstance(cost, np.bool_) else as_fraction(cost)
        for cost in given.ravel().tolist()
    ]
    floats = [as_fraction(number) for number in numbers.ravel().tolist()]
    return None if written.ravel().tolist() == floats else written
