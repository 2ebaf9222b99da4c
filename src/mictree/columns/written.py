"""Tests on columns, written out one by one, as a saved model has them.

A fitted model chooses among all tests that its columns offer (``mictree.columns.literals``). A
saved model keeps only those that a tree makes, each with its column, its value and its text, and
finds its columns by name. ``Tests`` answers the same questions as ``Literals``.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree.columns.cells import MOMENTS, NUMBERS, SPACED, TEXT
from mictree.columns.data import Data, check_finite, part_of
from mictree.columns.literals import as_levels
from mictree.columns.ordered import TIMES, apart, changed, check_kind

if TYPE_CHECKING:
    from mictree.columns.literals import Column as FittedColumn
    from mictree.columns.literals import Literals

BoolArray = np.typing.NDArray[np.bool_]

KINDS = (*NUMBERS, *TIMES, "enum", "category")

Pair = tuple[int, float | None]  # a literal, and its exact threshold in a tree


@dataclass(frozen=True)
class Column:
    """A column that a test reads.

    Attributes
    ----------
    name, position : at fit
    kind : one of ``KINDS``
    levels : of ordered categories, whose values are positions
    seen : of categories that are texts, those of the training rows; None if nobody knows
    order : of day and month where the dates of a text file have the year last: "dmy" or "mdy"
    part : what is computed from dates: one of ``PARTS``, their column, and its kind
    """

    name: str
    position: int
    kind: str
    levels: tuple[Any, ...] | None = None
    seen: tuple[str, ...] | None = None
    order: str | None = None
    part: tuple[str, str, str] | None = None

    @property
    def source(self) -> str:
        """The column of a table that it comes from."""
        return self.name if self.part is None else self.part[1]


@dataclass(frozen=True)
class Test:
    """One test: a value above a number, equal to a category, in a set of categories, or missing.

    Attributes
    ----------
    column : its number among the columns that are tested
    relation : "above", "is", "in" or "missing"
    value : a number for "above", a category for "is", a tuple of them for "in", None for "missing"
    text, negated : how the test and its negation read
    """

    __test__ = False  # not one of pytest's

    column: int
    relation: str
    value: Any
    text: str
    negated: str

    @property
    def values(self) -> tuple[Any, ...]:
        """What it is compared with."""
        return self.value if isinstance(self.value, tuple) else (self.value,)


class Tests:
    """The tests of a saved model; the same questions that ``Literals`` answer."""

    __test__ = False

    def __init__(self, columns: Sequence[Column], tests: Sequence[Test], named: bool) -> None:
        self.read = tuple(columns)
        self.tests = tuple(tests)
        self.named = named  # columns are found by name, not by position

    def __len__(self) -> int:
        return len(self.tests)

    @property
    def names(self) -> tuple[str, ...]:
        """The texts of the tests, all different."""
        return tuple(test.text for test in self.tests)

    def negated(self, number: int) -> str:
        """The negation of a test."""
        return self.tests[number].negated

    def locate(self, number: int) -> tuple[int, int]:
        """The position of a test's column at fit, and the number of the test."""
        return self.read[self.tests[number].column].position, number

    def written(self, number: int) -> tuple[Column, Test]:
        """A test with its column."""
        test = self.tests[number]
        return self.read[test.column], test

    @property
    def kinds(self) -> dict[str, str]:
        """For ``read_file``: what the columns of a text file must be."""
        known = (*NUMBERS, *TIMES)
        kinds = {column.name: column.kind for column in self.read if column.kind in known}
        kinds |= {column.part[1]: column.part[2] for column in self.read if column.part is not None}
        for test in self.tests:
            column = self.read[test.column]
            values = (*test.values, *(column.levels or ()))
            texts = [value for value in values if isinstance(value, str)]
            if any(text != text.strip() for text in texts):
                kinds[column.name] = SPACED
            elif texts or (column.kind == "category" and test.relation == "missing"):
                kinds.setdefault(column.name, TEXT)
        return kinds

    @property
    def sources(self) -> list[str]:
        """The columns that a table must have."""
        return list(dict.fromkeys(column.source for column in self.read))

    @property
    def orders(self) -> dict[str, str]:
        """For ``read_file``: the order of day and month in columns of dates."""
        return {column.source: column.order for column in self.read if column.order is not None}

    def complete(self, X: Any) -> Any:
        """A frame with the parts of dates that are tested, computed from its columns of dates."""
        import narwhals

        computed = [column for column in self.read if column.part is not None]
        if not computed or not hasattr(X, "columns"):
            return X
        data = Data(X)
        new = []
        for column in computed:
            what, source, kind = column.part or ("", "", "")
            if source not in data.names:
                raise ValueError(
                    f"the table must have the columns that the tree tests; there is no {source!r}, "
                    f"whose {what} it tests; it has {', '.join(map(repr, data.names))}"
                )
            moments = _moments(data, data.names.index(source), kind)
            new.append(
                narwhals.new_series(
                    column.name, part_of(moments, what), backend=data.frame.implementation
                )
            )
        return data.frame.with_columns(*new).to_native()

    def threshold(self, number: int) -> float:
        """The threshold of a test; NaN if it has none."""
        test = self.tests[number]
        return float(test.value) if test.relation == "above" else math.nan

    def only(self, used: Sequence[int]) -> Tests:
        """Some of the tests, and the columns that they read."""
        tests = [self.tests[number] for number in used]
        columns = list(dict.fromkeys(test.column for test in tests))
        moved = [replace(test, column=columns.index(test.column)) for test in tests]
        return Tests([self.read[column] for column in columns], moved, self.named)

    def check(self, data: Data) -> None:
        """Refuse a table without the columns, or with another kind of column."""
        if not self.named or data.frame is None:
            return
        wrong = []
        for column in self.read:
            if column.name not in data.names:
                near = difflib.get_close_matches(column.name, data.names, 1)
                hint = f" (did you mean {near[0]!r}?)" if near else ""
                wrong.append(f"there is no {column.name!r}{hint}")
                continue
            values = data.column(data.names.index(column.name))
            texts = isinstance(values, list)
            empty = all(value is None for value in values) if texts else np.isnan(values).all()
            categories = column.kind in ("category", "enum")
            if not empty and texts != categories:
                now = "text" if texts else data.kind(data.names.index(column.name))
                wrong.append(f"{column.name!r} {apart(column.kind, now)}")
        if wrong:
            raise ValueError(
                f"the table must have the columns that the tree tests; {', '.join(wrong)}; "
                f"it has {', '.join(map(repr, data.names))}"
            )

    def find(self, data: Data, column: Column) -> int:
        """The number of a column in a table: by its name if the table has names."""
        by_name = self.named and data.frame is not None
        return data.names.index(column.name) if by_name else column.position

    def holds(
        self,
        data: Data,
        number: int,
        rows: np.typing.NDArray[np.intp] | None = None,
        threshold: float | None = None,
    ) -> BoolArray:
        """Whether the rows (by default all) satisfy a test, whose threshold is its own."""
        column, test = self.written(number)
        place = self.find(data, column)
        if column.kind != "category":
            check_kind(data, place, column.kind, column.name)
            check_finite(data, place, column.name)
        values = data.column(place)
        if rows is not None:
            values = [values[row] for row in rows] if isinstance(values, list) else values[rows]
        if column.levels is not None and isinstance(values, list):
            values = as_levels(values, column.levels, column.name)
        if column.kind != "category":
            if isinstance(values, list) and any(value is not None for value in values):
                raise changed(column.name, column.kind, "text")
            numbers = np.asarray(values, dtype=float)
            return np.isnan(numbers) if test.relation == "missing" else numbers > test.value
        if not isinstance(values, list):
            if not np.isnan(values).all():
                raise changed(column.name, "category", "number")
            values = [None] * len(values)
        if test.relation == "in":
            members = set(test.values)
            return np.array([value in members for value in values], dtype=bool)
        wanted = None if test.relation == "missing" else test.value
        return np.array([value == wanted for value in values], dtype=bool)


