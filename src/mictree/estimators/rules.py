"""A tree as rules that a person would write, as SQL and Python; and the path of one row in words.

A path tests one column several times; ``merge`` makes one ``Condition`` of all that it demands of
the column. A split between leaves of one class decides nothing and is left out, except where
probabilities are asked for. Rules that cover most rows come first, and exactly one applies to a
row.

A missing value fails every test but "is missing". So ``age <= 40`` holds for a missing age too,
unless another test on the path excludes that. Code always says so; words do only where values were
missing in the training rows.

Columns of times are read as microseconds: since 1970, since midnight, or of a duration. Code
compares texts in ISO 8601, which sort as times do, with the last time that is not above the
threshold: a whole number of microseconds or, where rows differ by less, of nanoseconds. Python's
own types would silently drop nanoseconds, so Python code with them takes pandas' types only and
fails with others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mictree._support.words import (
    DIGITS,
    count_of,
    of_one_kind,
    show_digits,
    show_number,
    show_text,
)
from mictree.columns.data import FINER, Data, last_tick
from mictree.columns.literals import words_in_sets
from mictree.columns.ordered import time_text
from mictree.columns.written import TIMES, Column, Test, Tests
from mictree.estimators.leaves import LeafWords, show_measure
from mictree.growers.data_loop import Splitting

if TYPE_CHECKING:
    import polars


WEIGHTED = "; weighted"  # between a number of rows and shares that are not theirs


@dataclass(frozen=True)
class Rule:
    """If all conditions hold, the label.

    Attributes
    ----------
    conditions : at most one for each column
    label : the class, the action or the number
    rows : training rows that satisfy the conditions
    coverage : their share of the weight of all rows
    precision : the share of their weight that has the label; None if leaves do not predict classes
    weighted : whether weights make such shares of the tree other than those of rows
    measures : without precision: the "spread" (standard deviation) of numbers, or the "mean cost"
        or "mean reward" of an action
    shown : the label as a text
    """

    conditions: tuple[Condition, ...]
    label: Any
    rows: int
    coverage: float
    precision: float | None
    weighted: bool = False
    measures: tuple[tuple[str, float], ...] = ()
    shown: str = ""

    def __str__(self) -> str:
        lead = f"if {_join_words(self.conditions)} then" if self.conditions else "always"
        return show_text(f"{lead} {self.shown or self.label}")

    @property
    def support(self) -> str:
        """Rows, coverage and precision in words."""
        rows, share = count_of(self.rows, "row"), f"{self.coverage:.0%} of all"
        if self.precision is None:
            found = ", ".join(show_measure(*each) for each in self.measures)
            return f"{rows}{WEIGHTED + ':' if self.weighted else ','} {share}; {found}"
        if self.weighted:
            return f"{rows}{WEIGHTED}: {share}, {self.precision:.0%} {self.label}"
        return f"{rows}, {share}; {self.precision:.0%} of them {self.label}"

    @property
    def names(self) -> list[tuple[str, bool]]:
        """What tells how good the label is, and whether each is a measure of no class."""
        if self.precision is not None:
            return [("precision", False)]
        return [(name, True) for name, _ in self.measures]

    @property
    def values(self) -> list[float]:
        """The numbers of the same."""
        if self.precision is not None:
            return [self.precision]
        return [value for _, value in self.measures]

    @property
    def cells(self) -> list[str]:
        """The same as texts."""
        if self.precision is not None:
            return [f"{self.precision:.0%}"]
        return [show_number(value, DIGITS) for value in self.values]


class Leaf(NamedTuple):
    """A leaf with its own path: leaves of one class are not merged."""

    conditions: tuple[Condition, ...]
    shares: tuple[float, ...]  # of the classes


class Rules(Sequence[Rule]):
    """The rules of a tree, those with most rows first; exactly one applies to a row.

    ``str`` gives one line for each rule.
    """

    def __init__(
        self, rules: Sequence[Rule], leaves: Sequence[Leaf] = (), classes: Sequence[Any] = ()
    ):
        self._rules, self._leaves = tuple(rules), tuple(leaves)
        self._classes = tuple(classes)  # those of the leaves' shares

    def __getitem__(self, number: Any) -> Any:
        return self._rules[number]

    def __len__(self) -> int:
        return len(self._rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rules) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self._rules, self._leaves, self._classes

    def __str__(self) -> str:
        return "\n".join(f"{rule}  ({show_text(rule.support)})" for rule in self._rules)

    def __repr__(self) -> str:
        return f"Rules({len(self)} rules)"

    def _repr_html_(self) -> str:
        from mictree._support.words import to_table

        rows = [
            (_join_words(rule.conditions) or "always", rule.shown or rule.label, f"{rule.rows:,}",
             f"{rule.coverage:.0%}", *rule.cells)
            for rule in self
        ]  # fmt: skip
        kind = "weighted " if self.weighted else ""
        names = [name if measure else f"{kind}{name}" for name, measure in self[0].names]
        return to_table(["if", "then", "rows", f"{kind}coverage", *names], rows)

    @property
    def weighted(self) -> bool:
        """Whether coverage and precision are shares of weights, and not those of rows."""
        return self[0].weighted

    @property
    def frame(self) -> polars.DataFrame:
        """A polars frame with a row for each rule."""
        import polars

        return polars.DataFrame(
            {
                "rule": [_join_words(rule.conditions) or "always" for rule in self],
                "label": self._labels,
                "rows": [rule.rows for rule in self],
                "coverage": [rule.coverage for rule in self],
            }
            | {
                name: [rule.values[number] for rule in self]
                for number, (name, _) in enumerate(self[0].names)
            }
        )

    @property
    def _labels(self) -> list[Any]:
        """The labels for a column, which holds one kind of value."""
        return of_one_kind([rule.label for rule in self])

    def to_sql(self, proba: bool = False) -> str:
        """An expression in standard SQL that gives the label of a row; NULL is missing.

        Where rows differ by nanoseconds, times have nine digits; a type of the database that holds
        fewer would round them.

        Parameters
        ----------
        proba : give the probability of every class instead, as expressions with the names that
            ``mictree predict --proba`` has for them; every leaf of the tree has its own
        """
        self._check_proba(proba)
        if not proba:
            ends = zip(self, self._labels, strict=True)
            return _case([(rule.conditions, _sql_label(rule, label)) for rule, label in ends])
        texts = []
        for number, label in enumerate(self._classes):
            name = f"probability of {label}".replace('"', '""')
            found = _case([(leaf.conditions, repr(leaf.shares[number])) for leaf in self._leaves])
            texts.append(f'{found} AS "{name}"')
        return ",\n".join(texts)

    def to_python(self, name: str | None = None, proba: bool = False) -> str:
        """The text of a Python function of a mapping from columns to values; it imports nothing.

        Where rows differ by nanoseconds, it takes pandas' Timestamps and Timedeltas and fails with
        Python's own types, which have none; polars' ``rows`` drops them.

        Parameters
        ----------
        name : of the function; by default ``predict``, or ``predict_proba``
        proba : return a dictionary with the probability of every class instead of the label; every
            leaf of the tree has its own
        """
        self._check_proba(proba)
        name = ("predict_proba" if proba else "predict") if name is None else name
        if not name.isidentifier():
            raise ValueError(f"name must be an identifier; got {name!r}")
        ends = [(rule.conditions, repr(rule.label)) for rule in self]
        if proba:
            shares = [dict(zip(self._classes, leaf.shares, strict=True)) for leaf in self._leaves]
            ends = [
                (leaf.conditions, repr(each))
                for leaf, each in zip(self._leaves, shares, strict=True)
            ]
        columns = {each.column.name: each.column for tests, _ in ends[:-1] for each in tests}
        variable = {column: f"value_{number}" for number, column in enumerate(columns)}
        fine = {each.column.name for conditions, _ in ends for each in conditions if each.is_fine}
        lines = [f"def {name}(row):"]
        for column in columns.values():
            note = "  # of pandas: Python's own type has no nanoseconds"
            read = _python_value(column) + (note if column.name in fine else "")
            lines.append(f"    {variable[column.name]} = {read}")
        for conditions, end in ends[:-1]:
            tests = [each.in_python(variable[each.column.name]) for each in conditions]
            lines += [f"    if {' and '.join(tests)}:", f"        return {end}"]
        return "\n".join([*lines, f"    return {ends[-1][1]}"]) + "\n"

    def _check_proba(self, proba: bool) -> None:
        if proba and not self._classes:
            raise ValueError("probabilities need classes; the leaves of this tree have none")


def _case(ends: Sequence[tuple[tuple[Condition, ...], str]]) -> str:
    """Conditions and what each gives, as an expression in SQL; the last one is the ELSE."""
    if len(ends) == 1:
        return ends[0][1]
    lines = ["CASE"]
    for conditions, end in ends[:-1]:
        when = " AND ".join(condition.in_sql() for condition in conditions)
        lines.append(f"  WHEN {when} THEN {end}")
    return "\n".join([*lines, f"  ELSE {ends[-1][1]}", "END"])


def make_rules(words: LeafWords, tests: Tests, classes: Sequence[Any] = ()) -> Rules:
    """The rules of the tree that a splitting makes; its literals are numbers of the tests.

    With classes, also the share of each at every leaf.
    """
    splitting = words.splitting
    weights = splitting.masses.sum(axis=1).tolist()
    rules = []
    for leaf, label, path in _ends(splitting, tests, merged=True):
        rows, measures = int(splitting.rows[leaf].sum()), words.measures(leaf, label)
        precision, text = measures.pop("precision", None), words.text(label)
        share = weights[leaf] / weights[0]
        rule = Rule(
            merge(path), words.value(label), rows, share, precision, splitting.weighted,
            tuple(measures.items()), "" if precision is not None else text,
        )  # fmt: skip
        rules.append(rule)
    rules.sort(key=lambda rule: -rule.coverage)
    if not len(classes):
        return Rules(rules)
    ends = sorted(_ends(splitting, tests, merged=False), key=lambda end: -weights[end[0]])
    shares = splitting.masses / splitting.masses.sum(axis=1, keepdims=True)
    leaves = [Leaf(merge(path), tuple(shares[leaf].tolist())) for leaf, _, path in ends]
    return Rules(rules, leaves, classes)


def _ends(
    splitting: Splitting, tests: Tests, merged: bool
) -> Iterator[tuple[int, Any, list[Step]]]:
    """Each leaf with its label and path; merged, a split between leaves of one label is none."""
    split_of = {int(leaf): number for number, leaf in enumerate(splitting.leaves)}
    labels: list[Any] = splitting.labels.tolist()
    label: dict[int, Any] = {}  # of the leaves, and of splits that decide nothing
    for leaf in reversed(range(len(splitting.rows))):  # children come after their parents
        split = split_of.get(leaf)
        if split is None:
            label[leaf] = labels[leaf]
            continue
        low, high = 2 * split + 1, 2 * split + 2
        if merged and low in label and high in label and label[low] == label[high]:
            label[leaf] = label[low]
    waiting: list[tuple[int, list[Step]]] = [(0, [])]
    while waiting:
        leaf, path = waiting.pop()
        if leaf in label:
            yield leaf, label[leaf], path
            continue
        split = split_of[leaf]
        column, test = tests.written(int(splitting.literals[split]))
        waiting.append((2 * split + 2, [*path, (column, test, True)]))
        waiting.append((2 * split + 1, [*path, (column, test, False)]))


class Walk(NamedTuple):
    """The path of a row: its nodes by order of creation, its tests, and the row's values."""

    nodes: list[int]
    path: list[Step]
    shown: dict[str, str]


