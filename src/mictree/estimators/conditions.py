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
    said : the text of the last test, for a column of 0 and 1
    """

    column: Column
    low: Test | None = None
    high: Test | None = None
    equal: Test | None = None
    unequal: tuple[Test, ...] = field(default=())
    missing: bool | None = None
    said: str = ""

    def and_(self, test: Test, holds: bool) -> Condition:
        """The condition after one more test."""
        said = replace(self, said=test.text if holds else test.negated)
        if test.relation == "missing":
            return replace(said, missing=holds)
        if test.relation == "is":
            if holds:
                return replace(said, equal=test, missing=False)
            return replace(said, unequal=(*self.unequal, test))
        if holds:
            greater = self.low is None or test.value > self.low.value
            return replace(said, low=test if greater else self.low, missing=False)
        less = self.high is None or test.value < self.high.value
        return replace(said, high=test if less else self.high)

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
        """Standard SQL; NULL is missing."""
        self._check_plain()
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
        parts = [f"{name} > {_sql(self.low.value)}"] if self.low else []
        if self.high is not None:
            below = f"{name} <= {_sql(self.high.value)}"
            parts.append(below if self.missing is False else f"({below} OR {name} IS NULL)")
        return " AND ".join(parts) or f"{name} IS NOT NULL"

    def _check_plain(self) -> None:
        """Refuse columns whose numbers are not the values themselves."""
        if self.column.kind in (*TIMES, "enum") and (self.low or self.high):
            raise ValueError(
                f"code can test numbers and texts; {self.column.name} is of type {self.column.kind}"
            )

    def in_python(self, variable: str) -> str:
        """Python; None and NaN are missing."""
        self._check_plain()
        present = f"{variable} is not None and {variable} == {variable}"
        if self.missing:
            return f"({variable} is None or {variable} != {variable})"
        if self.equal is not None:
            return f"{variable} == {self.equal.value!r}"
        if self.unequal:
            listed = ", ".join(repr(test.value) for test in self.unequal)
            apart = f"{variable} not in ({listed},)"
            return apart if self.missing is None else f"{present} and {apart}"
        if self.low is not None:
            most = "" if self.high is None else f" <= {self.high.value!r}"
            if not most:
                return f"{variable} is not None and {variable} > {self.low.value!r}"
            return f"{variable} is not None and {self.low.value!r} < {variable}{most}"
        if self.high is None:
            return present
        if self.missing is None:
            return f"({variable} is None or not {variable} > {self.high.value!r})"
        return f"{variable} is not None and {variable} <= {self.high.value!r}"


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


def join_words(conditions: Sequence[Condition]) -> str:
    """Conditions in words, joined by "and"."""
    return " and ".join(condition.in_words() for condition in conditions)
