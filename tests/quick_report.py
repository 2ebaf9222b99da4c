"""One quick run of the report, shared by the tests that look at it."""

import tempfile
from functools import cache
from pathlib import Path

from mictree.report.run import reproduce

_folder = tempfile.TemporaryDirectory(prefix="mictree-report-")


@cache
def quick_run():
    """The folder of a quick run."""
    out = Path(_folder.name) / "out"
    reproduce(out, quick=True)
    return out
