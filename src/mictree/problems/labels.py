"""Labels as positions among classes, and the weights of rows and classes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mictree.data import is_missing

MOST_CODES = 4096  # integer labels in a range of this width are counted, not sorted

FloatArray = np.typing.NDArray[np.float64]
Labels = np.typing.NDArray[Any]


class Coded(NamedTuple):
    """Labels as positions in a tuple of classes."""

    classes: tuple[Any, ...]
    codes: np.typing.NDArray[np.int32]

    @classmethod
    def read(cls, y: Any) -> Coded:
        """Labels of any kind; those that are all 0 or 1 get both classes."""
        labels = y if isinstance(y, np.ndarray) else np.asarray(y)
        if labels.ndim != 1:
            raise ValueError(f"y must have one dimension; its shape is {labels.shape}")
        values, codes = cls.positions(labels)
        if len(values) == 1 and values[0] in (0, 1):
            return cls((0, 1), np.full(len(labels), int(values[0]), dtype=np.int32))
        return cls(tuple(values.tolist()), codes)

    @staticmethod
    def positions(labels: Labels) -> tuple[Labels, np.typing.NDArray[np.int32]]:
        """The distinct labels, sorted, and the position of each label among them."""
        kind = labels.dtype.kind
        if kind == "f" and np.isnan(labels).any():
            raise ValueError("y must not contain NaN")
        if kind == "b":
            labels = labels.view(np.uint8)
        if kind in "biu" and len(labels):
            least, most = int(labels.min()), int(labels.max())
            if most - least < MOST_CODES:
                shifted = labels - least if least else labels
                present = np.bincount(shifted, minlength=1) > 0
                values = (np.flatnonzero(present) + least).astype(labels.dtype)
                if len(values) == most - least + 1:
                    codes = shifted.astype(np.int32)
                else:
                    codes = (np.cumsum(present, dtype=np.int32) - 1)[shifted]
                return (values.astype(bool) if kind == "b" else values), codes
        if kind == "O":
            for label in labels:
                if is_missing(label) or label != label:
                    raise ValueError("y must not contain missing values")
        values, codes = np.unique(labels, return_inverse=True)
        return values, codes.astype(np.int32)


def read_weights(sample_weight: Any, rows: int) -> FloatArray | None:
    """A positive weight for some rows, zero for others; None when all are 1."""
    if sample_weight is None:
        return None
    weights = np.array(sample_weight, dtype=float)
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight must be one number a row; its shape is {weights.shape}")
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError("sample_weight must be finite and not negative")
    if not np.any(weights > 0):
        raise ValueError("sample_weight must be positive for some row; all are 0")
    if rows and np.all(weights == weights[0]) and weights[0] == 1:
        return None
    return weights


def whole_weights(weights: FloatArray) -> tuple[FloatArray, float]:
    """Weights as whole numbers whose sums are exact floats, and the weight that became 1.

    Decimals such as 0.25 are multiplied by a power of ten. Weights with too many digits for that
    are rounded to 52 binary digits of their sum, none to 0.
    """
    total, some = float(weights.sum()), weights[:64]
    for digits in range(16):
        unit = 10.0**digits
        if total * unit >= 2**52:
            break
        # the quotient is rounded once, so it is the weight exactly if that is such a decimal
        if np.all(np.round(some * unit) / unit == some):
            whole = np.round(weights * unit)
            if np.all(whole / unit == weights):
                return whole, 1 / unit
    digits = min(52 - math.frexp(total)[1], 1074)  # floats have no more binary digits
    whole = np.maximum(np.round(np.ldexp(weights, digits)), weights > 0)
    return whole, math.ldexp(1.0, -digits)


def class_weights(weight: Any, coded: Coded) -> FloatArray | None:
    """A factor for each class from None, "balanced" or a mapping, as scikit-learn has it."""
    if weight is None:
        return None
    if isinstance(weight, str):
        if weight != "balanced":
            raise ValueError(f'class_weight must be None, a mapping or "balanced"; got {weight!r}')
        counts = np.bincount(coded.codes, minlength=len(coded.classes))
        return len(coded.codes) / (len(coded.classes) * np.maximum(counts, 1))
    if not isinstance(weight, Mapping):
        raise ValueError(f'class_weight must be None, a mapping or "balanced"; got {weight!r}')
    unknown = [label for label in weight if label not in coded.classes]
    if unknown:
        raise ValueError(f"class_weight must name classes of y; there is no {unknown[0]!r}")
    for label, factor in weight.items():
        if not 0 < factor < math.inf:
            raise ValueError(f"class_weight must be positive and finite; {label!r} has {factor!r}")
    return np.array([float(weight.get(label, 1.0)) for label in coded.classes])
