"""MIC over all biases of a range: every bias lies in the interval of its box."""

import itertools
from fractions import Fraction
from functools import partial

import joblib
import numpy as np
import pytest
from flint import ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.experiments.two_term_biases import Plan, two_term_biases
from mictree.families import biases as bias_search
from mictree.families.bias_boxes import SLACK, Boxes, Chances, Cubes, Vertices, least_errors
from mictree.families.bias_growth import CLOSED, PRECISION, Courses, Identities, Numbers
from mictree.families.biases import Part, Task, certify

RULES = st.builds(
    lambda kind, criterion, ties: kind(criterion, ties),
    st.sampled_from([mt.TopDown, mt.BestFirst, mt.ID3]),
    st.sampled_from(["entropy", "gini", "root", "minority"]),
    st.sampled_from(["last", "first", "heaviest", "lightest"]),
)
ROUNDING = 1e-13


def text_of(table: list[int], names: str) -> str:
    """A formula with the given truth table that mentions all names."""
    terms = [
        " & ".join(name if row >> place & 1 else f"~{name}" for place, name in enumerate(names))
        for row, label in enumerate(table)
        if label
    ]
    every = " & ".join(names)
    return " | ".join(f"({term})" for term in [*terms, f"{every} & ~({every})"])


def check_boxes(found: mt.MicOverBiases, problem_at, count: int, seed: int) -> None:
    """Biases inside every box, exactly."""
    draw = np.random.default_rng(seed)
    sides = (found.boxes.width - 2) // 2
    largest = 0.0
    for row in found.boxes.iter_rows():
        low, high, (least, most) = row[:sides], row[sides:-2], row[-2:]
        for _ in range(count):
            biases = [
                Fraction(a)
                + (Fraction(b) - Fraction(a)) * Fraction(int(draw.integers(1, 999)), 1000)
                for a, b in zip(low, high, strict=True)
            ]
            exact = mt.mic(found.rule, problem_at(biases), found.max_size, exact=True).mic
            assert least - ROUNDING <= exact <= most + ROUNDING, (biases, exact, row)
            largest = max(largest, float(exact))
    assert largest <= found.supremum[1] + ROUNDING


@settings(max_examples=25)
@given(
    table=st.lists(st.integers(0, 1), min_size=8, max_size=8),
    rule=RULES,
    low=st.sampled_from([0.05, 0.3, 0.5]),
    width=st.sampled_from([0.0, 0.05, 0.2, 0.45]),
    gap=st.sampled_from([0.02, 0.1, 1.0]),  # where it is wide, boxes are: growth must branch
    seed=st.integers(0, 99),
)
def test_shared_bias(table, rule, low, width, gap, seed):
    formula = text_of(table, "abc")
    found = mt.mic_over_biases(rule, formula, (low, low + width), 4, gap)
    check_boxes(found, lambda bias: mt.TableProblem.from_formula(formula, bias[0]), 4, seed)
    worst = mt.mic(rule, mt.TableProblem.from_formula(formula, found.worst), 4).mic
    assert found.supremum[0] <= worst + ROUNDING
    assert found.complete == (found.supremum[1] - found.supremum[0] <= gap)
    lows, highs = (found.boxes[side].to_list() for side in ("low", "high"))
    assert (lows[0], highs[-1]) == (low, low + width)
    assert lows[1:] == highs[:-1]  # no gap between boxes, and no overlap


def few_steps():
    """A progress that fails if a search does not end."""
    steps = itertools.count()

    def count(progress):
        assert next(steps) < 500, "boxes that are too narrow to divide keep the search busy"

    return count


ONE_OF_FOUR = [int(row.bit_count() == 1) for row in range(16)]  # no variable gains at 1/4


