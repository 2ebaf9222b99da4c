"""Optimal trees on data against every tree, known answers, and their own finished runs."""

import math
import os
import re
import signal
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise, product
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree._support.checks import TooLarge
from mictree._support.jit import one_core
from mictree._support.progress import TimeLimit
from mictree.optimal import frontier as sample
from mictree.optimal import questions
from mictree.optimal.rows import Rows
from tests.clock import looked_at
from tests.datasets import compile_search, monks, random_bits, tic_tac_toe, xor_with_decoys
from tests.reference.enumerate_samples import sample_least_errors
from tests.reference.recursive_samples import recursive_least_errors
from tests.strategies import sample_problem, samples

SIZE = 4
_LITTLE = 2**20  # bytes, of which the frames of 30 literals take up to half


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    compile_search()


def recount(problem, X, y, weights, tree):
    """The share of the weight that a tree labels wrongly, from the rows themselves."""
    literals = problem.literals.transform(X, tree)
    classes = np.array(problem.classes)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    wrong = classes[tree.predict(literals)] != np.asarray(y)
    return weights[wrong].sum() / weights.sum()


@given(samples(), st.sampled_from([None, None, 0, 1, 2, 3]))
@settings(max_examples=150)
def test_every_tree_is_beaten_or_met(case, max_depth):
    rows, labels, weights = case
    problem = sample_problem(*case)
    solved = mt.optimal_trees(problem, SIZE, exact=True, max_depth=max_depth)
    assert solved.errors.proved.all()
    expected = sample_least_errors(rows, labels, weights, SIZE, max_depth)
    assert solved.errors.tolist() == expected
    floats = mt.optimal_errors(problem, SIZE, max_depth=max_depth)
    np.testing.assert_allclose(floats, [float(error) for error in expected], atol=1e-12)
    for size in range(SIZE + 1):
        tree = solved.tree(size)
        assert tree.size <= size
        assert max_depth is None or tree.depth <= max_depth
        assert tree.error(problem, exact=True) == expected[size]


@given(st.data())
@settings(max_examples=80)
def test_missing_values_and_thresholds(data):
    count = data.draw(st.integers(2, 12))
    cell = st.one_of(st.none(), st.integers(0, 2))
    rows = data.draw(st.lists(st.tuples(cell, cell), min_size=count, max_size=count))
    labels = data.draw(st.lists(st.sampled_from("abc"), min_size=count, max_size=count))
    X = np.array([[math.nan if v is None else v for v in row] for row in rows])
    problem = mt.SampleProblem(X, labels)
    literals = problem.literals.transform(X).tolist()
    solved = mt.optimal_trees(problem, 3, exact=True)
    codes = [problem.classes.index(label) for label in labels]
    assert solved.errors.tolist() == sample_least_errors(
        [*map(tuple, literals)], codes, [1] * count, 3
    )
    for size in range(4):
        wrong = recount(problem, X, labels, None, solved.tree(size))
        assert wrong == pytest.approx(float(solved.errors[size]))


@given(samples(most_rows=40, most_literals=8), st.sampled_from([None, 2, 3]))
@settings(max_examples=60)
def test_errors_fall_and_no_greedy_tree_is_better(case, max_depth):
    problem = sample_problem(*case)
    errors = mt.optimal_errors(problem, 7, exact=True, max_depth=max_depth)
    assert all(later <= earlier for earlier, later in pairwise(errors))
    if max_depth is None:
        for rule in (mt.TopDown(), mt.BestFirst(), mt.ID3(criterion="gini")):
            greedy = rule.grow(problem, 7).exact_errors
            assert all(best <= grown for best, grown in zip(errors, greedy, strict=True))


