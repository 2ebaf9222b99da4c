"""Gains without cancellation, one split at a time, for kernels.

``mictree.impurity.criteria`` has the same gains for arrays. Rates, sums and differences of a split
are arrays or tuples with one number for each class. On data, sums over rows are exact integers, so
the difference of two rates is a difference of two products. Dekker's error-free product (1971)
computes it to the last digits, however much cancels; so equal rates give a gain of exactly 0.

A user's own criterion is called by its address, and its gain is a plain difference of impurities.
So a gain below a small share of the impurity counts as 0.
"""

import numpy as np

from mictree._support.jit import call_impurity, inner_jit, jit
from mictree.impurity.criteria import (
    CRITERIA,
    LEAST_IMPURITY,
    LEAST_RATE,
    SERIES,
    SERIES_BELOW,
)

CRITERION_CODES = {name: code for code, name in enumerate(CRITERIA)}
ENTROPY, GINI, ROOT, MINORITY, OWN = range(5)
assert tuple(CRITERIA) == ("entropy", "gini", "root", "minority")

NOISE = 1e-10  # a gain by one's own criterion below this share of the impurity counts as 0

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
        if difference[code] == 0:
            continue
        if criterion == ENTROPY:
            rate = max(low_share * low[code] + high_share * high[code], LEAST_RATE)
            change = difference[code] / rate
            result += rate * (
                high_share * _divergence(max(low_share * change, -1.0))
                + low_share * _divergence(max(-high_share * change, -1.0))
            )
        else:
            low_rest, high_rest = _rest_of(low, code), _rest_of(high, code)
            whole = np.sqrt(
                (low_share * low[code] + high_share * high[code])
                * (low_share * low_rest + high_share * high_rest)
            )
            whole += low_share * np.sqrt(low[code] * low_rest)
            whole += high_share * np.sqrt(high[code] * high_rest)
            crossed = np.sqrt(low[code] * high_rest) + np.sqrt(high[code] * low_rest)
            result += low_share * high_share * (difference[code] / crossed) ** 2 / whole
    return result / np.log(2.0) if criterion == ENTROPY else result


@jit
def own_gain(impurity, low_share, high_share, low, high, out_refused):
    """The gain of a split by a function of one's own, a difference of impurities.

    ``impurity`` is the address of the function.
    Where an impurity is none, writes True, the rate and the value to ``out_refused``.
    """
    before, after = 0.0, 0.0
    # of two classes one is enough; of several, each against the rest
    for code in range(1 if len(low) == 2 else 0, len(low)):
        rate = low_share * low[code] + high_share * high[code]
        before += _checked_impurity(impurity, rate, out_refused)
        after += low_share * _checked_impurity(impurity, low[code], out_refused)
        after += high_share * _checked_impurity(impurity, high[code], out_refused)
    drop = before - after
    if drop <= NOISE * before:
        return 0.0
    return drop if len(low) == 2 else drop / 2


@inner_jit
def _checked_impurity(impurity, rate, out_refused):
    rate = min(rate, 1.0)  # rounding may leave more
    value = call_impurity(impurity, rate)
    if not LEAST_IMPURITY <= value < np.inf:
        out_refused[0], out_refused[1], out_refused[2] = 1.0, rate, value
    return value


@jit
def own_gains(impurity, low_shares, high_shares, lows, highs, out_refused):
    """``own_gain`` for the rows of arrays."""
    gains = np.empty(len(lows))
    for split in range(len(lows)):
        gains[split] = own_gain(
            impurity, low_shares[split], high_shares[split], lows[split], highs[split], out_refused
        )
    return gains


@inner_jit
def _divergence(change):
    """(1 + x) log(1 + x) - x for x >= -1, to full relative precision."""
    if abs(change) < SERIES_BELOW:
        series = 0.0
        for coefficient in SERIES:
            series = series * change + coefficient
        return series * change**2
    if change <= -1.0:
        return 1.0
    return (1 + change) * np.log1p(change) - change


@inner_jit
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
    factors : the weight of a row of each class; ``alike`` means that all are equal
    scratch : five rows of one float for each class, overwritten
    """
    low, high, whole = scratch[0], scratch[1], scratch[2]  # unpacking would lose that they are
    low_rates, high_rates = scratch[3], scratch[4]  # contiguous
    for code in range(len(factors)):
        low[code], high[code] = low_sums[code] * factors[code], high_sums[code] * factors[code]
        whole[code] = low_sums[code] + high_sums[code]
    low_mass, high_mass = low.sum(), high.sum()
    total = low_mass + high_mass
    if criterion == MINORITY:
        label = _heaviest_class(whole, factors)
        return (
            _excess_over(low_sums, factors, label) + _excess_over(high_sums, factors, label)
        ) / total
    difference = whole
    rate_differences(low_sums, high_sums, factors, alike, difference)
    for code in range(len(factors)):
        low_rates[code], high_rates[code] = low[code] / low_mass, high[code] / high_mass
    return gain_of_rates(
        criterion, low_mass / total, high_mass / total, low_rates, high_rates, difference
    )


@inner_jit
def own_gain_of_sums(impurity, low_sums, high_sums, factors, out_refused):
    """The gain of a split of data by a function of one's own."""
    low, high = low_sums * factors, high_sums * factors
    low_mass, high_mass = low.sum(), high.sum()
    total = low_mass + high_mass
    return own_gain(
        impurity, low_mass / total, high_mass / total, low / low_mass, high / high_mass, out_refused
    )


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
    label = _heaviest_class(low_sums + high_sums, factors)
    low_mass, high_mass = (low_sums * factors).sum(), (high_sums * factors).sum()
    low, high = _excess_over(low_sums, factors, label), _excess_over(high_sums, factors, label)
    return low / low_mass, high / high_mass


@inner_jit
def _heaviest_class(sums, factors):
    """The class of the largest mass, the first of several."""
    best = 0
    for code in range(1, len(sums)):
        if difference_of_products(sums[code], factors[code], sums[best], factors[best]) > 0:
            best = code
    return best


@inner_jit
def _excess_over(sums, factors, label):
    """By how much the largest mass exceeds that of the label."""
    best = _heaviest_class(sums, factors)
    return difference_of_products(sums[best], factors[best], sums[label], factors[label])


@jit
def difference_of_products(one, two, three, four):
    """``one * two - three * four`` to the last digits, however much cancels (Dekker)."""
    first, second = one * two, three * four
    return (first - second) + (_residue(one, two, first) - _residue(three, four, second))


@inner_jit
def product_of_pairs(one, one_rest, two, two_rest):
    """The product of two numbers, each the sum of two floats, as such a sum."""
    product = one * two
    rest = _residue(one, two, product) + (one * two_rest + one_rest * two)
    total = product + rest
    return total, rest - (total - product)


@inner_jit
def _residue(one, two, product):
    """The rounding error of a product of two floats."""
    scaled = _SPLITTER * one
    one_high = scaled - (scaled - one)
    one_low = one - one_high
    scaled = _SPLITTER * two
    two_high = scaled - (scaled - two)
    two_low = two - two_high
    rest = ((one_high * two_high - product) + one_high * two_low) + one_low * two_high
    return rest + one_low * two_low
