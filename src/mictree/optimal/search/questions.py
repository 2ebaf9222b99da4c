"""Puts questions to a search kernel: on all cores, until time is up or Ctrl-C is pressed.

A question is a set of rows, a budget of splits, a depth and a bound; the answer is the least error
if it is below the bound, otherwise some lower bound that is at least the bound. Workers share one
table and one array of control words. They see in it when to stop, or that the table is full: then
all of them return, the table moves to a larger one, and the question is asked again.

Invariant: nothing that a stopped worker returns is used, but everything in the table stays true.
Memory is planned before the first question: frames for all workers, then the table.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from mictree._support.checks import TooLarge
from mictree._support.jit import usable_cores
from mictree.optimal.search.engine import ANY, FIRST, KNOWN, PLAIN, Engine, Leaf, Question
from mictree.optimal.search.table import (
    ALLOWED,
    FOUND,
    GROW,
    LEAST,
    NEXT,
    ROOM,
    RUN,
    STATUS,
    STOP,
    Table,
    rehash,
)

SMALLEST_TABLE = 1 << 10
PATIENCE = 0.05  # seconds between two looks at the clock
ALONE = 0.01  # seconds after which a worker is helped
MOST_WORKERS = 8
NO_LIMIT = 1 << 62
MOVED = 1 << 17  # places of a table that are moved between two looks at the clock


_compiled: set[tuple[Any, ...]] = set()  # engines and the types of their arrays


class Asking:
    """A table of sub-problems, and the workers that fill it.

    Attributes
    ----------
    budgets : the most splits that may be asked about; fewer than wanted where memory is short
    deadline : when to stop, by the monotonic clock
    interrupted : whether Ctrl-C was pressed; nothing is answered from then on
    answers : the type of the numbers in the table; by default that of weights
    tell : called now and then while a question is being answered
    steady : whether one thread has answered all questions so far, so that what it did depends on
        nothing but the questions
    """

    def __init__(
        self, engine: Engine, budgets: int, depth: int, memory_limit: int,
        answers: np.dtype | None = None,
    ) -> None:  # fmt: skip
        self.engine, self.rows = engine, engine.rows
        self.answers = self.rows.weights.dtype if answers is None else answers
        entry = 32 + self.answers.itemsize * (budgets + 1)
        table = 2 * entry * SMALLEST_TABLE  # the old table is there while a new one is filled
        for_frames = (memory_limit - table) // 2
        engine.plan(budgets, depth, for_frames)
        self.budgets = engine.budgets
        if memory_limit < table + engine.bytes:
            raise TooLarge(
                f"memory_limit must be at least {table + engine.bytes:,} bytes for {engine}; "
                f"got {memory_limit:,}"
            )
        self.workers = max(1, min(MOST_WORKERS, usable_cores(), for_frames // engine.bytes))
        places = (memory_limit - self.workers * engine.bytes) // (2 * entry)
        self.most_places = 1 << max(SMALLEST_TABLE.bit_length(), places.bit_length()) - 1
        self.control = np.zeros(16, dtype=np.int64)
        self.control[ALLOWED] = NO_LIMIT
        self.steady = len(engine.patience) > 0
        self.frames = [engine.make_frames()]
        self._use_table(self._make_table(SMALLEST_TABLE))
        self.deadline = math.inf
        self.interrupted = False
        self._before: Any = None  # what answered Ctrl-C before the search
        self.pool: ThreadPoolExecutor | None = None
        self.tell: Callable[[], None] = lambda: None

    def compile(self) -> None:
        """Ask what needs no search, so that compiling does not count as time."""
        kinds = type(self.engine), *(part.dtype for part in (*self.rows.data, *self.table))
        if kinds not in _compiled:
            self.engine.compile(self.table, self.frames[0], self.control)
            rehash(self.table, self.table)
            _compiled.add(kinds)

    def _interrupt(self, number: int, frame: Any) -> None:
        """Stop the search; whoever else answers Ctrl-C is told, but cannot raise from here."""
        self.interrupted = True
        self.control[STATUS] = STOP
        if callable(self._before):
            with suppress(KeyboardInterrupt):
                self._before(number, frame)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Questions may be asked; Ctrl-C stops them instead of raising KeyboardInterrupt."""
        catch = threading.current_thread() is threading.main_thread()
        if catch:
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            try:
                yield
            finally:  # whoever is told may raise; the pool waits for its workers
                self.control[STATUS] = STOP
                if self.pool is not None:
                    self.pool.shutdown()
                    self.pool = None
        finally:
            if catch:
                before = signal.SIG_DFL if self._before is None else self._before
                signal.signal(signal.SIGINT, before)

    def ask(
        self,
        rows: np.ndarray,
        budget: int,
        bound: int,
        depth: int,
        wanted: int = PLAIN,
        quickly: bool = False,
        least: int = 0,
    ) -> int | None:
        """The least error of some rows if it is below a bound; None when it had to stop.

        See ``kernel.solve``. An error is good enough if it is the ``least`` that is possible, or
        less. What is wanted of the tree is in ``frames[0]``: any test only as long
        as the search is ``steady``. To be asked ``quickly`` is to stop before threads are started.
        """
        stage = 0
        patience = (*self.engine.patience, NO_LIMIT)
        while not (quickly and stage == len(patience) - 1) and not self.is_late():
            self.control[STATUS], self.control[NEXT], self.control[FOUND] = RUN, 0, bound
            self.control[ALLOWED], self.control[LEAST] = patience[stage], least
            question = budget, bound, depth, wanted
            if stage == 0 < len(patience) - 1:
                self.engine.place(rows, self.frames[0])
                answers = [self._solve(len(rows), question, self.frames[0])]
            else:
                alone = wanted != PLAIN or patience[stage] < NO_LIMIT
                answers = self._gather(1 if alone else self.workers, rows, question)
            if self.control[STATUS] == STOP or self.interrupted:
                break
            if self.control[STATUS] == RUN:
                return min(answers)
            if self.control[STATUS] == GROW:
                self._grow_table()
                continue
            stage += 1
            if patience[stage] == NO_LIMIT:
                self.steady = False
                wanted = {ANY: PLAIN, KNOWN: FIRST}.get(wanted, wanted)
        return None

    def errors(self, rows: np.ndarray, depth: int) -> np.ndarray:
        """Errors of some rows that trees with 0, 1, 2 and 3 splits are known for.

        Those with up to ``engine.sure`` splits are the least. Counted even when it is late.
        """
        error = self.rows.leaf_error(rows)
        if depth == 0 or error == 0:
            return np.full(4, error)
        return self.engine.count_few(
            rows, depth, self.table, self.frames[0], _endless_control(self.control)
        )

    def find(
        self,
        rows: np.ndarray,
        budget: int,
        bound: int,
        depth: int,
        quickly: bool = False,
        least: int = 0,
    ) -> Any:
        """The least error of some rows as ``ask`` has it, and nested tests that attain it.

        None when it had to stop; no tests where the error is not below the bound.
        """
        at_once = self.engine.traces_at_once(budget, depth)
        wanted = FIRST if at_once else ANY if self.steady else PLAIN
        error = self.ask(rows, budget, bound, depth, wanted, quickly, least)
        if error is None or error >= bound:
            return None if error is None else (error, None)
        if at_once or self.steady:
            nested = self._follow(rows, budget, error, depth, at_once)
        else:
            nested = self.trace(rows, budget, error, depth)
        return None if nested is None else (error, nested)

    def trace(
        self,
        rows: np.ndarray,
        budget: int,
        error: int,
        depth: int,
        known: bool = False,
        leaf: Leaf | None = None,
    ) -> Any:
        """Nested tests that attain an error of some rows; None when it had to stop.

        The error is the least, or ``known`` from ``errors``. The best ``leaf`` need not be given.
        """
        if leaf is None:
            masses = self.rows.masses(rows)
            leaf = int(masses.argmax()), int(masses.sum() - masses.max())  # the first of several
        if leaf[1] <= error:
            return leaf[0]
        if known or budget <= self.engine.sure:
            question, control = (min(budget, 3), error, depth), _endless_control(self.control)
            self.engine.retrace_few(rows, question, self.table, self.frames[0], control)
        elif self.ask(rows, budget, error + 1, depth, KNOWN if self.steady else FIRST) is None:
            return None
        return self._follow(rows, budget, error, depth, known)

    def _follow(self, rows: np.ndarray, budget: int, error: int, depth: int, known: bool) -> Any:
        """Trace both children of the test at which the first frame stands."""
        test, *children = self.engine.first_test(self.frames[0], budget, error)
        held = self.rows.holds(rows, test)
        nested: list[Any] = [test]
        for below, (splits, wrong, leaf) in zip(
            (~held, held), zip(*children, strict=True), strict=True
        ):
            traced = self.trace(rows[below], splits, wrong, depth - 1, known, leaf)
            if traced is None:
                return None
            nested.append(traced)
        return tuple(nested)

    def _solve(self, members: int, question: Question, frames: Any) -> int:
        return self.engine.solve(members, question, self.table, frames, self.control)

    def _gather(self, workers: int, rows: np.ndarray, question: Question) -> list[int]:
        """Start one worker, then, if it takes long, the others; returns when all are done."""
        pool = self.pool = self.pool or ThreadPoolExecutor(self.workers)
        started: list[Future[int]] = []
        working: set[Future[int]] = set()
        while working or not started:
            if len(started) < workers and self.control[STATUS] == RUN:
                frames = self._take_frames(len(started))
                self.engine.place(rows, frames)
                started.append(pool.submit(self._solve, len(rows), question, frames))
            elif not started:  # Ctrl-C came first
                break
            working = wait(started, self._patience(len(started) < workers)).not_done
            self.tell()
            if self.is_late():
                self.control[STATUS] = STOP
        return [answer.result() for answer in started]

    def _take_frames(self, worker: int) -> Any:
        if worker == len(self.frames):
            self.frames.append(self.engine.make_frames())
        return self.frames[worker]

    def is_late(self) -> bool:
        """Whether nothing is answered any more."""
        return self.interrupted or time.monotonic() > self.deadline

    def _patience(self, alone: bool) -> float:
        longest = ALONE if alone else PATIENCE
        return max(0.001, min(longest, self.deadline - time.monotonic()))

    def _make_table(self, places: int) -> Table:
        return Table(
            np.zeros((places, 4), dtype=np.uint64),
            np.zeros((places, self.budgets + 1), dtype=self.answers),
        )

    def _use_table(self, table: Table) -> None:
        places = len(table.entries)
        self.table = table
        # the largest table overwrites instead of growing
        self.control[ROOM] = places // 2 if 2 * places <= self.most_places else 2**62

    def _grow_table(self) -> None:
        """Move to a table twice as large, if there is time: a large one takes seconds."""
        places = len(self.table.entries)
        larger = self._make_table(2 * places)
        for start in range(0, places, MOVED):
            if self.is_late():
                return
            rehash(Table(*(part[start : start + MOVED] for part in self.table)), larger)
        self._use_table(larger)


def _endless_control(control: np.ndarray) -> np.ndarray:
    """Control words for work that nobody stops."""
    endless = np.zeros_like(control)
    endless[ALLOWED] = NO_LIMIT
    return endless
