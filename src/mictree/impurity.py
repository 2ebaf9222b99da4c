"""Impurity functions of a positive rate: how mixed the two labels are at a leaf; and their gains.

All are concave, symmetric, zero at 0 and 1, and largest at 1/2. Each takes a number or an array.

A gain is a small difference of impurities, so none is computed by subtracting them: each comes from
the difference of the children's rates, and has a small relative error however small it is. Kernels
do the same in ``_gains``.
"""

from collections.abc import Callable

import numpy as np

FloatArray = np.typing.NDArray[np.float64]
Impurity = Callable[[np.typing.ArrayLike], FloatArray]


def entropy(positive_rate: np.typing.ArrayLike) -> FloatArray:
    """Shannon's entropy in bits, H(q)."""
    rate = np.asarray(positive_rate, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        # log1p keeps full relative precision when the rate is tiny
        bits = -(rate * np.log(rate) + (1 - rate) * np.log1p(-rate)) / np.log(2)
    return np.where((rate > 0) & (rate < 1), bits, 0.0)  # 0 log 0 = 0


def gini(positive_rate: np.typing.ArrayLike) -> FloatArray:
    """Gini's impurity, 2 q (1 - q), as scikit-learn computes it."""
    rate = np.asarray(positive_rate, dtype=float)
    return 2 * rate * (1 - rate)


def root(positive_rate: np.typing.ArrayLike) -> FloatArray:
    """Kearns and Mansour's criterion, 2 sqrt(q (1 - q))."""
    rate = np.asarray(positive_rate, dtype=float)
    return 2 * np.sqrt(rate * (1 - rate))


def minority(positive_rate: np.typing.ArrayLike) -> FloatArray:
    """The error of the majority label, C(q) = min(q, 1 - q)."""
    rate = np.asarray(positive_rate, dtype=float)
    return np.minimum(rate, 1 - rate)


def of_classes(criterion: str, rates: np.typing.ArrayLike) -> FloatArray:
    """The impurity of class rates along the last axis; with two classes, as above.

    Gini's, Kearns and Mansour's add up over the classes what they give each against the rest.
    """
    rate = np.asarray(rates, dtype=float)
    if criterion == "minority":
        return 1 - rate.max(axis=-1)
    if criterion == "entropy":
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = -rate * np.log2(rate)
        return np.where(rate > 0, bits, 0.0).sum(axis=-1)
    return CRITERIA[criterion](rate).sum(axis=-1) / 2


CRITERIA: dict[str, Impurity] = {
    "entropy": entropy,
    "gini": gini,
    "root": root,
    "minority": minority,
}


SMALLEST = 1e-290  # smaller rates gain nothing: quotients could leave the range of floats
SERIES_BELOW = 0.005  # where the power series of ``divergence`` takes over
SERIES = tuple((-1) ** power / (power * (power - 1)) for power in range(7, 1, -1))
ALMOST_MINUS_ONE = -1 + 2**-53  # where the logarithm of ``divergence`` is still finite


def divergence(change: FloatArray) -> FloatArray:
    """(1 + x) log(1 + x) - x for x >= -1, to about 12 digits however small it is."""
    change = np.maximum(change, ALMOST_MINUS_ONE)
    result = (1 + change) * np.log1p(change) - change
    small = (np.abs(change) < SERIES_BELOW) & (change != 0)
    if small.any():
        result[small] = np.polyval(SERIES, change[small]) * change[small] ** 2
    return result


def entropy_gain(
    low_share: FloatArray,
    high_share: FloatArray,
    low_rates: FloatArray,
    high_rates: FloatArray,
    difference: FloatArray,
) -> FloatArray:
    """The gain of each split by entropy: the children's mean divergence from their parent.

    Parameters
    ----------
    low_share, high_share : the probability of either child, one for each split
    low_rates, high_rates : the children's class rates, shape (splits, classes)
    difference : ``high_rates - low_rates``, computed without cancellation
    """
    low, high = low_share[:, None], high_share[:, None]
    rates = low * low_rates + high * high_rates
    change = difference / np.maximum(rates, SMALLEST)
    changes = np.empty((2, *rates.shape))
    np.multiply(change, low, out=changes[0])
    np.multiply(change, -high, out=changes[1])
    upper, lower = divergence(changes)
    return (rates * (high * upper + low * lower)).sum(axis=1) / np.log(2)


def gini_gain(
    low_share: FloatArray,
    high_share: FloatArray,
    low_rates: FloatArray,
    high_rates: FloatArray,
    difference: FloatArray,
) -> FloatArray:
    """The gain of each split by Gini's impurity; arguments as of ``entropy_gain``."""
    return low_share * high_share * (difference**2).sum(axis=1)


def root_gain(
    low_share: FloatArray,
    high_share: FloatArray,
    low_rates: FloatArray,
    high_rates: FloatArray,
    difference: FloatArray,
) -> FloatArray:
    """The gain of each split by Kearns and Mansour's criterion, by conjugates of roots."""
    if low_rates.shape[1] == 2:  # both classes gain the same
        low_rest, low_rate = low_rates.T
        high_rest, high_rate = high_rates.T
        return 2 * _root_gain(
            low_share, high_share, low_rate, high_rate, low_rest, high_rest, difference[:, 1]
        )
    low, high = low_share[:, None], high_share[:, None]
    rests = (rest_of(low_rates), rest_of(high_rates))
    return _root_gain(low, high, low_rates, high_rates, *rests, difference).sum(axis=1)


def _root_gain(
    low: FloatArray,
    high: FloatArray,
    low_rate: FloatArray,
    high_rate: FloatArray,
    low_rest: FloatArray,
    high_rest: FloatArray,
    difference: FloatArray,
) -> FloatArray:
    """What one class, or each of several, adds to the gain."""
    whole = np.sqrt((low * low_rate + high * high_rate) * (low * low_rest + high * high_rest))
    whole += low * np.sqrt(low_rate * low_rest) + high * np.sqrt(high_rate * high_rest)
    crossed = np.sqrt(low_rate * high_rest) + np.sqrt(high_rate * low_rest)
    # both are 0 where the children are pure and alike; then so is the difference
    ratio = difference / np.maximum(crossed, SMALLEST)
    return low * high * ratio**2 / np.maximum(whole, SMALLEST)


def rest_of(rates: FloatArray) -> FloatArray:
    """The rate of all other classes, for each class along the last axis, without cancellation."""
    classes = np.arange(rates.shape[-1])
    largest = rates.argmax(axis=-1)[..., None]
    others = np.where(classes == largest, 0.0, rates).sum(axis=-1, keepdims=True)
    return np.where(rates > 0.5, others, 1 - rates)


# "minority" is missing: its gain depends on labels, see ``Problem.leads``
GAINS: dict[str, Callable[..., FloatArray]] = {
    "entropy": entropy_gain,
    "gini": gini_gain,
    "root": root_gain,
}


def check_criterion(criterion: str) -> str:
    """The name of a known impurity function."""
    if not isinstance(criterion, str) or criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}; got {criterion!r}")
    return criterion
