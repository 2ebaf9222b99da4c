"""A tree as the rules that a person would write, and the path of one row in words.

Bounds on one column are merged, leaves of one class under one test are merged, and the rules that
cover most rows come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mictree._support.words import count_of, show_digits, show_text
from mictree.columns.data import Data
from mictree.columns.ordered import time_text
from mictree.columns.series import FINER
from mictree.columns.written import TIMES, Tests
from mictree.estimators.conditions import Condition, Step, join_words, merge
from mictree.estimators.times import to_python_value
from mictree.growers.data_loop import Splitting

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class Rule:
    """If all conditions hold, the label.

    Attributes
    ----------
    conditions : at most one for each column
    label : the class
    rows : training rows that satisfy the conditions
    coverage : their share of the weight of all rows
    precision : the share of their weight that has the label
    """

    conditions: tuple[Condition, ...]
    label: Any
    rows: int
    coverage: float
    precision: float

    def __str__(self) -> str:
        lead = f"if {join_words(self.conditions)} then" if self.conditions else "always"
        return show_text(f"{lead} {self.label}")

    @property
    def support(self) -> str:
        """Rows, coverage and precision in words."""
        rows = f"{count_of(self.rows, 'row')}, {self.coverage:.0%} of all"
        return f"{rows}; {self.precision:.0%} of them {self.label}"


class Leaf(NamedTuple):
    """A leaf with its own path: leaves of one class are not merged."""

    conditions: tuple[Condition, ...]
    shares: tuple[float, ...]  # of the classes


class Rules(Sequence[Rule]):
    """The rules of a tree, those with most rows first; exactly one applies to a row.

    ``str`` gives one line for each rule.
    """

    def __init__(self, rules: Sequence[Rule], leaves: Sequence[Leaf], classes: Sequence[Any]):
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
        from mictree._support.notebook import to_table

        rows = [
            (join_words(rule.conditions) or "always", rule.label, f"{rule.rows:,}",
             f"{rule.coverage:.0%}", f"{rule.precision:.0%}")
            for rule in self
        ]  # fmt: skip
        return to_table(["if", "then", "rows", "coverage", "precision"], rows)

    @property
    def frame(self) -> polars.DataFrame:
        """A polars frame with a row for each rule."""
        import polars

        return polars.DataFrame(
            {
                "rule": [join_words(rule.conditions) or "always" for rule in self],
                "label": [rule.label for rule in self],
                "rows": [rule.rows for rule in self],
                "coverage": [rule.coverage for rule in self],
                "precision": [rule.precision for rule in self],
            }
        )

    def to_sql(self, proba: bool = False) -> str:
        """An expression in standard SQL that gives the label of a row; NULL is missing.

        Where rows differ by nanoseconds, times have nine digits; a type of the database that holds
        fewer would round them.

        Parameters
        ----------
        proba : give the probability of every class instead, as expressions with the names that
            ``mictree predict --proba`` has for them; every leaf of the tree has its own
        """
        if not proba:
            return _case([(rule.conditions, _sql_label(rule.label)) for rule in self])
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
            read = to_python_value(column) + (note if column.name in fine else "")
            lines.append(f"    {variable[column.name]} = {read}")
        for conditions, end in ends[:-1]:
            tests = [each.in_python(variable[each.column.name]) for each in conditions]
            lines += [f"    if {' and '.join(tests)}:", f"        return {end}"]
        return "\n".join([*lines, f"    return {ends[-1][1]}"]) + "\n"


def _case(ends: Sequence[tuple[tuple[Condition, ...], str]]) -> str:
    """Conditions and what each gives, as an expression in SQL; the last one is the ELSE."""
    if len(ends) == 1:
        return ends[0][1]
    lines = ["CASE"]
    for conditions, end in ends[:-1]:
        when = " AND ".join(condition.in_sql() for condition in conditions)
        lines.append(f"  WHEN {when} THEN {end}")
    return "\n".join([*lines, f"  ELSE {ends[-1][1]}", "END"])


def _sql_label(label: Any) -> str:
    if isinstance(label, str):
        return "'" + label.replace("'", "''") + "'"
    return repr(label).upper() if isinstance(label, bool) else repr(label)


def make_rules(splitting: Splitting, tests: Tests, classes: np.ndarray) -> Rules:
    """The rules of the tree that a splitting makes; its literals are numbers of the tests."""
    labels = classes.tolist()
    weights = splitting.masses.sum(axis=1).tolist()
    rules = []
    for leaf, code, path in _ends(splitting, tests, merged=True):
        rows = int(splitting.rows[leaf].sum())
        precision = float(splitting.masses[leaf, code]) / weights[leaf]
        rules.append(Rule(merge(path), labels[code], rows, weights[leaf] / weights[0], precision))
    ends = sorted(_ends(splitting, tests, merged=False), key=lambda end: -weights[end[0]])
    shares = splitting.masses / splitting.masses.sum(axis=1, keepdims=True)
    leaves = [Leaf(merge(path), tuple(shares[leaf].tolist())) for leaf, _, path in ends]
    return Rules(sorted(rules, key=lambda rule: -rule.coverage), leaves, labels)


def _ends(
    splitting: Splitting, tests: Tests, merged: bool
) -> Iterator[tuple[int, int, list[Step]]]:
    """Each leaf with its class and path; merged, a split between leaves of one class is none."""
    split_of = {int(leaf): number for number, leaf in enumerate(splitting.leaves)}
    label = {}  # of the leaves, and of splits that decide nothing
    for leaf in reversed(range(len(splitting.rows))):  # children come after their parents
        split = split_of.get(leaf)
        if split is None:
            label[leaf] = int(splitting.labels[leaf])
        elif merged and label.get(2 * split + 1, -1) == label.get(2 * split + 2, -2):
            label[leaf] = label[2 * split + 1]
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


def explain(splitting: Splitting, tests: Tests, classes: np.ndarray, row: Any) -> str:
    """The path of a row in words, and what the training rows at its end were."""
    nodes, path, shown = walk(splitting, tests, row)
    masses = splitting.masses[nodes[-1]]
    names = [str(label) for label in classes]
    label = names[int(masses.argmax())]
    conditions = merge(path)
    lines = [f"{label}, because" if conditions else f"{label}, always"]
    for condition in conditions:
        lines.append(f"  {condition.in_words()} (it is {shown[condition.column.name]})")
    count = int(splitting.rows[nodes[-1]].sum())
    shares = sorted(zip(masses / masses.sum(), names, strict=True), key=lambda each: -each[0])
    found = ", ".join(f"{share:.0%} {name}" for share, name in shares if share > 0)
    lines.append(f"The {count_of(count, 'training row')} like this: {found}.")
    return "\n".join(map(show_text, lines))


def _read_row(tests: Tests, row: Any) -> tuple[Tests, Data, dict[str, str]]:
    """One row as data, the tests that find their columns in it, and its values as texts."""
    if hasattr(row, "to_dict") and np.ndim(row) == 1 and all(isinstance(k, str) for k in row.index):
        row = row.to_dict()  # a Series of pandas: ``frame.iloc[0]``
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
    """A cell as a column for polars, which drops pandas' nanoseconds and misreads NumPy's times."""
    import polars

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
