"""Finished blocks of unfinished work, so that an interrupted run can go on."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mictree._support.files import (
    locked,
    no_space,
    read_sealed,
    remove_unfinished,
    write_sealed,
    write_whole,
)

BLOCK_NUMBERS = 1 << 21  # in a block of rows; bounds the memory for copying them

FloatArray = np.typing.NDArray[np.float64]


class Partial:
    """Blocks of numbers in a folder; without a folder nothing is kept.

    A block is used only if its checksum matches, which covers its numbers, its name, the key and
    the state. Anything else in the folder is as good as absent.

    Attributes
    ----------
    state : small values that were fixed when the work began, such as random seeds
    """

    def __init__(self, folder: Path | None, key: Any, state: dict[str, Any]) -> None:
        self.folder = folder
        self.state = state
        if folder is None:
            return
        path = folder / "state"
        begun = json.dumps([key, sys.byteorder], sort_keys=True)
        found = read_sealed(path, begun)
        if found is None:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            write_sealed(path, begun, json.dumps(state).encode())
        else:
            self.state = json.loads(bytes(found))
            remove_unfinished(folder)
        self._key = json.dumps([begun, self.state], sort_keys=True)

    def read(self, name: str) -> FloatArray | None:
        """A block that an earlier run wrote, flat; None if there is none to trust."""
        found = None if self.folder is None else read_sealed(self.folder / name, self._key)
        return None if found is None else np.frombuffer(found, dtype=np.float64)

    def write(self, name: str, block: FloatArray) -> None:
        """Keep a block."""
        if self.folder is not None:
            write_sealed(self.folder / name, self._key, np.ascontiguousarray(block))

    def block(self, name: str, compute: Callable[[], FloatArray]) -> FloatArray:
        """A table of numbers: read if an earlier run has it, else computed and kept."""
        found = self.read(name)
        if found is not None:
            return found
        computed = compute()
        self.write(name, computed)
        return computed.ravel()

    def check_room(self, size: int) -> None:
        """Refuse blocks of ``size`` bytes, earlier ones included, that will not fit on the disk."""
        if self.folder is not None:
            kept = sum(path.stat().st_size for path in self.folder.iterdir())
            if size > kept + shutil.disk_usage(self.folder).free:
                raise no_space(self.folder, size)

    def finish(self, destination: Path, content: bytes) -> None:
        """Write the result and drop the folder."""
        assert self.folder is not None
        write_whole(self.folder / "result", content)
        (self.folder / "result").replace(destination)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def resumable(destination: Path | None, key: Any, state: dict[str, Any]) -> Iterator[Partial]:
    """Work that becomes a file, kept in ``<destination>.partial`` until then, by one process."""
    if destination is None:
        yield Partial(None, key, state)
        return
    with locked(destination.with_name(f".{destination.name}.lock"), destination):
        yield Partial(destination.with_name(f"{destination.name}.partial"), key, state)


class KeptRows:
    """Rows of one array that are filled in a given order, kept as blocks.

    ``start`` says where each row begins in ``values`` and where the last one ends. A block holds
    the rows at some places of ``order``, and is named after the first.
    """

    def __init__(
        self, partial: Partial, order: np.ndarray, start: np.ndarray, values: FloatArray
    ) -> None:
        self._partial, self._order, self._start, self._values = partial, order, start, values
        lengths = np.diff(start)[order]
        self._before = np.concatenate([[0], np.cumsum(lengths)])  # numbers in the rows before
        self.done = 0
        if partial.folder is not None:
            partial.check_room(values.nbytes)
            self._restore()

    def keep(self, stop: int) -> None:
        """Write the rows up to a place in the order that are not kept yet."""
        while self.done < stop and self._partial.folder is not None:
            most = self._before[self.done] + BLOCK_NUMBERS
            last = max(self.done + 1, int(np.searchsorted(self._before, most, side="right")) - 1)
            last = min(stop, last)
            self._partial.write(f"rows-{self.done}", self._values[self._places(last)])
            self.done = last

    def _restore(self) -> None:
        """Fill the rows that are kept, up to the first gap."""
        while self.done < len(self._order):
            found = self._partial.read(f"rows-{self.done}")
            if found is None:
                return
            reached = self._before[self.done] + len(found)
            last = int(np.searchsorted(self._before, reached))
            self._values[self._places(last)] = found
            self.done = last

    def _places(self, last: int) -> np.typing.NDArray[np.int64]:
        """Where the numbers of the rows ``order[done:last]`` lie in ``values``."""
        before = self._before[self.done : last + 1] - self._before[self.done]
        shift = self._start[self._order[self.done : last]] - before[:-1]
        return np.repeat(shift, np.diff(before)) + np.arange(before[-1])
