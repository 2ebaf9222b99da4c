"""The search itself, whatever the engine: questions about row sets, workers, and a table.

A question is a set of rows, a budget of splits, a depth and a bound. The answer is the least cost
of a tree for these rows if it is below the bound, otherwise some lower bound that is at least the
bound. An engine knows how to enumerate the tests of a row set. It implements two small interfaces:
``ask`` answers a question, and ``trace`` names the first test of a tree that attains the answer.
What a leaf costs is the engine's too. Everything else stands here once: the recursion
(``make_driver``), how a frame's answer is closed and remembered, the table, workers, the clock,
Ctrl-C, retracing a tree.

The table has one entry for each row set, under a 128-bit hash: two random 64-bit numbers per row,
xor-ed. Two different sets share a key with probability 2**-128; among n sets a collision has
probability below n**2 / 2**129. An entry holds a lower bound for every budget, and which of them
are exact. Workers share it. Each entry has a version, odd while it is written: a reader that finds
it odd or changed has read nothing, a writer that finds it odd leaves the entry alone.

Workers also share one array of control words. They see in it when to stop, or that the table is
full: then all of them return, the table moves to a larger one, and the question is asked again.
Memory is planned before the first question: frames for all workers, then the table.

Invariant: nothing that a stopped worker returns is used, but everything in the table stays true.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Protocol

import numpy as np

from mictree._support.checks import TooLarge
from mictree._support.jit import (
    atomic_add,
    atomic_load,
    atomic_swap,
    closed_jit,
    inner_jit,
    jit,
    usable_cores,
)
from mictree.optimal.rows import Leaf, SearchedRows

PROBES = 8  # places of the table that a key may have; the last is overwritten when all are taken
# what workers share: the status, how many entries may be stored, the first literal not yet taken,
# the least error found so far, how much work is allowed, a lower bound that is known of the answer;
# counters on another cache line
STATUS, ROOM, NEXT, FOUND, ALLOWED, LEAST = range(6)
STORED, VISITED, OVERWRITTEN = 8, 9, 10
# the status: go on; give up; come back for a larger table; come back with more workers
RUN, STOP, GROW, LONG = range(4)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
UNLIMITED = 1 << 20  # a depth that no budget reaches


class Table(NamedTuple):
    """What is known: keys, lower bounds by budget, and which of them are exact."""

    entries: np.ndarray  # (places, 4): key, key, version, and bit b: lower[b] is the least error
    lower: np.ndarray  # (places, budgets)


VERSION, EXACT_BUDGETS = 2, 3


@inner_jit
def finish_key(high, low, depth):
    """Where depth is limited, what is left of it belongs to the key; the second half is never 0."""
    if depth < 62:
        high += np.uint64(depth + 1) * GOLDEN
    return high, low | np.uint64(1)


@inner_jit
def find(high_key, low_key, entries):
    """The place of a key and its version; place -1 if there is none or it is being written."""
    mask = np.uint64(len(entries) - 1)
    for probe in range(PROBES):
        place = np.int64((high_key + np.uint64(probe)) & mask)
        version = atomic_load(entries, 4 * place + VERSION)
        if entries[place, 1] == 0:
            break
        if entries[place, 0] == high_key and entries[place, 1] == low_key:
            if version % np.uint64(2) == 1:
                break
            return place, version
    return -1, np.uint64(0)


@inner_jit
def unchanged(place, version, entries):
    """Whether what was read since ``find`` is what the entry said."""
    return atomic_load(entries, 4 * place + VERSION) == version


@inner_jit
def claim(high_key, low_key, floor, table, control):
    """The place of a key, made if there is none, to be written and released; -1 if it is taken."""
    entries = table.entries
    mask = np.uint64(len(entries) - 1)
    place = np.int64(0)
    for probe in range(PROBES):
        place = np.int64((high_key + np.uint64(probe)) & mask)
        if entries[place, 0] == high_key and entries[place, 1] == low_key:
            break
        if entries[place, 1] == 0:
            break
    version = atomic_load(entries, 4 * place + VERSION)
    if version % np.uint64(2) == 1:
        return np.int64(-1)
    if not atomic_swap(entries, 4 * place + VERSION, version, version + np.uint64(1)):
        return np.int64(-1)
    if entries[place, 0] != high_key or entries[place, 1] != low_key:
        atomic_add(control, OVERWRITTEN if entries[place, 1] != 0 else STORED, 1)
        entries[place, 0], entries[place, 1] = high_key, low_key
        entries[place, EXACT_BUDGETS] = 0
        for size in range(table.lower.shape[1]):
            table.lower[place, size] = floor
    return place


@inner_jit
def release(place, entries):
    """Let others read an entry again."""
    atomic_add(entries, 4 * place + VERSION, np.uint64(1))


@jit
def rehash(old, new):
    """Move all entries into a larger table."""
    mask = np.uint64(len(new.entries) - 1)
    for number in range(len(old.entries)):
        if old.entries[number, 1] == 0:
            continue
        for probe in range(PROBES):
            place = np.int64((old.entries[number, 0] + np.uint64(probe)) & mask)
            if new.entries[place, 1] == 0:
                for part in range(4):
                    new.entries[place, part] = old.entries[number, part]
                for size in range(new.lower.shape[1]):
                    new.lower[place, size] = old.lower[number, size]
                break


class Question(NamedTuple):
    """What is asked about some rows."""

    budget: int  # how many splits a tree may have
    bound: int  # only costs below it matter
    depth: int
    wanted: int  # what is to be found beside the least cost; see PLAIN


def make_driver(look: Any, advance: Any, take: Any) -> Any:
    """The recursion of branch and bound, from three kernels of an engine.

    ``look`` says whether a frame's question can be answered without its children, and the answer;
    ``advance`` puts the next question to a child, in the next frame, or says that there is none;
    ``take`` notes a child's answer. All are given the level of the frame, the rows, the table, one
    worker's frames and the control words. The driver answers the question that stands in the frame
    ``first``. Once the status is not RUN, what it returns means nothing.

    The recursion is a stack of frames: compiled functions that call each other cannot be kept on
    disk.
    """

    @closed_jit
    def drive(first, data, table, frames, control):
        level = first
        while True:
            finished, answer = look(level, data, table, frames, control)
            while True:
                if not finished:
                    if advance(level, data, table, frames, control):
                        level += 1
                        break
                    answer = close(level, first, table, frames.levels, control)
                if level == first or control[STATUS] != RUN:
                    return answer
                level -= 1
                take(level, answer, data, frames)
                finished = False

    return drive


@inner_jit
def put(at, budget, bound, depth):
    """Put a question to a frame whose rows are in place."""
    at.depth, at.bound, at.refuted = depth, bound, bound
    at.budget = min(budget, (1 << depth) - 1) if depth < 62 else budget


@inner_jit
def close(level, first, table, levels, control):
    """The answer of a frame that has tried all tests, which is entered in the table."""
    at = levels[level]
    if level == first or control[STATUS] != RUN:  # other workers try other tests
        return at.limit
    found = at.limit < at.bound
    answer = at.limit if found else at.refuted
    remember(at, answer, found or answer == at.best, table, control)
    if control[STORED] > control[ROOM]:
        control[STATUS] = GROW
    return answer


@inner_jit
def remember(at, answer, exact, table, control):
    """Enter a lower bound for a frame's budget, and what was counted for smaller ones."""
    key = finish_key(at.key_high, at.key_low, at.depth)
    place = claim(key[0], key[1], at.floor, table, control)
    if place < 0:
        return
    counted = min(at.counted_sizes, table.lower.shape[1])
    for size in range(counted):
        table.lower[place, size] = at.errors[size]
    proved = (np.uint64(1) << np.uint64(counted)) - np.uint64(1)
    for size in range(counted, at.budget + 1):
        table.lower[place, size] = max(table.lower[place, size], answer)
    if exact:
        proved |= np.uint64(1) << np.uint64(at.budget)
    table.entries[place, EXACT_BUDGETS] |= proved
    release(place, table.entries)