def walk(splitting: Splitting, tests: Tests, row: Any) -> Walk:
    """Follow a row through the tree."""
    tests, data, shown = _read_row(tests, row)
    split_of = {int(leaf): number for number, leaf in enumerate(splitting.leaves)}
    nodes: list[int] = [0]
    path: list[Step] = []
    while nodes[-1] in split_of:
        split = split_of[nodes[-1]]
        number = int(splitting.literals[split])
        holds = bool(tests.holds(data, number)[0])
        path.append((*tests.written(number), holds))
        nodes.append(2 * split + (2 if holds else 1))
    return Walk(nodes, path, shown)


def explain(words: LeafWords, tests: Tests, row: Any) -> str:
    """The path of a row in words, and what the training rows at its end were."""
    splitting = words.splitting
    nodes, path, shown = walk(splitting, tests, row)
    label = words.text(splitting.labels[nodes[-1]].item())
    conditions = merge(path)
    lines = [f"{label}, because" if conditions else f"{label}, always"]
    for condition in conditions:
        lines.append(f"  {condition.in_words()} (it is {shown[condition.column.name]})")
    count = int(splitting.rows[nodes[-1]].sum())
    kind = WEIGHTED if splitting.weighted else ""
    found = words.rows_like(nodes[-1])
    lines.append(f"The {count_of(count, 'training row')} like this{kind}: {found}.")
    return "\n".join(map(show_text, lines))


