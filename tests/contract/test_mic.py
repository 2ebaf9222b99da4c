"""mic: any learner against the best tree of every size."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.excess import against
from mictree.optimal import CertifiedErrors
from tests import reference
from tests.strategies import formula_cases, table_cases


@pytest.fixture(scope="module")
def problem():
    return mt.FormulaProblem("x1 & x2 | y1 & y2 & y3")


def test_what_it_returns(problem):
    result = mt.mic(mt.TopDown(), problem, max_size=100)
    assert isinstance(result, mt.MicResult)
    for curve in (result.greedy_errors, result.optimal_errors, result.excess_errors):
        assert isinstance(curve, np.ndarray)
        assert curve.shape == (101,)
    assert result.mic == 0
    assert result.max_size == 100
    assert mt.mic(mt.TopDown(), problem).max_size == 100


@settings(max_examples=20)
@given(
    st.one_of(formula_cases(max_variables=4), table_cases(max_variables=4)),
    st.sampled_from(["topdown", "bestfirst", "id3"]),
)
def test_the_mean_of_greedy_minus_least_errors(case, name):
    rule = {"topdown": mt.TopDown, "bestfirst": mt.BestFirst, "id3": mt.ID3}[name]()
    greedy = [
        reference.tree_error(case.table, t)
        for t in reference.grow(case.table, reference.PRIORITIES[name], 4)
    ]
    optimal = reference.least_errors(case.table, 4)
    expected = [one - other for one, other in zip(greedy, optimal, strict=True)]
    result = mt.mic(rule, case.problem, 4, exact=True)
    assert result.excess_errors.tolist() == expected
    assert result.mic == sum(expected[1:], Fraction(0)) / 4
    assert isinstance(result.mic, Fraction)
    rounded = mt.mic(rule, case.problem, 4)
    assert rounded.mic == pytest.approx(float(result.mic), abs=1e-12)
    assert rounded.excess_errors.min() >= 0


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("rule", [mt.TopDown(), mt.BestFirst(), mt.ID3("gini", "first")])
def test_a_callable_is_as_good_as_its_grower(problem, rule, exact):
    def learner(asked, size):
        return rule.grow(asked, size).tree(size)

    expected = mt.mic(rule, problem, 9, exact)
    computed = mt.mic(learner, problem, 9, exact)
    assert computed.mic == expected.mic
    for name in ("greedy_errors", "optimal_errors", "excess_errors"):
        assert getattr(computed, name).tolist() == getattr(expected, name).tolist()
    assert computed.rule == "learner"
    assert expected.rule == repr(rule)


def test_the_optimal_learner_has_mic_zero(problem):
    assert mt.mic(mt.optimal_tree, problem, 9, exact=True).mic == 0


def test_a_learner_that_never_splits(problem):
    result = mt.mic(lambda p, size: mt.Tree.build(p.variables, 0), problem, 2, exact=True)
    root = Fraction(11, 32)
    assert result.excess_errors.tolist() == [0, root - Fraction(9, 32), root - Fraction(3, 32)]
    assert result.worst_size == 2


def test_the_worst_size_is_the_smallest_of_several(problem):
    result = mt.mic(lambda p, size: mt.Tree.build(p.variables, 0), problem, 12)
    assert result.worst_size == 8  # from here on the optimal error is 0
    assert result.max_size == 12


def test_an_interval_of_optimal_errors_gives_one_of_mic(problem):
    optimal = mt.optimal_errors(problem, 4)
    result = against(mt.TopDown(), problem, CertifiedErrors(optimal - 0.01, optimal))
    assert not result.proved
    assert result.interval == pytest.approx((0.0, 0.01))


def test_a_wrong_optimum_is_noticed(problem):
    optimal = mt.optimal_errors(problem, 4)
    with pytest.raises(AssertionError, match="size 3: a wrong optimum"):
        against(mt.TopDown(), problem, optimal + 0.01 * (np.arange(5) == 3))


def test_it_prints_readably(problem):
    text = str(mt.mic(mt.BestFirst(), problem, max_size=8))
    assert "BestFirst" in text
    assert "0.0117188" in text  # 3/256
    assert len(text.splitlines()) == 11
    assert len(str(mt.mic(mt.BestFirst(), problem, max_size=500)).splitlines()) < 30


@pytest.mark.parametrize("exact", [True, False])
def test_a_frame_of_it(problem, exact):
    result = mt.mic(mt.BestFirst(), problem, 8, exact)
    frame = result.to_frame()
    assert frame["size"].to_list() == list(range(9))
    assert set(frame["rule"]) == {result.rule}
    for column, curve in (
        ("greedy_error", result.greedy_errors),
        ("optimal_error", result.optimal_errors),
        ("optimal_lower", result.optimal_lower),
        ("excess_error", result.excess_errors),
    ):
        assert frame[column].to_list() == [float(error) for error in curve]
    assert frame["excess_error"][1:].mean() == float(result.mic)


def test_a_table_for_latex(problem):
    result = mt.mic(mt.BestFirst(), problem, 8, exact=True)
    lines = result.to_latex().split("\n")
    assert lines[0] == r"\begin{tabular}{rrrr}"
    assert lines[-1] == r"\end{tabular}"
    rows = [line for line in lines if line[0].isdigit()]
    assert [int(row.split(" & ")[0]) for row in rows] == list(range(9))
    assert rows[5] == r"5 & 0.0625 & 0.03125 & 0.03125 \\"
    assert "_" not in lines[-2].replace(r"\_", "")
    assert lines[-2].endswith(r"MIC(8) = 0.0117188} \\")
    assert [row[0] for row in result.to_latex([2, 7]).split("\n")[4:6]] == ["2", "7"]
    with pytest.raises(ValueError, match="sizes must be at most 8; got 9"):
        result.to_latex([9])
    open_ = CertifiedErrors(np.array([0.25, 0.125]), np.array([0.25, 0.25]))
    unsure = against(
        lambda problem, size: mt.Tree.build(("a",), 0), mt.FormulaProblem("a & b"), open_
    )
    assert "1 & 0.25 & 0.125--0.25 & 0--0.125" in unsure.to_latex()


def test_a_learner_must_return_a_tree(problem):
    with pytest.raises(TypeError, match="must return a Tree; mine gave int"):
        mt.mic(named("mine", lambda p, size: 0), problem, 2)
    with pytest.raises(TypeError, match="gave NoneType"):
        mt.mic(named("mine", lambda p, size: None), problem, 2)


def test_a_learner_must_not_return_too_large_a_tree(problem):
    def too_large(p, size):
        return mt.optimal_tree(p, size + 1)

    with pytest.raises(ValueError, match="too_large gave 1 for 0"):
        mt.mic(too_large, problem, 2)


def test_a_learner_must_test_variables_of_the_problem(problem):
    with pytest.raises(ValueError, match="no other"):
        mt.mic(lambda p, size: mt.Tree.build(["other"], ("other", 0, 1) if size else 0), problem, 2)


@pytest.mark.parametrize("rule", [None, 3, mt.Tree.build(["a"], 0)])
def test_a_rule_must_be_callable(problem, rule):
    with pytest.raises(TypeError, match="a grower, a name or a callable"):
        mt.mic(rule, problem, 2)


@settings(max_examples=15)
@given(st.one_of(formula_cases(max_variables=4), table_cases(max_variables=4)), st.integers(1, 4))
def test_excess_over_the_best_tree_of_allowed_splits(case, top):
    for rule in (mt.TopDown("gini"), mt.BestFirst("gini", "first")):
        result = mt.mic(rule, case.problem, 5, exact=True, top=top)
        best = mt.optimal_errors(case.problem, 5, exact=True, top=top, criterion="gini")
        assert result.optimal_errors.tolist() == best.tolist()
        assert result.excess_errors.tolist() == (result.greedy_errors - best).tolist()
        assert min(result.excess_errors) >= 0
        assert result.mic <= mt.mic(rule, case.problem, 5, exact=True).mic


@pytest.mark.parametrize("exact", [False, True])
def test_other_learners_may_beat_the_best_tree_of_allowed_splits(exact):
    problem = mt.TableProblem.from_formula("a & (b ^ c) | ~a & d")
    assert mt.mic(mt.optimal_tree, problem, 8, exact, top=1).mic == -0.0625
    assert mt.mic(mt.optimal_tree, problem, 8, exact, top=2).mic == 0


def test_over_tops():
    problem = mt.TableProblem.from_formula("a & ~b & ~c | ~a & b & c | b & ~c & d")
    result = mt.mic_over_tops(problem, 8, exact=True)
    assert result.tops == (1, 2, 3, 4)
    assert result.optimal_errors.tolist() == mt.optimal_errors(problem, 8, exact=True).tolist()
    for top, errors, mean in zip(result.tops, result.errors, result.mic, strict=True):
        learner = lambda asked, size, top=top: mt.optimal_tree(asked, size, top=top)  # noqa: E731
        expected = mt.mic(learner, problem, 8, exact=True)
        assert errors.tolist() == expected.greedy_errors.tolist()
        assert mean == expected.mic
        assert isinstance(mean, Fraction)
    assert result.mic[0] > result.mic[2] > result.mic[3] == 0
    assert result.proved == (True,) * 4
    two = mt.mic_over_tops(problem, 8, tops=[3, 1, 3])
    assert two.tops == (1, 3)
    np.testing.assert_allclose(two.mic, result.mic[[0, 2]].astype(float), atol=1e-15)
    assert str(two).splitlines()[0].split() == ["top", "MIC(8)", "largest", "excess"]


def test_over_tops_of_data_that_is_not_proved():
    random = np.random.default_rng(0)
    data = mt.SampleProblem(random.integers(0, 2, (300, 14)), random.integers(0, 2, 300))
    result = mt.mic_over_tops(data, 8, tops=[2], memory_limit=3 * 10**6, time_limit=0.1)
    assert result.proved == (False,)
    assert (result.excess_errors >= 0).all()
    assert "not proved" in str(result)


@pytest.mark.parametrize("tops", [[], [0], [1.5]])
def test_bad_tops(problem, tops):
    with pytest.raises(ValueError, match="top"):
        mt.mic_over_tops(problem, 3, tops=tops)


def test_a_rule_may_be_a_name(problem):
    assert mt.mic("bestfirst", problem, 4).mic == mt.mic(mt.BestFirst(), problem, 4).mic
    with pytest.raises(
        ValueError, match="one of topdown, bestfirst, id3, lookahead, or a grower; got 'top'"
    ):
        mt.mic("top", problem, 4)


@pytest.mark.parametrize("max_size", [0, -1, 2.5, True, "3", None])
def test_sizes_that_are_none(problem, max_size):
    with pytest.raises(ValueError, match=r"max_size.*at least .*got"):
        mt.mic(mt.TopDown(), problem, max_size)


def test_a_million_sizes(problem):
    assert mt.mic(mt.TopDown(), problem, max_size=10**6).mic == 0


def named(name, function):
    function.__name__ = name
    return function
