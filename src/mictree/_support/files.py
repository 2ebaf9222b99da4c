"""Unfinished work beside the file it will become, so that an interrupted run can go on."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


class Partial:
    """A folder ``<destination>.partial`` with arrays and a small state; in memory without one.

    What is there already is used only if it was begun with the same key.
    """

    def __init__(self, destination: Path | None, key: dict[str, Any]) -> None:
        self.destination = destination
        self.folder: Path | None = None
        self.state: dict[str, Any] = {"key": key}
        if destination is None:
            return
        self.folder = destination.with_name(destination.name + ".partial")
        self.resumed = self._load(key)
        if not self.resumed:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir()
            self.save()

    def save(self, **state: Any) -> None:
        """Remember some values; they are what a later run finds."""
        self.state |= state
        if self.folder is not None:
            write_whole(
                self.folder / "state.json",
                lambda path: path.write_text(json.dumps(self.state), encoding="utf-8"),
            )

    def errors(self, length: int) -> np.typing.NDArray[np.float64]:
        """An array that outlives the process; new ones hold infinity."""
        if self.folder is None:
            return np.full(length, np.inf)
        path = self.folder / "errors.f64"
        if path.exists() and path.stat().st_size == 8 * length:
            return np.memmap(path, dtype=np.float64, mode="r+", shape=(length,))
        self.save(done=0)
        array = np.memmap(path, dtype=np.float64, mode="w+", shape=(length,))
        array[:] = np.inf
        return array

    def block(self, name: str, compute: Callable[[], np.ndarray]) -> np.ndarray:
        """A result computed once: read if an earlier run has it, else computed and written."""
        if self.folder is None:
            return compute()
        path = self.folder / f"{name}.npy"
        if not path.exists():
            result = compute()
            write_whole(path, lambda unfinished: np.save(unfinished, result, allow_pickle=False))
        return np.load(path, allow_pickle=False)

    def finish(self, write: Callable[[Path], Any]) -> None:
        """Write the destination and drop the folder."""
        if self.destination is not None and self.folder is not None:
            write_whole(self.destination, write)
            shutil.rmtree(self.folder)

    def _load(self, key: dict[str, Any]) -> bool:
        assert self.folder is not None
        try:
            state = json.loads((self.folder / "state.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        if not isinstance(state, dict) or state.get("key") != key:
            return False
        self.state = state
        return True


def write_whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Let ``write`` fill a file beside ``path``, then rename it: never half a file."""
    unfinished = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        write(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
