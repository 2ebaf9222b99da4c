"""Hypothesis draws the same examples on every run, so that CI and a laptop see the same tests."""

import os
import signal

import numpy as np
from hypothesis import HealthCheck, settings

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
