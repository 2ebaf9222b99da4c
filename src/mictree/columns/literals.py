"""Columns of data as literals: ``age > 37.5``, ``color is red``, ``income is missing``, ``flag``.

A binary column (0 and 1) is itself a literal. An ordered column (numbers, dates, times, durations,
ordered categories) offers thresholds halfway between neighbouring values, and a categorical column
its categories. A column with missing values also offers "is missing". A missing value fails every
threshold. ``Column`` holds the literals of one column, ``Literals`` those of a table, and
``encode`` chooses them and stores the columns, as bits or as ranks.

A grouped column offers sets of its categories, ``town in {A, C}``, which are too many to be listed.
It is stored as bits too, one row for each category and one for missing values, its cells. A set
becomes a literal when a tree needs it (``Literals.add_set``), behind all literals of columns.

No two literals of a data set have the same text, and none has the text of another's negation. If
two would clash, a column's texts are quoted (``c is '1'`` beside ``c is 1``, and always if one is
"missing"). Any other clash is resolved by the number of the column: ``a > 1.5 (column 0)``. Texts
are made when they are needed: a column of a million numbers offers a million literals.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import ColumnError
from mictree.columns.data import Data, check_finite, infinite, unnamed
from mictree.columns.ordered import (
    TIMES,
    UNSORTED,
    Edges,
    Ranks,
    Scratch,
    are_finite,
    changed,
    check_kind,
    midpoint,
    midpoints,
    rank,
    rank_columns,
    round_midpoint,
    show,
)
from mictree.columns.packing import NONE, pack_bits, pack_categories
from mictree.tree import LEAF, Source, Tree

FloatArray = np.typing.NDArray[np.float64]
BoolArray = np.typing.NDArray[np.bool_]
Texts = tuple[str, str]  # a literal's text, and the text of its negation
Positions = tuple[int, ...]  # a set of categories by their positions, ascending
Place = int | Positions  # of a literal among those of its column; of a grouped one, the set


@dataclass(frozen=True)
class Column:
    """How one column becomes literals.

    Attributes
    ----------
    below, above : of an ordered column, the values on both sides of each threshold, ascending;
        0 and 1 for a binary one
    binned : there are values with no threshold between them
    categories : of a categorical column, sorted; None for an ordered one
    grouped : its literals are sets of categories; there is none until a tree needs it
    implied : categories of the training rows that need no literal, as another one's negation is it
    levels : the categories of an ordered column of categories, whose values are positions
    missing : whether "is missing" is a literal too, the last one; of a grouped column, whether
        values are missing
    style : the type of an ordered column: how it reads
    """

    name: str
    below: FloatArray = field(default_factory=lambda: np.empty(0))
    above: FloatArray = field(default_factory=lambda: np.empty(0))
    binned: bool = False
    categories: tuple[Any, ...] | None = None
    levels: tuple[Any, ...] | None = None
    missing: bool = False
    style: str = "number"
    implied: tuple[Any, ...] = ()
    grouped: bool = False

    @property
    def thresholds(self) -> int:
        """The number of thresholds."""
        return len(self.below)

    @property
    def ranked(self) -> bool:
        """Whether thresholds are stored as ranks; a single one is a bit if no value is missing."""
        binary = self.style in ("binary", "boolean")
        return self.thresholds > 1 or (self.thresholds == 1 and self.missing and not binary)

    @property
    def count(self) -> int:
        """The number of literals; of a grouped column, of those that are listed: none."""
        if self.grouped:
            return 0
        offered = len(self.below) if self.categories is None else len(self.categories)
        return offered + self.missing

    @property
    def cells(self) -> int:
        """How many rows of bits a grouped column has: one a category, the last one for missing."""
        return len(self.categories or ()) + self.missing if self.grouped else 0

    def threshold(self, position: Place) -> float:
        """The threshold of a literal; NaN if it has none."""
        if isinstance(position, tuple) or position >= len(self.below):
            return math.nan
        below, above = float(self.below[position]), float(self.above[position])
        return self._at_tick(midpoint(below, above), below, above)

    def between(self, low: int, high: int) -> tuple[int, float]:
        """The test for rows whose ranks are two neighbours among those of a leaf.

        Halfway between the leaf's values, or with bins at the middle one of the thresholds offered.
        Returns its position, as a literal that separates the rows of the whole table alike.
        """
        first, last = low - self.missing, high - self.missing - 1  # of the thresholds between
        if self.binned:
            position = (first + last) // 2
            return position, self.threshold(position)
        below, above = float(self.below[first]), float(self.above[last])
        threshold = self._at_tick(round_midpoint(below, above), below, above)
        if first == last:
            return first, threshold
        return first + int(self.above[first : last + 1].searchsorted(threshold, "right")), threshold

    def _at_tick(self, threshold: float, below: float, above: float) -> float:
        """A time between whole microseconds at a whole one: many databases have no half of one."""
        if self.style in TIMES and below.is_integer() and above.is_integer():
            return float(math.floor(threshold))
        return threshold

    def cut(self, threshold: float) -> int:
        """The position of the literal that separates the training rows as a threshold does."""
        return int(self.above.searchsorted(threshold, side="right"))

    def text(self, position: Place, threshold: float | None = None) -> Texts:
        """The text of a literal and its negation's; ``make_texts_differ`` resolves clashes."""
        if isinstance(position, tuple):
            listed = ", ".join(self._words_in_sets[place] for place in position)
            return f"{self.name} in {{{listed}}}", f"{self.name} not in {{{listed}}}"
        if self.categories is not None:
            return self._category_texts[position]
        if position == len(self.below):
            return self._is("missing")
        if self.style == "boolean":
            return self._is("True")
        if self.style == "binary":
            return self.name, f"not {self.name}"
        exact = self.threshold(position) if threshold is None else threshold
        around = float(self.below[position]), float(self.above[position])
        text = show(exact, *around, self.style, self.levels)
        above = f"{self.name} > {text}"
        # a missing value is neither above nor below
        return above, f"not {above}" if self.missing else f"{self.name} <= {text}"

    def texts(self) -> list[Texts]:
        """Those of all literals."""
        return [self.text(position) for position in range(self.count)]

    @cached_property
    def _category_texts(self) -> list[Texts]:
        categories = self.categories or ()
        missing = [self._is("missing")] if self.missing else []
        texts = [self._is(str(category)) for category in categories] + missing
        if "missing" in categories or not _differ(texts):
            quoted = [repr(str(c)) if isinstance(c, str) else str(c) for c in categories]
            texts = [self._is(word) for word in quoted] + missing
        return texts

    @cached_property
    def _words_in_sets(self) -> list[str]:
        return words_in_sets(self.categories or ())

    def _is(self, word: str) -> Texts:
        return f"{self.name} is {word}", f"{self.name} is not {word}"

    def positions(self, values: FloatArray | list[Any]) -> np.typing.NDArray[np.int32]:
        """The position of each value of a categorical column among its literals; NONE without.

        Of a grouped column, among its cells.
        """
        position: dict[Any, int] = {
            category: number for number, category in enumerate(self.categories or ())
        }
        if self.missing:
            position[None] = len(position)
        return np.array(
            [position.get(value, NONE) for value in self.as_categories(values)], np.int32
        )

    def ranks(self, values: FloatArray | list[Any]) -> FloatArray:
        """The ranks of values of an ordered column, as those of the training rows."""
        return self.ranks_of(self.as_numbers(values))

    def ranks_of(self, numbers: FloatArray) -> FloatArray:
        """The same for numbers; those of an ordered column of categories are positions."""
        thresholds = midpoints(self.below, self.above)
        if self.style in TIMES:  # as ``_at_tick``
            whole = (self.below % 1 == 0) & (self.above % 1 == 0)
            thresholds = np.where(whole, np.floor(thresholds), thresholds)
        ranks = np.searchsorted(thresholds, numbers) + float(self.missing)
        return np.where(np.isnan(numbers), 0.0, ranks)

    def holds(
        self, position: Place, values: FloatArray | list[Any], threshold: float | None = None
    ) -> BoolArray:
        """Whether each value satisfies one of the literals, or is above a threshold."""
        if isinstance(position, tuple):
            members = {(self.categories or ())[place] for place in position}
            found = self.as_categories(values)
            return np.fromiter((value in members for value in found), bool, len(found))
        if self.categories is not None:
            wanted = self.categories[position] if position < len(self.categories) else None
            return np.array([value == wanted for value in self.as_categories(values)], dtype=bool)
        numbers = self.as_numbers(values)
        if position == len(self.below):
            return np.isnan(numbers)
        return numbers > (self.threshold(position) if threshold is None else threshold)

    def as_numbers(self, values: FloatArray | list[Any]) -> FloatArray:
        """The values of an ordered column."""
        if isinstance(values, list) and self.levels is not None:
            return as_levels(values, self.levels, self.name)
        if isinstance(values, list) and any(value is not None for value in values):
            raise changed(self.name, self.style, "text")
        if self.levels is not None and not np.all(np.isnan(np.asarray(values, dtype=float))):
            raise changed(self.name, "category", "number")
        return np.asarray([math.nan] * len(values) if isinstance(values, list) else values, float)

    def as_categories(self, values: FloatArray | list[Any]) -> list[Any]:
        """The values of a categorical column, None where missing."""
        if isinstance(values, list):
            return values
        if not np.all(np.isnan(values)):
            raise changed(self.name, "category", "number")
        return [None] * len(values)


