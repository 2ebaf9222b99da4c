"""Writes frames to Parquet, also in a forked process.

polars writes with a pool of threads. A fork does not copy threads, so a forked process would wait
for them for ever; a fresh process writes in its place.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

_forks: list[int] = []  # not empty in a forked process
_WRITE = """
import pickle, sys
frame, options = pickle.load(sys.stdin.buffer)
frame.write_parquet(**options)
"""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forks.append(os.getpid()))


def write_parquet(frame: "polars.DataFrame", path: Path, metadata: dict[str, str]) -> None:
    """Write a frame and some texts about it."""
    options = {"file": path, "metadata": metadata}
    if not _forks:
        frame.write_parquet(**options)
        return
    command = [sys.executable, "-c", _WRITE]
    subprocess.run(command, input=pickle.dumps((frame, options)), check=True)
