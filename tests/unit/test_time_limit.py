"""Limits of time: what is compiled or loaded meanwhile does not count."""

import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core import event

import mictree as mt
from mictree._support import progress
from mictree._support.jit import KERNEL_FILES
from mictree._support.progress import TimeLimit
from mictree.growers.rules import TopDown
from mictree.optimal.questions import Workers


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    @contextmanager
    def working(self, kind, seconds):
        with event.trigger_event(kind):
            self.now += seconds
            yield


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(event, "timer", clock)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=clock))
    return clock


@pytest.mark.parametrize("kind", ["numba:compile", KERNEL_FILES])
def test_kernels_do_not_count(clock, kind):
    with TimeLimit(10.0) as limit:
        assert (limit.when(0.5), limit.when(), limit.left()) == (105.0, 110.0, 10.0)
        with clock.working(kind, 60.0):
            pass
        assert (limit.when(0.5), limit.when(), limit.left()) == (165.0, 170.0, 10.0)
    with clock.working(kind, 1.0):  # when it is over
        pass
    assert limit.when() == 170.0


def test_a_kernel_that_is_loaded_while_another_is_compiled_counts_once(clock):
    with TimeLimit(10.0) as limit:
        with (
            clock.working("numba:compile", 1.0),
            clock.working(KERNEL_FILES, 2.0),
            clock.working("numba:compile", 4.0),
        ):
            pass
        assert limit.when() == 117.0


def test_other_work_counts(clock):
    with TimeLimit(10.0) as limit:
        clock.now += 12.0
        assert (limit.when(), limit.left()) == (110.0, -2.0)


def test_no_limit():
    with TimeLimit(None) as limit:
        assert limit.when() == limit.when(0.2) == limit.left() == np.inf


def table():
    random = np.random.default_rng(3)
    X = random.normal(size=(60, 3))
    return mt.SampleProblem(X, (X[:, 0] > 0) ^ (random.random(60) < 0.2))


def test_compiling_the_greedy_growth_leaves_time_for_the_search(monkeypatch):
    """On a machine that has no kernels, the limit was over before the search began."""
    grow, grown = TopDown.grow, []

    def slow(self, *arguments):
        with event.trigger_event("numba:compile"):
            time.sleep(1.1)
        grown.append(self)
        return grow(self, *arguments)

    monkeypatch.setattr(TopDown, "grow", slow)
    monkeypatch.setattr("mictree.optimal.sweep_search.QUICK", 0)
    assert mt.optimal_trees(table(), 2, time_limit=1.0).errors.proved.all()
    assert grown


def test_what_is_answered_at_once_needs_no_other_kernels(monkeypatch):
    """Neither the greedy growth nor the search is compiled, which takes half a minute."""
    expected = mt.optimal_trees(table(), 2, max_depth=2)

    def refuse(*arguments):
        raise AssertionError

    monkeypatch.setattr(TopDown, "grow", refuse)
    monkeypatch.setattr(Workers, "compile", refuse)
    found = mt.optimal_trees(table(), 2)
    assert found.errors.proved.all()
    assert found.errors.tolist() == expected.errors.tolist()