def words_in_sets(categories: Sequence[Any]) -> list[str]:
    """How categories read between braces: quoted where sets could read alike."""
    words = [str(category) for category in categories]
    plain = len({"missing", *words}) > len(words) and not any(
        word != word.strip() or not word or any(mark in word for mark in SET_MARKS)
        for word in words
    )
    if plain:
        return words
    return [repr(str(each)) if isinstance(each, str) else str(each) for each in categories]


def as_levels(values: list[Any], levels: tuple[Any, ...], name: str) -> FloatArray:
    """The position of each category in its order; NaN where missing."""
    position = {level: float(number) for number, level in enumerate(levels)}
    position[None] = math.nan
    unknown = next((value for value in values if value not in position), None)
    if unknown is not None:
        known = ", ".join(map(str, levels[:10]))
        raise ValueError(f"an ordered category must be one of {known}; {name} has {unknown}")
    return np.array([position[value] for value in values], dtype=float)


def _differ(texts: Sequence[Texts]) -> bool:
    return len({text for pair in texts for text in pair}) == 2 * len(texts)


JOINTS = (" > ", " <= ", " is ", " in ", " not in ")  # what follows a column's name in a text
SET_MARKS = "{},"  # in a category, they could be taken for those around it


def _may_clash(names: Sequence[str]) -> bool:
    """Whether texts of different columns may be equal, judged by their names alone.

    Both begin with a name, so one name must begin with the other and a joint, or be equal to it.
    """
    bare = names
    if "not " in "\n".join(names):
        bare = [_without_not(name) for name in names]
    known = set(bare)
    if len(known) < len(bare) or not all(map(str.strip, names)):
        return True
    every = "\n".join(bare)
    if not any(joint in every for joint in JOINTS):  # as in most tables
        return False
    return any(
        name[:place] in known for name in bare for joint in JOINTS for place in _places(name, joint)
    )


