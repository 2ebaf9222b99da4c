"""Results on disk, named by a hash of their inputs, so that an interrupted run can continue.

A result belongs to its name, its parameters, and the versions of our code and of the libraries; if
one of them changes, it is computed again. Files carry a checksum, and one that does not match is
ignored. Frames are kept as Parquet, other values as JSON, each with the seconds that its
computation took.
"""

import hashlib
import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mictree._support.files import code_version, library_versions, read_sealed, write_sealed
from mictree._support.parallel import spread

# the parameters of a result, and what computes it
Part = tuple[Any, Callable[[], Any]]


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
        return next(self.frames(name, [(parameters, compute)]))

    def frames(
        self, name: str, parts: Sequence[Part], n_jobs: int | None = None
    ) -> Iterator[Found]:
        """Several frames in order, each kept by itself; ``n_jobs`` are made at once, by joblib."""
        return self._find(name, parts, n_jobs, _frame_to_bytes, _frame_from_bytes)

    def values(self, name: str, parameters: Any, compute: Callable[[], Any]) -> Found:
        """A value that JSON can hold."""
        return next(self.many_values(name, [(parameters, compute)]))

    def many_values(
        self, name: str, parts: Sequence[Part], n_jobs: int | None = None
    ) -> Iterator[Found]:
        """Several values that JSON can hold, as ``frames``."""
        return self._find(name, parts, n_jobs, _values_to_bytes, _values_from_bytes)

    def path(self, name: str, parameters: Any) -> Path:
        """The file of a result, given its parameters, for this version."""
        assert self.folder is not None
        digest = hashlib.sha256(_key(name, parameters).encode()).hexdigest()
        return self.folder / f"{name}-{digest[:16]}.result"

    def _find(self, name, parts, n_jobs, to_bytes, from_bytes) -> Iterator[Found]:
        kept = [self._kept(name, parameters) for parameters, _ in parts]
        missing = [(part[1],) for part, content in zip(parts, kept, strict=True) if content is None]
        made = spread(_timed, missing, n_jobs)
        for (parameters, _), content in zip(parts, kept, strict=True):
            if content is not None:
                self.reused += 1
                yield from_bytes(content)
                continue
            found = next(made)
            self._keep(name, parameters, found, to_bytes)
            yield found

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


def _timed(compute: Callable[[], Any]) -> Found:
    """What a function computes, and how long that took; runs on workers."""
    begin = time.perf_counter()
    value = compute()
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
