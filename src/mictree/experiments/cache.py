"""Results on disk, by a hash of what they depend on, so that an interrupted run goes on."""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

import mictree
from mictree._support.files import write_whole

LIBRARIES = ("numba", "numpy", "scikit-learn")
# what these hold changes how a result is shown, never the result
SHOWN_BY = ("cli", "plotting", "report")


@cache
def code_version() -> str:
    """The release and a digest of the modules that compute, so that edits count too."""
    package = Path(mictree.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in SHOWN_BY:
            digest.update(path.read_bytes())
    return f"{mictree.__version__}+{digest.hexdigest()[:12]}"


@cache
def library_versions() -> dict[str, str]:
    """Releases of the libraries that results depend on."""
    return {name: version(name) for name in LIBRARIES}


@dataclass(frozen=True)
class Found:
    """A result and the seconds it took when it was computed, in this run or an earlier one."""

    value: Any
    seconds: float


@dataclass
class Cache:
    """A folder of results; without one, everything is computed.

    Attributes
    ----------
    computed, reused : how many results were made, and how many were found
    """

    folder: Path | None = None
    computed: int = 0
    reused: int = 0

    def frame(self, name: str, parameters: Any, compute: Callable[[], pl.DataFrame]) -> Found:
        """A polars frame, kept as Parquet."""
        return self._find(name, parameters, compute, ".parquet", _read_frame, _write_frame)

    def values(self, name: str, parameters: Any, compute: Callable[[], Any]) -> Found:
        """Whatever JSON can hold."""
        return self._find(name, parameters, compute, ".json", _read_values, _write_values)

    def path(self, name: str, parameters: Any, suffix: str) -> Path:
        """Where a result of these parameters and this version is kept."""
        assert self.folder is not None
        key = [code_version(), library_versions(), name, parameters]
        text = json.dumps(key, sort_keys=True)
        return self.folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}{suffix}"

    def _find(self, name, parameters, compute, suffix, read, write) -> Found:
        path = None if self.folder is None else self.path(name, parameters, suffix)
        if path is not None and path.exists():
            try:
                value, seconds = read(path)
                self.reused += 1
                return Found(value, seconds)
            except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
                pass  # damaged: compute it again
        begin = time.perf_counter()
        value = compute()
        seconds = time.perf_counter() - begin
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, lambda unfinished: write(unfinished, value, seconds))
        self.computed += 1
        return Found(value, seconds)


def _read_frame(path: Path) -> tuple[pl.DataFrame, float]:
    return pl.read_parquet(path), float(pl.read_parquet_metadata(path)["mictree.seconds"])


def _write_frame(path: Path, frame: pl.DataFrame, seconds: float) -> None:
    frame.write_parquet(path, metadata={"mictree.seconds": repr(seconds)})


def _read_values(path: Path) -> tuple[Any, float]:
    content = json.loads(path.read_text(encoding="utf-8"))
    return content["value"], float(content["seconds"])


def _write_values(path: Path, value: Any, seconds: float) -> None:
    text = json.dumps({"value": value, "seconds": seconds})
    path.write_text(text, encoding="utf-8")
