"""Certified errors keep their bounds or become plain numbers; they cannot be changed."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

from mictree.optimal import CertifiedErrors

FLOATS = [0.5, 0.1, 0.0], [0.5, 0.2, 0.1]
FRACTIONS = [Fraction(1, 2), Fraction(1, 3), Fraction(0)], [Fraction(1, 2)] * 2 + [Fraction(1, 4)]

SAME = {
    "copy": lambda errors: errors.copy(),
    "copy in an order": lambda errors: errors.copy("F"),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda errors: pickle.loads(pickle.dumps(errors)),
    "slice": lambda errors: errors[:],
    "ellipsis": lambda errors: errors[...],
    "reversed twice": lambda errors: errors[::-1][::-1],
    "chosen": lambda errors: errors[[0, 1, 2]],
}
PLAIN = {
    "sum": lambda errors: errors + errors,
    "difference": lambda errors: 1 - errors,
    "sign": lambda errors: -errors,
    "comparison": lambda errors: errors == errors,
    "out": lambda errors: np.add(errors, 1, out=np.zeros(3, dtype=errors.dtype)),
    "accumulate": np.minimum.accumulate,
    "astype": lambda errors: errors.astype(float),
    "reshape": lambda errors: errors.reshape(3, 1),
    "ravel": lambda errors: errors.ravel(),
    "flatten": lambda errors: errors.flatten(),
    "view": lambda errors: errors.view(),
    "transposed": lambda errors: errors.T,
    "squeeze": lambda errors: errors.squeeze(),
    "repeat": lambda errors: errors.repeat(2),
    "take": lambda errors: errors.take([0, 2]),
    "cumsum": lambda errors: errors.cumsum(),
    "clip": lambda errors: errors.clip(0, 1),
    "asarray": np.asarray,
    "array": np.array,
    "np.copy": np.copy,
    "sort": np.sort,
    "flip": np.flip,
    "concatenate": lambda errors: np.concatenate([errors, errors]),
    "stack": lambda errors: np.stack((errors, errors)),
    "where": lambda errors: np.where([True, False, True], errors, 0),
    "append": lambda errors: np.append(errors, values=errors),
    "split": lambda errors: np.array_split(errors, 2)[0],
}
CHANGES = {
    "an item": lambda errors: errors.__setitem__(0, 0),
    "a lower bound": lambda errors: errors.lower.__setitem__(0, 0),
    "an upper bound": lambda errors: errors.upper.__setitem__(0, 0),
    "in place": lambda errors: errors.__iadd__(1),
    "out": lambda errors: np.negative(errors, out=errors),
    "sort": lambda errors: errors.sort(),
    "fill": lambda errors: errors.fill(0),
    "put": lambda errors: np.put(errors, 0, 0),
    "flags": lambda errors: errors.setflags(write=True),
}


@pytest.fixture(params=[FLOATS, FRACTIONS], ids=["floats", "fractions"])
def bounds(request):
    kind = float if request.param is FLOATS else object
    return [np.array(each, dtype=kind) for each in request.param]


@pytest.mark.parametrize("how", SAME)
def test_copies_keep_their_bounds(how, bounds):
    lower, upper = bounds
    made = SAME[how](CertifiedErrors.between(lower, upper))
    assert type(made) is CertifiedErrors
    assert made.tolist() == made.upper.tolist() == upper.tolist()
    assert made.lower.tolist() == lower.tolist()
    assert made.proved.tolist() == [True, False, False]


def test_parts_keep_their_bounds(bounds):
    errors = CertifiedErrors.between(*bounds)
    for key in (slice(1, None), slice(None, None, -1), [2, 0], errors.proved, slice(0, 0)):
        assert errors[key].lower.tolist() == bounds[0][key].tolist()
        assert errors[key].tolist() == bounds[1][key].tolist()
        assert errors[key].proved.tolist() == errors.proved[key].tolist()


@pytest.mark.parametrize("how", PLAIN)
def test_whatever_else_numpy_makes_is_plain(how, bounds):
    made = PLAIN[how](CertifiedErrors.between(*bounds))
    assert type(made) is np.ndarray
    assert made.tolist() == PLAIN[how](bounds[1]).tolist()


def test_numbers_are_numbers(bounds):
    errors = CertifiedErrors.between(*bounds)
    assert errors[0] == errors.max() == bounds[1][0]
    assert [type(each) for each in errors] == [type(each) for each in bounds[1]]
    assert errors.shape == (3,)
    assert not hasattr(np.array(errors, subok=True), "lower")  # numpy alone makes no claim


@pytest.mark.parametrize("how", CHANGES)
def test_nothing_can_be_changed(how, bounds):
    errors = CertifiedErrors.between(*bounds)
    with pytest.raises(ValueError, match=r"read-only|cannot set WRITEABLE flag"):
        CHANGES[how](errors)
    bounds[0][0] = bounds[1][0] = 7
    assert errors[0] == errors.lower[0] != 7


def test_floats_are_proved_to_ten_digits():
    lower = np.array([0.3, 0.3 * (1 - 1e-12), 0.3 * (1 - 1e-8), 0.0, 0.0])
    upper = np.array([0.3, 0.3, 0.3, 1e-30, 0.0])
    errors = CertifiedErrors.between(lower, upper)
    assert errors.proved.tolist() == [True, True, False, False, True]
    exact = CertifiedErrors.between(
        np.array([Fraction(1, 3)]), np.array([Fraction(1, 3) + Fraction(1, 10**30)])
    )
    assert not exact.proved.any()
