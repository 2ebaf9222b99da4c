"""Sweeps: the paper's grids, and families far beyond them."""

import random
import time

import numba
import numpy as np

import mictree as mt
from benchmarks.measure import best_time, in_new_process, processor_time, report
from mictree.families import graph as family_graph
from mictree.families.family import Family, grid, up_to
from mictree.families.growth import FamilyGrowth, best_splits
from mictree.optimal.program import Program, count_updates, fill, perfect_sizes, row_starts
from tests.reference import any_bias_optimal

GRIDS = (grid(8, 8), grid(5, 5, (0.3, 0.7)), grid(5, 5, (0.4, 0.6)))
MAX_SIZE = 100


def main() -> None:
    for family in GRIDS:
        mt.sweep(family, MAX_SIZE)
    seconds = best_time(lambda: [mt.sweep(family, MAX_SIZE) for family in GRIDS], 5)
    processor = processor_time(lambda: [mt.sweep(family, MAX_SIZE) for family in GRIDS])
    report(
        "the paper's three grids, TopDown and BestFirst, to frames",
        f"{seconds:.2f} s",
        f"<= 1 s on 2 cores; {processor:.2f} s of processor time",
    )
    _functions("functions", 5, "<= 60 s, 2 GB, aim 20 s")
    _functions("monotone", 6, "<= 20 s")
    ceiling = _bare_loop()
    report("a plain numba loop of add and min in cache, one core", f"{ceiling / 1e9:.1f} G/s")
    steps = 0.0
    for family in GRIDS:
        steps += _stages(family, ceiling)
    _ratio_to_reference(steps, seconds)
    _exactness()
    _large(40, "<= 20 s, 2 GB")
    _large(50, "<= 180 s, 6 GB")


def _stages(family: Family, ceiling: float) -> float:
    """Times of graph, dynamic program and growth of one family; returns its inner steps."""
    graph_time = best_time(lambda: family_graph.build(family, 2**33), 3)
    built = family_graph.build(family, 2**33)
    start = row_starts(np.minimum(perfect_sizes(built.graph), MAX_SIZE) + 1)
    steps = float(count_updates(built.graph, start).sum())

    def solve() -> Program:
        errors = np.full(start[-1], np.inf)
        errors[start[:-1]] = np.minimum(built.positive_rate, 1 - built.positive_rate)
        literals = int(built.graph.literals.max())
        program = Program.of_floats(family.biases, literals, start, errors)
        list(fill(built.graph, program))
        return program

    solve_time = best_time(solve, 3)
    program = solve()
    best = best_splits(built, program, "entropy")
    members = range(1, len(family) + 1)

    def grow() -> None:
        growth = FamilyGrowth(family, built, program, MAX_SIZE, room=2**33)
        growth.compare(mt.TopDown(), best, members)

    grow_time = best_time(grow, 3)
    report(f"{family.name[:46]}: graph", f"{graph_time:.3f} s")
    report("  dynamic program", f"{solve_time:.3f} s")
    rate = steps / solve_time
    report("  inner steps of the recurrence a second", f"{rate / 1e9:.1f} G/s", ">= 5, aim 8")
    report(
        "  as a share of two such loops",
        f"{rate / (2 * ceiling):.0%}",
        "above 100 %: steps skipped",
    )
    report("  growth of TopDown", f"{grow_time:.3f} s")
    return steps


def _ratio_to_reference(steps: float, seconds: float) -> None:
    """Scale the plain-Python recurrence by counted inner steps: it would take days on a grid."""
    terms = ((0.5,) * 2, (0.5,) * 3, (0.5,) * 3)
    any_bias_optimal.cache_clear() if hasattr(any_bias_optimal, "cache_clear") else None
    begin = time.perf_counter()
    for size in range(21):
        any_bias_optimal(terms, size)
    slow = time.perf_counter() - begin
    family = grid(3, 3)
    built = family_graph.build(family, 2**30)
    below = _below(built.graph, family.number(terms))
    start = row_starts(np.full(len(built.graph), 21))
    counted = float(count_updates(built.graph, start)[below].sum())
    report("reference recurrence, inner steps a second", f"{counted / slow / 1e3:.0f} k/s")
    ratio = steps / counted * slow / seconds
    report("ratio to it, scaled by inner steps", f"{ratio:,.0f} x", ">= 300")


def _below(graph, member: int) -> list[int]:
    found, waiting = set(), [member]
    while waiting:
        state = waiting.pop()
        if state and state not in found:
            found.add(state)
            for edge in graph.edges(state):
                waiting += [int(graph.low[edge]), int(graph.high[edge])]
    return sorted(found)


def _exactness(count: int = 1000, large: int = 5) -> None:
    """The largest difference between float and exact optimal errors of random members.

    A few of any size; the others with at most 18 literals, whose exact errors fit into 64 bits.
    """
    worst, done = 0.0, 0
    choose = random.Random(0)
    while done < count:
        family = choose.choice(GRIDS)
        problem = family.problem(choose.randint(1, len(family)))
        if len(problem.variables) > 18 and done >= large and len(family.biases) > 1:
            continue
        exact = mt.optimal_errors(problem, MAX_SIZE, exact=True).astype(float)
        worst = max(worst, float(np.abs(exact - mt.optimal_errors(problem, MAX_SIZE)).max()))
        done += 1
    report(f"largest float error of {count} random formulas", f"{worst:.1e}", "< 1e-13")


def _large(variables: int, wanted: str) -> None:
    code = f"import mictree as mt; mt.sweep(mt.families.up_to({variables}), memory_limit=6 * 2**30)"
    seconds, memory = in_new_process(code)
    name = f"up_to({variables}), {len(up_to(variables)):,} formulas, own process"
    report(name, f"{seconds:.1f} s, {memory / 1000:.2f} GB", wanted)


def _functions(name: str, variables: int, wanted: str) -> None:
    """A sweep with two rules, the making of the family included."""
    family = f"{name}({variables})"
    seconds, memory = in_new_process(f"import mictree as mt; mt.sweep(mt.families.{family})")
    processor = processor_time(lambda: mt.sweep(getattr(mt.families, name)(variables)))
    shown = f"{seconds:.1f} s, {memory / 1000:.2f} GB"
    report(f"{family}, own process", shown, f"{wanted}; {processor:.1f} s of processor time")


def _bare_loop() -> float:
    """Updates a second of a loop that only adds and takes minima over arrays in cache."""

    @numba.njit
    def loop(times, row, out):
        for number in range(times):
            error = number * 1e-9
            for j in range(len(row)):
                sum_ = error + row[j]
                out[j] = sum_ if sum_ < out[j] else out[j]

    row, out = np.random.default_rng(0).random(96), np.full(96, 9.0)
    return 96e6 / best_time(lambda: loop(1_000_000, row, out), 5)


if __name__ == "__main__":
    main()
