"""The exact core: optimal errors, growth, start-up."""

import subprocess
import sys
import time

import mictree as mt
from benchmarks.measure import best_time, in_new_process, report
from tests.reference import uniform_optimal

SIZES = (3, 3, 4, 5, 3, 4, 3, 5, 4, 4)
SETUP = f"""
import mictree as mt
problem = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes({SIZES}))
"""


def main() -> None:
    problem = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes(SIZES))
    seconds = best_time(lambda: mt.optimal_errors(problem, 100))
    report("optimal_errors, 38 variables, uniform, max_size 100", f"{seconds:.3f} s", "< 2 s")
    _, memory = in_new_process(SETUP + "mt.optimal_errors(problem, 100)")
    report("  peak memory of its process", f"{memory:.0f} MB", "< 500 MB")
    _ratio_to_reference()
    exact = best_time(lambda: mt.optimal_errors(problem, 100, exact=True), 2)
    report("  the same in exact integers", f"{exact:.3f} s")
    few = best_time(lambda: mt.optimal_errors(problem, 100, top=3))
    report("  the same, each node one of its 3 best splits (top=3)", f"{few:.4f} s", "< 5 s")
    ahead = best_time(lambda: mt.Lookahead(2).grow(problem, 100), 2)
    report("Lookahead(2).grow on it, size 100", f"{ahead:.3f} s")
    growth = best_time(lambda: mt.TopDown().grow(problem, 1000), 3)
    report("TopDown().grow on it, size 1000", f"{growth:.3f} s", "< 1 s")
    cold, _ = in_new_process(SETUP + "mt.mic(mt.TopDown(), problem, 100)", cold=True)
    report("first mic() ever, kernels compiled, from interpreter start", f"{cold:.1f} s", "< 15 s")
    command = [sys.executable, "-m", "mictree", "mic", "x1 & x2 | y1 & y2 & y3"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    report(
        "`mictree mic` on the worked example, warm", f"{time.perf_counter() - begin:.2f} s", "< 2 s"
    )


def _ratio_to_reference() -> None:
    """Side by side with the memoised plain-Python recurrence, on what that can do."""
    sizes, most = (3, 3, 4, 4), 40
    begin = time.perf_counter()
    reference = [uniform_optimal(sizes, size) for size in range(most + 1)]
    slow = time.perf_counter() - begin
    problem = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes(sizes))
    fast = best_time(lambda: mt.optimal_errors(problem, most))
    exact = mt.optimal_errors(problem, most, exact=True)
    assert list(exact) == reference
    report("  ratio to the plain-Python recurrence, 3+3+4+4, max_size 40", f"{slow / fast:.0f} x")


if __name__ == "__main__":
    main()