def _without_not(name: str) -> str:
    while name.startswith("not "):
        name = name.removeprefix("not ")
    return name


def _places(text: str, part: str) -> Iterable[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def make_texts_differ(columns: Iterable[Sequence[Texts]]) -> list[Texts]:
    """The texts of all columns in one list; blank texts and duplicates get a mark.

    The mark is the number of the column, and a second number if that is not enough.
    """
    numbered = [(number, pair) for number, texts in enumerate(columns) for pair in texts]
    uses = Counter(text for _, pair in numbered for text in pair)
    return [
        pair
        if all(uses[text] == 1 and text.strip() for text in pair)
        else _mark(pair, number, uses)
        for number, pair in numbered
    ]


def _mark(pair: Texts, number: int, uses: Counter[str]) -> Texts:
    """Texts with the number of their column that no literal has yet; adds them to ``uses``."""
    again, mark = 1, f" (column {number})"
    while pair[0] + mark in uses or pair[1] + mark in uses:
        again += 1
        mark = f" (column {number}, {again})"
    marked = pair[0] + mark, pair[1] + mark
    uses.update(marked)
    return marked


TRANSFORM_LIMIT = 2**32  # bytes of a 0/1 matrix of all literals

IntArray = np.typing.NDArray[np.int64]


class Literals:
    """All literals of a data set, in the order of its columns; then the sets that trees need.

    Attributes
    ----------
    starts : the first literal of each column, then the number of literals that columns list
    ordered : the columns that are stored as ranks; bits hold all others
    grouped : the columns whose literals are sets of categories
    """

    def __init__(
        self,
        columns: Sequence[Column] | None,
        binary: Sequence[str] = (),
        sets: Sequence[tuple[int, Positions]] = (),
    ) -> None:
        self._binary = tuple(binary)
        self._sets = list(sets)
        self._places = {each: place for place, each in enumerate(self._sets)}
        self._lock = threading.Lock()  # of both
        self.starts: Sequence[int]
        self.ordered: tuple[int, ...]
        self.grouped: tuple[int, ...] = ()
        if columns is None:
            self.starts, self.ordered = range(len(self._binary) + 1), ()
            return
        self.columns = tuple(columns)
        self.starts = list(accumulate((column.count for column in self.columns), initial=0))
        self.ordered = tuple(number for number, column in enumerate(self.columns) if column.ranked)
        self.grouped = tuple(n for n, column in enumerate(self.columns) if column.cells > 1)

    @classmethod
    def binary(cls, names: Sequence[str]) -> Literals:
        """Every column is itself a literal."""
        return cls(None, names)

    def __len__(self) -> int:
        return self.starts[-1] + len(self._sets)

    def __reduce__(self) -> Any:
        columns = None if self._binary else self.columns
        return type(self), (columns, self._binary, tuple(self._sets))

    def add_set(self, number: int, positions: Positions) -> int:
        """The literal for a set of a grouped column's categories; a new one gets the next number.

        Numbers never change, so that all trees of a problem may use them.
        """
        key = number, positions
        with self._lock:
            place = self._places.setdefault(key, len(self._sets))
            if place == len(self._sets):
                self._sets.append(key)
        return self.starts[-1] + place

    def with_sets(self, used: Sequence[int]) -> tuple[Literals, dict[int, int]]:
        """Without sets that are not used, the others in order; and where the used literals are."""
        first, place = self.starts[-1], {literal: literal for literal in used}
        sets = {literal: self._sets[literal - first] for literal in used if literal >= first}
        columns = None if self._binary else self.columns
        other = Literals(columns, self._binary, sorted(sets.values()))
        return other, place | {literal: other.add_set(*each) for literal, each in sets.items()}

    def cells(self, number: int) -> slice:
        """The rows of bits of a grouped column."""
        first = self._first_cells[number]
        return slice(first, first + self.columns[number].cells)

    @cached_property
    def _first_cells(self) -> dict[int, int]:
        """The first row of bits of each grouped column: they follow those of literals."""
        counts = (self.columns[number].cells for number in self.grouped)
        starts = accumulate(counts, initial=len(self.stored_bits))
        return dict(zip(self.grouped, starts, strict=False))

    @property
    def rows_of_bits(self) -> int:
        """How many rows of bits all columns have."""
        cells = sum(self.columns[number].cells for number in self.grouped)
        return len(self.stored_bits) + cells

    @property
    def lists_all(self) -> bool:
        """Whether every test of a tree is listed: none is a threshold or a set."""
        return not self.ordered and not self.grouped

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """How each column becomes literals."""
        ends = np.array([0.0]), np.array([1.0])
        return tuple(Column(name, *ends, style="binary") for name in self._binary)

    @cached_property
    def stored_bits(self) -> np.typing.NDArray[np.intp]:
        """The literals that are stored as bits."""
        if not self.ordered:
            return np.arange(self.starts[-1])
        kept = [np.empty(0, dtype=np.intp)]  # not a flag for each literal: there may be millions
        for number, column in enumerate(self.columns):
            skipped = column.thresholds if column.ranked else 0
            if column.count > skipped:
                kept.append(np.arange(self.starts[number] + skipped, self.starts[number + 1]))
        return np.concatenate(kept)

    @property
    def names(self) -> tuple[str, ...]:
        """The texts of the literals, all different."""
        if not self._sets:
            return self._names_of_columns
        sets = range(self.starts[-1], len(self))
        return self._names_of_columns + tuple(self.texts(literal)[0] for literal in sets)

    @cached_property
    def _names_of_columns(self) -> tuple[str, ...]:
        return tuple(text for text, _ in self._texts)

    @cached_property
    def _texts(self) -> list[Texts]:
        return make_texts_differ(column.texts() for column in self.columns)

    @cached_property
    def _clashing(self) -> bool:
        """Whether a literal of one column may read like one of another."""
        return _may_clash(self._names)

    @property
    def _names(self) -> Sequence[str]:
        """Those of the columns."""
        return self._binary or [each.name for each in self.columns]

    def texts(self, literal: int, threshold: float | None = None) -> Texts:
        """The text of a literal and its negation's, perhaps at another threshold."""
        if self._binary and not self._clashing:  # no need to make any column
            name = self._binary[literal]
            return name, f"not {name}"
        number, position = self.locate(literal)
        column = self.columns[number]
        if not self._clashing:
            return column.text(position, threshold)
        if isinstance(position, tuple):
            held, other = column.text(position)
            return f"{held} (column {number})", f"{other} (column {number})"
        if threshold is None or column.threshold(position) == threshold:
            return self._texts[literal]
        above, below = column.text(position, threshold)
        return f"{above} (column {number})", f"{below} (column {number})"

    def negated(self, literal: int) -> str:
        """The negation of a literal: ``age <= 37.5``, ``color is not red``."""
        return self.texts(literal)[1]

    def locate(self, literal: int) -> tuple[int, Any]:
        """The number of a literal's column, and its position among the column's literals.

        Of a set of categories, their positions.
        """
        if literal >= self.starts[-1]:
            return self._sets[literal - self.starts[-1]]
        column = bisect_right(self.starts, literal) - 1
        return column, literal - self.starts[column]

    def threshold(self, literal: int) -> float:
        """The threshold of a literal; NaN if it has none."""
        number, position = self.locate(literal)
        return self.columns[number].threshold(position)

    def thresholds(self, literals: IntArray) -> np.typing.NDArray[np.float64]:
        """Those of several literals."""
        if self._binary:
            return np.full(len(literals), 0.5)
        return np.array([self.threshold(each) for each in literals.tolist()])

    def source(self, literal: int, threshold: float = math.nan) -> Source:
        """What a test reads: its column, and the threshold or the position of another literal."""
        number, position = self.locate(literal)
        column = self.columns[number]
        if isinstance(position, tuple):
            return number, position
        if column.categories is not None or position == column.thresholds:
            return number, -1 if column.missing and position == column.count - 1 else position
        return number, column.threshold(position) if math.isnan(threshold) else threshold

    def find(self, source: Source) -> int:
        """The literal that separates the training rows as a test does; -1 if there is none."""
        number, what = source
        column, start = self.columns[number], self.starts[number]
        if isinstance(what, tuple):
            known = number in self.grouped and max(what) < len(column.categories or ())
            return self.add_set(number, what) if known else -1
        if isinstance(what, int):
            return start + what % column.count
        return start + column.cut(what) if column.cut(what) < column.thresholds else -1

    def tree(
        self,
        leaves: Sequence[int],
        literals: Sequence[int],
        thresholds: Sequence[float | None],
        labels: Sequence[int],
    ) -> Tree:
        """A tree from splits as ``Tree.from_splits`` has them; with numbers, of its tests only."""
        if self.lists_all:
            return Tree.from_splits(self.names, leaves, literals, labels)
        tests = [
            (literal, self.source(literal, math.nan if threshold is None else threshold))
            for literal, threshold in zip(literals, thresholds, strict=True)
        ]
        distinct = sorted(set(tests), key=_in_order)
        place = {test: number for number, test in enumerate(distinct)}
        names = [self.texts(literal, _as_threshold(source))[0] for literal, source in distinct]
        uses = Counter(names) if len(set(names)) < len(names) else {}
        for number, (_, (column, what)) in enumerate(distinct if uses else ()):
            if uses[names[number]] > 1:  # thresholds between the same two values of the table
                exact = f"{self.columns[column].name} > {what!r}"
                names[number] = f"{exact} (column {column})" if self._clashing else exact
        sources = tuple(source for _, source in distinct)
        return Tree.from_splits(
            tuple(names), leaves, [place[test] for test in tests], labels, sources
        )

    def only(self, used: Sequence[int]) -> tuple[Literals, dict[int, int]]:
        """Without thresholds and sets of categories that are not used; and the new positions."""
        if self.lists_all:
            return self, {literal: literal for literal in used}
        located = [self.locate(literal) for literal in used]
        columns = list(self.columns)
        for number in self.ordered:
            column = columns[number]
            kept = [p for n, p in located if n == number and p < column.thresholds]
            columns[number] = replace(
                column, below=column.below[kept], above=column.above[kept], binned=True
            )
        sets = {located[place] for place, literal in enumerate(used) if literal >= self.starts[-1]}
        fewer, place = Literals(columns, sets=sorted(sets)), {}
        for literal, (number, position) in zip(used, located, strict=True):
            if isinstance(position, tuple):
                place[literal] = fewer.add_set(number, position)
                continue
            new, old = columns[number], self.columns[number]
            if number in self.ordered:
                same = old.below[position] if position < old.thresholds else math.inf
                position = int(np.searchsorted(new.below, same))
            place[literal] = fewer.starts[number] + position
        return fewer, place

    def compact(self, tree: Tree) -> Tree:
        """A tree whose variables are all literals; with ordered columns, only those it tests."""
        if self.lists_all or tree.sources:
            return tree
        used = sorted({test for test in tree.tests if test >= 0})
        place = {test: number for number, test in enumerate(used)} | {LEAF: LEAF}
        return Tree(
            tuple(self.texts(test)[0] for test in used),
            tuple(place[test] for test in tree.tests),
            tree.low, tree.high, tree.labels,
            tuple(self.source(test) for test in used),
        )  # fmt: skip

    def holds(
        self, data: Data, literal: int, rows: IntArray | None = None, threshold: float | None = None
    ) -> BoolArray:
        """Whether the rows (by default all) satisfy a literal, perhaps at another threshold."""
        number, position = self.locate(literal)
        column = self.columns[number]
        matrix = data.matrix
        if column.categories is None:
            check_kind(data, number, column.style, column.name)
            check_finite(data, number, column.name)
        if (
            column.categories is None
            and isinstance(matrix, np.ndarray)
            and matrix.dtype.kind in "biuf"
            and matrix.dtype.itemsize <= 8  # longer floats are rounded first, as they were at fit
        ):
            values = matrix[:, number] if rows is None else matrix[rows, number]
            if position == column.thresholds:
                return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
            # a float of Python's would be rounded to the type of the matrix first
            return values > np.float64(
                column.threshold(position) if threshold is None else threshold
            )
        values = data.column(number)
        if rows is not None:
            values = [values[row] for row in rows] if isinstance(values, list) else values[rows]
        return column.holds(position, values, threshold)

    def transform(
        self, X: Any, tree: Tree | None = None, memory_limit: int = TRANSFORM_LIMIT
    ) -> np.typing.NDArray[np.uint8]:
        """All literals of a data set as a 0/1 matrix, one column each; or only those of a tree.

        A tree reads the result: ``tree.predict(literals.transform(X, tree))``. For a lone leaf that
        has no variables it is one column of zeros, because scikit-learn refuses a matrix without
        columns.
        """
        data = self._read(X)
        if tree is not None and not tree.variables:
            return np.zeros((data.rows, 1), dtype=np.uint8)
        if tree is not None and tree.sources:
            return self._evaluate(data, tree.sources)
        if data.rows * len(self) > memory_limit:
            raise ValueError(
                f"a 0/1 matrix must fit into {memory_limit:,} bytes; {data.rows:,} rows and "
                f"{len(self):,} literals need {data.rows * len(self):,}: set max_thresholds, or "
                "transform for one tree"
            )
        matrix = np.empty((data.rows, len(self)), dtype=np.uint8)
        for literal in range(len(self)):
            matrix[:, literal] = self.holds(data, literal)
        return matrix

    def ranks(self, X: Any) -> Ranks:
        """A data set as a matrix that offers the same tests: ordered columns as ranks, else bits.

        A missing value has rank 0. A grouped column becomes a bit for each category, and for
        missing values.
        """
        data = self._read(X)
        width = len(self.ordered) + self.rows_of_bits
        most = max((self.columns[number].thresholds + 1 for number in self.ordered), default=1)
        matrix = np.empty((data.rows, width), dtype=np.min_scalar_type(most))
        place = 0
        for number, column in enumerate(self.columns):
            start, stop = self.starts[number], self.starts[number + 1]
            if column.ranked:
                check_finite(data, number, column.name)
                matrix[:, place] = column.ranks(data.column(number))
                place, start = place + 1, start + column.thresholds
            if column.cells > 1:
                found = column.positions(data.column(number))
                matrix[:, place : place + column.cells] = found[:, None] == range(column.cells)
                place += column.cells
            for literal in range(start, stop):
                matrix[:, place] = self.holds(data, literal)
                place += 1
        return matrix

    def _read(self, X: Any) -> Data:
        """A data set with the columns that the literals were made from."""
        data = Data(X)
        if data.width != len(self.columns):
            raise ValueError(f"X must have {len(self.columns)} columns; it has {data.width}")
        known = tuple(column.name for column in self.columns)
        if unnamed(data.width) not in (known, data.names) and known != data.names:
            number = [a == b for a, b in zip(known, data.names, strict=True)].index(False)
            raise ValueError(
                "X must have the columns the literals were made from, in their order; "
                f"column {number} is {data.names[number]!r}, not {known[number]!r}"
            )
        return data

    def _evaluate(self, data: Data, sources: Sequence[Source]) -> np.typing.NDArray[np.uint8]:
        matrix = np.empty((data.rows, len(sources)), dtype=np.uint8)
        for place, (number, what) in enumerate(sources):
            column = self.columns[number]
            if isinstance(what, tuple):
                matrix[:, place] = column.holds(what, data.column(number))
                continue
            if isinstance(what, int):
                position, threshold = what % column.count, None
            else:
                position, threshold = 0, what
            matrix[:, place] = self.holds(data, self.starts[number] + position, None, threshold)
        return matrix


def _in_order(test: tuple[int, Source]) -> tuple[Any, ...]:
    """What sorts tests: by their column, and then as they are listed, or by the set."""
    literal, (number, what) = test
    return (number, *what) if isinstance(what, tuple) else (number, literal, what)


def _as_threshold(source: Source) -> float | None:
    return source[1] if isinstance(source[1], float) else None


MAX_CATEGORIES = 1024  # a column with more is an identifier
SMALL = 2**15  # cells of a matrix whose columns are ranked in one call
OUT = "leave the column out of X"  # advice in Python


class Encoded(NamedTuple):
    """A data set's literals and the rows to learn from, in the order of their slots."""

    literals: Literals
    # a row of words for each of ``literals.stored_bits``, then those of all ``literals.cells``
    bits: np.typing.NDArray[np.uint64]
    ranks: tuple[Ranks, ...]  # of the rows, for each of ``literals.ordered``


def encode(
    data: Data,
    order: IntArray,
    rows: IntArray,
    weights: FloatArray | None = None,
    max_thresholds: int | None = None,
    grouped: bool = False,
) -> Encoded:
    """Choose the literals of a data set and store its columns, one after another.

    Parameters
    ----------
    order : the row in each slot, NONE where it is empty; a multiple of 64 slots
    rows : those of the slots that are not empty
    weights : of all slots; whole numbers, so that bins do not depend on the order of rows
    grouped : tests on categories are sets of them
    """
    used = order != NONE
    if weights is not None:
        weights = weights[used]
    columns: list[Column] = []
    blocks = [np.empty((0, len(order) // 64), dtype=np.uint64)]
    cells: list[np.typing.NDArray[np.uint64]] = []
    kept: list[Ranks] = []
    learned = _learn_matrix(data, rows) if max_thresholds is None else None
    for number, (column, ranks) in enumerate(
        learned or _learn_columns(data, rows, weights, max_thresholds, grouped)
    ):
        columns.append(column)
        if ranks is None:  # categories
            block = np.empty((column.count + column.cells, len(order) // 64), dtype=np.uint64)
            if len(block) > column.grouped:  # a grouped column of one cell divides nothing
                pack_categories(_positions(data, number, column), order, block)
                (cells if column.grouped else blocks).append(block)
            continue
        if column.ranked:
            kept.append(ranks)
        elif column.thresholds:
            blocks.append(pack_bits(ranks > column.missing, used, len(order)))
        if column.missing:
            blocks.append(pack_bits(ranks == 0, used, len(order)))
    blocks += cells
    bits = np.concatenate(blocks) if len(blocks) > 1 else blocks[0]
    return Encoded(Literals(columns), bits, tuple(kept))


def _learn_matrix(data: Data, rows: IntArray) -> list[tuple[Column, Ranks]] | None:
    """Do the same as for each column for a small matrix of finite floats; None for others."""
    matrix = data.floats
    if matrix is None or matrix.size > SMALL:
        return None
    values = matrix.T.take(rows, axis=1).astype(float, copy=False)
    ranks, counts = np.empty(values.shape, dtype=np.uint32), np.empty(len(values), dtype=np.int64)
    rank_columns(values, ranks, counts)
    ranks = ranks.astype(np.min_scalar_type(len(rows)), copy=False)
    learned = []
    for name, distinct, mine, count in zip(data.names, values, ranks, counts.tolist(), strict=True):
        if count == UNSORTED:
            return None
        ends = distinct[:count].copy()
        edges = Edges(ends[:-1], ends[1:], binned=False, missing=False)
        column = ordered_column(name, edges, "float")
        if mine.itemsize > 1:
            mine = mine.astype(np.min_scalar_type(count), copy=False)
        learned.append((column, mine))
    return learned


def _learn_columns(
    data: Data, rows: IntArray, weights: FloatArray | None, max_thresholds: int | None,
    grouped: bool,
) -> Iterator[tuple[Column, Ranks | None]]:  # fmt: skip
    """Do it for one column after another."""
    scratch = Scratch.of(data.rows)
    for number, name in enumerate(data.names):
        yield learn_column(data, number, name, rows, weights, max_thresholds, scratch, grouped)


def learn_column(
    data: Data, number: int, name: str, rows: IntArray, weights: FloatArray | None,
    max_thresholds: int | None, scratch: Scratch, grouped: bool = False,
) -> tuple[Column, Ranks | None]:  # fmt: skip
    """Choose the literals of a column from some rows; if it is ordered, also return their ranks."""
    levels, coded = data.levels(number), data.codes(number)
    if coded is not None:
        present = np.bincount(coded[1][rows], minlength=len(coded[0])) > 0
        found = {coded[0][code] for code in np.flatnonzero(present).tolist()}
        return categorical_column(name, found, grouped), None
    values = data.column(number)
    if isinstance(values, list) and levels is None:
        found = set(values) if len(rows) == len(values) else {values[r] for r in rows.tolist()}
        return categorical_column(name, found, grouped), None
    if isinstance(values, list):
        values = as_levels(values, levels or (), name)
    check_numbers(data, number, name)
    values, present = scratch.take(values, rows), None
    if not are_finite(values):
        present = ~np.isnan(values)
        values, weights = values[present], weights[present] if weights is not None else None
        if np.isinf(values).any():
            raise infinite(name, advice=OUT)
    below, above, ranks, binned = rank(values, weights, max_thresholds, scratch)
    # a column of nothing but missing values, like any constant one, is no literal
    missing = present is not None and len(values) > 0
    edges = Edges(below, above, binned, missing)
    column = ordered_column(name, edges, data.kind(number), levels)
    if present is not None:
        everywhere = np.zeros(len(rows), dtype=ranks.dtype)
        everywhere[present] = ranks + 1
        ranks = everywhere
    return column, ranks


def _positions(data: Data, number: int, column: Column) -> np.typing.NDArray[np.int32]:
    """The position of each row of a categorical column among its literals or cells."""
    coded = data.codes(number)
    if coded is None:
        return column.positions(data.column(number))
    values, codes = coded
    return column.positions(values)[codes]


def check_numbers(data: Data, number: int, name: str) -> None:
    """Refuse different numbers of a column that round to one 64-bit float."""
    merged = data.merged(number)
    if merged is not None:
        one, other = merged
        raise ColumnError(
            f"different values must differ as 64-bit floats; {name} has {one!s} and {other!s}",
            name,
            OUT,
            or_texts=True,
        )


def ordered_column(
    name: str, edges: Edges, kind: str, levels: tuple[Any, ...] | None = None
) -> Column:
    """The literals of an ordered column; its kind is one of ``Data.kind``."""
    below, above, binned, missing = edges
    style = kind if kind in TIMES else "number"
    if style == "number" and levels is None and not binned and _is_binary(below, above):
        style = "boolean" if kind == "boolean" else "binary"
    return Column(name, below, above, binned, None, levels, missing, style)


def _is_binary(below: FloatArray, above: FloatArray) -> bool:
    """Whether the values are 0 and 1."""
    return len(below) == 1 and below[0] == 0 and above[0] == 1


def categorical_column(name: str, found: set[Any], grouped: bool = False) -> Column:
    """The literals of a column of categories; None among those found stands for missing."""
    missing = None in found
    found.discard(None)
    if len(found) > MAX_CATEGORIES:
        raise too_many_categories(name, str(len(found)))
    try:
        categories = tuple(sorted(found))
    except TypeError:  # such as texts and numbers in one pandas Categorical
        categories = tuple(sorted(found, key=lambda value: (type(value).__name__, str(value))))
    if grouped:
        return Column(name, categories=categories, missing=missing and bool(found), grouped=True)
    implied: tuple[Any, ...] = ()
    if len(categories) <= 2 and not missing:
        implied, categories = categories[:1], categories[1:]  # the other one is its negation
    elif len(categories) == 1:
        implied, categories = categories, ()  # its negation is "is missing"
    return Column(name, categories=categories, missing=missing and bool(found), implied=implied)


def too_many_categories(name: str, count: str, advice: str = OUT) -> ColumnError:
    """The error about a column of categories that is probably an identifier."""
    return ColumnError(
        f"a categorical column may have at most {MAX_CATEGORIES} categories; {name} has {count}",
        name,
        advice,
    )
