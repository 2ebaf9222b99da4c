"""Experiments: parameters to frozen results, seeded, cached, continued."""

import errno
import itertools
import math
import os
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

import mictree as mt
from mictree.experiments import examples, finite_samples, histograms, sample_size
from mictree.experiments.cache import Cache
from mictree.experiments.finite_samples import Rows, from_sklearn, learn
from mictree.growers.rules import TIES

SMALL = finite_samples.Plan(
    (2, 3), rows=(30, 300), repetitions=2, test_rows=200, max_size=6, min_samples_split=20
)
PROBLEM = mt.FormulaProblem("a & b | c & ~d", {"a": 0.3, "b": 0.7, "c": 0.4, "d": 0.6})


def brute_force_error(tree, problem):
    """The error by summing over every input."""
    names = problem.variables
    total = 0.0
    for bits in itertools.product((0, 1), repeat=len(names)):
        chance = math.prod(
            float(problem.biases[name]) if bit else 1 - float(problem.biases[name])
            for name, bit in zip(names, bits, strict=True)
        )
        truth = problem.formula.evaluate([bits], names)[0]
        total += chance * (tree.predict([bits])[0] != truth)
    return total


class TestCache:
    def test_computes_once(self, tmp_path):
        calls = []
        for _ in range(2):
            cache = Cache(tmp_path)
            found = cache.values("name", {"a": 1}, lambda: calls.append(1) or [1, 2])
        assert (found.value, len(calls), cache.reused, cache.computed) == ([1, 2], 1, 1, 0)

    def test_frames_survive(self, tmp_path):
        frame = pl.DataFrame({"a": [1.5, 2.5]})
        first = Cache(tmp_path).frame("name", [1], lambda: frame)
        again = Cache(tmp_path).frame("name", [1], lambda: pytest.fail("computed again"))
        assert again.value.equals(frame)
        assert again.seconds == first.seconds

    def test_depends_on_parameters_and_version(self, tmp_path, monkeypatch):
        cache = Cache(tmp_path)
        before = cache.path("name", [1])
        assert cache.path("name", [2]) != before
        monkeypatch.setattr("mictree.experiments.cache.code_version", lambda: "another")
        assert cache.path("name", [1]) != before

    @pytest.mark.parametrize("damage", [b"", b"{", b'{"value": 1}'])
    def test_damaged_results_are_computed_again(self, tmp_path, damage):
        cache = Cache(tmp_path)
        cache.values("name", [1], lambda: 7)
        cache.path("name", [1]).write_bytes(damage)
        assert cache.values("name", [1], lambda: 8).value == 8

    def test_damaged_frames_are_computed_again(self, tmp_path):
        cache = Cache(tmp_path)
        frame = pl.DataFrame({"a": [1]})
        cache.frame("name", [1], lambda: frame)
        cache.path("name", [1]).write_bytes(b"PAR1")
        assert cache.frame("name", [1], lambda: frame).value.equals(frame)

    def test_a_flipped_bit_anywhere_is_noticed(self, tmp_path):
        frame = pl.DataFrame({"a": [1.5, 2.5]})
        for kind, value in (("values", [1, "b"]), ("frame", frame)):
            getattr(Cache(tmp_path), kind)(kind, [1], lambda value=value: value)
            path = Cache(tmp_path).path(kind, [1])
            whole = path.read_bytes()
            for place in range(len(whole)):
                damaged = bytearray(whole)
                damaged[place] ^= 1
                path.write_bytes(damaged)
                cache = Cache(tmp_path)
                getattr(cache, kind)(kind, [1], lambda value=value: value)
                assert (cache.computed, cache.reused) == (1, 0)

    def test_a_result_under_another_s_name_is_computed_again(self, tmp_path):
        cache = Cache(tmp_path)
        cache.values("name", [1], lambda: 7)
        cache.path("name", [1]).rename(cache.path("name", [2]))
        assert cache.values("name", [2], lambda: 8).value == 8

    def test_a_full_disk_leaves_nothing_behind(self, tmp_path, monkeypatch):
        def full(*arguments):
            raise OSError(errno.ENOSPC, "No space left on device")

        cache = Cache(tmp_path)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(OSError, match=r"no space left .* needs 0\.1 kB"):
                cache.values("name", [1], lambda: 7)
        assert not list(tmp_path.iterdir())
        assert cache.values("name", [1], lambda: 8).value == 8


