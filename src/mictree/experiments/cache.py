"""Results on disk, named by a hash of their inputs, so that an interrupted run can continue."""

import hashlib
import io
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mictree._support.files import read_sealed, write_sealed
from mictree._support.parallel import spread
from mictree._support.versions import code_version, library_versions


@dataclass(frozen=True)
class Found:
    """A result and the seconds it took when it was computed, in this run or an earlier one."""

    value: Any
    seconds: float


@dataclass
class Cache:
    """A folder of results, each with a checksum; without a folder, everything is computed.

    Attributes
    ----------
    computed, reused : how many results were made, and how many were found
    """

    folder: Path | None = None
    computed: int = 0
    reused: int = 0

    def frame(self, name: str, parameters: Any, compute: Callable[[], pl.DataFrame]) -> Found:
        """A polars frame, kept as Parquet."""
        return self._find(name, parameters, compute, _frame_to_bytes, _frame_from_bytes)

    def by_rows(
        self,
        name: str,
        parameters: dict[str, Any],
        counts: Sequence[int],
        compute: Callable[[int], pl.DataFrame],
        n_jobs: int | None = None,
        begin: Callable[[int], None] = lambda rows: None,
    ) -> pl.DataFrame:
        """The frames of several numbers of rows, below each other; each is kept by itself.

        ``n_jobs`` of them are computed at once, by joblib; ``begin`` is called before each one.
        """
        kept = {rows: self._kept(name, parameters | {"rows": rows}) for rows in counts}
        missing = [rows for rows in counts if kept[rows] is None]
        made = spread(_timed, [(compute, rows) for rows in missing], n_jobs)
        frames = []
        for rows in counts:
            begin(rows)
            found = kept[rows]
            if found is None:
                found = next(made)
                self._keep(name, parameters | {"rows": rows}, found, _frame_to_bytes)
            else:
                self.reused += 1
                found = _frame_from_bytes(found)
            frames.append(found.value)
        return pl.concat(frames)

    def values(self, name: str, parameters: Any, compute: Callable[[], Any]) -> Found:
        """A value that JSON can hold."""
        return self._find(name, parameters, compute, _values_to_bytes, _values_from_bytes)

    def path(self, name: str, parameters: Any) -> Path:
        """The file of a result, given its parameters, for this version."""
        assert self.folder is not None
        digest = hashlib.sha256(_key(name, parameters).encode()).hexdigest()
        return self.folder / f"{name}-{digest[:16]}.result"

    def _find(self, name, parameters, compute, to_bytes, from_bytes) -> Found:
        content = self._kept(name, parameters)
        if content is not None:
            self.reused += 1
            return from_bytes(content)
        found = _timed(compute)
        self._keep(name, parameters, found, to_bytes)
        return found

    def _kept(self, name: str, parameters: Any) -> bytes | None:
        """A result of an earlier run, if there is one."""
        if self.folder is None:
            return None
        content = read_sealed(self.path(name, parameters), _key(name, parameters))
        return None if content is None else bytes(content)

    def _keep(self, name: str, parameters: Any, found: Found, to_bytes: Any) -> None:
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.path(name, parameters)
            write_sealed(path, _key(name, parameters), to_bytes(found))
        self.computed += 1


def _timed(compute: Callable[..., Any], *arguments: Any) -> Found:
    """What a function computes, and how long that took; runs on workers."""
    begin = time.perf_counter()
    value = compute(*arguments)
    return Found(value, time.perf_counter() - begin)


def _key(name: str, parameters: Any) -> str:
    return json.dumps([code_version(), library_versions(), name, parameters], sort_keys=True)


def _frame_to_bytes(found: Found) -> bytes:
    content = io.BytesIO()
    found.value.write_parquet(content, metadata={"mictree.seconds": repr(found.seconds)})
    return content.getvalue()


def _frame_from_bytes(content: bytes) -> Found:
    seconds = pl.read_parquet_metadata(io.BytesIO(content))["mictree.seconds"]
    return Found(pl.read_parquet(io.BytesIO(content)), float(seconds))


def _values_to_bytes(found: Found) -> bytes:
    return json.dumps([found.value, found.seconds]).encode()


def _values_from_bytes(content: bytes) -> Found:
    return Found(*json.loads(content))
