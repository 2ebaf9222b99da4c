"""Timing and memory, shared by all benchmarks."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any


def best_time(work: Callable[[], Any], repeats: int = 5) -> float:
    """The shortest of several runs, in seconds; the first one warms up and does not count."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def processor_time(work: Callable[[], Any], repeats: int = 3) -> float:
    """The least processor time of several runs, all threads together; the first one warms up."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def in_new_process(code: str, cold: bool = False) -> tuple[float, float]:
    """Seconds and peak memory in MB of a Python program in its own process.

    A cold one compiles its kernels into an empty folder first.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **({"NUMBA_CACHE_DIR": folder} if cold else {})}
        begin = time.perf_counter()
        program = (
            f"{code}\nimport resource\nprint(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment, check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        seconds = time.perf_counter() - begin
    return seconds, int(done.stdout.split()[-1]) / 1000


_PEAK = """
import numpy as np
import mictree as mt

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name))

{table}
rows = 1000
{work}  # loads the kernels
rows = len(X)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak so far
before = status("VmRSS")
done = {work}
print((status("VmHWM") - before) * 1024)
"""


def peak_over_input(table: str, work: str) -> int:
    """The peak memory of an expression over the table ``X``, ``y`` that it reads, in bytes.

    In a process of its own, as in others memory that was freed may be used again. The expression
    works on the first ``rows`` rows: few at first, then all. Linux only.
    """
    code = _PEAK.format(table=table, work=work)
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True
    )
    return int(done.stdout)


def report(name: str, value: str, wanted: str = "") -> None:
    """One line: what was measured, the figure, and the one to reach."""
    print(f"{name:<68} {value:>16}   {wanted}", flush=True)


def peak_memory() -> float:
    """The most memory this process ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
