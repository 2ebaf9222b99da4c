"""Impurity functions of a positive rate: how mixed the two labels are at a leaf; and their gains.

All are concave, symmetric, zero at 0 and 1, and largest at 1/2. Each takes a number or an array.

A gain is a small difference of impurities, so none is computed by subtracting them: each comes from
the difference of the children's rates, and has a small relative error however small it is.
``mictree.impurity.gains`` has the same for kernels, one split at a time.

A user's own criterion is a function of one number. It need not be symmetric; its values must be
finite and not negative.
"""

import inspect
import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

FloatArray = np.typing.NDArray[np.float64]
Impurity = Callable[[np.typing.ArrayLike], FloatArray]
Criterion = str | Callable[[float], float]  # the name of an impurity function, or one's own


def entropy(positive_rate: np.typing.ArrayLike) -> FloatArray:
    """Shannon's entropy in bits, H(q).

    Examples
    --------
    >>> import mictree as mt
    >>> float(mt.impurity.entropy(0.5)), round(float(mt.impurity.entropy(0.1)), 4)
    (1.0, 0.469)
    """
    rate = np.asarray(positive_rate, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        # log1p keeps full relative precision when the rate is tiny
        bits = -(rate * np.log(rate) + (1 - rate) * np.log1p(-rate)) / np.log(2)
    return np.where((rate > 0) & (rate < 1), bits, 0.0)  # 0 log 0 = 0


def gini(positive_rate: np.typing.ArrayLike) -> FloatArray:
    """Gini's impurity, 2 q (1 - q), as scikit-learn computes it.

    Examples
    --------
    >>> import mictree as mt
    >>> float(mt.impurity.gini(0.25))
    0.375
    """
    rate = np.asarray(positive_rate, dtype=float)
    return 2 * rate * (1 - rate)


def root(positive_rate: np.typing.ArrayLike) -> FloatArray:
    """Kearns and Mansour's criterion, 2 sqrt(q (1 - q)).

    Examples
    --------
    >>> import mictree as mt
    >>> float(mt.impurity.root(0.2))
    0.8
    """
    rate = np.asarray(positive_rate, dtype=float)
    return 2 * np.sqrt(rate * (1 - rate))


def minority(positive_rate: np.typing.ArrayLike) -> FloatArray:
    """The error of the majority label, C(q) = min(q, 1 - q).

    Examples
    --------
    >>> import mictree as mt
    >>> float(mt.impurity.minority(0.75))
    0.25
    """
    rate = np.asarray(positive_rate, dtype=float)
    return np.minimum(rate, 1 - rate)


def of_classes(criterion: Criterion, rates: np.typing.ArrayLike) -> FloatArray:
    """The impurity of class rates along the last axis; with two classes, as above.

    Gini's, Kearns and Mansour's and one's own add up over the classes what they give each against
    the rest, and halve the sum.

    Examples
    --------
    >>> import mictree as mt
    >>> import numpy as np
    >>> mt.impurity.of_classes("entropy", np.array([[0.5, 0.5], [0.25, 0.75]])).round(4).tolist()
    [1.0, 0.8113]
    """
    rate = np.asarray(rates, dtype=float)
    if not isinstance(criterion, str):
        own = np.vectorize(lambda q: own_impurity(criterion, q), otypes=[float])
        if rate.shape[-1] == 2:  # not halves of both, as one's own need not be symmetric
            return own(rate[..., 1])
        return own(rate).sum(axis=-1) / 2
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


LEAST_RATE = 1e-300  # quotients of smaller ones overflow; their gains are below 1e-297
SERIES_BELOW = 0.02  # where the power series of ``divergence`` takes over
SERIES = tuple((-1) ** power / (power * (power - 1)) for power in range(10, 1, -1))


def divergence(change: FloatArray) -> FloatArray:
    """(1 + x) log(1 + x) - x for x >= -1, to full relative precision."""
    small = np.clip(change, -SERIES_BELOW, SERIES_BELOW)  # powers of large ones overflow
    series = np.polyval(SERIES, small) * small**2
    # at -1 the logarithm is infinite, its factor 0
    direct = (1 + change) * np.log1p(np.maximum(change, -1 + 2**-53)) - change
    return np.where(np.abs(change) < SERIES_BELOW, series, direct)


def _entropy_gain(
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
    rates = np.maximum(low * low_rates + high * high_rates, LEAST_RATE)
    change = difference / rates
    upper = divergence(np.maximum(low * change, -1.0))
    lower = divergence(np.maximum(-high * change, -1.0))
    return (rates * (high * upper + low * lower)).sum(axis=1) / np.log(2)


def _gini_gain(
    low_share: FloatArray,
    high_share: FloatArray,
    low_rates: FloatArray,
    high_rates: FloatArray,
    difference: FloatArray,
) -> FloatArray:
    """The gain of each split by Gini's impurity; arguments as of ``_entropy_gain``."""
    return low_share * high_share * (difference**2).sum(axis=1)


def _root_gain(
    low_share: FloatArray,
    high_share: FloatArray,
    low_rates: FloatArray,
    high_rates: FloatArray,
    difference: FloatArray,
) -> FloatArray:
    """The gain of each split by Kearns and Mansour's criterion, by conjugates of roots."""
    low, high = low_share[:, None], high_share[:, None]
    low_rest, high_rest = rest_of(low_rates), rest_of(high_rates)
    whole = np.sqrt((low * low_rates + high * high_rates) * (low * low_rest + high * high_rest))
    whole += low * np.sqrt(low_rates * low_rest) + high * np.sqrt(high_rates * high_rest)
    crossed = np.sqrt(low_rates * high_rest) + np.sqrt(high_rates * low_rest)
    differs = difference != 0  # a class of which both children are pure has zeros below
    ratio = difference / np.where(differs, crossed, 1.0)
    return (low * high * ratio**2 / np.where(differs, whole, 1.0)).sum(axis=1)


def rest_of(rates: FloatArray) -> FloatArray:
    """The rate of all other classes, for each class along the last axis, without cancellation."""
    classes = np.arange(rates.shape[-1])
    largest = rates.argmax(axis=-1)[..., None]
    others = np.where(classes == largest, 0.0, rates).sum(axis=-1, keepdims=True)
    return np.where(rates > 0.5, others, 1 - rates)


# "minority" is missing: its gain depends on labels, see ``Problem.leads``
GAINS: dict[str, Callable[..., FloatArray]] = {
    "entropy": _entropy_gain,
    "gini": _gini_gain,
    "root": _root_gain,
}


def check_criterion(criterion: Criterion) -> Criterion:
    """The name of a known impurity function, or a function.

    Examples
    --------
    >>> import mictree as mt
    >>> mt.impurity.check_criterion("gini")
    'gini'
    """
    if isinstance(criterion, str) and criterion in CRITERIA:
        return criterion
    if callable(criterion):
        _check_parameters(criterion)
        return criterion
    raise ValueError(
        f"criterion must be one of {', '.join(CRITERIA)}, or a function of a positive rate; "
        f"got {criterion!r}"
    )


def _check_parameters(criterion: Callable[..., Any]) -> None:
    """Refuse a function that cannot be called with one number."""
    try:
        signature = inspect.signature(criterion)
    except ValueError:  # of a built-in function that does not tell
        return
    try:
        signature.bind(0.5)
    except TypeError:
        raise ValueError(
            "a criterion must be a function of one number, the positive rate; "
            f"{name_of(criterion)} takes {signature}"
        ) from None


def name_of(criterion: Criterion) -> str:
    """A criterion as text.

    Examples
    --------
    >>> import mictree as mt
    >>> mt.impurity.name_of("gini")
    'gini'
    """
    return (
        criterion if isinstance(criterion, str) else getattr(criterion, "__name__", repr(criterion))
    )


LEAST_IMPURITY = -1e-12  # rounding may leave so much of 0


def own_impurity(criterion: Callable[[float], Any], rate: float) -> float:
    """What a function of one's own gives, as a number that an impurity can be."""
    value = criterion(float(rate))
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        number = math.inf
    if not LEAST_IMPURITY <= number < math.inf:
        raise ValueError(refusal(criterion, rate, value))
    return number


def refusal(criterion: Criterion, rate: float, value: object) -> str:
    """Why an impurity is none."""
    return (
        "an impurity must be a finite number and not negative; "
        f"{name_of(criterion)} gave {value!r} at the positive rate {float(rate)!r}"
    )