# what is wanted beside the least cost of some rows: nothing; the first of all tests that attain
# it; any such test; any test that attains the cost below the bound, which is known to be the least
PLAIN, FIRST, ANY, KNOWN = range(4)

QUICK = 2**17  # cells of a table up to which all sizes are first asked about in one call


class FirstTest(NamedTuple):
    """The first test of a tree, and of both its subtrees, the low one first:"""

    test: int
    budgets: tuple[int, int]
    costs: tuple[int, int]
    leaves: tuple[Leaf | None, Leaf | None]  # best leaves in their place; None if not known


class Asks(Protocol):
    """Finds least costs of row sets.

    Attributes
    ----------
    rows : the rows that are searched
    budgets : the most splits that may be asked about; see ``plan``
    bytes : the memory of one worker's frames
    patience : the work that is done in the caller's thread, and then by one worker, before all
        others are started
    """

    budgets: int
    bytes: int
    patience: tuple[int, ...]

    @property
    def rows(self) -> SearchedRows:
        """The rows that are searched."""
        ...

    def plan(self, budgets: int, depth: int, memory: int) -> None:
        """Choose how many splits may be asked about, so that one worker's frames fit."""
        ...

    def make_frames(self) -> Any:
        """Frames for one worker."""
        ...

    def leaf(self, members: np.ndarray) -> Leaf:
        """The best label of some rows without a split, and what it costs."""
        ...

    def ask(
        self, members: np.ndarray, question: Question, table: Table, frames: Any,
        control: np.ndarray,
    ) -> int:  # fmt: skip
        """The least cost of some rows within a budget, if it is below the bound.

        Otherwise some number that is at least the bound and at most the least cost. Any number of
        workers may ask the same question at a time, each with its own frames: they share out the
        first tests, and the least of their answers is the answer.
        """
        ...


