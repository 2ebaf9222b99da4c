"""Certified errors keep their bounds or become plain numbers; they cannot be changed."""

import copy
import operator
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest

from mictree.optimal import CertifiedErrors
from mictree.optimal.certified import widest_gap

FLOATS = [0.5, 0.1, 0.0], [0.5, 0.2, 0.1]
FRACTIONS = [Fraction(1, 2), Fraction(1, 3), Fraction(0)], [Fraction(1, 2)] * 2 + [Fraction(1, 4)]

SAME = {
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
    "sum from the left": lambda errors: 1 + errors,
    "sum with an array": lambda errors: np.ones(3) + errors,
    "difference": lambda errors: errors - np.arange(3),
    "difference from the left": lambda errors: 1 - errors,
    "difference from an array": lambda errors: np.ones(3, dtype=int) - errors,
    "difference from a number of numpy": lambda errors: np.float64(1) - errors,
    "product": lambda errors: errors * 2,
    "product from the left": lambda errors: Fraction(1, 2) * np.asarray(errors),
    "quotient": lambda errors: errors / 3,
    "quotient from the left": lambda errors: 1 / (errors + 1),
    "quotient by it": lambda errors: 2 / errors[:2],
    "equal": lambda errors: errors == errors,
    "unequal": lambda errors: errors != errors[0],
    "less": lambda errors: errors < errors[1],
    "at most": lambda errors: errors <= errors[1],
    "more": lambda errors: errors > errors[1],
    "at least": lambda errors: errors >= errors[1],
    "compared with an array": lambda errors: np.zeros(3) < errors,
    "accumulate": np.minimum.accumulate,
    "asarray": np.asarray,
    "array": np.array,
    "floats": lambda errors: np.asarray(errors, dtype=float),
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
    "an item": (TypeError, lambda errors: operator.setitem(errors, 0, 0)),
    "a bound": (FrozenInstanceError, lambda errors: setattr(errors, "lower", 0)),
    "a lower bound": (ValueError, lambda errors: errors.lower.__setitem__(0, 0)),
    "an upper bound": (ValueError, lambda errors: errors.upper.__setitem__(0, 0)),
    "through numpy": (ValueError, lambda errors: np.asarray(errors).__setitem__(0, 0)),
    "flags": (ValueError, lambda errors: errors.upper.setflags(write=True)),
}


@pytest.fixture(params=[FLOATS, FRACTIONS], ids=["floats", "fractions"])
def bounds(request):
    kind = float if request.param is FLOATS else object
    return [np.array(each, dtype=kind) for each in request.param]


@pytest.mark.parametrize("how", SAME)
def test_copies_keep_their_bounds(how, bounds):
    lower, upper = bounds
    made = SAME[how](CertifiedErrors(lower, upper))
    assert type(made) is CertifiedErrors
    assert made.tolist() == made.upper.tolist() == upper.tolist()
    assert made.lower.tolist() == lower.tolist()
    assert made.proved.tolist() == [True, False, False]


def test_parts_keep_their_bounds(bounds):
    errors = CertifiedErrors(*bounds)
    for key in (slice(1, None), slice(None, None, -1), [2, 0], errors.proved, slice(0, 0)):
        assert errors[key].lower.tolist() == bounds[0][key].tolist()
        assert errors[key].tolist() == bounds[1][key].tolist()
        assert errors[key].proved.tolist() == errors.proved[key].tolist()


@pytest.mark.parametrize("how", PLAIN)
def test_whatever_else_numpy_makes_is_plain(how, bounds):
    made = PLAIN[how](CertifiedErrors(*bounds))
    assert type(made) is np.ndarray
    assert made.tolist() == PLAIN[how](bounds[1]).tolist()


def test_numbers_are_numbers(bounds):
    errors = CertifiedErrors(*bounds)
    assert errors[0] == max(errors) == bounds[1][0]
    assert [type(each) for each in errors] == [type(each) for each in bounds[1]]
    assert len(errors) == 3
    assert not hasattr(np.array(errors, subok=True), "lower")  # numpy alone makes no claim
    with pytest.raises(TypeError, match="unhashable"):
        hash(errors)


@pytest.mark.parametrize("how", CHANGES)
def test_nothing_can_be_changed(how, bounds):
    errors = CertifiedErrors(*bounds)
    error, change = CHANGES[how]
    with pytest.raises(error):
        change(errors)
    bounds[0][0] = bounds[1][0] = 7
    assert errors[0] == errors.lower[0] != 7


def test_a_copy_may_be_changed(bounds):
    errors = CertifiedErrors(*bounds)
    copied = np.array(errors)
    copied[0] = 7
    assert errors[0] != 7


