"""Which variables each subcube of a table may test, where only the best are allowed.

Only subcubes that allowed tests reach are looked at; all others allow none.
"""

from __future__ import annotations

import numpy as np

from mictree._support.jit import jit
from mictree.growers.functions import check_refused, criterion_code, gains_by, kernel_impurity
from mictree.growers.ties import least_tied
from mictree.impurity.gains import OWN, gain_of_sums, own_gain_of_sums
from mictree.optimal.result import Top
from mictree.problems.table import TableProblem

Variables = np.typing.NDArray[np.uint16]  # bit i: variable i
EXACT = 2**53  # integers below are floats


@jit
def least_allowed(gains, top):
    """The least gain that ties with or exceeds the gain number ``top``."""
    if len(gains) <= top:
        return -np.inf
    return least_tied(np.sort(gains)[len(gains) - top])


def allowed_variables(problem: TableProblem, top: Top) -> tuple[Variables, np.ndarray]:
    """For each subcube the variables it may test, and whether such tests reach it."""
    denominator = problem.scaled_masses[2]
    return (_by_kernel if denominator < EXACT else _one_by_one)(problem, top)


def _by_kernel(problem: TableProblem, top: Top) -> tuple[Variables, np.ndarray]:
    count = len(problem.variables)
    mass, positive, _ = problem.scaled_masses
    sums = np.stack([mass - positive, positive], axis=1).astype(float)
    allowed = np.zeros(3**count, dtype=np.uint16)
    reached = np.zeros(3**count, dtype=bool)
    impurity, refused = kernel_impurity(top.criterion), np.zeros(3)
    _mark_allowed(
        count, top.number, criterion_code(top.criterion), impurity.address, sums, problem.settled,
        refused, allowed, reached,
    )  # fmt: skip
    impurity.settle()
    check_refused(top.criterion, refused)
    return allowed, reached


@jit
def _mark_allowed(count, top, criterion, impurity, sums, settled, refused, allowed, reached):
    """Write the variables allowed in each subcube that is reached from the whole cube."""
    reached[-1] = True
    gains, variables = np.empty(count), np.empty(count, dtype=np.int64)
    factors, work = np.ones(2), np.empty((5, 2))
    # fixing a variable makes a subcube's number smaller
    for subcube in range(len(reached) - 1, -1, -1):
        if not reached[subcube] or settled[subcube]:
            continue
        found, step = 0, 1
        for variable in range(count):
            low, high = subcube - 2 * step, subcube - step
            if subcube // step % 3 == 2 and sums[low].sum() > 0 and sums[high].sum() > 0:
                if criterion == OWN:
                    gain = own_gain_of_sums(impurity, sums[low], sums[high], factors, refused)
                else:
                    gain = gain_of_sums(criterion, sums[low], sums[high], factors, True, work)
                gains[found], variables[found] = gain, variable
                found += 1
            step *= 3
        least = least_allowed(gains[:found], top)
        for place in range(found):
            if gains[place] >= least:
                step = 3 ** variables[place]
                allowed[subcube] |= np.uint16(1 << variables[place])
                reached[subcube - 2 * step] = reached[subcube - step] = True


def _one_by_one(problem: TableProblem, top: Top) -> tuple[Variables, np.ndarray]:
    """The same for masses beyond the integers that floats hold."""
    count, gains_of = len(problem.variables), gains_by(top.criterion)
    allowed = np.zeros(3**count, dtype=np.uint16)
    reached = np.zeros(3**count, dtype=bool)
    settled = problem.settled
    leaves = {3**count - 1: problem.root()}
    while leaves:
        subcube, leaf = leaves.popitem()
        if reached[subcube] or settled[subcube]:
            reached[subcube] = True
            continue
        reached[subcube] = True
        splits = problem.splits(leaf)
        gains = gains_of(problem, leaf, splits)
        for variable in splits.variables[gains >= least_allowed(gains, top.number)].tolist():
            allowed[subcube] |= np.uint16(1 << variable)
            step = 3**variable
            low, high = problem.children(leaf, variable)
            leaves |= {subcube - 2 * step: low, subcube - step: high}
    return allowed, reached
