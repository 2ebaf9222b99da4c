"""Impurity functions of a positive rate: how mixed the two labels are at a leaf.

All are concave, symmetric, zero at 0 and 1, and largest at 1/2. Each takes a number or an array.
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


def check_criterion(criterion: str) -> str:
    """The name of a known impurity function."""
    if not isinstance(criterion, str) or criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}; got {criterion!r}")
    return criterion