@given(samples(most_rows=30, most_literals=6), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_order_names_and_negation_change_nothing(case, random):
    rows, labels, weights = case
    expected = mt.optimal_errors(sample_problem(*case), 5, exact=True).tolist()
    order = random.sample(range(len(rows[0])), len(rows[0]))
    flips = [random.random() < 0.5 for _ in order]
    turned = [[row[k] ^ flip for k, flip in zip(order, flips, strict=True)] for row in rows]
    places = random.sample(range(len(rows)), len(rows))
    moved = [[values[place] for place in places] for values in (turned, labels, weights)]
    assert mt.optimal_errors(sample_problem(*moved), 5, exact=True).tolist() == expected


KNOWN = {
    "monks-1": (lambda: monks(1), [216, 108, 108, 72, 72, 36, 0]),
    "monks-3": (lambda: monks(3), [204, 84, 12, 12, 0]),
    "tic-tac-toe": (tic_tac_toe, [332, 288, 282, 240, 228, 190, 182, 164, 154]),
    "xor with decoys": (xor_with_decoys, [6, 2, 0]),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_answers(name):
    make, wrong = KNOWN[name]
    X, y = make()
    problem = mt.SampleProblem(X, y)
    solved = mt.optimal_trees(problem, len(wrong) - 1, exact=True)
    assert [error * len(y) for error in solved.errors] == wrong
    assert solved.errors.proved.all()
    for size in range(1, len(wrong)):
        assert recount(problem, X, y, None, solved.tree(size)) * len(y) == pytest.approx(
            wrong[size]
        )


@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_depth_limit_on_monks(max_depth):
    X, y = monks(1)
    size = 2**max_depth - 1
    X = X[:, [0, 1, 3, 4, 10]]
    expected = sample_least_errors(X.tolist(), y.tolist(), [1] * 432, size, max_depth)
    problem = mt.SampleProblem(X, y)
    solved = mt.optimal_trees(problem, size, exact=True, max_depth=max_depth)
    assert solved.errors.tolist() == expected
    assert solved.tree(size).depth <= max_depth


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_hold_what_the_finished_run_finds(classes, weighted, monkeypatch):
    X, y = random_bits(600, 24, 3, classes)
    weights = np.random.default_rng(1).integers(1, 4, 600) if weighted else None
    problem = mt.SampleProblem(X, y, weights)
    truth = mt.optimal_errors(problem, 5, exact=True)
    assert truth.proved.all()
    struck = False
    for limit in (0.001, 0.05, 0.2, 1):
        with monkeypatch.context() as patch:
            clock = looked_at(patch)
            solved = mt.optimal_trees(problem, 5, exact=True, time_limit=limit)
        assert not clock.asked or clock.keeps(limit)
        errors = solved.errors
        struck |= not errors.proved.all()
        assert np.all((errors.lower <= truth) & (truth <= errors.upper))
        assert np.array_equal(errors.proved, errors.lower == errors.upper)
        for size in range(6):
            assert solved.tree(size).size <= size
            assert solved.tree(size).error(problem, exact=True) == errors[size]
    assert struck


def test_a_small_table_overwrites_and_finds_the_same(monkeypatch):
    overwritten = []
    run = sample.Frontier.run

    def spy(frontier, *arguments):
        run(frontier, *arguments)
        overwritten.append(int(frontier.workers.control[questions.OVERWRITTEN]))

    monkeypatch.setattr(sample.Frontier, "run", spy)
    problem = mt.SampleProblem(*random_bits(250, 50, 5, noise=0.9))
    roomy = mt.optimal_trees(problem, 8, exact=True)
    tight = mt.optimal_trees(problem, 8, exact=True, memory_limit=3 * 2**20)
    assert overwritten[1] > 100 + overwritten[0]  # else the small table was large enough
    assert tight.errors.proved.all()
    assert tight.errors.tolist() == roomy.errors.tolist()
    assert [tight.tree(size).error(problem, exact=True) for size in range(9)] == [*roomy.errors]


@pytest.mark.parametrize(
    ("literals", "classes", "size"),
    [(63, 2, 3), (64, 3, 3), (65, 2, 3), (129, 4, 2), (200, 2, 2), (12, 6, 4), (40, 5, 3)],
)
def test_many_literals(literals, classes, size):
    X, y = random_bits(90, literals, literals, classes, noise=0.3)
    problem = mt.SampleProblem(X, y)
    solved = mt.optimal_trees(problem, size, exact=True)
    wrong = recursive_least_errors(X, y, size)
    assert [error * 90 for error in solved.errors] == wrong
    assert [solved.tree(k).error(problem, exact=True) * 90 for k in range(size + 1)] == wrong


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.sampled_from([None, 2, 3, 4]))
@settings(max_examples=15)
def test_workers_agree_with_one(seed, classes, max_depth):
    """Eight workers from the start, and a table that is too small, against one with room."""
    random = np.random.default_rng(seed)
    X, y = random_bits(int(random.integers(50, 300)), 30, seed, classes, noise=0.5)
    weights = random.integers(1, 9, len(y)) if seed % 2 else None
    problem = mt.SampleProblem(X, y, weights)
    with one_core():
        alone = mt.optimal_trees(problem, 6, exact=True, max_depth=max_depth)
    with mock.patch.multiple(questions, usable_cores=lambda: 8, ALONE=0.0, SMALLEST_TABLE=256):
        many = mt.optimal_trees(problem, 6, exact=True, max_depth=max_depth, memory_limit=_LITTLE)
    assert many.errors.proved.all()
    assert many.errors.tolist() == alone.errors.tolist()
    assert many.trees == alone.trees


def test_memory_is_planned():
    """Frames and tables fit; where they cannot, fewer sizes are proved, or none and why is said."""
    problem = mt.SampleProblem(*random_bits(80, 120, 1, noise=0.5))
    with pytest.raises(TooLarge, match=r"memory_limit must be at least [0-9,]+ bytes for 120 lit"):
        mt.optimal_errors(problem, 8, memory_limit=2**16)
    with mock.patch.object(questions, "SMALLEST_TABLE", 256):
        few = sample.Frontier(sample.Strategy.on_bits(Rows.of(problem, True)), 20, None, 2**21)
        assert few.budgets < 20
        with TimeLimit(1.0) as limit:
            few.run(limit, lambda: mt.TopDown().grow(problem, 20))
    kept = [array for frames in few.workers.frames for array in frames]
    assert sum(array.nbytes for array in [*kept, *few.workers.table]) < 2**21
    lower, upper = np.array(few.lower), np.array(few.upper)
    assert np.all(lower[: few.budgets + 1][:4] == upper[: few.budgets + 1][:4])
    whole = mt.optimal_errors(problem, 4, exact=True) * 80
    assert np.all((lower[:5] <= whole) & (whole <= upper[:5]))
    for size in (3, 20):
        assert few.trees[size].error(problem, exact=True) * 80 == upper[size]


@pytest.mark.parametrize("max_depth", [None, 5, 7])
def test_trees_of_sizes_not_proved_are_good(max_depth, monkeypatch):
    looked_at(monkeypatch)
    monkeypatch.setattr(sample, "POLISHING", 10.0)  # a thousand looks
    problem = mt.SampleProblem(*random_bits(500, 40, 6, noise=0.4))
    solved = mt.optimal_trees(problem, 25, exact=True, max_depth=max_depth, time_limit=0.3)
    unproved = np.flatnonzero(~solved.errors.proved)
    assert len(unproved)
    greedy = mt.TopDown().grow(problem, 25).exact_errors
    for size in unproved:
        tree = solved.tree(size)
        assert tree.size <= size
        assert max_depth is None or tree.depth <= max_depth
        assert tree.error(problem, exact=True) == solved.errors[size]
        if max_depth is None:
            assert solved.errors[size] < greedy[size]


def test_two_thousand_literals_within_the_limit(monkeypatch):
    X, y = random_bits(200, 2000, 0)
    clock = looked_at(monkeypatch)
    errors = mt.optimal_errors(mt.SampleProblem(X, y), 4, time_limit=0.1)
    assert clock.keeps(0.1)
    assert np.all(errors.lower <= errors.upper)


def test_max_size_far_beyond_what_can_be_proved(monkeypatch):
    X, y = random_bits(400, 30, 8, classes=3, noise=0.3)
    problem = mt.SampleProblem(X, y)
    clock = looked_at(monkeypatch)
    solved = mt.optimal_trees(problem, 50, time_limit=1.5)
    assert clock.keeps(1.5)
    errors = solved.errors
    assert np.all(errors.lower <= errors.upper)
    assert np.all(np.diff(errors.upper) <= 0)
    assert np.all(np.diff(errors.lower) <= 0)
    assert not errors.proved.all()
    greedy = mt.TopDown().grow(problem, 50).errors
    assert np.all(errors.upper <= greedy + 1e-12)
    for size in (0, 7, 50):
        assert recount(problem, X, y, None, solved.tree(size)) == pytest.approx(errors[size])


def test_a_stopped_kernel_visits_nothing():
    rows = Rows.of(mt.SampleProblem(*random_bits(300, 20, 1)), False)
    search = sample.Frontier(sample.Strategy.on_bits(rows), 6, None, 2**28)
    workers = search.workers
    workers.control[questions.STATUS] = questions.STOP
    question = questions.Question(6, search.total, workers.budgets, questions.PLAIN)
    workers._answer(rows.everything, question, workers.frames[0])
    assert workers.control[questions.VISITED] == 0


INTERRUPTED = """
import sys
sys.path.insert(0, {root!r})
from tests.datasets import random_bits
import mictree as mt
problem = mt.SampleProblem(*random_bits(900, 60, 2, noise=0.3))
told = []
def progress(found):
    # the second question, which no machine answers, is under way
    if not found.detail.startswith("error from 0.0000") and not told:
        told.append(print("ready", flush=True))
solved = mt.optimal_trees(problem, 30, progress=progress)
errors = solved.errors
assert (errors.lower <= errors.upper).all()
assert not errors.proved.all()
assert solved.tree(30).error(problem, exact=True) * 900 == round(errors[30] * 900)
assert solved.interrupted
print("certified", int(errors.proved.sum()), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_returns_what_is_certified():
    root = os.getcwd()
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.format(root=root)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 0, err
    assert out.startswith("certified ")


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_before_any_worker_has_started(monkeypatch):
    gather = questions.Workers._gather

    def interrupted(self, *arguments):
        signal.raise_signal(signal.SIGINT)
        return gather(self, *arguments)

    monkeypatch.setattr(questions.Workers, "_gather", interrupted)
    solved = mt.optimal_trees(mt.SampleProblem(*random_bits(200, 12, 0, noise=0.5)), 5)
    assert solved.interrupted
    assert solved.errors.proved.tolist() == [True, True, True, False, False, False]


def test_progress_that_raises_ends_the_search():
    random = np.random.default_rng(0)
    problem = mt.SampleProblem(random.random((2000, 120)) < 0.5, random.integers(0, 2, 2000))
    makes, made = questions.Workers.running, []

    def running(self):
        made.append(self)
        return makes(self)

    def stop(found):
        # half is refuted; the long question is under way
        if found.what == "size 5 of 8" and not found.detail.startswith("error from 0.0000"):
            raise LookupError

    with (
        mock.patch.object(questions, "SMALLEST_TABLE", 2**20),  # never grows: that ends a question
        mock.patch.object(questions.Workers, "running", running),
        pytest.raises(LookupError),
    ):
        mt.optimal_trees(problem, 8, progress=stop, memory_limit=2 * 10**8)
    (workers,) = made  # the pool waited for its workers, and none of them can have had an answer
    assert workers.control[questions.STATUS] == questions.STOP


@pytest.mark.parametrize("table", [16, 2**14])
def test_more_splits_than_the_depth_allows(table, monkeypatch):
    """Sizes above 2**max_depth - 1 are found when time ran out on the smaller ones."""
    random = np.random.default_rng(0)
    problem = mt.SampleProblem(random.random((300, 25)) < 0.4, random.integers(0, 2, 300))
    least = mt.optimal_errors(problem, 7, exact=True, max_depth=3)[7]
    ask = questions.Workers.ask

    def late(self, rows, budget, bound, depth, wanted=0, quickly=False, least=0):
        if budget < 8 and not wanted:
            return None
        return ask(self, rows, budget, bound, depth, wanted, quickly, least)

    monkeypatch.setattr(questions.Workers, "ask", late)
    monkeypatch.setattr(questions, "SMALLEST_TABLE", table)
    solved = mt.optimal_trees(
        problem, 9, exact=True, max_depth=3, time_limit=20, memory_limit=144 * table + 700_000
    )
    assert solved.errors[8] == least
    assert solved.tree(8).error(problem, exact=True) == least


def test_sizes_between_proved_ones_are_polished(monkeypatch):
    """A greedy tree without errors proves the largest sizes; those below still get better trees."""
    X, _ = random_bits(400, 30, 3)
    y = (X[:, 0] & X[:, 1] | X[:, 2] & X[:, 3] | X[:, 4] & X[:, 5] & X[:, 6]).astype(int)
    problem = mt.SampleProblem(X, y)
    greedy = mt.TopDown().grow(problem, 50).errors
    assert greedy[-1] == 0
    looked_at(monkeypatch)
    with mock.patch.object(sample, "PROVING", 1e-9), mock.patch.object(sample, "POLISHING", 1.0):
        errors = mt.optimal_errors(problem, 50, time_limit=0.01)
    assert np.any(errors.upper[3:] < greedy[3:] - 1e-12)


def test_numpy_integers_are_integers():
    problem = mt.SampleProblem([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    for one in (np.int64, np.uint8):
        errors = mt.optimal_errors(problem, one(3), max_depth=one(2))
        assert errors.tolist() == [0.5, 0.5, 0.25, 0.0]
    assert mt.optimal_errors(problem, 3, memory_limit=np.int64(2**30)).proved.all()
    model = mt.OptimalTreeClassifier(3, max_depth=np.int64(2), memory_limit=np.int64(2**30))
    assert model.fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).proved_


def test_weights_without_a_sum():
    X, y = [[0], [1]], [0, 1]
    for weights, factors in (
        ([1e308, 1e308], None),
        ([1e-200, 1e-200], [1e-200, 1e-200]),
        (None, [np.inf, 1]),
    ):
        with pytest.raises(ValueError, match="weights must have a positive and finite sum; it is"):
            mt.SampleProblem(X, y, weights, class_weight=factors)


def test_a_weight_that_vanishes_counts_nothing():
    X = list(product((0, 1), repeat=5))
    y = np.array([(sum(row) + row[0] * row[1]) % 3 for row in X])
    problem = mt.SampleProblem(X, y, np.where(y == 0, 1e-200, 1.0), class_weight=[1e-200, 1, 1])
    without = mt.SampleProblem(np.array(X)[y > 0], y[y > 0])
    assert mt.optimal_errors(problem, 5).tolist() == mt.optimal_errors(without, 5).tolist()


def test_progress_tells_of_sizes_and_sub_problems():
    told = []
    X, y = random_bits(600, 30, 4)
    mt.optimal_trees(mt.SampleProblem(X, y), 6, progress=told.append, time_limit=2)
    assert told
    sizes = [int(re.fullmatch(r"size (\d) of 6", found.what)[1]) for found in told]
    assert sizes == sorted(sizes)
    details = [
        re.fullmatch(
            r"error from (0\.\d{4}) to (0\.\d{4}); (\d) of 6 sizes proved, "
            r"widest gap (0\.\d{4}) at size (\d); ([\d,]+) sub-problems",
            found.detail,
        )
        for found in told
    ]
    assert all(float(detail[1]) <= float(detail[2]) for detail in details)
    assert int(details[-1][6].replace(",", "")) > 0
    for size, detail in zip(sizes, details, strict=True):
        gap = float(detail[2]) - float(detail[1])
        assert int(detail[3]) >= size - 1
        assert float(detail[4]) >= gap - 1e-4
        assert int(detail[5]) > int(detail[3])
    assert all(found.share is None for found in told)


def test_pystreed_agrees_on_random_data():
    pystreed = pytest.importorskip("pystreed")
    for seed in range(12):
        X, y = random_bits(60 + 20 * seed, 4 + seed % 12, seed)
        errors = mt.optimal_errors(mt.SampleProblem(X, y), 6, exact=True)
        for size in range(1, 7):
            peer = pystreed.STreeDClassifier(
                "accuracy", max_depth=min(size, 20), max_num_nodes=size, time_limit=60
            ).fit(X, y)
            wrong = int((peer.predict(X) != y).sum())
            assert errors[size] * len(y) == wrong, (seed, size)


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"time_limit": 0}, "time_limit must be a positive number"),
        ({"time_limit": -1.0}, "time_limit must be a positive number"),
        ({"time_limit": float("nan")}, "time_limit must be a positive number of seconds; got nan"),
        ({"max_depth": -1}, "max_depth must be an integer"),
        ({"max_size": -1}, "max_size must be an integer"),
        ({"time_limit": "5"}, "time_limit must be a positive number"),
        ({"memory_limit": "4GB"}, "memory_limit must be an integer"),
        ({"memory_limit": -1}, "memory_limit must be an integer"),
    ],
)
def test_bad_arguments(arguments, rule):
    problem = mt.SampleProblem([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match=rule):
        mt.optimal_errors(problem, **{"max_size": 2} | arguments)


def test_rounded_weights_are_not_proved_to_the_last_digit():
    """Weights of which 52 digits of the sum do not tell the smaller one from 0."""
    problem = mt.SampleProblem([[0], [1]], [0, 1], [1.0, 1e-20])
    errors = mt.optimal_errors(problem, 1, exact=True)
    assert errors.tolist() == errors.lower.tolist() == [Fraction(1, 10**20 + 1), 0]
    two = mt.SampleProblem([[0], [0], [0]], [0, 1, 2], [1.0, 1e-20, 3e-20])
    errors = mt.optimal_errors(two, 1, exact=True)
    assert errors.lower.tolist() == [Fraction(4, 10**20 + 4), 0]
    assert errors.proved.tolist() == [True, False]
    uneven = mt.SampleProblem([[0, 1], [1, 0], [1, 1]], [0, 1, 0], [0.1, 0.7, 0.3])
    assert mt.optimal_errors(uneven, 2).proved.all()
    halves = mt.SampleProblem([[0], [1]], [0, 1], [0.5, 0.25])
    assert mt.optimal_errors(halves, 1, exact=True).proved.all()
