"""The literal that a leaf of data would be split by; kernels of the growing loop."""

import numpy as np

from mictree._gains import gain_of_sums
from mictree._jit import jit
from mictree.problems._counting import total_of

# Fast gains are wrong by less than this times the number of classes and 16 more: by a few units in
# the last place of an impurity, or of log2(4096) when logarithms are looked up.
SLACK = 1e-13

# n log2 n, so that entropies of small counts need no logarithm
TABLE_SIZE = 4096
COUNT_LOGS = np.arange(TABLE_SIZE + 1) * np.log2(np.maximum(np.arange(TABLE_SIZE + 1), 1))


@jit
def may_split(rows, depth, settings):
    """Whether a leaf is impure, large and high enough to have its splits looked at."""
    total = total_of(rows)
    if depth >= settings.max_depth or total < settings.min_samples_split:
        return False
    impure = True
    for here in rows:
        impure &= here < total
    return impure


@jit
def offer(counts, sums, rows, class_sums, class_weight, depth, logs, settings, scratch, random):
    """The literal that a leaf would be split by, -1 for none, and its gain.

    All gains are computed fast, and those that may be the largest once more, without cancellation.
    """
    if not may_split(rows, depth, settings):
        return -1, 0.0
    gains, places, work = scratch
    fast = _screen(counts, sums, rows, class_sums, class_weight, logs, settings, gains)
    if fast == -np.inf:
        return -1, 0.0
    candidates = 0
    # differences of whole numbers
    exact = settings.criterion == 3 and settings.alike and class_weight[0] == 1
    slack = 0.0 if exact else 2 * SLACK * (len(class_weight) + 16)
    least = fast - settings.tolerance * fast - slack
    for literal in range(len(gains)):
        if gains[literal] >= least:
            places[candidates] = literal
            candidates += 1
    best = fast
    if not exact:
        best = _recompute(
            counts, sums, class_sums, class_weight, settings, places[:candidates], gains, work
        )
    if best < settings.min_gain:
        return -1, 0.0
    least = best - settings.tolerance * best
    found, ties = -1, 0
    for literal in places[:candidates]:
        if gains[literal] >= least:
            ties += 1
            if settings.ties == 2:
                if below(random, ties) == 0:  # each of the ties is kept with equal chance
                    found = literal
            elif settings.ties != 1 or found < 0:
                found = literal
    return found, best


@jit
def _recompute(counts, sums, class_sums, class_weight, settings, literals, gains, work):
    """Write the gains of some literals without cancellation; returns the largest."""
    low, high = work[3], work[4]
    best, before = 0.0, -1
    for literal in literals:
        again = before >= 0  # neighbours often split the rows in the same way
        for code in range(len(class_weight)):
            inside = sums[literal, code] if len(sums) else float(counts[literal, code])
            again &= inside == high[code]
            high[code] = inside
            low[code] = class_sums[code] - inside
        if again:
            gains[literal] = gains[before]
        else:
            gains[literal] = gain_of_sums(
                settings.criterion, low, high, class_weight, settings.alike, work
            )
        best = max(best, gains[literal])
        before = literal
    return best


@jit
def _screen(counts, sums, rows, class_sums, class_weight, logs, settings, out_gain):
    """Write each literal's gain, -inf where it must not be tested; returns the largest."""
    literals, classes = counts.shape
    weighted = len(sums) > 0
    total_rows, total = total_of(rows), mass_of(class_sums, class_weight)
    table = settings.plain and settings.criterion == 0 and total_rows < len(logs)
    low, high = np.empty(classes), np.empty(classes)
    for code in range(classes):
        low[code] = class_sums[code] * class_weight[code]
    before = _purity(low, total, settings.criterion)
    best = -np.inf
    for literal in range(literals):
        out_gain[literal] = -np.inf
        high_rows = 0
        for code in range(classes):
            high_rows += counts[literal, code]
        low_rows = total_rows - high_rows
        if min(low_rows, high_rows) < max(1, settings.min_samples_leaf):
            continue
        if table:
            if min(low_rows, high_rows) < settings.min_leaf_mass:
                continue
            after = logs[high_rows] + logs[low_rows]
            for code in range(classes):
                count = counts[literal, code]
                after -= logs[count] + logs[rows[code] - count]
            drop = -(before / np.log(2.0) + after) / total_rows
        else:
            low_mass, high_mass = 0.0, 0.0
            for code in range(classes):
                inside = sums[literal, code] if weighted else counts[literal, code]
                high[code] = inside * class_weight[code]
                low[code] = (class_sums[code] - inside) * class_weight[code]
                low_mass += low[code]
                high_mass += high[code]
            if min(low_mass, high_mass) < settings.min_leaf_mass:
                continue
            low_purity = _purity(low, low_mass, settings.criterion)
            high_purity = _purity(high, high_mass, settings.criterion)
            drop = (low_purity + high_purity - before) / total
            if settings.criterion == 0:
                drop /= np.log(2.0)
        out_gain[literal] = drop
        best = max(best, drop)
    return best


@jit
def _purity(masses, total, criterion):
    """A constant less a leaf's impurity, times its mass; of entropy in nats."""
    result = 0.0
    if criterion == 0:
        for mass in masses:
            if mass > 0:
                result += mass * np.log(mass / total)
        return result
    if criterion == 1:
        for mass in masses:
            result += mass * mass
        return result / total
    if criterion == 2:
        for code in range(len(masses)):
            rest = total - masses[code]
            if masses[code] > rest:  # a root would magnify what rounding left of the others
                rest = 0.0
                for other in range(len(masses)):
                    if other != code:
                        rest += masses[other]
            result -= np.sqrt(masses[code] * rest)
        return result
    for mass in masses:
        result = max(result, mass)
    return result


@jit
def mass_of(sums, class_weight):
    mass = 0.0
    for code in range(len(sums)):
        mass += sums[code] * class_weight[code]
    return mass


@jit
def below(random, bound):
    """A random integer from 0 to bound - 1 (SplitMix64); ``random[0]`` is the generator's state."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    word = random[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return np.int64((word >> np.uint64(11)) % np.uint64(bound))
