"""All that a path demands of one column, as one condition: in words, in SQL, in Python.

A missing value fails every test but "is missing". So ``age <= 40`` holds for a missing age too,
unless another test on the path has said otherwise, and the code says so where words need not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mictree.columns.written import TIMES, Column, Test
from mictree.estimators.times import is_fine, to_python_key, to_python_time, to_sql_time

Step = tuple[Column, Test, bool]  # a test, and whether it holds on the path


@dataclass(frozen=True)
class Condition:
    """What a path demands of a column.

    Attributes
    ----------
    low, high : tests that give the greatest lower and the least upper bound
    equal : the test for the category that it must be
    unequal : the tests for categories that it must not be
    missing : whether it must be missing (True), must not (False), or may (None)
    """

    column: Column
    low: Test | None = None
    high: Test | None = None
    equal: Test | None = None
    unequal: tuple[Test, ...] = field(default=())
    missing: bool | None = None

    def and_(self, test: Test, holds: bool) -> Condition:
        """The condition after one more test."""
        if test.relation == "missing":
            return replace(self, missing=holds)
        if test.relation == "is":
            if holds:
                return replace(self, equal=test, missing=False)
            return replace(self, unequal=(*self.unequal, test))
        if holds:
            greater = self.low is None or test.value > self.low.value
            return replace(self, low=test if greater else self.low, missing=False)
        less = self.high is None or test.value < self.high.value
        return replace(self, high=test if less else self.high)

    def in_words(self) -> str:
        """As a person would write it: ``14.98 < radius <= 17.5``."""
        name = self.column.name
        if self.missing:
            return f"{name} is missing"
        if self.column.kind in ("binary", "boolean") and (self.low or self.high):
            said = (self.low.text if self.low else "") or (self.high.negated if self.high else "")
            return said if self.missing is False or self.low else said + self._or_missing()
        if self.column.kind == "category":
            return self._category_in_words()
        low = "" if self.low is None else _shown(self.column, self.low)
        high = "" if self.high is None else _shown(self.column, self.high)
        if low and high:
            return f"{low} < {name} <= {high}"
        if low:
            return f"{name} > {low}"
        return f"{name} <= {high}{self._or_missing()}" if high else f"{name} is not missing"

    @property
    def says_or(self) -> bool:
        """Whether the words have an "or"."""
        return bool(self._or_missing()) and self.low is None

    def _or_missing(self) -> str:
        """Only where values are known to be missing, is it worth a word."""
        known = self.high is not None and self.high.negated.startswith("not ")
        plain = self.column.kind not in ("binary", "boolean")
        return " or missing" if plain and known and self.missing is None else ""

    def _category_in_words(self) -> str:
        name = self.column.name
        if self.equal is not None:
            return f"{name} is {_shown(self.column, self.equal)}"
        others = [_shown(self.column, test) for test in self.unequal]
        others += ["missing"] if self.missing is False else []
        if len(others) == 1:
            return f"{name} is not {others[0]}"
        if len(others) == 2:
            return f"{name} is neither {others[0]} nor {others[1]}"
        return f"{name} is none of {', '.join(others)}"

    def in_sql(self) -> str:
        """SQL; NULL is missing, and dates and times are compared with texts in ISO 8601."""
        if self.column.part is not None:
            what, dates, _ = self.column.part
            raise ValueError(
                f"SQL has no expression for the {what} of a date that all databases read; the tree "
                f"tests that of {dates}: to_python has one"
            )
        name = '"' + self.column.name.replace('"', '""') + '"'
        if self.missing:
            return f"{name} IS NULL"
        if self.column.kind == "boolean" and (self.low or self.high):
            truth = f"{name} IS TRUE" if self.low else f"{name} IS NOT TRUE"
            return (
                f"{truth} AND {name} IS NOT NULL"
                if self.missing is False and not self.low
                else truth
            )
        if self.equal is not None:
            return f"{name} = {_sql(self.equal.value)}"
        if self.unequal:
            listed = f"{name} NOT IN ({', '.join(_sql(test.value) for test in self.unequal)})"
            return listed if self.missing is False else f"({listed} OR {name} IS NULL)"
        if self.column.levels is not None and (self.low or self.high):
            listed = f"{name} IN ({', '.join(_sql(level) for level in self._levels)})"
            return f"({listed} OR {name} IS NULL)" if self._any_missing else listed
        value = to_sql_time if self.column.kind in TIMES else _sql_number
        parts = [f"{name} > {value(self.column, self.low)}"] if self.low else []
        if self.high is not None:
            below = f"{name} <= {value(self.column, self.high)}"
            parts.append(f"({below} OR {name} IS NULL)" if self._any_missing else below)
        return " AND ".join(parts) or f"{name} IS NOT NULL"

    @property
    def _any_missing(self) -> bool:
        """Whether a missing value satisfies the condition too."""
        return self.missing is None and self.low is None

    @property
    def _levels(self) -> tuple[Any, ...]:
        """The ordered categories within the bounds."""
        assert self.column.levels is not None
        low = -math.inf if self.low is None else self.low.value
        high = math.inf if self.high is None else self.high.value
        found = tuple(
            level for place, level in enumerate(self.column.levels) if low < place <= high
        )
        if not found:
            raise ValueError(f"a path must leave some category; {self.column.name} has none left")
        return found

    @property
    def is_fine(self) -> bool:
        """Whether the bounds are times of nanoseconds, which Python's own types do not have."""
        bounds = [test for test in (self.low, self.high) if test is not None]
        return self.column.kind in TIMES and is_fine(self.column, bounds)

    def in_python(self, variable: str) -> str:
        """Python; None and NaN are missing. Times of nanoseconds are pandas' own."""
        present = f"{variable} is not None and {variable} == {variable}"
        absent = f"{variable} is None or {variable} != {variable}"
        if self.missing:
            return f"({absent})"
        if self.equal is not None:
            return f"{variable} == {self.equal.value!r}"
        if self.unequal:
            listed = ", ".join(repr(test.value) for test in self.unequal)
            apart = f"{variable} not in ({listed},)"
            return apart if self.missing is None else f"{present} and {apart}"
        if self.low is None and self.high is None:
            return present
        if self.column.levels is not None:
            within = f"{variable} in ({', '.join(map(repr, self._levels))},)"
        else:
            within = self._within(variable)
        return f"({absent} or {within})" if self._any_missing else f"{present} and {within}"

    def _within(self, variable: str) -> str:
        """The bounds on a value that is not missing."""
        key, fine = variable, self.is_fine
        if self.column.kind in TIMES:
            key = to_python_key(self.column, variable, fine)
        low, high = (
            "" if test is None
            else to_python_time(self.column, test, fine) if self.column.kind in TIMES
            else repr(test.value)
            for test in (self.low, self.high)
        )  # fmt: skip
        if low and high:
            return f"{low} < {key} <= {high}"
        return f"{key} > {low}" if low else f"{key} <= {high}"


def merge(path: Iterable[Step]) -> tuple[Condition, ...]:
    """One condition for each column that the path tests, in the order of the first tests."""
    conditions: dict[Column, Condition] = {}
    for column, test, holds in path:
        conditions[column] = conditions.get(column, Condition(column)).and_(test, holds)
    return tuple(conditions.values())


def _shown(column: Column, test: Test) -> str:
    """The value as the test's text shows it."""
    for word in (" > ", " is "):
        if test.text.startswith(column.name + word):
            return test.text.removeprefix(column.name + word)
    return str(test.value)


def _sql(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"SQL must have finite numbers; got {value}")
    return repr(value)


def _sql_number(column: Column, test: Test) -> str:
    return _sql(test.value)


def join_words(conditions: Sequence[Condition]) -> str:
    """Conditions in words, joined by "and"; one with an "or" is in brackets among others."""
    words = [condition.in_words() for condition in conditions]
    if len(words) > 1:
        words = [
            f"({text})" if condition.says_or else text
            for condition, text in zip(conditions, words, strict=True)
        ]
    return " and ".join(words)