@pytest.mark.parametrize(
    "table",
    [
        ONE_OF_FOUR * 2,  # e makes no difference: where nothing gains, it is the last to tie
        [label ^ (row & 1) for row in range(32) for label in [ONE_OF_FOUR[row >> 1]]],
    ],
)
@pytest.mark.parametrize("rule", [mt.TopDown("gini"), mt.BestFirst("root"), mt.ID3("entropy")])
def test_a_tie_at_the_end_of_a_box(table, rule):
    """Where gains vanish all splits tie, and leaves of any reach; at one bias, but it counts."""
    formula = text_of(table, "abcde")
    for between in ((0.25, 0.25 + 2**-26), (0.25 - 2**-24, 0.25), (0.24, 0.27), (0.25, 0.25)):
        found = mt.mic_over_biases(rule, formula, between, 3, 1e-3, progress=few_steps())
        assert found.complete
        check_grid(found, lambda bias: mt.TableProblem.from_formula(formula, bias), Fraction(1, 4))


ONE_OF_THREE = [int(row.bit_count() == 1) for row in range(8)]  # no variable gains at 1/3


@pytest.mark.parametrize(
    "table",
    [
        ONE_OF_THREE * 2,
        [label ^ (row & 1) for row in range(16) for label in [ONE_OF_THREE[row >> 1]]],
    ],
)
@pytest.mark.parametrize(
    "rule",
    [mt.TopDown("gini"), mt.TopDown("entropy"), mt.BestFirst("root"), mt.ID3("entropy"),
     mt.TopDown("minority"), mt.TopDown("gini", "first"), mt.BestFirst("entropy", "heaviest")],
)  # fmt: skip
def test_a_tie_at_a_simple_fraction(table, rule):
    """No binary digits end at 1/3, but the tie there is certified by itself all the same."""
    formula = text_of(table, "abcd")
    third = float(Fraction(1, 3))
    for between in ((0.3, 0.4), (third - 2**-20, third + 2**-21)):
        found = mt.mic_over_biases(rule, formula, between, 4, 1e-3, progress=few_steps())
        assert found.complete
        problem_at = partial(mt.TableProblem.from_formula, formula)
        check_grid(found, problem_at, Fraction(1, 3))
        worst = mt.mic(rule, problem_at(found.worst), 4, exact=True).mic
        assert found.supremum[0] - ROUNDING <= worst <= found.supremum[1] + ROUNDING


@pytest.mark.parametrize(
    ("formula", "rule"),
    [
        # c gains nothing above 1/sqrt(2), as a and b do; it is the last, so it is tested anyway
        ("a & b | c", mt.TopDown("minority")),
        ("c & b | a", mt.TopDown("minority", "first")),
        # below 2/3 two leaves have different reaches and gains of one product
        ("a & b & ~c | a & ~b & c | ~a & b & c", mt.TopDown("minority")),
        ("a & b | c & d & e", mt.TopDown("minority")),
    ],
)
def test_ties_over_a_whole_range(formula, rule):
    found = mt.mic_over_biases(rule, formula, (0.3, 0.7), 6, progress=few_steps())
    assert found.complete
    check_boxes(found, lambda biases: mt.TableProblem.from_formula(formula, biases[0]), 2, 7)


def test_leaves_that_gain_nothing_come_after_those_that_ties_prefer():
    found = mt.mic_over_biases(mt.TopDown("minority"), "a & b | c", (0.7, 0.71), 6)
    assert found.complete
    assert found.boxes.height < 20
    check_boxes(found, lambda biases: mt.TableProblem.from_formula("a & b | c", biases[0]), 30, 7)