def _read_row(tests: Tests, row: Any) -> tuple[Tests, Data, dict[str, str]]:
    """One row as data, the tests that find their columns in it, and its values as texts."""
    if hasattr(row, "to_dict") and getattr(row, "ndim", 2) == 1:  # pandas: ``frame.iloc[0]``
        row = row.to_dict() if all(isinstance(k, str) for k in row.index) else row
    if isinstance(row, Mapping):
        import polars

        absent = [name for name in tests.sources if name not in row]
        if absent:
            raise ValueError(f"the row must have what the tree tests; it has no {absent[0]!r}")
        frame = polars.DataFrame({name: _as_column(row[name]) for name in tests.sources})
        data = Data(tests.complete(frame), remember=True)
        tests = Tests(tests.read, tests.tests, named=True)
        tests.check(data)
        return tests, data, {name: _value(data, place) for place, name in enumerate(data.names)}
    row = tests.complete(row) if hasattr(row, "columns") else [row] if np.ndim(row) == 1 else row
    data = Data(row, True)
    if data.rows != 1:
        raise ValueError(f"row must be one row; got {data.rows} rows")
    tests.check(data)
    return (
        tests,
        data,
        {column.name: _value(data, tests.find(data, column)) for column in tests.read},
    )


def _as_column(value: Any) -> Any:
    """A cell as a column for polars, which drops pandas' nanoseconds and misreads NumPy's times.

    Polars cannot read pandas' missing times.
    """
    import polars

    if type(value).__name__ in ("NaTType", "NAType"):
        return [None]
    aware = getattr(value, "tzinfo", None) is not None
    if any(getattr(value, part, 0) > 0 for part in ("nanosecond", "nanoseconds")):
        value = value.to_numpy()
    if not isinstance(value, np.datetime64 | np.timedelta64):
        return [value]
    cells = np.array([value])
    if np.datetime_data(cells.dtype)[0] not in ("us", "ns"):
        cells = cells.astype(f"{cells.dtype.kind}8[us]")
    series = polars.Series(cells)
    return series.dt.replace_time_zone("UTC") if aware else series


