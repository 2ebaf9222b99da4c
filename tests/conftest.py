"""Hypothesis draws the same examples on every run, so that CI and a laptop see the same tests."""

import gc
import os
import signal

# Tests keep every core busy themselves, so threads of polars would only wait for one another: many
# small frames took up to three times the processor time. Set before polars is imported.
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests.shared import begin_run

if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    np.seterr(over="ignore")  # compiled, a hash wraps around silently

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs this way, and the commands that tests start would inherit it:
    # tests that press Ctrl-C would wait for commands that go on.
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "mictree",
    deadline=None,
    max_examples=40,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("mictree")


def pytest_configure(config: pytest.Config) -> None:
    begin_run(config)


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: no collection of garbage needs to look at them again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