def check_grid(found: mt.MicOverBiases, problem_at, tie: Fraction) -> None:
    """Exact biases of the range, among them one at which gains tie, against the boxes they are in.

    The tie is in some box that contains it; if it is a box of its own, that one is narrow.
    """
    low, high = (Fraction(found.boxes[side][end]) for side, end in (("low", 0), ("high", -1)))
    grid = {low + (high - low) * Fraction(place, 6) for place in range(7)} | {tie}
    boxes = [tuple(map(Fraction, row)) for row in found.boxes.iter_rows()]
    for bias in sorted(grid):
        exact = mt.mic(found.rule, problem_at(bias), found.max_size, exact=True).mic
        assert exact <= found.supremum[1] + ROUNDING
        own = [box for box in boxes if box[0] == box[1] == bias]
        around = own or [box for box in boxes if box[0] <= bias <= box[1]]
        for _, _, least, most in around:
            assert least - ROUNDING <= exact <= most + ROUNDING, (bias, exact)
        assert all(most - least < 1e-9 for _, _, least, most in own)
    points = [box[0] for box in boxes if box[0] == box[1]]
    assert len(set(points)) == len(points)
    assert all(box[1] == after[0] for box, after in itertools.pairwise(boxes))


@settings(max_examples=20, deadline=None)
@given(
    table=st.integers(0, 2**16 - 1).map(lambda number: [number >> row & 1 for row in range(16)]),
    rule=RULES,
    bias=st.sampled_from(
        [
            Fraction(1, 4),
            Fraction(3, 8),
            Fraction(1, 2),
            Fraction(3, 4),
            Fraction(1, 3),
            Fraction(2, 3),
            Fraction(2, 5),
        ]
    ),
    # gains may cross in a wide box; in a narrower one than these, growers count leads as ties
    width=st.sampled_from([2.0**-12, 2.0**-4, 2.0**-3]),
)
# the gains differ at the end, and cross
@example(
    [1, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1],
    mt.TopDown("minority"),
    Fraction(3, 8),
    2.0**-4,
)
def test_a_bias_apart_goes_by_the_ties(table, rule, bias, width):
    """What is certified of one bias, and of the boxes beside it that do not contain it."""
    task = Task(rule, bytes(table), 4, False)
    at = (bias,)
    parts = [
        Part(at, at, at), Part(at, (float(bias) + width,), at), Part((float(bias) - width,), at, at)
    ]  # fmt: skip
    names = "abcd"
    formula = text_of(table, names)
    for part, (least, most) in zip(parts, certify(task, parts), strict=True):
        for share in (0,) if part.low == part.high else (1, 4, 7):
            ends = Fraction(part.low[0]), Fraction(part.high[0])
            inside = ends[0] + (ends[1] - ends[0]) * Fraction(share, 8)
            exact = mt.mic(rule, mt.TableProblem.from_formula(formula, inside), 4, exact=True).mic
            assert least - ROUNDING <= exact <= most + ROUNDING, (part, inside, exact)


def test_slopes_decide_on_both_sides_of_a_tie():
    """Above 1/2 the larger slope leads, below it the smaller one; at 1/2 the ties decide."""
    table = [1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 0]
    rule, width = mt.BestFirst("entropy", ties="first"), 2.0**-30
    sides = [Part((0.5 - width,), (0.5,)), Part((0.5,), (0.5,)), Part((0.5,), (0.5 + width,))]
    found = certify(Task(rule, bytes(table), 4, False), sides)
    for shift, (least, most) in zip((-1, 0, 1), found, strict=True):
        bias = Fraction(1, 2) + Fraction(shift, 2**24)  # so far off, growers see no tie
        problem = mt.TableProblem.from_formula(text_of(table, "abcd"), bias)
        exact = float(mt.mic(rule, problem, 4, exact=True).mic)
        assert most - least < 1e-8
        assert exact == pytest.approx(least, abs=1e-6)
    assert found[2][0] > found[0][1] + 0.06


SLOPING = [1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 0]  # the larger slope leads above 1/2


def test_boxes_too_narrow_to_divide_leave_the_gap_open():
    rule = mt.BestFirst("entropy", ties="first")
    ends = 0.5, 0.5 + 2.0**-30
    found = mt.mic_over_biases(rule, text_of(SLOPING, "abcd"), ends, 4, progress=few_steps())
    assert not found.complete
    assert found.supremum[1] - found.supremum[0] > 0.05