def _value(data: Data, number: int) -> str:
    value = data.column(number)[0]
    if value is None or value != value:
        return "missing"
    whole, rest = divmod(_nanoseconds(data, number), 1000)
    if rest:
        return time_text(whole, "us", data.kind(number), f"{rest:03d}")
    if data.frame is not None and data.kind(number) in TIMES:
        return str(data.frame[:, number].to_list()[0])
    if data.kind(number) in TIMES:
        return str(data.matrix[0, number].astype(f"{data.matrix.dtype.kind}8[us]").item())
    if not isinstance(value, float):
        return str(value)
    narrow = data.kind(number) == "float32"
    return _exact(value, np.float32 if narrow else float)


def _nanoseconds(data: Data, number: int) -> int:
    """The time in the row; 0 where its type has no nanoseconds."""
    if data.kind(number) == "time":
        return round(1000 * float(data.column(number)[0]))
    cells = data.matrix[:, number] if data.frame is None else data.frame[:, number].to_numpy()
    if cells.dtype.kind not in "mM" or np.datetime_data(cells.dtype)[0] not in FINER:
        return 0
    return int(cells.astype(f"{cells.dtype.kind}8[ns]").view(np.int64)[0])


def _exact(value: float, kind: Callable[[str], Any]) -> str:
    """The fewest digits, from six on, that are this value in its kind of floats."""
    texts = (show_digits(value, digits) for digits in range(6, 17))
    return next((text for text in texts if float(kind(text)) == value), repr(float(value)))


Step = tuple[Column, Test, bool]  # a test, and whether it holds on the path


