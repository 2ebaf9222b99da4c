"""Sets of Parquet files that are read batch by batch; an error names the file.

Only a few batches of the rows are in memory at a time: those that are worked on, and the next,
which a thread reads meanwhile. Every file must have the columns of the first one, with the same
types; their order may differ. The cells of a batch are read as floats, as integers, or as codes of
categories; a value that no 64-bit float keeps is refused.

Parquet files hold statistics of their columns. A column of at most two integers is known from them
without reading it (``known_unread``), so it needs no pass that learns its literals. A file may be
wrong about itself, so the statistics are checked when the cells are stored.
"""

from __future__ import annotations

import difflib
import glob
from collections.abc import Container, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mictree._support.checks import ColumnError, check_count
from mictree._support.progress import Progress, Report, ignore
from mictree.columns.data import WHOLE, Data, infinite
from mictree.columns.text_tables import check_header

if TYPE_CHECKING:
    import polars
    import pyarrow


BATCH_BYTES = 2**22  # of the cells of a batch
TEXT_BYTES = 16  # of a cell whose length is not fixed, roughly
FEWEST_ROWS, MOST_ROWS = 2**10, 2**17  # of a batch
FOLDER_PATTERNS = ("*.parquet", "*=*/*.parquet")  # its own files, and one level of partitions
READ_AHEAD = 2**16  # bytes read ahead for each column: a row group may be larger than the memory

COUNTED_ROWS = 2**20  # whose places are found at a time

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # of SplitMix64, as the other three
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

Paths = str | Path | Sequence[str | Path]
FloatArray = np.typing.NDArray[np.float64]
Words = np.typing.NDArray[np.uint64]


class Batch(NamedTuple):
    """Some rows of one file, and the places of these rows if they are a share of all."""

    file: Path
    table: pyarrow.Table
    places: FloatArray = np.empty(0)


class Share(NamedTuple):
    """The rows whose place lies from ``low`` to below ``high``.

    The place of a row is a number from 0 to below 1 that depends on the row's number and on the
    seed alone: SplitMix64's output of that number (Steele, Lea and Flood, 2014). So a row is in the
    same part however files are cut into batches, and parts that do not overlap share no row.
    """

    low: float
    high: float
    seed: int

    @classmethod
    def of(cls, rows: Any, seed: int) -> Share | None:
        """Check the bounds; None for all rows."""
        if rows is None:
            return None
        bounds: tuple[Any, ...] = tuple(rows) if isinstance(rows, Sequence) else ()
        numbers = len(bounds) == 2 and all(isinstance(bound, Real) for bound in bounds)
        if not numbers or not 0 <= bounds[0] < bounds[1] <= 1:
            raise ValueError(
                f"rows must be two numbers, 0 <= low < high <= 1, or None for all; got {rows!r}"
            )
        if check_count(seed, "seed") >= 2**64:
            raise ValueError(f"seed must be below 2**64; got {seed}")
        return cls(float(bounds[0]), float(bounds[1]), seed)

    def places(self, start: int, stop: int) -> FloatArray:
        """The places of the rows of some numbers."""
        numbers = np.arange(start + 1, stop + 1, dtype=np.uint64)
        state = _mix(np.full(1, self.seed, dtype=np.uint64))
        return np.ldexp((_mix(state + numbers * GOLDEN) >> np.uint64(11)).astype(float), -53)

    def holds(self, places: FloatArray) -> np.typing.NDArray[np.bool_]:
        """Which places belong to the share."""
        return (self.low <= places) & (places < self.high)

    def count(self, rows: int) -> int:
        """How many of the first rows belong to the share."""
        starts = range(0, rows, COUNTED_ROWS)
        ends = [min(rows, start + COUNTED_ROWS) for start in starts]
        parts = zip(starts, ends, strict=True)
        return sum(int(self.holds(self.places(*part)).sum()) for part in parts)


def _mix(words: Words) -> Words:
    """SplitMix64's output function, modulo 2**64."""
    words = (words ^ (words >> np.uint64(30))) * FACTORS[0]
    words = (words ^ (words >> np.uint64(27))) * FACTORS[1]
    return words ^ (words >> np.uint64(31))


