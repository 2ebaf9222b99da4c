"""Every kernel, compiled, computes what its Python source computes, and none is left out."""

import json
import os
import subprocess
import sys

import numba
import pytest

from tests.properties import kernel_cases

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(numba.config.DISABLE_JIT), reason="NUMBA_DISABLE_JIT=1: nothing is compiled"
    ),
]


@pytest.fixture(scope="module")
def from_source() -> tuple[dict, list[str]]:
    """All results without compiling anything, and the kernels called for them."""
    done = subprocess.run(
        [sys.executable, "-m", kernel_cases.__name__],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_alike(computed, expected, path: str) -> None:
    """Equal; floats up to the last digits, as sums are taken in another order."""
    if isinstance(expected, list):
        assert len(computed) == len(expected), path
        for number, (one, other) in enumerate(zip(computed, expected, strict=True)):
            assert_alike(one, other, f"{path}[{number}]")
    elif isinstance(expected, float):
        assert computed == pytest.approx(expected, rel=1e-12, abs=1e-15), path
    else:
        assert computed == expected, path


def test_results_equal_those_of_the_source(from_source):
    expected, _ = from_source
    computed = json.loads(json.dumps(kernel_cases.all_results()))
    assert computed.keys() == expected.keys()
    for name, value in expected.items():
        assert_alike(computed[name], value, name)


def test_the_cases_call_every_kernel(from_source):
    _, called = from_source
    missing = kernel_cases.all_kernels() - set(called)
    assert not missing, f"add a case to kernel_cases.py that calls {sorted(missing)}"