@dataclass(frozen=True)
class Condition:
    """What a path demands of a column.

    Attributes
    ----------
    low, high : tests that give the greatest lower and the least upper bound
    equal : the test for the category that it must be
    within : the categories that it must be one of, by tests for sets
    unequal : the tests for categories, or sets of them, that it must not be
    missing : whether it must be missing (True), must not (False), or may (None)
    """

    column: Column
    low: Test | None = None
    high: Test | None = None
    equal: Test | None = None
    within: tuple[Any, ...] | None = None
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
        if test.relation == "in":
            return self._and_in(test, holds)
        if holds:
            greater = self.low is None or test.value > self.low.value
            return replace(self, low=test if greater else self.low, missing=False)
        less = self.high is None or test.value < self.high.value
        return replace(self, high=test if less else self.high)

    def _and_in(self, test: Test, holds: bool) -> Condition:
        """The condition after one more test for a set of categories."""
        if not holds and self.within is None:
            return replace(self, unequal=(*self.unequal, test))
        kept = test.values if self.within is None else self.within
        kept = tuple(value for value in kept if (value in test.values) == holds)
        kept = tuple(value for value in kept if value not in self._excluded)
        if not kept:
            raise ValueError(f"a path must leave some category; {self.column.name} has none left")
        return replace(self, within=kept, unequal=(), missing=False)

    @property
    def _excluded(self) -> tuple[Any, ...]:
        """The categories that it must not be, each once."""
        return tuple(dict.fromkeys(value for test in self.unequal for value in test.values))

    def in_words(self) -> str:
        """As a person would write it: ``14.98 < radius <= 17.5``."""
        name = self.column.name
        if self.missing:
            return f"{name} is missing"
        if self.column.kind in ("binary", "boolean") and (self.low or self.high):
            words = (self.low.text if self.low else "") or (self.high.negated if self.high else "")
            return words if self.missing is False or self.low else words + self._or_missing()
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
        if self.within is not None:
            return f"{name} in {{{self._listed(self.within)}}}"
        if any(test.relation == "in" for test in self.unequal):
            return f"{name} not in {{{self._listed(self._excluded)}}}"
        others = [_shown(self.column, test) for test in self.unequal]
        others += ["missing"] if self.missing is False else []
        if len(others) == 1:
            return f"{name} is not {others[0]}"
        if len(others) == 2:
            return f"{name} is neither {others[0]} nor {others[1]}"
        return f"{name} is none of {', '.join(others)}"

    def _listed(self, values: tuple[Any, ...]) -> str:
        """Categories of a set, in order, as texts of tests show them."""
        known = self.column.seen or values
        words = dict(zip(known, words_in_sets(known), strict=True))
        return ", ".join(words[value] for value in known if value in values)

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
        if self.within is not None:
            return f"{name} IN ({', '.join(map(_sql, self.within))})"
        if self.unequal:
            listed = f"{name} NOT IN ({', '.join(map(_sql, self._excluded))})"
            return listed if self.missing is False else f"({listed} OR {name} IS NULL)"
        if self.column.levels is not None and (self.low or self.high):
            listed = f"{name} IN ({', '.join(_sql(level) for level in self._levels)})"
            return f"({listed} OR {name} IS NULL)" if self._any_missing else listed
        value = _sql_time if self.column.kind in TIMES else _sql_number
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
        return self.column.kind in TIMES and _tell_nanoseconds(self.column, bounds)

    def in_python(self, variable: str) -> str:
        """Python; None and NaN are missing. Times of nanoseconds are pandas' own."""
        present = f"{variable} is not None and {variable} == {variable}"
        absent = f"{variable} is None or {variable} != {variable}"
        if self.missing:
            return f"({absent})"
        if self.equal is not None:
            return f"{variable} == {self.equal.value!r}"
        if self.within is not None:
            return f"{variable} in ({', '.join(map(repr, self.within))},)"
        if self.unequal:
            listed = ", ".join(map(repr, self._excluded))
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
            key = _python_key(self.column, variable, fine)
        low, high = (
            "" if test is None
            else _python_time(self.column, test, fine) if self.column.kind in TIMES
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


def _sql_label(rule: Rule, label: Any) -> str:
    """A label; a number to predict with an exponent, as databases read others as decimals."""
    text = _sql(label)
    number = rule.precision is None and isinstance(label, float) and "e" not in text
    return f"{text}E0" if number else text


def _sql_number(column: Column, test: Test) -> str:
    return _sql(test.value)


def _join_words(conditions: Sequence[Condition]) -> str:
    """Conditions in words, joined by "and"; one with an "or" is in brackets among others."""
    words = [condition.in_words() for condition in conditions]
    if len(words) > 1:
        words = [
            f"({text})" if condition.says_or else text
            for condition, text in zip(conditions, words, strict=True)
        ]
    return " and ".join(words)


DAY = 86_400 * 10**9  # nanoseconds
# what Python code compares with the texts; aware datetimes as UTC
PYTHON_KEYS = {
    "date": "{0}.isoformat()[:10]",
    "datetime": "{0}.isoformat()",
    "instant": "({0}.replace(tzinfo=None) - {0}.utcoffset()).isoformat()",
    "time": "{0}.isoformat()",
    "duration": "({0}.days * 86400000000000 + {0}.seconds * 1000000000 + {0}.microseconds * 1000"
    " + getattr({0}, 'nanoseconds', 0))",
}
FINE_KEYS = {
    "datetime": "{0}.isoformat(timespec='nanoseconds')",
    "instant": "({0}.replace(tzinfo=None) - {0}.utcoffset()).isoformat(timespec='nanoseconds')",
    "duration": "({0}.days * 86400000000000 + {0}.seconds * 1000000000 + {0}.microseconds * 1000"
    " + {0}.nanoseconds)",
}


PYTHON_PARTS = {
    "month": "value.month", "weekday": "value.isoweekday()", "hour": "getattr(value, 'hour', 0)",
}  # fmt: skip


def _python_value(column: Column) -> str:
    """What Python code reads from a row: a column, or a part of its dates."""
    if column.part is None:
        return f"row[{column.name!r}]"
    what, dates, kind = column.part
    found = PYTHON_PARTS[what]
    if kind == "instant":
        found = found.replace("value", "(value - value.utcoffset())")
    return f"(lambda value: None if value is None or value != value else {found})(row[{dates!r}])"


def _tell_nanoseconds(column: Column, tests: Sequence[Test]) -> bool:
    """Whether thresholds tell times apart that differ by less than a microsecond."""
    return column.kind != "date" and any(test.value % 1 for test in tests)


def _python_key(column: Column, variable: str, fine: bool) -> str:
    """What Python code compares with thresholds."""
    if fine and column.kind not in FINE_KEYS:
        raise ValueError(
            f"Python's times of the day have microseconds; {column.name} is tested for "
            "nanoseconds: use to_sql, or save the model and load it with mictree.load"
        )
    return (FINE_KEYS if fine else PYTHON_KEYS)[column.kind].format(variable)


def _python_time(column: Column, test: Test, fine: bool) -> str:
    """A threshold as the text, or for durations the number, that Python code compares with."""
    last = _last(column, test)
    if column.kind == "duration":
        return repr(last)
    # without a fraction where it is 0: "12:00:00" sorts before "12:00:00.000001"
    return repr(_iso(column, last, "T", "nanoseconds" if fine else "auto"))


def _sql_time(column: Column, test: Test) -> str:
    """A threshold as an SQL literal, with nine digits where it needs them."""
    if column.kind == "duration":
        raise ValueError(
            f"SQL has no literal for durations that all databases read; {column.name} is one"
        )
    zone = "+00:00" if column.kind == "instant" else ""  # or a database would take its own zone
    last = _last(column, test)
    digits = "nanoseconds" if last % 1000 else "microseconds"
    return f"'{_iso(column, last, ' ', digits)}{zone}'"


def _last(column: Column, test: Test) -> int:
    """The last nanosecond that is not above the threshold."""
    if not math.isfinite(test.value):
        raise ValueError(f"a time must be finite; {column.name} is tested for {test.value}")
    return last_tick(test.value)


def _iso(column: Column, last: int, between: str, digits: str) -> str:
    """A time to the second, the micro- or the nanosecond; "auto" as ``datetime.isoformat``."""
    whole, rest = divmod(last, 1000)
    try:
        if column.kind == "date":
            return (date(1970, 1, 1) + timedelta(days=last // DAY)).isoformat()
        moment = datetime(1970, 1, 1) + timedelta(microseconds=whole)  # no zone
    except OverflowError:
        raise ValueError(
            f"code can test the years 1 to 9999; {column.name} is tested for {whole} microseconds"
        ) from None
    finer = f"{rest:03d}" if digits == "nanoseconds" else ""
    spec = "microseconds" if finer else digits
    if column.kind == "time":
        return moment.time().isoformat(timespec=spec) + finer
    return moment.isoformat(between, timespec=spec) + finer
