"""Folders that all processes of one test run share, each written by whoever needs it first."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

VARIABLE = "MICTREE_TESTS_SHARED"  # names the folder of a run; processes that it starts inherit it


def begin_run(config: pytest.Config) -> None:
    """Make the folder of a test run, until its end, unless this process is a part of one."""
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = tempfile.mkdtemp(prefix="mictree-tests-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(VARIABLE)))


def shared_folder(name: str, fill: Callable[[Path], object]) -> Path:
    """A folder that ``fill`` has written, in this process or in another one."""
    root = Path(os.environ[VARIABLE])
    with FileLock(root / f"{name}.lock"):
        if not (root / f"{name}.done").exists():
            fill(root / name)
            (root / f"{name}.done").touch()
    return root / name
