"""Which variables each subcube of a table may test, where only the best are allowed.

Only subcubes that allowed tests reach are looked at; all others allow none. Variables that divide
the inputs of a subcube alike, or the other way round, count as one; inputs of probability 0 do not
matter.
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
        count, top.number, criterion_code(top.criterion), impurity.address, sums, mass > 0,
        problem.settled, refused, allowed, reached,
    )  # fmt: skip
    impurity.settle()
    check_refused(top.criterion, refused)
    return allowed, reached


@jit
def _mark_allowed(
    count, top, criterion, impurity, sums, occurs, settled, refused, allowed, reached
):
    """Write the variables allowed in each subcube that is reached from the whole cube."""
    reached[-1] = True
    gains, variables = np.empty(count), np.empty(count, dtype=np.int64)
    steps = np.empty(count, dtype=np.int64)
    factors, work = np.ones(2), np.empty((5, 2))
    # fixing a variable makes a subcube's number smaller
    for subcube in range(len(reached) - 1, -1, -1):
        if not reached[subcube] or settled[subcube]:
            continue
        found, step = 0, 1
        for variable in range(count):
            low, high = subcube - 2 * step, subcube - step
            if subcube // step % 3 == 2 and occurs[low] and occurs[high]:
                if criterion == OWN:
                    gain = own_gain_of_sums(impurity, sums[low], sums[high], factors, refused)
                else:
                    gain = gain_of_sums(criterion, sums[low], sums[high], factors, True, work)
                gains[found], variables[found], steps[found] = gain, variable, step
                found += 1
            step *= 3
        least = _least_allowed(gains[:found], steps[:found], subcube, occurs, top)
        for place in range(found):
            if gains[place] >= least:
                step = steps[place]
                allowed[subcube] |= np.uint16(1 << variables[place])
                reached[subcube - 2 * step] = reached[subcube - step] = True


@jit
def _least_allowed(gains, steps, subcube, occurs, top):
    """The least gain that ties with or exceeds number ``top`` of a subcube's different splits.

    ``steps`` has 3**i for each variable i.
    """
    if len(gains) <= top:
        return -np.inf
    different, left = np.empty(top, dtype=np.int64), gains.copy()
    found = 0
    for _ in range(len(gains)):
        place = np.argmax(left)
        left[place] = -np.inf
        for other in different[:found]:
            if _divide_alike(steps[place], other, subcube, occurs):
                break
        else:
            different[found] = steps[place]
            found += 1
            if found == top:
                return least_tied(gains[place])
    return -np.inf


@jit
def _divide_alike(one, other, subcube, occurs):
    """Whether two free variables are always equal in a subcube, or always different."""
    neither, both = subcube - 2 * one - 2 * other, subcube - one - other  # a free digit is 2
    differ = occurs[neither + one] or occurs[neither + other]
    return not (differ and (occurs[neither] or occurs[both]))


def _one_by_one(problem: TableProblem, top: Top) -> tuple[Variables, np.ndarray]:
    """The same for masses beyond the integers that floats hold."""
    count, gains_of = len(problem.variables), gains_by(top.criterion)
    allowed = np.zeros(3**count, dtype=np.uint16)
    reached = np.zeros(3**count, dtype=bool)
    settled, occurs = problem.settled, problem.scaled_masses[0] > 0
    leaves = {3**count - 1: problem.root()}
    while leaves:
        subcube, leaf = leaves.popitem()
        if reached[subcube] or settled[subcube]:
            reached[subcube] = True
            continue
        reached[subcube] = True
        splits = problem.splits(leaf)
        gains = gains_of(problem, leaf, splits)
        least = _least_allowed(gains, 3**splits.variables, subcube, occurs, top.number)
        for variable in splits.variables[gains >= least].tolist():
            allowed[subcube] |= np.uint16(1 << variable)
            step = 3**variable
            low, high = problem.children(leaf, variable)
            leaves |= {subcube - 2 * step: low, subcube - step: high}
    return allowed, reached
