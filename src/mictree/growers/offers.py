"""The gains of a leaf's literals; kernels of the growing loop.

Gains by a built-in criterion are computed fast, and those that may be the largest once more,
without cancellation.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit
from mictree.growers.counting import total_of
from mictree.growers.functions import RuleFunctions, criterion_code
from mictree.growers.ties import least_tied
from mictree.impurity import Criterion
from mictree.impurity.gains import ENTROPY, OWN, gain_of_sums, own_gain_of_sums
from mictree.problems import sample

# Fast gains are wrong by less than this times the number of classes and 16 more: by a few units in
# the last place of an impurity, or of log2(4096) when logarithms are looked up.
SLACK = 1e-13

# n log2 n, so that entropies of small counts need no logarithm
TABLE_SIZE = 4096
COUNT_LOGS = np.arange(TABLE_SIZE + 1) * np.log2(np.maximum(np.arange(TABLE_SIZE + 1), 1))


class Limits(NamedTuple):
    """Which leaves and splits are not made."""

    min_samples_split: int
    min_samples_leaf: int
    max_depth: int
    min_gain: float
    min_leaf_mass: float


class Weighing(NamedTuple):
    """What a leaf's gains depend on besides its counts."""

    criterion: int
    impurity: int  # the address of a function, for criterion OWN
    class_weight: np.ndarray
    alike: bool  # all classes weigh the same
    plain: bool  # every row weighs 1
    logs: np.ndarray  # COUNT_LOGS
    refused: np.ndarray  # True, the rate and the value where an impurity is none


def weighing_of(
    factors: np.ndarray, weighted: bool, criterion: Criterion, functions: RuleFunctions
) -> Weighing:
    """What gains depend on, by the factors of classes and a rule's functions."""
    return Weighing(
        criterion_code(criterion),
        functions.impurity.address,
        factors,
        bool((factors == factors[0]).all()),
        not weighted and bool((factors == 1).all()),
        COUNT_LOGS,
        functions.refused_impurity,
    )


def limits_of(limits: sample.Limits, min_leaf_mass: float) -> Limits:
    """A problem's limits as plain numbers."""
    return Limits(
        limits.min_samples_split,
        limits.min_samples_leaf,
        2**62 if limits.max_depth is None else limits.max_depth,
        float(limits.min_gain),
        min_leaf_mass,
    )


@jit
def may_split(rows, depth, limits):
    """Whether a leaf is impure, large and high enough to have its splits looked at."""
    total = total_of(rows)
    if depth >= limits.max_depth or total < limits.min_samples_split:
        return False
    impure = True
    for here in rows:
        impure &= here < total
    return impure


@inner_jit
def least_candidate(fast, classes):
    """The least fast gain of a split that may tie with the best one."""
    return least_tied(fast) - 2 * SLACK * (classes + 16)


@inner_jit
def offer(counts, rows, sums, weighing, limits, out_gain):
    """The gain of a leaf's best literal, or -1 for none; writes all gains, -1 for hopeless ones."""
    fast = screen(counts, rows, sums, weighing, limits, out_gain)
    if fast == -np.inf:
        return -1.0
    best = weigh_literals(counts, sums, weighing, least_candidate(fast, len(sums)), out_gain)
    return best if best >= limits.min_gain else -1.0


@jit
def offer_of_counts(counts, rows, sums, weighing, limits, out_gain):
    """The same for loops in Python."""
    return offer(counts, rows, sums, weighing, limits, out_gain)


@inner_jit
def weigh_literals(counts, sums, weighing, candidate, gains):
    """Replace the fast gains that may be the largest by exact ones, others by -1; the largest."""
    literals, classes = counts.rows.shape
    low, high, work = np.empty(classes), np.empty(classes), np.empty((5, classes))
    best = -1.0
    for literal in range(literals):
        if gains[literal] < candidate:
            gains[literal] = -1.0
            continue
        for code in range(classes):
            high[code] = (
                counts.sums[literal, code] if len(counts.sums) else counts.rows[literal, code]
            )
            low[code] = sums[code] - high[code]
        gains[literal] = exact_gain(low, high, weighing, work)
        best = max(best, gains[literal])
    return best


@inner_jit
def exact_gain(low_sums, high_sums, weighing, scratch):
    """The gain of a split from the sums of both sides, without cancellation unless by one's own.

    Overwrites ``scratch``, as ``gain_of_sums`` does.
    """
    if weighing.criterion == OWN:
        return own_gain_of_sums(
            weighing.impurity, low_sums, high_sums, weighing.class_weight, weighing.refused
        )
    return gain_of_sums(
        weighing.criterion, low_sums, high_sums, weighing.class_weight, weighing.alike, scratch
    )


@inner_jit
def screen(counts, rows, sums, weighing, limits, out_gain):
    """Write each literal's fast gain, -inf where it must not be tested; returns the largest.

    Gains by one's own criterion are not computed here: 0.
    """
    literals, classes = counts.rows.shape
    weighted = len(counts.sums) > 0
    class_weight, logs, criterion = weighing.class_weight, weighing.logs, weighing.criterion
    total_rows, total = total_of(rows), mass_of(sums, class_weight)
    table = weighing.plain and criterion == ENTROPY and total_rows < len(logs)
    low, high = np.empty(classes), np.empty(classes)
    for code in range(classes):
        low[code] = sums[code] * class_weight[code]
    before = _impurity(low, total, criterion)
    best = -np.inf
    for literal in range(literals):
        out_gain[literal] = -np.inf
        high_rows = 0
        for code in range(classes):
            high_rows += counts.rows[literal, code]
        low_rows = total_rows - high_rows
        if min(low_rows, high_rows) < max(1, limits.min_samples_leaf):
            continue
        if table:
            if min(low_rows, high_rows) < limits.min_leaf_mass:
                continue
            after = logs[high_rows] + logs[low_rows]
            for code in range(classes):
                count = counts.rows[literal, code]
                after -= logs[count] + logs[rows[code] - count]
            drop = before - after / total_rows
        else:
            low_mass, high_mass = 0.0, 0.0
            for code in range(classes):
                inside = counts.sums[literal, code] if weighted else counts.rows[literal, code]
                high[code] = inside * class_weight[code]
                low[code] = (sums[code] - inside) * class_weight[code]
                low_mass += low[code]
                high_mass += high[code]
            if min(low_mass, high_mass) < limits.min_leaf_mass:
                continue
            if criterion == OWN:
                drop = 0.0
            else:
                drop = (
                    before
                    - low_mass / total * _impurity(low, low_mass, criterion)
                    - high_mass / total * _impurity(high, high_mass, criterion)
                )
        out_gain[literal] = drop
        best = max(best, drop)
    return best


@inner_jit
def _impurity(masses, total, criterion):
    """The impurity of a leaf with these class masses."""
    result = 0.0
    if criterion == 3:
        for mass in masses:
            result = max(result, mass)
        return (total - result) / total
    for code in range(len(masses)):
        share = masses[code] / total
        if criterion == 0:
            if share > 0:
                result -= share * np.log(share)
        elif criterion == 1:
            result += share * (1 - share)
        else:
            rest = 1 - share
            if share > 0.5:  # a root would magnify what rounding left of the others
                rest = 0.0
                for other in range(len(masses)):
                    if other != code:
                        rest += masses[other]
                rest /= total
            result += np.sqrt(share * rest)
    return result / np.log(2.0) if criterion == 0 else result


@inner_jit
def mass_of(sums, class_weight):
    mass = 0.0
    for code in range(len(sums)):
        mass += sums[code] * class_weight[code]
    return mass