def test_growers_see_a_tie_beside_one():
    """So near 1/2 they grow the tree of 1/2, and the box counts it."""
    formula = text_of(SLOPING, "abcd")
    rule, bias = mt.BestFirst("entropy", ties="first"), Fraction(1, 2) + Fraction(1, 2**40)
    found = mt.mic_over_biases(rule, formula, (0.5, 0.5 + 2.0**-26), 4)
    assert found.boxes["high"].to_list() == [0.5, 0.5 + 2.0**-26]
    least, most = found.boxes.row(-1)[2:]
    at = [mt.TableProblem.from_formula(formula, each) for each in (Fraction(1, 2), bias)]
    tie, beside = (mt.mic(rule, problem, 4, exact=True).mic for problem in at)
    assert beside == pytest.approx(float(tie), abs=1e-9)
    assert least - ROUNDING <= beside <= most + ROUNDING
    assert most - least > 0.05


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize("each", [False, True])
def test_the_same_boxes_with_two_jobs(backend, each, monkeypatch):
    monkeypatch.setattr(bias_search, "MOST_CUBES", 3**3)  # a box in each task
    work = ("topdown", "a & b | ~c", (0.3, 0.8), 4, 0.05)
    expected = mt.mic_over_biases(*work, each=each, n_jobs=1)
    with joblib.parallel_config(backend=backend):
        found = mt.mic_over_biases(*work, each=each, n_jobs=2)
    assert found.boxes.equals(expected.boxes)
    assert (found.supremum, found.worst) == (expected.supremum, expected.worst)


@settings(max_examples=6)
@given(
    table=st.lists(st.integers(0, 1), min_size=4, max_size=4), rule=RULES, seed=st.integers(0, 9)
)
def test_one_bias_each(table, rule, seed):
    formula = text_of(table, "ab")
    found = mt.mic_over_biases(rule, formula, (0.2, 0.7), 3, gap=0.05, each=True, time_limit=1)
    assert found.boxes.columns == ["low_a", "low_b", "high_a", "high_b", "mic_lower", "mic_upper"]
    check_boxes(found, lambda biases: mt.TableProblem.from_formula(formula, biases), 1, seed)
    assert list(found.worst) == ["a", "b"]


@settings(max_examples=12)
@given(
    table=st.lists(st.integers(0, 1), min_size=8, max_size=8),
    rule=RULES,
    gap=st.sampled_from([0.03, 0.1, 1.0]),
    seed=st.integers(0, 9),
)
def test_one_bias_each_of_three(table, rule, gap, seed):
    formula = text_of(table, "abc")
    found = mt.mic_over_biases(rule, formula, (0.15, 0.8), 4, gap, each=True, time_limit=0.5)
    check_boxes(found, lambda biases: mt.TableProblem.from_formula(formula, biases), 2, seed)


@settings(max_examples=12)
@given(
    table=st.lists(st.integers(0, 1), min_size=8, max_size=8),
    ends=st.lists(st.tuples(*[st.floats(0.02, 0.98)] * 2), min_size=3, max_size=3),
    criterion=st.sampled_from(["entropy", "gini", "root", "minority"]),
    seed=st.integers(0, 9),
)
def test_slopes_and_values_hold_inside_a_box(table, ends, criterion, seed):
    """Of the impurities: between any two points of the box, in the direction of each bias."""
    cubes = Cubes(np.array(table))
    low, high = np.sort(np.array(ends), axis=1).T
    draw = np.random.default_rng(seed)
    with ctx.workprec(PRECISION):
        numbers = Numbers(Identities(cubes, True), criterion, low, high)
        start = low + (high - low) * draw.random(3)
        for place, moved in enumerate(numbers._moved):
            end = start.copy()
            end[place] = low[place] + (high[place] - low[place]) * draw.random()
            points = [Numbers(numbers.identities, criterion, at, at)._middle for at in (start, end)]
            for cube, label in enumerate(cubes.labels):
                if label is not None or not cubes.children[cube]:
                    continue
                series = moved.impurity(cube)
                values = [point.impurity(cube) for point in points]
                assert all(series[0].overlaps(value) for value in values)
                step = series[1] * (float(end[place]) - float(start[place]))
                assert (values[0] + step).overlaps(values[1])


