"""The biases of a product distribution, as a user gives them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from mictree._support.checks import as_fraction
from mictree.functions.read_once import check_names

Biases = float | Fraction | Sequence[float | Fraction] | Mapping[str, float | Fraction]


def read_biases(names: Sequence[str], bias: Biases) -> dict[str, Fraction]:
    """Every variable's bias as a checked Fraction, the given names first.

    ``bias`` is one number for all variables, a sequence in the order of the names, or a mapping,
    whose extra names are irrelevant variables.
    """
    if isinstance(bias, Mapping):
        for name in names:
            if name not in bias:
                raise ValueError(f"every variable needs a bias; there is none for {name}")
        given = {name: bias[name] for name in (*names, *bias)}
    elif isinstance(bias, str) or not np.iterable(bias):
        given = dict.fromkeys(names, bias)
    else:
        values = list(bias)
        if len(values) != len(names):
            raise ValueError(
                f"bias must have one number for each of the {len(names)} variables; "
                f"it has {len(values)}"
            )
        given = dict(zip(names, values, strict=True))
    check_names(given)
    return {name: read_bias(name, value) for name, value in given.items()}


def read_bias(name: str, value: object) -> Fraction:
    """A number strictly between 0 and 1."""
    try:
        bias = as_fraction(value)
    except (ValueError, OverflowError):  # text, nan, infinity
        raise ValueError(
            f"bias must be a number strictly between 0 and 1; {name} has {value!r}"
        ) from None
    if not 0 < bias < 1:
        raise ValueError(f"bias must lie strictly between 0 and 1; {name} has {value}")
    return bias
