"""Hypothesis draws the same examples on every run, so that CI and a laptop see the same tests."""

import os

import numpy as np
from hypothesis import HealthCheck, settings

if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    np.seterr(over="ignore")  # compiled, a hash wraps around silently

settings.register_profile(
    "mictree",
    deadline=None,
    max_examples=40,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("mictree")