def test_a_gap_closes_with_a_bias_for_each_of_three_variables():
    found = mt.mic_over_biases("topdown", "a & b | c", max_size=20, gap=1e-2, each=True)
    assert found.complete
    assert found.boxes.height < 400  # intervals of errors instead of vertices need thousands
    worst = mt.mic("topdown", mt.TableProblem.from_formula("a & b | c", found.worst), 20).mic
    assert found.supremum[0] <= worst + ROUNDING <= found.supremum[1] + 2 * ROUNDING


def test_the_supremum_against_a_fine_grid():
    formula = "x1 & x2 | y1 & y2 & y3"
    found = mt.mic_over_biases("bestfirst", formula, (0.6, 0.9), 5, gap=2e-3)
    grid = [
        mt.mic("bestfirst", mt.FormulaProblem(formula, Fraction(place, 200)), 5).mic
        for place in range(120, 181)
    ]
    assert found.complete
    assert max(grid) <= found.supremum[1]
    assert max(grid) == pytest.approx(found.supremum[0], abs=2e-3)


@pytest.mark.parametrize(
    ("rule", "formula", "crossing"),
    [("bestfirst", "x1 & x2 | y1 & y2 & y3", 0.8068), ("topdown", "a & b | ~c", 0.742)],
)
def test_a_box_in_which_gains_cross_holds_both_choices(rule, formula, crossing):
    for width in (1e-2, 5e-2, 0.15):
        between = (crossing - width, crossing + width)
        found = mt.mic_over_biases(rule, formula, between, 4, gap=1)
        assert found.boxes.height == 1
        check_boxes(found, lambda bias: mt.TableProblem.from_formula(formula, bias[0]), 20, 0)
    narrow = (crossing - 1e-2, crossing + 1e-2)
    mics = [mt.mic(rule, mt.TableProblem.from_formula(formula, end), 4).mic for end in narrow]
    assert abs(mics[0] - mics[1]) > 0.004


@settings(max_examples=25)
@given(
    table=st.lists(st.integers(0, 1), min_size=8, max_size=8),
    low=st.sampled_from([0.05, 0.3, 0.45]),
    width=st.sampled_from([0.05, 0.2, 0.5]),
)
@example([1, 0, 0, 0, 0, 0, 0, 1], 0.45, 0.1)  # its rate is least inside and at no end
def test_least_errors_of_a_box(table, low, width):
    cubes, box = Cubes(np.array(table)), Boxes(np.array([[low]]), np.array([[low + width]]))
    found = least_errors(Chances(cubes, box, False), 4).of_box(0)
    least, most = found.at_vertices.min(axis=1) - SLACK, found.most + SLACK
    for part in range(13):
        bias = Fraction(low) + (Fraction(low + width) - Fraction(low)) * Fraction(part, 12)
        problem = mt.TableProblem(table, mt.distributions.product([bias] * 3))
        errors = mt.optimal_errors(problem, 4, exact=True)
        assert all(a <= error <= b for a, error, b in zip(least, errors, most, strict=True))


