"""Least errors of Boolean functions of few variables, and the growing loop on them.

Errors are integers, in parts of the whole cube, until they are compared. Leaves are numbered in
order of creation, as in ``growth_kernel``.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.calls import call_priority
from mictree._support.jit import jit
from mictree.families.growth_kernel import note_excess
from mictree.families.subcubes import Gains, count_positives, fill_drops, fill_gains
from mictree.growers.ties import (
    any_open,
    choose_leaf,
    choose_tied,
    close_leaf,
    least_tied,
    new_frontier,
    open_leaf,
)


class BestOnly(NamedTuple):
    """Trees that test only splits of largest gain: those that tie with or exceed number ``top``."""

    gains: Gains
    top: int


@jit
def fill_optimal(begin, stop, tables, cubes, best_only, out_errors):
    """``out_errors[number, size]``: least errors of some functions; the last size stands for all.

    ``best_only`` is None where all splits may be tested. A subcube's row holds its least errors in
    its own parts, up to its perfect size. It never rises: below that size one of the halves can
    take one more split.
    """
    free, steps, parts = cubes.free, cubes.steps, cubes.parts
    low_weight, high_weight = cubes.low, cubes.high
    limit = out_errors.shape[1] - 1
    width = 1 << (len(parts) - 1)
    positives = np.empty(len(free), dtype=np.int64)
    rows = np.empty((len(free), width), dtype=np.int64)
    perfect = np.zeros(len(free), dtype=np.int64)
    weighted = np.empty(width, dtype=np.int64)
    tests = np.empty(steps.shape[1], dtype=np.int64)  # the steps to the halves, where allowed
    offered = np.empty(steps.shape)
    for number in range(begin, stop):
        count_positives(tables[number], cubes, positives)
        if best_only is not None:
            fill_gains(positives, cubes, best_only.gains, offered)
        for subcube in range(len(free)):
            splits = free[subcube]
            whole = parts[splits]
            alone = min(positives[subcube], whole - positives[subcube])
            rows[subcube, 0] = alone
            perfect[subcube] = 0
            if alone == 0:
                continue
            allowed = 0
            for split in range(splits):
                tests[allowed] = steps[subcube, split]
                if best_only is None or _is_best(split, offered[subcube, :splits], best_only.top):
                    allowed += 1
            least = 1 << 40
            for step in tests[:allowed]:
                least = min(least, perfect[subcube - 2 * step] + perfect[subcube - step])
            perfect[subcube] = least + 1
            last = min(least + 1, limit)
            out = rows[subcube]
            for size in range(1, last + 1):
                out[size] = alone
            for step in tests[:allowed]:
                low, high = subcube - 2 * step, subcube - step
                above = min(perfect[high], last - 1)
                for j in range(above + 1):
                    weighted[j] = high_weight * rows[high, j]
                for i in range(min(perfect[low], last - 1) + 1):
                    error = low_weight * rows[low, i]
                    for j in range(min(above, last - 1 - i) + 1):
                        out[i + j + 1] = min(out[i + j + 1], error + weighted[j])
        root = len(free) - 1
        for size in range(limit + 1):
            out_errors[number, size] = rows[root, min(size, perfect[root])] / parts[-1]


@jit
def _is_best(split, gains, top):
    """Whether fewer than ``top`` splits gain more, beyond a tie."""
    exceed = 0
    for gain in gains:
        exceed += least_tied(gain) > gains[split]
    return exceed < top


@jit
def compare_tables(begin, stop, first, max_size, rule, tables, cubes, gains, depth, optimal, out):
    """Grow some functions, from number ``first`` on, and compare with their optimal errors.

    Splits are chosen by subtrees of a depth.
    """
    positives = np.empty(len(cubes.free), dtype=np.int64)
    offered = np.zeros(cubes.steps.shape)
    largest = np.zeros((depth + 1, len(cubes.free)))
    errors = np.empty(max_size + 1)
    for place in range(begin, stop):
        number = first + place
        count_positives(tables[number], cubes, positives)
        fill_drops(positives, cubes, gains, depth, largest, offered)
        _grow(positives, offered, rule, cubes, errors)
        note_excess(errors, optimal[number], out[place])


@jit
def _grow(positives, offered, rule, cubes, out_errors):
    """Grow one function and write its errors by size."""
    free, steps, parts, weight = cubes.free, cubes.steps, cubes.parts, cubes.weight
    inputs = 1 << (len(parts) - 1)
    capacity = 2 * min(len(out_errors), inputs) - 1
    frontier = new_frontier(capacity)
    subcubes = np.empty(capacity, dtype=np.int64)
    draws = np.array([rule.seed], dtype=np.uint64)
    error = _open(
        np.int64(0), len(free) - 1, np.int64(0), positives, offered, rule, cubes, subcubes, frontier
    )
    out_errors[:] = error / parts[-1]
    for step in range(1, len(out_errors)):
        if not any_open(frontier):
            out_errors[step:] = error / parts[-1]
            break
        leaf = choose_leaf(frontier, rule.ties, draws)
        subcube = subcubes[leaf]
        split = choose_tied(offered[subcube, : free[subcube]], rule.ties, draws)
        close_leaf(frontier, leaf)
        ones, whole = positives[subcube], parts[free[subcube]]
        error -= weight[subcube] * min(ones, whole - ones)
        for side in range(2):  # the low child is 2 * step - 1, and the later born
            child = subcube - (2 - side) * steps[subcube, split]
            number, born = 2 * step - 1 + side, 2 * step + 1 - side
            error += _open(number, child, born, positives, offered, rule, cubes, subcubes, frontier)
        out_errors[step] = error / parts[-1]
        if rule.refused[0]:
            break


@jit
def _open(leaf, subcube, born, positives, offered, rule, cubes, subcubes, frontier):
    """Add a leaf, to be split unless it is pure; returns its error."""
    splits = cubes.free[subcube]
    wrong = min(positives[subcube], cubes.parts[splits] - positives[subcube])
    if wrong == 0:
        return 0
    subcubes[leaf] = subcube
    largest = 0.0
    for split in range(splits):
        largest = max(largest, offered[subcube, split])
    reach = cubes.reach[subcube]
    priority = call_priority(rule.priority, reach, largest, born)
    if np.isnan(priority):
        rule.refused[0], rule.refused[1] = 1.0, priority
    open_leaf(frontier, leaf, reach, priority)
    return cubes.weight[subcube] * wrong
