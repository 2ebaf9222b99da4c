"""Kernels that only kernels call are compiled into their callers, and not on their own as well."""

import importlib.util
import os
import subprocess
import sys

import pytest

if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    pytest.skip("nothing is compiled", allow_module_level=True)

SOURCE = """
from mictree._support.jit import inner_jit, jit

@inner_jit
def innermost(number):
    if number < 0:
        raise ValueError("below 0", 7)
    return number + 1

@inner_jit
def inner(number):
    if number > 100:
        raise ValueError("above 100", 8)
    return 2 * innermost(number)

@jit
def outer(number):
    return inner(number) + innermost(number)

@jit
def other(number):
    return inner(number)
"""
CALLS = """
import sys, calls
for name in sys.argv[1:]:
    for number in (3, -1, 101):
        try:
            print(getattr(calls, name)(number))
        except ValueError as error:
            print(error)
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "calls.py"
    path.write_text(SOURCE)
    return path


def test_only_kernels_that_python_calls_become_machine_code(path):
    spec = importlib.util.spec_from_file_location("calls", path)
    calls = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(calls)
    assert calls.outer(3) == 2 * 4 + 4

    def has_code(kernel) -> bool:
        (compiled,) = kernel.overloads.values()
        return compiled.fndesc.llvm_func_name.encode() in compiled.library._get_compiled_object()

    assert has_code(calls.outer)
    assert not has_code(calls.inner)
    assert not has_code(calls.innermost)


def test_callers_compiled_now_and_kept_on_disk_raise_what_inner_kernels_raise(path):
    def run(*names: str) -> list[str]:
        command = [sys.executable, "-c", CALLS, *names]
        done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    def kept() -> set[str]:
        return {each.name.split(".")[1] for each in path.parent.rglob("*.nbc")}

    errors = ["('below 0', 7)", "('above 100', 8)"]
    assert run("outer") == ["12", *errors]
    assert kept() == {"outer", "inner", "innermost"}
    assert run("outer", "other") == ["12", *errors, "8", *errors]  # other links what was kept
    assert kept() == {"outer", "other", "inner", "innermost"}