@settings(max_examples=15)
@given(
    table=st.integers(0, 2**16 - 1).map(lambda number: [number >> row & 1 for row in range(16)]),
    rule=RULES,
    low=st.sampled_from([0.05, 0.2, 0.35]),
    width=st.sampled_from([0.05, 0.1, 0.25]),
)
# a leaf with two candidates, one of which trails another leaf
@example([1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1], mt.TopDown("minority"), 0.2, 0.1)
@example([1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0], mt.TopDown("minority"), 0.3, 0.1)
def test_every_course_of_growth_is_followed(table, rule, low, width):
    cubes, box = Cubes(np.array(table)), Boxes(np.array([[low]]), np.array([[low + width]]))
    with ctx.workprec(PRECISION):
        numbers = Numbers(Identities(cubes, False), str(rule.criterion), *(end[0] for end in box))
        courses = Courses(rule, numbers, Chances(cubes, box, False), 0)
        followed = [{(cubes.root,)}]
        while len(followed) <= 3:
            followed.append({new for old in followed[-1] for new in courses.steps(old)})
    for part in range(1, 12):
        bias = Fraction(low) + Fraction(width) * Fraction(part, 12)
        problem = mt.TableProblem(table, mt.distributions.product([bias] * 4))
        course = (cubes.root,)
        for size, step in enumerate(rule.grow(problem, 3).steps, start=1):
            children = cubes.children[course[step.leaf]][step.position]
            course = (*course[: step.leaf], CLOSED, *course[step.leaf + 1 :], *children)
            assert course in followed[size], (bias, size)


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.6), (0.3, 0.5), (0.55, 0.7), (0.2, 0.4)])
def test_equal_gains_are_led_by_reach(low, high):
    """In c & d where a = b, and 0 elsewhere, c gains the same; the reaches meet at 1/2 only."""
    table = [int(row & 3 in (0, 3) and row >> 2 == 3) for row in range(16)]
    cubes = Cubes(np.array(table))
    with ctx.workprec(PRECISION):
        numbers = Numbers(Identities(cubes, False), "entropy", np.array([low]), np.array([high]))
        cube_of = {tuple(values): cube for cube, values in enumerate(cubes.values)}
        both, neither = (
            numbers.weigh(numbers.gain(cube_of[value, value, 2, 2], 2), cube_of[value, value, 2, 2])
            for value in (1, 0)
        )
        assert numbers.leads(both, neither) == (low >= 0.5)
        assert numbers.leads(neither, both) == (high <= 0.5)


def test_gains_that_tie_only_at_one_half():
    """There XOR's gains vanish, and the tie rule decides; on both sides the gains do."""
    found = mt.mic_over_biases("topdown", "(a ^ b) & c", (0.45, 0.55), 3, gap=1e-3)
    assert found.complete
    half = found.boxes.filter((found.boxes["low"] == 0.5) & (found.boxes["high"] == 0.5))
    exact = mt.mic("topdown", mt.TableProblem.from_formula("(a ^ b) & c"), 3).mic
    assert half["mic_lower"][0] == pytest.approx(exact, abs=1e-9)
    assert half["mic_upper"][0] == pytest.approx(exact, abs=1e-9)


def test_a_time_limit_returns_what_is_certified():
    found = mt.mic_over_biases("topdown", "a & b | c & d", max_size=6, gap=1e-9, time_limit=0)
    assert not found.complete
    assert found.boxes.height == 3  # below, at and above 1/2
    assert "stopped early" in str(found)


def test_ctrl_c_returns_what_is_certified():
    calls = []

    def interrupt(told):
        calls.append(told)
        if len(calls) == 2:
            raise KeyboardInterrupt

    found = mt.mic_over_biases("topdown", "a & b | c", gap=1e-9, max_size=3, progress=interrupt)
    assert not found.complete
    check_boxes(found, lambda bias: mt.TableProblem.from_formula("a & b | c", bias[0]), 1, 0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rule": mt.TopDown(ties="random")}, "ties must not be random"),
        ({"rule": mt.TopDown(lambda rate: rate * (1 - rate))}, "criterion must be one of"),
        ({"between": (0.5, 0.2)}, "ascending; got"),
        ({"between": (0, 0.2)}, "strictly between 0 and 1"),
        ({"between": 0.3}, "two biases"),
        ({"gap": 0}, "gap must be positive; got 0"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0; got 0"),
        ({"max_size": 0}, "max_size must be at least 1; got 0"),
        ({"formula": "a & b & c & d & e", "each": True}, "1 to 4 variables .* it has 5"),
        ({"formula": "1"}, "1 to 8 variables .* it has 0"),
    ],
)
def test_bad_input(wrong, said):
    with pytest.raises(ValueError, match=said):
        mt.mic_over_biases(**({"rule": "topdown", "formula": "a & b"} | wrong))