class TestCacheKeys:
    """A result drawn with a seed made from its number is not found under another number."""

    def test_finite_samples(self, tmp_path):
        plan = replace(SMALL, biases=((0.3, 0.7), (0.4, 0.6)), rows=(30,))
        swapped = replace(plan, biases=plan.biases[::-1])
        finite_samples.finite_samples(plan, Cache(tmp_path))
        found = finite_samples.finite_samples(swapped, Cache(tmp_path))
        computed = finite_samples.finite_samples(swapped)
        for one, other in zip(found.settings, computed.settings, strict=True):
            assert one.frame.drop("seconds").equals(other.frame.drop("seconds"))

    def test_sample_sizes(self, tmp_path):
        cases = (sample_size.Case("one", (2, 3), 4), sample_size.Case("two", (2, 2), 4))
        plan = sample_size.Plan(cases, rows=(40,), repetitions=2)
        swapped = replace(plan, cases=cases[::-1])
        sample_size.sample_sizes(plan, Cache(tmp_path))
        found = sample_size.sample_sizes(swapped, Cache(tmp_path))
        computed = sample_size.sample_sizes(swapped)
        for one, other in zip(found.cases, computed.cases, strict=True):
            assert one.frame.equals(other.frame)

    def test_biases_that_look_alike(self, tmp_path):
        one = histograms.Setting("some", 2, 2, (0.3,))
        other = histograms.Setting("some", 2, 2, (0.3 + 1e-14,))
        assert one.family.name == other.family.name
        histograms.spread(one, 3, cache=Cache(tmp_path))
        cache = Cache(tmp_path)
        histograms.spread(other, 3, cache=cache)
        assert cache.reused == 0


def test_example_trees_have_the_paper_s_errors():
    found = {each.title: each for each in examples.examples().trees}
    assert found["BestFirst, ties last, size 5"].error == Fraction(1, 16)
    staircases = [each for title, each in found.items() if title.startswith("staircase")]
    assert [each.tree.size for each in staircases] == [2, 5, 6, 8]
    assert all(each.error == each.optimal_error for each in staircases)
    (mixed,) = (each.tree for title, each in found.items() if "right path" in title)
    path, node = [], 0
    while mixed.tests[node] >= 0:
        path.append(mixed.variables[mixed.tests[node]][0])
        node = mixed.high[node]
    assert set(path) == {"x", "y"}


def test_stepped_growths_agree_with_their_trees():
    growth = examples.step_through("case", "a & b | c & d & e", 6, biases=(0.3, 0.7))
    for name, trees in growth.trees.items():
        for size, tree in enumerate(trees):
            assert tree.size <= size
            assert tree.error(growth.problem) == pytest.approx(growth.errors[name][size])
            assert growth.errors[name][size] >= growth.errors["optimal"][size] - 1e-12


