"""Gains without cancellation, one split at a time, for kernels; ``impurity`` has them for arrays.

Rates, masses and differences of a split are arrays or tuples with one number for each class.
"""

import numpy as np

from mictree._jit import jit
from mictree.impurity import ALMOST_MINUS_ONE, CRITERIA, SERIES, SERIES_BELOW, SMALLEST

CRITERION_CODES = {name: code for code, name in enumerate(CRITERIA)}
ENTROPY, GINI, ROOT, MINORITY = range(4)
assert tuple(CRITERIA) == ("entropy", "gini", "root", "minority")

_SPLITTER = float(2**27 + 1)  # cuts a float of 53 binary digits into halves (Veltkamp)


@jit
def gain_of_rates(criterion, low_share, high_share, low, high, difference):
    """The gain of a split by entropy, Gini's impurity or the root, from its children's rates.

    ``difference`` is ``high - low``, computed without cancellation.
    """
    result = 0.0
    if criterion == GINI:
        for code in range(len(low)):
            result += difference[code] ** 2
        return low_share * high_share * result
    for code in range(len(low)):
        rate = low_share * low[code] + high_share * high[code]
        if criterion == ENTROPY:
            change = difference[code] / max(rate, SMALLEST)
            result += rate * (
                high_share * _divergence(low_share * change)
                + low_share * _divergence(-high_share * change)
            )
        else:
            low_rest, high_rest = _rest_of(low, code), _rest_of(high, code)
            whole = np.sqrt(rate * (low_share * low_rest + high_share * high_rest))
            whole += low_share * np.sqrt(low[code] * low_rest)
            whole += high_share * np.sqrt(high[code] * high_rest)
            crossed = np.sqrt(low[code] * high_rest) + np.sqrt(high[code] * low_rest)
            ratio = difference[code] / max(crossed, SMALLEST)
            result += low_share * high_share * ratio**2 / max(whole, SMALLEST)
    return result / np.log(2.0) if criterion == ENTROPY else result


@jit
def _divergence(change):
    """(1 + x) log(1 + x) - x for x >= -1, to about 12 digits however small it is."""
    if abs(change) < SERIES_BELOW:
        series = 0.0
        for coefficient in SERIES:
            series = series * change + coefficient
        return series * change**2
    change = max(change, ALMOST_MINUS_ONE)
    return (1 + change) * np.log1p(change) - change


@jit
def _rest_of(rates, code):
    """The rate of all classes but one."""
    if rates[code] <= 0.5:
        return 1 - rates[code]
    rest = 0.0
    for other in range(len(rates)):
        if other != code:
            rest += rates[other]
    return rest


@jit
def gain_of_sums(criterion, low_sums, high_sums, factors, alike, scratch):
    """The gain of a split of data, from the exact sums of both children's rows by class.

    Parameters
    ----------
    low_sums, high_sums : integers below 2**53, as floats
    factors : what a row of each class weighs; ``alike`` says that all are equal
    scratch : three rows of one float for each class, or more; overwritten
    """
    low, high, difference = scratch[0], scratch[1], scratch[2]
    low_mass, high_mass = 0.0, 0.0
    for code in range(len(factors)):
        low[code], high[code] = low_sums[code] * factors[code], high_sums[code] * factors[code]
        low_mass += low[code]
        high_mass += high[code]
    total = low_mass + high_mass
    if criterion == MINORITY:
        for code in range(len(factors)):
            difference[code] = low_sums[code] + high_sums[code]
        label = _leading(difference, factors)
        return (_lead(low_sums, factors, label) + _lead(high_sums, factors, label)) / total
    rate_differences(low_sums, high_sums, factors, alike, difference)
    for code in range(len(factors)):
        low[code] /= low_mass
        high[code] /= high_mass
    return gain_of_rates(criterion, low_mass / total, high_mass / total, low, high, difference)


@jit
def rate_differences(low_sums, high_sums, factors, alike, out):
    """Write how much more often each class occurs in the high child, from exact sums.

    A relative error of a few units in the last place, and 0 where the rates are equal.
    """
    low_mass, high_mass = 0.0, 0.0
    for code in range(len(factors)):
        factor = 1.0 if alike else factors[code]
        low_mass += factor * low_sums[code]
        high_mass += factor * high_sums[code]
    for code in range(len(factors)):
        if alike:  # the masses are exact
            cross = difference_of_products(high_sums[code], low_mass, low_sums[code], high_mass)
        else:
            cross = 0.0
            for other in range(len(factors)):
                cross += factors[other] * difference_of_products(
                    high_sums[code], low_sums[other], low_sums[code], high_sums[other]
                )
            cross *= factors[code]
        out[code] = cross / low_mass / high_mass


@jit
def leads_of_sums(low_sums, high_sums, factors):
    """How far another class outweighs the parent's label in the low and in the high child."""
    label = _leading(low_sums + high_sums, factors)
    low_mass, high_mass = (low_sums * factors).sum(), (high_sums * factors).sum()
    low, high = _lead(low_sums, factors, label), _lead(high_sums, factors, label)
    return low / low_mass, high / high_mass


@jit
def _leading(sums, factors):
    """The class of the largest mass, the first of several."""
    best = 0
    for code in range(1, len(sums)):
        if difference_of_products(sums[code], factors[code], sums[best], factors[best]) > 0:
            best = code
    return best


@jit
def _lead(sums, factors, label):
    """By how much the largest mass exceeds that of the label."""
    best = _leading(sums, factors)
    return difference_of_products(sums[best], factors[best], sums[label], factors[label])


@jit
def difference_of_products(one, two, three, four):
    """``one * two - three * four`` to the last digits, however much cancels (Dekker)."""
    first, second = one * two, three * four
    return (first - second) + (_lost(one, two, first) - _lost(three, four, second))


@jit
def _lost(one, two, product):
    """What rounding took away from a product of two floats."""
    scaled = _SPLITTER * one
    one_high = scaled - (scaled - one)
    one_low = one - one_high
    scaled = _SPLITTER * two
    two_high = scaled - (scaled - two)
    two_low = two - two_high
    rest = ((one_high * two_high - product) + one_high * two_low) + one_low * two_high
    return rest + one_low * two_low
