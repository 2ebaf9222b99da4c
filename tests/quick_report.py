"""One quick run of the report, shared by the tests that look at it."""

from functools import cache
from pathlib import Path

from mictree.report.run import reproduce
from tests.shared import shared_folder


@cache
def quick_run() -> Path:
    """The folder of a quick run."""
    return shared_folder("report", lambda out: reproduce(out, quick=True))