def test_spread_agrees_with_mic():
    setting = histograms.Setting("small", 2, 3, (0.3, 0.7))
    found = histograms.spread(setting, max_size=8)
    for ties in ("first", "lightest"):
        for member in (1, found.formulas // 2, found.formulas):
            expected = mt.mic(mt.BestFirst(ties=ties), setting.family.problem(member), 8)
            assert found.mic("bestfirst", ties)[member - 1] == pytest.approx(expected.mic)
    assert set(found.summary["ties"]) == set(TIES)
    assert found.tie_difference("topdown") == 0 < found.tie_difference("bestfirst")


def test_spread_is_seeded():
    setting = histograms.Setting("small", 3, 3, (0.5,))
    one, same = (histograms.spread(setting, max_size=8, seed=1) for _ in range(2))
    assert one.frame.equals(same.frame)


def test_true_errors_are_those_of_the_distribution():
    rows = Rows.draw(PROBLEM, 60, [1])
    for rule in (mt.TopDown(), mt.BestFirst()):
        learned = learn(PROBLEM, rule, rows, 8, 2)
        assert learned.true_errors[-1] == pytest.approx(brute_force_error(learned.tree, PROBLEM))
        for size in range(9):
            smaller = learn(PROBLEM, rule, rows, size, 2)
            assert learned.true_errors[size] == pytest.approx(smaller.tree.error(PROBLEM))


def test_columns_that_never_vary_are_no_trouble():
    rows = Rows.draw(PROBLEM, 40, [2])
    rows.X[:, 0] = 1
    tree = learn(PROBLEM, mt.TopDown(), Rows(rows.X, rows.y), 5, 2).tree
    sample = mt.SampleProblem(rows.X, rows.y)
    assert rows.error(tree) == pytest.approx(mt.TopDown().grow(sample, 5).errors[-1])


def test_rows_follow_the_distribution():
    rows = Rows.draw(PROBLEM, 20_000, [3])
    np.testing.assert_allclose(rows.X.mean(axis=0), [0.3, 0.7, 0.4, 0.6], atol=0.02)
    assert rows.y.mean() == pytest.approx(PROBLEM.positive_rate({}), abs=0.02)
    assert np.array_equal(rows.X, Rows.draw(PROBLEM, 20_000, [3]).X)


def test_a_scikit_learn_tree_predicts_the_same_as_ours():
    rows, other = Rows.draw(PROBLEM, 200, [4]), Rows.draw(PROBLEM, 200, [5])
    fitted = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(rows.X, rows.y)
    tree = from_sklearn(fitted, PROBLEM.variables)
    assert np.array_equal(tree.predict(other.X), fitted.predict(other.X))


def test_the_plan_is_the_paper_s():
    plan = finite_samples.Plan()
    problem = plan.problem((0.3, 0.7))
    assert sum(plan.terms) == len(problem.variables) == 38
    assert list(problem.biases.values()).count(Fraction(3, 10)) == 19
    assert (len(plan.rows), plan.rows[0], plan.rows[-1]) == (9, 50, 50_000)
    assert (plan.repetitions, plan.test_rows, plan.max_size, plan.min_samples_split) == (
        10, 10_000, 20, 20,
    )  # fmt: skip


def test_finite_samples():
    result = finite_samples.finite_samples(SMALL)
    assert [setting.name for setting in result.settings] == [
        "uniform", "0.3 and 0.7", "0.4 and 0.6",
    ]  # fmt: skip
    for setting in result.settings:
        assert setting.frame.height == 2 * 2 * 3
        assert setting.limit.optimal_errors is not None
        least = setting.limit.optimal_errors[-1]
        assert setting.frame["exact_error"].min() >= least - 1e-12  # type: ignore[operator]
        assert (setting.frame["size"] <= SMALL.max_size).all()
    assert set(result.fit_seconds) == set(finite_samples.LEARNERS)


def test_a_refused_optimum_is_told(monkeypatch):
    monkeypatch.setattr(finite_samples, "OPTIMAL_MEMORY", 1)
    result = finite_samples.finite_samples(SMALL)
    assert result.settings[0].limit.optimal_errors is None
    assert "memory" in result.settings[0].limit.refusal


def test_an_interrupted_experiment_goes_on(tmp_path):
    def interrupt(progress):
        if "300" in progress.detail:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finite_samples.finite_samples(SMALL, Cache(tmp_path), interrupt)
    cache = Cache(tmp_path)
    resumed = finite_samples.finite_samples(SMALL, cache)
    assert cache.reused == 1
    whole = finite_samples.finite_samples(SMALL)
    for one, other in zip(resumed.settings, whole.settings, strict=True):
        assert one.frame.drop("seconds").equals(other.frame.drop("seconds"))


def test_curves_from_many_rows_follow_the_exact_ones():
    case = sample_size.Case("two terms", (2, 3), 8)
    plan = sample_size.Plan((case,), rows=(40, 20_000), repetitions=3)
    (sampled,) = sample_size.sample_sizes(plan).cases
    assert sampled.rows_to_follow("TopDown", plan.rows) == 20_000
    assert sampled.sampled_mic("TopDown", 20_000).max() == pytest.approx(0, abs=1e-12)
    assert sampled.distance("TopDown", 40) > sampled.distance("TopDown", 20_000)
    assert sampled.exact_mic("BestFirst") == pytest.approx(3 / 256)


def test_rows_to_follow_are_those_from_which_on_no_curve_strays(monkeypatch):
    distances = {50: 0.0, 100: 1.0, 200: 0.0, 400: 0.0}
    monkeypatch.setattr(
        sample_size.SampledCase, "distance", lambda self, rule, rows: distances[rows]
    )
    case = sample_size.SampledCase(
        sample_size.Case("made up", (2, 3), 8), pl.DataFrame(), np.zeros(9), {}
    )
    assert case.rows_to_follow("TopDown", tuple(distances)) == 200