def test_an_own_rule_is_refused():
    class Own(mt.TopDown):
        """A rule whose priority is not known here."""

    with pytest.raises(ValueError, match="rule must be TopDown, BestFirst or ID3"):
        mt.mic_over_biases(Own(), "a & b")


@settings(max_examples=40, deadline=None)
@given(
    table=st.lists(st.integers(0, 1), min_size=8, max_size=8),
    rule=RULES,
    low=st.sampled_from([0.05, 0.3, 0.5]),
    width=st.sampled_from([0.0, 0.05, 0.2, 0.45]),
)
def test_optimal_ranges_have_no_excess(table, rule, low, width):
    """Sizes up to 4 on a grid of biases, exactly; and where there is excess, nothing is claimed."""
    formula = text_of(table, "abc")
    found = mt.mic_over_biases(rule, formula, (low, low + width), 4, gap=1)
    for start, end, mic, unsure in found.optimal_ranges.iter_rows():
        assert mic == 0
        assert low <= start <= end <= low + width
        biases = {Fraction(number, 997) for number in range(1, 997)}
        inside = sorted(bias for bias in biases if start < bias < end)[::7]
        inside += [Fraction(bias) for bias in (start, end) if bias not in unsure]
        inside += [Fraction(1, 2)] * (start < 0.5 < end and 0.5 not in unsure)
        for bias in inside:
            problem = mt.TableProblem.from_formula(formula, bias)
            assert mt.mic(rule, problem, 4, exact=True).mic == 0, bias


@pytest.mark.parametrize("rule", [mt.TopDown(), mt.BestFirst("gini"), mt.ID3("root", "first")])
def test_conjunctions_are_always_grown_optimally(rule):
    """By hand: the first split leaves one leaf that is not pure, and all first splits are alike."""
    found = mt.mic_over_biases(rule, "a & b", (0.1, 0.9), 3, gap=1).optimal_ranges
    assert found.rows() == [(0.1, 0.9, 0.0, [])]
    # where p**2 = 1/2, the label of a leaf with two literals to go changes: a gap
    below, above = mt.mic_over_biases(rule, "a & b & c", (0.1, 0.9), 7, gap=1).optimal_ranges.rows()
    assert (below[0], above[1]) == (0.1, 0.9)
    assert below[1] < 2**-0.5 < above[0] < below[1] + 2**-12


@pytest.mark.parametrize(("lengths", "end"), [((2, 2), 0.5), ((2, 3), 2**-0.5)])
def test_optimal_ranges_of_two_terms(lengths, end):
    """The experiment on two terms certifies, in another way, up to which bias they are optimal."""
    formula = str(mt.ReadOnceDNF.of_sizes(lengths))
    found = mt.mic_over_biases("topdown", formula, (0.25, 0.875), 2 ** lengths[1], gap=1)
    rows = found.optimal_ranges.rows()
    assert rows[0][0] == 0.25
    assert end - 1e-3 <= rows[-1][1] <= end
    missing = [after[0] - before[1] for before, after in itertools.pairwise(rows)]
    assert sum(missing) < 1e-3  # where gains cross
    runs = two_term_biases(Plan(3, 0.25, 0.875, narrowest=2**-12)).runs(lengths)
    optimal = [run for run in runs if run[2] == "optimal"]
    assert all(optimal[0][0] <= low <= high <= optimal[-1][1] + 2**-12 for low, high, *_ in rows)


def test_a_tiny_excess_is_not_optimal():
    """Just above 1/2 the excess is less than the rounding of intervals, but not 0."""
    found = mt.mic_over_biases("topdown", "a & b | c & d", (0.5, 0.5 + 2.0**-40), 4)
    assert found.boxes["mic_upper"].max() < 4 * SLACK
    assert found.optimal_ranges.rows() == [(0.5, 0.5, 0.0, [])]


