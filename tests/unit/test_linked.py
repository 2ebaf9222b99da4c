"""Inner kernels are linked into the kernels that call them, from memory and from disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mictree

if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    pytest.skip("nothing is compiled", allow_module_level=True)

KERNELS = """
import numpy as np
from mictree._support.jit import inner_jit, jit

@inner_jit
def deep(x):
    if x < 0:
        raise ValueError("negative")
    print("at", x)  # needs the environment of the kernel
    return np.full(3, x).sum()

@inner_jit
def middle(x):
    return deep(x) + 1

@jit
def outer(x):
    return middle(x)

@jit
def other(x):
    return 2 * middle(x)
"""


@pytest.fixture
def run(tmp_path):
    """Runs code beside the kernels in a process of its own; all share what is kept on disk."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    places = (str(tmp_path), str(Path(mictree.__file__).parents[1]))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(places),
        "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
    }

    def call(code: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", f"from kernels import *\n{code}"],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout

    return call


def test_inner_kernels_are_not_made_into_machine_code(run):
    code = """
from numba import int64
for kernel in (middle, outer):
    kernel.compile((int64,))
    (made,) = kernel.overloads.values()
    print(made.library.get_pointer_to_function(made.fndesc.llvm_func_name) != 0)
"""
    assert run(code) == "False\nTrue\n"
    assert run(code) == "False\nTrue\n"  # from disk


def test_a_kept_inner_kernel_is_linked_into_another(run):
    assert run("print(outer(2))") == "at 2\n7\n"
    shown = run("print(other(2), *middle.stats.cache_hits.values(), sum(deep.stats.cache_hits))")
    assert shown == "at 2\n14 1 0\n"
    assert run("print(other(2), outer(3))") == "at 2\nat 3\n14 10\n"


def test_exceptions_of_inner_kernels_arrive(run):
    code = "try: outer(-1)\nexcept ValueError as error: print(error)"
    assert [run(code), run(code)] == ["negative\n", "negative\n"]