def test_floats_are_proved_to_ten_digits():
    lower = np.array([0.3, 0.3 * (1 - 1e-12), 0.3 * (1 - 1e-8), 0.0, 0.0])
    upper = np.array([0.3, 0.3, 0.3, 1e-30, 0.0])
    errors = CertifiedErrors(lower, upper)
    assert errors.proved.tolist() == [True, True, False, False, True]
    exact = CertifiedErrors(
        np.array([Fraction(1, 3)]), np.array([Fraction(1, 3) + Fraction(1, 10**30)])
    )
    assert not exact.proved.any()


STEPS = [[0.0, 0, 0.5, 0.5], [0.0, 1, 0.0, 0.5], [0.0, 2, 0.0, 0.5], [1.5, 1, 0.1, 0.2]]


def with_history():
    kinds = np.array(["search", "relaxation", "search"], dtype=object)
    return CertifiedErrors(*map(np.array, FLOATS), kinds, np.array([*STEPS, [2, 2, 0, 0.1]]))


def test_certificates():
    errors = with_history()
    assert errors.certificate.tolist() == ["proof", "relaxation", "search"]
    assert errors.certificate[1] == "relaxation"
    assert CertifiedErrors(*FLOATS).certificate.tolist() == ["proof", "search", "search"]
    with pytest.raises(ValueError, match="read-only"):
        errors.kinds[1] = "search"


@pytest.mark.parametrize("how", SAME)
def test_copies_keep_certificates_and_history(how):
    errors = with_history()
    made = SAME[how](errors)
    assert made.certificate.tolist() == errors.certificate.tolist()
    assert made.history.equals(errors.history)
    assert made.sizes.tolist() == [0, 1, 2]


def test_slices_keep_the_history_of_their_sizes():
    part = with_history()[1:]
    assert part.sizes.tolist() == [1, 2]
    assert part.history["size"].to_list() == [1, 2, 1, 2]
    assert part.certificate.tolist() == ["relaxation", "search"]
    last = part[1:]
    assert last.sizes.tolist() == [2]
    assert last.history.rows() == [(0.0, 2, 0.0, 0.5), (2.0, 2, 0.0, 0.1)]
    assert with_history()[::-1][0:1].sizes.tolist() == [2]


def test_without_a_history():
    assert CertifiedErrors(*FLOATS).history.shape == (0, 4)


def test_more_splits_than_there_are():
    errors = with_history().up_to(4)
    assert errors.tolist() == [0.5, 0.2, 0.1, 0.1, 0.1]
    assert errors.lower.tolist() == [0.5, 0.1, 0, 0, 0]
    assert errors.sizes.tolist() == [0, 1, 2, 3, 4]
    assert errors.certificate.tolist() == ["proof", "relaxation"] + ["search"] * 3
    assert errors.history.equals(with_history().history)


def test_trees_that_err_more():
    """As those whose small leaves are pruned: no interval of the history ends below."""
    errors = with_history().attained(np.array([0.5, 0.3, 0.1]))
    assert errors.tolist() == [0.5, 0.3, 0.1]
    assert errors.lower.tolist() == FLOATS[0]
    assert errors.history["upper"].to_list() == [0.5, 0.5, 0.5, 0.3, 0.1]
    assert with_history()[1:].attained(np.array([0.3, 0.1])).tolist() == [0.3, 0.1]


def test_html_names_certificates():
    html = with_history()[1:]._repr_html_()
    assert "<th>certified by</th>" in html
    assert "<td>1</td><td>0.1 to 0.2</td><td>relaxation</td>" in html
    assert "<td>proof</td>" in with_history()._repr_html_()


def test_plots():
    from matplotlib import pyplot

    errors = with_history()
    band = errors.plot()
    labels = band.get_legend_handles_labels()[1]
    assert labels == [
        "best tree found", "proved", "interval: bound by relaxation", "interval: bound by search"
    ]  # fmt: skip
    gaps = errors.plot(against="time")
    assert gaps.get_legend_handles_labels()[1] == ["1 split", "2 splits"]
    curve = gaps.lines[0].get_xydata()
    np.testing.assert_allclose(curve, [[0, 0.5], [1.5, 0.1], [2, 0.1]])
    assert errors[1:].plot(band) is band
    at_once = np.array([*STEPS, [0.03, 2, 0.1, 0.1], [9, 1, 0.2, 0.2]])
    closed = CertifiedErrors(np.array(FLOATS[1]), np.array(FLOATS[1]), steps=at_once)
    assert closed.plot(against="time").get_legend_handles_labels()[1] == ["1 split"]
    assert not CertifiedErrors(*FLOATS).plot(against="time").lines
    with pytest.raises(ValueError, match='against must be "size" or "time"; got \'gap\''):
        errors.plot(against="gap")
    pyplot.close("all")


def test_the_widest_gap():
    assert widest_gap([0, 1, 2, 2], [0, 4, 5, 3]) == (3, 1)
