"""Searches that stop at any moment: intervals that hold, their history, and what certifies them."""

import signal
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree._support.progress import TimeLimit, listening
from mictree.optimal import frontier as searching
from mictree.optimal import questions
from mictree.optimal.certified import MOST_STEPS, RELAXATION, SEARCH, History
from mictree.optimal.frontier import Frontier, Strategy, choose_strategy
from mictree.optimal.rows import Rows
from mictree.optimal.sweep_search import SweepEngine
from tests.clock import looked_at
from tests.datasets import compile_search, random_bits
from tests.reference import task_samples
from tests.reference.enumerate_samples import sample_least_errors
from tests.strategies import as_written, sample_problem, samples, task_cases

SIZE = 5


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    compile_search()


@contextmanager
def stopped_after(number, interrupt=False):
    """No question is answered after so many: time is over, or Ctrl-C is pressed."""
    ask, asked = questions.Workers.ask, []

    def stopping(self, *arguments, **named):
        asked.append(self)
        if len(asked) <= number:
            return ask(self, *arguments, **named)
        if interrupt:
            signal.raise_signal(signal.SIGINT)
        return None

    with (
        mock.patch.object(questions.Workers, "ask", stopping),
        mock.patch.object(searching, "choose_strategy", unhurried),
    ):
        yield


def unhurried(*given):
    """A strategy without answers in one call."""
    return choose_strategy(*given)._replace(solve_sizes=None)


def check_history(errors, truth):
    """Every interval of every moment holds the truth, and they only become narrower."""
    truth = [float(error) for error in truth]
    history = errors.history
    assert history.columns == ["seconds", "size", "lower", "upper"]
    assert history["seconds"].is_sorted()
    for size, least in enumerate(truth):
        rows = history.filter(size=size)
        assert rows["seconds"][0] == 0
        assert (rows["lower"] <= least).all()
        assert (rows["upper"] >= least).all()
        assert rows["lower"].is_sorted()
        assert rows["upper"].is_sorted(descending=True)
        ends = [float(each[size]) for each in (errors.lower, errors.upper)]
        assert rows.select("lower", "upper").row(-1) == tuple(ends)
        word = errors.certificate[size]
        assert (word == "proof") == errors.proved[size]
        assert word in {"proof", "search", "relaxation"}


@given(samples(), st.sampled_from([None, 1, 2, 3]), st.integers(0, 9), st.booleans())
@settings(max_examples=100)
def test_intervals_hold_at_every_moment(case, max_depth, number, interrupt):
    with stopped_after(number, interrupt):
        solved = mt.optimal_trees(
            sample_problem(*case), SIZE, exact=True, max_depth=max_depth,
            time_limit=None if interrupt else 30,
        )  # fmt: skip
    truth = sample_least_errors(*case, SIZE, max_depth)
    assert np.all(solved.errors.lower <= truth)
    assert np.all(truth <= solved.errors.upper)
    check_history(solved.errors, truth)


@given(task_cases(), st.sampled_from([None, 2]), st.integers(0, 5), st.sampled_from([0, 12]))
@settings(max_examples=60)
def test_intervals_hold_for_all_tasks(case, max_depth, number, few):
    """Costs by row, cost matrices and numbers; by sweeps and otherwise."""
    with mock.patch.object(searching, "FEW_THRESHOLDS", few), stopped_after(number):
        errors = mt.optimal_errors(case.problem(), 4, max_depth=max_depth, time_limit=30)
    check_history(errors, task_samples.least_errors(case.rows, case.task, 4, max_depth))


LONG = st.floats(0.01, 1000).map(lambda number: number / 3)


@given(samples(most_rows=9, weights=LONG), st.integers(0, 4))
@settings(max_examples=40)
def test_intervals_allow_for_rounded_weights(case, number):
    rows, labels, weights = case
    with stopped_after(number):
        errors = mt.optimal_errors(sample_problem(*case), 4, exact=True, time_limit=30)
    truth = sample_least_errors(rows, labels, [as_written(weight) for weight in weights], 4)
    assert np.all(errors.lower <= truth)
    check_history(errors, truth)