def _moments(data: Data, place: int, kind: str) -> np.typing.NDArray[np.float64]:
    """The dates in a column as microseconds; refuses what is no date."""
    name, values = data.names[place], data.column(place)
    held = data.kind(place)
    if isinstance(values, list) and all(value is None for value in values):
        return np.full(len(values), math.nan)
    if isinstance(values, list) or (held not in MOMENTS and not np.isnan(values).all()):
        raise changed(name, kind, "text" if isinstance(values, list) else held)
    check_kind(data, place, kind, name)
    return values


def write_out(
    literals: Literals, used: Sequence[Pair]
) -> tuple[tuple[Column, ...], tuple[Test, ...]]:
    """The tests of a tree on all literals, and the columns that they read."""
    columns: dict[int, Column] = {}
    tests = []
    for literal, threshold in used:
        position, place = literals.locate(literal)
        column = literals.columns[position]
        kind = column.style if column.categories is None else "category"
        kind = "enum" if column.levels is not None else kind
        levels = None if column.levels is None else tuple(map(_plain, column.levels))
        seen = _seen_texts(column)
        columns.setdefault(position, Column(column.name, position, kind, levels, seen))
        relation, value = "missing", None
        if isinstance(place, tuple):
            relation = "in"
            value = tuple(_plain((column.categories or ())[each]) for each in place)
        elif column.categories is not None and place < len(column.categories):
            relation, value = "is", column.categories[place]
            value = _plain(value)
        elif column.categories is None and place < column.thresholds:
            relation = "above"
            value = float(column.threshold(place) if threshold is None else threshold)
        number = list(columns).index(position)
        tests.append(Test(number, relation, value, *literals.texts(literal, threshold)))
    return tuple(columns.values()), tuple(_with_exact_numbers(list(columns.values()), tests))


def _seen_texts(column: FittedColumn) -> tuple[str, ...] | None:
    """The categories of the training rows, if they are texts."""
    seen = (*(column.categories or ()), *column.implied)
    return tuple(seen) if seen and all(isinstance(each, str) for each in seen) else None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _with_exact_numbers(columns: Sequence[Column], tests: Sequence[Test]) -> Iterator[Test]:
    """Exact numbers where thresholds between the same two values of the table read alike."""
    uses = Counter(test.text for test in tests)
    for test in tests:
        if uses[test.text] == 1:
            yield test
            continue
        column = columns[test.column]
        above = f"{column.name} > {test.value!r}"
        below = (
            f"not {above}"
            if test.negated.startswith("not ")
            else f"{column.name} <= {test.value!r}"
        )
        mark = re.search(r" \(column \d+\)$", test.text)
        end = mark[0] if mark else ""
        yield replace(test, text=above + end, negated=below + end)