class Bounds(NamedTuple):
    """What the statistics in the files say of a column, without reading it."""

    least: int
    most: int
    missing: bool


def find_files(paths: Paths) -> tuple[Path, ...]:
    """The files that a pattern, a folder, a path or several of them name, sorted."""
    if isinstance(paths, str | Path):
        paths = [paths]
    found: set[Path] = set()
    for path in paths:
        if Path(path).is_file():
            found.add(Path(path))
            continue
        if Path(path).is_dir():
            files = [each for own in FOLDER_PATTERNS for each in Path(path).glob(own)]
            rule = "a folder must have Parquet files, itself or in folders such as year=2026"
        else:
            files = [Path(each) for each in glob.glob(str(path), recursive=True)]
            rule = "a pattern must match a Parquet file"
        files = [each for each in files if each.is_file()]
        if not files:
            raise ValueError(
                f"{rule}; {str(path)!r} {'has' if 'folder' in rule else 'matches'} none"
            )
        found.update(files)
    if not found:
        raise ValueError("there must be at least one Parquet file; the list of paths is empty")
    return tuple(sorted(found))


class ParquetSet:
    """The rows of some Parquet files, one file after another.

    Attributes
    ----------
    files : sorted by name
    share : the rows that are read; None for all of them
    """

    def __init__(self, paths: Paths, share: Share | None = None) -> None:
        self.files = find_files(paths)
        self.share = share
        self.schema: dict[str, Any] = {}
        self._bytes: dict[str, int] = {}  # of a cell of each column
        self._counts: list[int] = []
        for file in self.files:
            with self._open(file) as opened:
                check_header(opened.schema_arrow.names, file)
                schema = as_polars(opened.schema_arrow.empty_table()).schema
                cells = {field.name: _cell_bytes(field.type) for field in opened.schema_arrow}
                self._counts.append(opened.metadata.num_rows)
            if file == self.files[0]:
                self.schema, self._bytes = dict(schema), cells
            else:
                self._check_schema(file, schema)

    @property
    def all_rows(self) -> int:
        """The number of rows in all files."""
        return sum(self._counts)

    @cached_property
    def rows(self) -> int:
        """The number of rows that are read."""
        return self.all_rows if self.share is None else self.share.count(self.all_rows)

    def _check_schema(self, file: Path, schema: Any) -> None:
        """Refuse a file whose columns are not those of the first one."""
        first = self.files[0]
        rule = "all files must have the same columns"
        for name in [*self.schema, *schema]:
            if name not in schema:
                raise ValueError(f"{rule}; {file} has no {name!r}, which {first} has")
            if name not in self.schema:
                raise ValueError(f"{rule}; {file} has {name!r}, which {first} has not")
            if schema[name] != self.schema[name]:
                one, other = schema[name], self.schema[name]
                raise ValueError(
                    f"{rule}; {name!r} has type {one} in {file} and {other} in {first}"
                )

    def empty(self, names: Sequence[str]) -> polars.DataFrame:
        """A table with some of the columns and no rows."""
        import polars

        return polars.DataFrame(schema={name: self.schema[name] for name in names})

    def check_column(self, name: str) -> None:
        """Refuse a name that is no column's."""
        if name in self.schema:
            return
        near = difflib.get_close_matches(name, list(self.schema), 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(
            f"every file must have a column {name!r}{hint}; {self.files[0]} has "
            f"{', '.join(map(repr, self.schema))}"
        )

    def batches(
        self, columns: Sequence[str], what: str = "reading", report: Report = ignore
    ) -> Iterator[Batch]:
        """All rows of the share, some at a time; always in one order and cut at the same places."""
        width = sum(self._bytes[name] for name in columns)
        size = min(MOST_ROWS, max(FEWEST_ROWS, BATCH_BYTES // max(1, width)))
        done, found = 0, self._read(list(columns), size)
        with closing(found), ThreadPoolExecutor(1) as reader:
            coming = reader.submit(next, found, None)
            while (batch := coming.result()) is not None:
                coming = reader.submit(next, found, None)  # while this one is worked on
                yield batch
                done += batch.table.num_rows
                detail = f"{done:,} of {self.rows:,} rows"
                report(Progress(what, done / max(1, self.rows), detail))

    def _read(self, columns: list[str], size: int) -> Generator[Batch]:
        """All rows of the share, those of so many at a time."""
        import pyarrow

        first = 0  # the number of the next row
        for file, expected in zip(self.files, self._counts, strict=True):
            found = 0
            with self._open(file) as opened:
                if dict(as_polars(opened.schema_arrow.empty_table()).schema) != self.schema:
                    raise ValueError(
                        f"a file must stay as it is while it is read; {file} has other columns now"
                    )
                for batch in opened.iter_batches(size, columns=columns):
                    start, places = first + found, np.empty(0)
                    found += batch.num_rows
                    if self.share is not None:
                        places = self.share.places(start, first + found)
                        chosen = self.share.holds(places)
                        batch, places = batch.filter(pyarrow.array(chosen)), places[chosen]
                    if batch.num_rows:
                        yield Batch(file, pyarrow.Table.from_batches([batch]), places)
            first += expected
            if found != expected:
                raise ValueError(
                    f"a file must stay as it is while it is read; {file} had {expected:,} rows, "
                    f"now {found:,}"
                )

    @contextmanager
    def _open(self, file: Path) -> Iterator[Any]:
        """Whatever goes wrong with a file, the error names it."""
        import pyarrow
        from pyarrow.parquet import ParquetFile

        try:
            with ParquetFile(file, buffer_size=READ_AHEAD, pre_buffer=False) as opened:
                yield opened
        except MemoryError:
            raise
        except (pyarrow.ArrowException, OSError) as error:
            message = str(error).partition("\n")[0].strip()
            raise ValueError(f"{file} cannot be read as Parquet: {message}") from None

    @cached_property
    def bounds(self) -> dict[str, Bounds | None]:
        """For columns of integers and Booleans, their least and largest value if files state it."""
        found: dict[str, Bounds | None] = {
            name: None
            for name, kind in self.schema.items()
            if kind.is_integer() or str(kind) == "Boolean"
        }
        statistics: dict[str, list[Bounds | None]] = {name: [] for name in found}
        for file in self.files:
            with self._open(file) as opened:
                for name, group in _groups(opened.metadata, found):
                    statistics[name].append(group)
        for name, groups in statistics.items():
            known = [group for group in groups if group is not None]
            if known and len(known) == len(groups):
                found[name] = Bounds(
                    min(group.least for group in known),
                    max(group.most for group in known),
                    any(group.missing for group in known),
                )
        return found


def _groups(metadata: Any, names: Container[str]) -> Iterator[tuple[str, Bounds | None]]:
    """What a file states of some columns in each of its groups of rows."""
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group)
        for number in range(rows.num_columns if rows.num_rows else 0):
            column = rows.column(number)
            if column.path_in_schema not in names:
                continue
            statistics, bounds = column.statistics, None
            if statistics is not None and statistics.has_min_max and statistics.has_null_count:
                bounds = Bounds(int(statistics.min), int(statistics.max), statistics.null_count > 0)
            yield column.path_in_schema, bounds


def _cell_bytes(kind: Any) -> int:
    try:
        return max(1, kind.bit_width // 8)
    except ValueError:  # a type without a fixed width
        return TEXT_BYTES


def as_polars(table: pyarrow.Table) -> polars.DataFrame:
    """A table's cells in the types that ``mictree.columns.text_tables`` reads them in."""
    import polars

    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame


LEAVE_OUT = "leave the column out, naming all others in columns="  # advice in Python

IntArray = np.typing.NDArray[np.int64]


def read_numbers(batch: Batch, name: str) -> FloatArray:
    """The values of an ordered column as floats, NaN where missing; of an Enum, positions."""
    import polars

    frame = as_polars(batch.table.select([name]))
    if str(frame.dtypes[0]).startswith("Enum"):
        frame = frame.with_columns(polars.col(name).to_physical())
    values = Data(frame).column(0)
    assert not isinstance(values, list)  # texts are categories
    if np.isinf(values).any():
        raise infinite(name, f", in {batch.file}", LEAVE_OUT)
    _check_exact(frame.to_series(), values, batch)
    return values


def _check_exact(series: polars.Series, values: FloatArray, batch: Batch) -> None:
    """Refuse values that a 64-bit float does not keep: two of them might become one.

    Whether there are two cannot be seen: they may be in different batches.
    """
    kind, name = series.dtype, str(series.dtype)
    present = values[~np.isnan(values)]
    exact = series.drop_nulls()
    if name.startswith(("Datetime", "Duration")) and getattr(kind, "time_unit", "us") == "ns":
        whole = np.floor(present)
        back = 1000 * whole.astype(np.int64) + np.rint(1e3 * (present - whole)).astype(np.int64)
        wrong = back != exact.to_physical().to_numpy()
    elif kind.is_decimal() or (kind.is_integer() and np.any(np.abs(present) >= WHOLE)):
        import polars

        back = polars.Series(present).cast(kind, strict=False)
        wrong = (back.fill_null(0) != exact).to_numpy() | back.is_null().to_numpy()
    else:
        return
    if wrong.any():
        raise ColumnError(
            f"values that are streamed must be 64-bit floats; {series.name} has "
            f"{exact[int(np.argmax(wrong))]} in {batch.file}",
            series.name,
            LEAVE_OUT,
        )


def read_integers(batch: Batch, name: str) -> np.typing.NDArray[Any] | None:
    """The cells of a column of integers as they are, of Booleans as bytes; None for others.

    None also if a cell is missing.
    """
    import pyarrow

    (cells,) = batch.table[name].chunks
    if cells.null_count:
        return None
    if pyarrow.types.is_boolean(cells.type):  # Arrow has them as bits, and is slow with them
        bits = np.frombuffer(cells.buffers()[1], dtype=np.uint8)
        end = cells.offset + len(cells)
        return np.unpackbits(bits, count=end, bitorder="little")[cells.offset :]
    return cells.to_numpy() if pyarrow.types.is_integer(cells.type) else None


def as_codes(batch: Batch, name: str) -> tuple[list[Any], IntArray]:
    """A column as positions in a list of its values; the last one is None, for missing cells."""
    import pyarrow

    cells = batch.table[name].combine_chunks()
    if not pyarrow.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    codes = cells.indices
    if codes.null_count:
        codes = codes.cast("int64").fill_null(len(cells.dictionary))
    return [*cells.dictionary.to_pylist(), None], codes.to_numpy()


LARGEST_WHOLE = 2**53  # up to it, different integers are different floats


def known_unread(files: ParquetSet, names: Sequence[str]) -> dict[str, Bounds]:
    """The bounds of columns whose statistics leave at most two values, different floats."""
    statistics = {name: files.bounds.get(name) for name in names}
    return {
        name: bounds
        for name, bounds in statistics.items()
        if bounds is not None and _give_all_values(bounds)
    }


def _give_all_values(bounds: Bounds) -> bool:
    largest = max(abs(bounds.least), abs(bounds.most))
    return bounds.most - bounds.least <= 1 and largest <= LARGEST_WHOLE


def check_statistics(values: FloatArray, bounds: Bounds, name: str, batch: Batch) -> None:
    """Refuse numbers, NaN where missing, that are not as the statistics say."""
    absent = np.isnan(values)
    present = values[~absent]
    within = not len(present) or bounds.least <= present.min() <= present.max() <= bounds.most
    if not within or (absent.any() and not bounds.missing):
        raise wrong_statistics(name, batch)


def wrong_statistics(name: str, batch: Batch) -> ValueError:
    """The error about a file that is wrong about itself."""
    return ValueError(
        "a file must state the least and largest value of a column, and whether cells are "
        f"missing, as they are; {name} has others in {batch.file}"
    )