@pytest.mark.parametrize("limit", [0.01, 0.05, 0.2, 1.0])
@pytest.mark.parametrize("classes", [2, 3])
def test_time_limits_by_a_clock_that_is_looked_at(limit, classes):
    """Numbers, which are swept; the search looks at the clock every few cells."""
    random = np.random.default_rng(classes)
    X = random.integers(0, 9, (60, 3)).astype(float)
    noise = random.random(60) < 0.2
    y = np.where(noise, random.integers(0, classes, 60), (X[:, 0] + X[:, 1] > 8).astype(int))
    problem = mt.SampleProblem(X, y)
    truth = mt.optimal_errors(problem, SIZE)
    assert truth.proved.all()
    with (
        pytest.MonkeyPatch.context() as patch,
        mock.patch.object(searching, "choose_strategy", unhurried),
        mock.patch.object(SweepEngine, "patience", (50, 200)),
    ):
        looked_at(patch)
        errors = mt.optimal_errors(problem, SIZE, time_limit=limit)
    check_history(errors, truth)
    assert np.all(errors.upper <= mt.TopDown().grow(problem, SIZE).errors)


def test_a_short_limit_has_greedy_trees_and_certificates():
    X, y = random_bits(300, 14, 1, noise=0.7)
    problem = mt.SampleProblem(X, y)
    with stopped_after(0):
        solved = mt.optimal_trees(problem, 8, time_limit=1)
    errors, greedy = solved.errors, mt.TopDown().grow(problem, 8).errors
    assert np.all(errors.upper <= greedy)
    assert errors.certificate[0] == "proof"
    assert errors.certificate[8] == "search"
    for size in range(9):
        assert solved.tree(size).error(problem) == pytest.approx(errors.upper[size])


def test_searches_report_to_whoever_listens():
    """As the command line does to estimators, which have no ``progress``."""
    X, y = random_bits(600, 30, 4)
    told = []
    with listening(told.append):
        mt.OptimalTreeClassifier(6, time_limit=0.3).fit(X, y)
    assert told
    assert all("widest gap" in found.detail for found in told)
    count = len(told)
    mt.OptimalTreeClassifier(6, time_limit=0.3).fit(X, y)
    assert len(told) == count
    own = []
    with listening(told.append):
        mt.optimal_errors(mt.SampleProblem(X, y), 6, time_limit=0.3, progress=own.append)
    assert own
    assert len(told) == count