class Traces(Protocol):
    """Finds the trees that attain these costs, test by test."""

    def trace(self, frames: Any, budget: int, cost: int) -> FirstTest:
        """The first test of a tree that attains the cost just asked for, in these frames."""
        ...


class Engine(Asks, Traces, Protocol):
    """A way to enumerate the tests of a sub-problem."""


class Glances(Protocol):
    """What an engine finds of trees with few splits by a quick look, instead of a search.

    Attributes
    ----------
    sure : costs with so many splits are the least
    """

    sure: int

    def glance(
        self, members: np.ndarray, budget: int, depth: int, table: Table, frames: Any,
        control: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Costs of some rows with 0, 1, 2 and 3 splits that trees are found for.

        The first test of the tree for the whole budget can be traced.
        """
        ...


class PolishingEngine(Engine, Glances, Protocol):
    """An engine that also improves the trees it is given."""


@jit
def is_counted(budget, depth):
    """Whether trees so small are counted, not searched: their first test is found at once."""
    return budget <= 2 or depth <= 2


SMALLEST_TABLE = 1 << 10
PATIENCE = 0.05  # seconds between two looks at the clock
ALONE = 0.01  # seconds after which a worker is helped
MOST_WORKERS = 8
NO_LIMIT = 1 << 62
MOVED = 1 << 17  # places of a table that are moved between two looks at the clock


_compiled: set[tuple[Any, ...]] = set()  # engines and the types of their arrays


class Workers:
    """A table of sub-problems, and the workers that fill it with an engine.

    Attributes
    ----------
    glances : the engine again, where few splits may be looked at instead of searched
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
        glances: Glances | None = None, answers: np.dtype | None = None,
    ) -> None:  # fmt: skip
        self.engine, self.glances, self.rows = engine, glances, engine.rows
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
        self.on_tick: Callable[[], None] = lambda: None

    def compile(self) -> None:
        """Ask what needs no search, so that compiling does not count as time."""
        kinds = type(self.engine), *(part.dtype for part in (*self.rows.data, *self.table))
        if kinds not in _compiled:
            nobody, frames = self.rows.everything[:0], self.frames[0]
            self.engine.ask(nobody, Question(0, 0, 0, PLAIN), self.table, frames, self.control)
            if self.glances is not None:
                self.glances.glance(nobody, 0, 0, self.table, frames, self.control)
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
        """The least cost of some rows if it is below a bound; None when it had to stop.

        See ``Asks.ask``. A cost is good enough if it is the ``least`` that is possible, or less.
        What is wanted of the tree is in ``frames[0]``: any test only as long as the search is
        ``steady``. To be asked ``quickly`` is to stop before threads are started.
        """
        stage = 0
        patience = (*self.engine.patience, NO_LIMIT)
        while not (quickly and stage == len(patience) - 1) and not self.is_late():
            self.control[STATUS], self.control[NEXT], self.control[FOUND] = RUN, 0, bound
            self.control[ALLOWED], self.control[LEAST] = patience[stage], least
            question = Question(budget, bound, depth, wanted)
            if stage == 0 < len(patience) - 1:
                answers = [self._answer(rows, question, self.frames[0])]
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

    def glance(self, rows: np.ndarray, depth: int, budget: int = 3) -> np.ndarray:
        """Costs of some rows with 0, 1, 2 and 3 splits that trees are found for, however late."""
        assert self.glances is not None
        cost = self.engine.leaf(rows).cost
        if depth == 0 or cost == 0:
            return np.full(4, cost)
        control = _endless_control(self.control)
        return self.glances.glance(rows, budget, depth, self.table, self.frames[0], control)

    def find(
        self,
        rows: np.ndarray,
        budget: int,
        bound: int,
        depth: int,
        quickly: bool = False,
        least: int = 0,
    ) -> Any:
        """The least cost of some rows as ``ask`` has it, and nested tests that attain it.

        None when it had to stop; no tests where the cost is not below the bound.
        """
        at_once = is_counted(budget, depth)
        wanted = FIRST if at_once else ANY if self.steady else PLAIN
        cost = self.ask(rows, budget, bound, depth, wanted, quickly, least)
        if cost is None or cost >= bound:
            return None if cost is None else (cost, None)
        if at_once or self.steady:
            nested = self._follow(rows, budget, cost, depth, at_once)
        else:
            nested = self.trace(rows, budget, cost, depth)
        return None if nested is None else (cost, nested)

    def trace(
        self,
        rows: np.ndarray,
        budget: int,
        cost: int,
        depth: int,
        seen: bool = False,
        leaf: Leaf | None = None,
    ) -> Any:
        """Nested tests that attain a cost of some rows; None when it had to stop.

        The cost is the least, or was ``seen`` by a glance. The best ``leaf`` need not be given.
        """
        leaf = self.engine.leaf(rows) if leaf is None else leaf
        if leaf.cost <= cost:
            return leaf.label
        if self.glances is not None and (seen or budget <= self.glances.sure):
            self.glance(rows, depth, min(budget, 3))
        elif self.ask(rows, budget, cost + 1, depth, KNOWN if self.steady else FIRST) is None:
            return None
        return self._follow(rows, budget, cost, depth, seen)

    def _follow(self, rows: np.ndarray, budget: int, cost: int, depth: int, seen: bool) -> Any:
        """Trace both children of the test at which the first frame stands."""
        test, *children = self.engine.trace(self.frames[0], budget, cost)
        held = self.rows.holds(rows, test)
        nested: list[Any] = [test]
        for below, (splits, part, leaf) in zip(
            (~held, held), zip(*children, strict=True), strict=True
        ):
            traced = self.trace(rows[below], splits, part, depth - 1, seen, leaf)
            if traced is None:
                return None
            nested.append(traced)
        return tuple(nested)

    def _answer(self, rows: np.ndarray, question: Question, frames: Any) -> int:
        return self.engine.ask(rows, question, self.table, frames, self.control)

    def _gather(self, workers: int, rows: np.ndarray, question: Question) -> list[int]:
        """Start one worker, then, if it takes long, the others; returns when all are done."""
        pool = self.pool = self.pool or ThreadPoolExecutor(self.workers)
        started: list[Future[int]] = []
        working: set[Future[int]] = set()
        while working or not started:
            if len(started) < workers and self.control[STATUS] == RUN:
                frames = self._take_frames(len(started))
                started.append(pool.submit(self._answer, rows, question, frames))
            elif not started:  # Ctrl-C came first
                break
            working = wait(started, self._patience(len(started) < workers)).not_done
            self.on_tick()
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