def test_a_rule_that_is_not_optimal():
    """Of size 5, BestFirst's tree is worse by 1/32 at 1/2, as the paper shows."""
    formula = "x1 & x2 | y1 & y2 & y3"
    found = mt.mic_over_biases("bestfirst", formula, (0.48, 0.52), 8)
    assert found.optimal_ranges.height == 0
    assert found.optimal_ranges.columns == ["low", "high", "mic", "except_at"]
    assert mt.mic("bestfirst", mt.FormulaProblem(formula), 8, exact=True).mic > 0


def test_a_bias_at_which_alone_the_rule_is_not_optimal():
    """At 1/2 all gains of a parity are 0, and the ties choose a variable that does not matter."""
    formula = "(a ^ b) & (z | ~z)"
    found = mt.mic_over_biases("topdown", formula, (0.3, 0.7), 3, gap=1)
    assert found.optimal_ranges.rows() == [(0.3, 0.7, 0.0, [0.5])]
    first = mt.mic_over_biases(mt.TopDown(ties="first"), formula, (0.3, 0.7), 3, gap=1)
    assert first.optimal_ranges.rows() == [(0.3, 0.7, 0.0, [])]
    for rule, optimal in ((found.rule, False), (first.rule, True)):
        problem = mt.TableProblem.from_formula(formula)
        assert (mt.mic(rule, problem, 3, exact=True).mic == 0) == optimal


@pytest.mark.parametrize(
    ("rule", "formula", "row"),
    [
        (mt.TopDown("minority", "lightest"), "(a ^ b) & (~a | c)", (0.5, 0.7, 0.0, [0.5])),
        (mt.ID3("root"), "~a & ~b | a & b & ~c", (0.3, 0.5, 0.0, [0.5])),
    ],
)
def test_a_range_that_begins_or_ends_at_a_tie(rule, formula, row):
    """At 1/2 the ties cost an excess, on one side of it there is none."""
    sizes = 6
    problem = mt.TableProblem.from_formula(formula)
    assert mt.mic(rule, problem, sizes, exact=True).mic > 0
    found = mt.mic_over_biases(rule, formula, (0.3, 0.7), sizes, gap=1)
    assert found.optimal_ranges.rows() == [row]


def test_optimal_ranges_need_one_bias():
    found = mt.mic_over_biases("topdown", "a & b", gap=0.5, max_size=2, each=True)
    with pytest.raises(ValueError, match="optimal ranges are those of one shared bias"):
        _ = found.optimal_ranges


def test_labels_of_proved_trees_are_settled():
    """The leaf a = 1 of a & b & c predicts 0 below 1/sqrt(2), and 1 above."""
    cubes = Cubes(np.array([0] * 7 + [1]))
    leaves = [cubes.values.index((value, 2, 2)) for value in (0, 1)]
    for low, high, settled in ((6, 7, True), (8, 9, True), (6, 8, False)):
        vertices = Vertices(cubes, Fraction(low, 10), Fraction(high, 10), 1)
        assert vertices.attain(leaves, 1) == settled


@given(
    st.lists(st.integers(0, 1), min_size=8, max_size=8),
    st.fractions(0, 1, max_denominator=9),
    st.fractions(0, 1, max_denominator=9),
)
def test_exact_vertices_are_the_rounded_ones(table, low, high):
    cubes = Cubes(np.array(table))
    ends = sorted((low, high))
    exact = Vertices(cubes, *ends, 5)
    boxes = Boxes(*(np.array([[float(end)]]) for end in ends))
    rounded = least_errors(Chances(cubes, boxes, False), 5).at_vertices[:, 0]
    scale = exact.masses[cubes.root].sum(axis=0)  # of all inputs: 1
    np.testing.assert_allclose((exact.least / scale).astype(float), rounded, atol=1e-14)