@pytest.mark.parametrize("numbers", [False, True])
def test_ctrl_c_while_greedy_trees_grow(monkeypatch, numbers):
    """What is known without them is returned, whether they grow before all else or later."""
    X, y = random_bits(200, 12, 0, noise=0.5)
    if numbers:
        X = X + 2.0 * np.arange(200)[:, None]

    def pressed(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(mt.TopDown, "grow", pressed)
    monkeypatch.setattr(searching, "choose_strategy", unhurried)
    solved = mt.optimal_trees(mt.SampleProblem(X, y), 4)
    assert solved.interrupted
    assert solved.errors.certificate[0] == "proof"
    assert solved.errors.certificate[4] == "search"
    assert solved.errors.upper[4] <= solved.errors.upper[0]


def test_rounds_alternate_without_a_limit(monkeypatch):
    """A question without end leaves time for the bounds of larger sizes."""
    X, y = random_bits(150, 9, 2, noise=0.9)
    ask, asked = questions.Workers.ask, []

    def endless(self, rows, budget, bound, *more, **named):
        if len(rows) == len(self.rows.everything) and budget == 3 and bound > 15:
            return None
        asked.append(budget)
        return ask(self, rows, budget, bound, *more, **named)

    def two_rounds(self, limit):
        yield 1e18, 1e18
        assert self.lower[5] > self.counting.by_size(5)[5]
        yield 1e18, 1e18

    monkeypatch.setattr(questions.Workers, "ask", endless)
    monkeypatch.setattr(Frontier, "_rounds", two_rounds)
    monkeypatch.setattr(Frontier, "_search_locally", lambda self, until: None)
    errors = mt.optimal_errors(mt.SampleProblem(X, y), 5)
    assert not errors.proved[3]
    assert 5 in asked


@pytest.mark.parametrize(
    ("seconds", "rounds"),
    [(10, [(8, 10)]), (39, [(31.2, 39)]),
     (100, [(18, 20), (20 + 36, 60), (60 + 32, 100)]),
     (None, [(18, 20), (56, 60), (132, 140)])],
)  # fmt: skip
def test_rounds_double_and_end_with_the_limit(seconds, rounds, monkeypatch):
    class Clock:
        now = 0.0

        @classmethod
        def monotonic(cls):
            return cls.now

    for module in ("frontier", "questions"):
        monkeypatch.setattr(f"mictree.optimal.{module}.time", Clock)
    monkeypatch.setattr("mictree._support.progress.time", Clock)
    frontier = bare()
    found = []
    with TimeLimit(seconds) as limit:
        for each in frontier._rounds(limit):
            found.append(each)
            Clock.now = each[1]
            if len(found) == 3:
                break
    assert found == [pytest.approx(each) for each in rounds]


def bare(max_size=6):
    X, y = random_bits(100, 8, 3, noise=0.9)
    return Frontier(Strategy.on_bits(Rows.of(mt.SampleProblem(X, y), True)), max_size, None, 2**28)


def test_a_lower_bound_holds_for_fewer_splits_too():
    frontier = bare()
    before = list(frontier.lower)
    cost = frontier.upper[0] // 2
    assert before[4] < cost
    frontier.raise_lower(4, cost, RELAXATION)
    assert frontier.lower[1:] == [cost] * 4 + before[5:]
    assert frontier.kinds == [SEARCH] + [RELAXATION] * 4 + [SEARCH] * 2
    frontier.raise_lower(3, cost)  # no better
    frontier.raise_lower(3, cost - 1)
    assert frontier.lower[3] == cost
    assert frontier.kinds[3] == RELAXATION
    frontier.raise_lower(2, cost + 1)
    assert frontier.lower[1:] == [cost + 1] * 2 + [cost] * 2 + before[5:]
    assert frontier.kinds[1:4] == [SEARCH, SEARCH, RELAXATION]
    noted = [(step.size, step.lower) for step in frontier.history.steps[7:]]
    assert noted == [(size, cost) for size in (4, 3, 2, 1)] + [(2, cost + 1), (1, cost + 1)]


def test_no_bound_above_a_tree_and_no_tree_below_a_bound():
    frontier = bare()
    with pytest.raises(AssertionError, match=r"no tree of size 2 shall cost less than \d+; one"):
        frontier.raise_lower(2, frontier.upper[2] + 1)
    with pytest.raises(ValueError, match="kind must be one of search, relaxation; got 'proof'"):
        frontier.raise_lower(2, 1, "proof")
    frontier.raise_lower(2, frontier.upper[2])
    with pytest.raises(AssertionError, match=r"no tree of size 2 costs less than \d+; one costs"):
        frontier.take(2, (0, 0, (1, 0, 1)), frontier.upper[2] - 1)


def test_a_tree_counts_for_all_sizes_that_allow_it():
    frontier = bare()
    before = frontier.upper[0]
    tree = (0, 0, (1, 0, 1))
    frontier.take(5, tree, before - 3)
    assert frontier.upper == [before] * 2 + [before - 3] * 5
    assert frontier.found[2] == frontier.found[6] == tree
    frontier.take(1, (0, 0, 1), before - 1)
    assert frontier.upper == [before, before - 1] + [before - 3] * 5
    frontier.take(3, tree, before - 3)
    assert len(frontier.history.steps) == 7 + 5 + 1


def test_a_long_history_is_thinned_out():
    history = History()
    moments = iter(range(10**6))
    history.clock = lambda: float(next(moments))
    for cost in (1, 2):
        history.note(7, cost, 9)
    for cost in range(3 * MOST_STEPS):
        history.note(cost % 3, cost, 10**6 - cost)
    assert len(history.steps) <= MOST_STEPS
    assert history.steps[:3] == [(0.0, 7, 1, 9), (1.0, 7, 2, 9), (2.0, 0, 0, 10**6)]
    last = 3 * MOST_STEPS - 1
    assert history.steps[-1] == (last + 2, last % 3, last, 10**6 - last)
    assert history.steps == sorted(history.steps)
    for size in range(3):
        costs = [step.lower for step in history.steps if step.size == size]
        assert costs == sorted(costs)
        assert costs[0] == size
        assert len(costs) > MOST_STEPS / 8


def test_the_clock_of_a_history_never_goes_back():
    """Seconds on kernels count only once they are over."""
    history = History()
    moments = iter([1.0, 0.5, 2.0])
    history.clock = lambda: next(moments)
    for _ in range(3):
        history.note(1, 0, 9)
    assert [step.seconds for step in history.steps] == [1.0, 1.0, 2.0]
