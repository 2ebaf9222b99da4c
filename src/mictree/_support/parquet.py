"""Frames as Parquet, also in a forked process.

polars writes with a pool of threads. A fork does not copy threads, so a forked process would wait
for them for ever; a fresh process writes in its place.
"""

import io
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

_forks: list[int] = []  # not empty in a forked process
_WRITE = """
import pickle, sys
frame, metadata = pickle.load(sys.stdin.buffer)
frame.write_parquet(sys.stdout.buffer, metadata=metadata)
"""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forks.append(os.getpid()))


def as_parquet(frame: "polars.DataFrame", metadata: dict[str, str]) -> bytes:
    """The content of a Parquet file with a frame and some texts about it."""
    if not _forks:
        content = io.BytesIO()
        frame.write_parquet(content, metadata=metadata)
        return content.getvalue()
    command = [sys.executable, "-c", _WRITE]
    given = pickle.dumps((frame, metadata))
    return subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True).stdout
