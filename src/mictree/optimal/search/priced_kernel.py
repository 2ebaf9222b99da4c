"""Branch and bound for the least cost: wrong weight plus a price for every split, of any number.

A sub-problem is a set of rows alone, not rows and a budget, so there are far fewer of them. Costs
are integers: a wrong weight counts ``unit``, a split ``step``, with price = step / unit.

Counting all pairs of literals gives the least errors with 0, 1 and 2 splits, and those of every
child with 0 and 1. Three splits cost at least three prices and the floor under the error. So rows
whose leaf errs little more than that are never split, and a child is asked only if it may be
cheaper than with one split.

Invariant: as in ``kernel``; ``lower[level, side, literal]`` is at most the least cost of that child
of the frame's rows, and equal to it where ``exact[level, side, literal]`` is set.
"""

import numpy as np

from mictree._support.jit import atomic_add, inner_jit, jit
from mictree.optimal.search.children import common_weight, hash_children
from mictree.optimal.search.kernel import descend, leaf_error, sort_literals, start
from mictree.optimal.search.pair_errors import least_errors
from mictree.optimal.search.pairs import count
from mictree.optimal.search.table import (
    EXACT_BUDGETS,
    FOUND,
    GROW,
    NEXT,
    ROOM,
    RUN,
    STATUS,
    STORED,
    UNLIMITED,
    VISITED,
    claim,
    find,
    finish_key,
    release,
    unchanged,
)


@jit
def solve_priced(bound, step, unit, retrace, data, table, frames, lower, exact, control):
    """The least cost of the rows in ``frames.mask[0]``, if it is below ``bound``.

    Otherwise some number that is at least ``bound`` and at most the least cost. To ``retrace`` is
    to find a tree whose cost is known to be just below the bound; see ``kernel.solve``.
    """
    level = np.int64(0)
    start(data, frames)
    _ask(level, bound, unit, frames)
    if retrace:
        frames.levels[0].goal = bound - 1
    frames.levels[0].position = atomic_add(control, NEXT, 1)
    while True:
        finished, result = _glance(level, step, unit, frames, control)
        if not finished:
            if count(level, data, frames):
                least_errors(level, frames)
            finished, result = _judge(level, step, unit, table, frames, lower, exact, control)
        while True:
            if not finished:
                if _advance(level, step, unit, data, table, frames, lower, exact, control):
                    level += 1
                    break
                result = _close(level, table, frames, control)
            if level == 0 or control[STATUS] != RUN:
                return result
            level -= 1
            _take(level, result, frames, lower, exact)
            finished = False


@inner_jit
def _ask(level, bound, unit, frames):
    """Put a question to a frame whose rows are in place."""
    at = frames.levels[level]
    at.depth, at.bound, at.goal = UNLIMITED, bound, at.floor * unit
    at.position, at.looked_up = 0, 0


@inner_jit
def _glance(level, step, unit, frames, control):
    """Whether no split can pay, or there is no time to look; and the cost without a split."""
    cost = leaf_error(level, frames) * unit
    return cost <= frames.levels[level].floor * unit + step or control[STATUS] != RUN, cost


@inner_jit
def _judge(level, step, unit, table, frames, lower, exact, control):
    """Whether the pair counts suffice for an answer; and the answer."""
    at = frames.levels[level]
    atomic_add(control, VISITED, 1)
    at.best = at.errors[0] * unit
    for splits in range(1, 4):
        at.best = min(at.best, at.errors[splits] * unit + splits * step)
    at.limit = min(at.bound, at.best)
    answer = min(at.best, at.floor * unit + 3 * step)  # with more splits than were counted
    answered = at.best <= max(at.goal, answer) or answer >= at.bound
    if answered:
        answer = at.best if at.best <= at.goal else answer
        if level > 0:
            _remember(level, answer, answer == at.best, table, frames, control)
    else:
        _fill_bounds(level, step, unit, frames, lower, exact)
        sort_literals(level, lower[level], frames)
        at.tried, at.refuted = 0, at.best
    return answered, answer


@inner_jit
def _fill_bounds(level, step, unit, frames, lower, exact):
    """Fill the bounds of the children of all literals that split the rows."""
    least = frames.least
    for literal in range(least.shape[3]):
        if least[level, 0, 0, literal] < 0:
            continue
        for side in range(2):
            leaf = np.int64(least[level, 0, side, literal]) * unit
            cheap = min(leaf, np.int64(least[level, 1, side, literal]) * unit + step)
            more = np.int64(least[level, 2, side, literal]) * unit + 2 * step
            lower[level, side, literal] = min(cheap, more)
            exact[level, side, literal] = cheap <= more


@inner_jit
def _close(level, table, frames, control):
    """The answer of a frame that has tried all literals."""
    at = frames.levels[level]
    if level == 0:  # the limit holds for this worker's literals only
        return at.limit
    known = at.limit < at.bound
    answer = at.limit if known else at.refuted
    _remember(level, answer, known or answer == at.best, table, frames, control)
    if control[STORED] > control[ROOM]:
        control[STATUS] = GROW
    return answer


@inner_jit
def _remember(level, answer, known, table, frames, control):
    """Enter a lower bound of a frame's cost, and whether it is the least cost."""
    at = frames.levels[level]
    key = finish_key(at.key_high, at.key_low, UNLIMITED)
    place = claim(key[0], key[1], np.int64(0), table, control)
    if place < 0:
        return
    table.lower[place, 0] = max(table.lower[place, 0], answer)
    if known:
        table.entries[place, EXACT_BUDGETS] = np.uint64(1)
    release(place, table.entries)


@inner_jit
def _take(level, answer, frames, lower, exact):
    """Note a child's answer."""
    at = frames.levels[level]
    literal = frames.order[level, 0, at.position]
    lower[level, at.side, literal] = max(lower[level, at.side, literal], answer)
    if answer < frames.levels[level + 1].bound:
        exact[level, at.side, literal] = True


@inner_jit
def _advance(level, step, unit, data, table, frames, lower, exact, control):
    """Put the next question to a child's frame, or say False when there is none."""
    at = frames.levels[level]
    while at.position < at.useful and at.limit > at.goal:
        literal = frames.order[level, 0, at.position]
        if level == 0:
            at.limit = min(at.limit, control[FOUND])
        if (
            not at.looked_up
            and step + lower[level, 0, literal] + lower[level, 1, literal] < at.limit
        ):
            hash_children(level, literal, data, frames)
            _look_up(level, literal, table, frames, lower, exact)
            _compare(level, literal, unit, frames, lower)
            at.looked_up = 1
        cost = step + lower[level, 0, literal] + lower[level, 1, literal]
        if cost < at.limit and exact[level, 0, literal] and exact[level, 1, literal]:
            at.limit = cost
            if level == 0:
                control[FOUND] = min(control[FOUND], cost)
            continue
        if cost < at.limit:
            smaller = at.smaller  # answers sooner
            at.side = 1 - smaller if exact[level, smaller, literal] else smaller
            descend(level, literal, data, frames)
            _ask(level + 1, at.limit - cost + lower[level, at.side, literal], unit, frames)
            return True
        at.refuted = min(at.refuted, cost)
        if at.looked_up:
            frames.order[level, 1, at.tried] = literal
            at.tried += 1
        at.position = atomic_add(control, NEXT, 1) if level == 0 else at.position + 1
        at.looked_up = 0
    return False


@inner_jit
def _look_up(level, literal, table, frames, lower, exact):
    """Raise both children's bounds to those in the table."""
    for side in range(2):
        child = frames.children[level, side]
        key = finish_key(child.key_high, child.key_low, UNLIMITED)
        place, version = find(key[0], key[1], table.entries)
        if place < 0:
            continue
        bound, known = table.lower[place, 0], table.entries[place, EXACT_BUDGETS] != 0
        if unchanged(place, version, table.entries):
            lower[level, side, literal] = max(lower[level, side, literal], bound)
            exact[level, side, literal] |= known


@inner_jit
def _compare(level, literal, unit, frames, lower):
    """Raise the bounds of a literal's children by those of similar children.

    A row set that lacks some rows of another costs at least what the other costs less their weight.
    """
    at, held = frames.levels[level], frames.held
    classes = frames.totals.shape[1]
    mass = held[level, classes, literal]
    for number in range(at.tried):
        other = frames.order[level, 1, number]
        lacked = np.int64(mass - common_weight(level, literal, other, frames))  # by the low child
        for side in range(2):
            bound = lower[level, side, other] - lacked * unit
            lower[level, side, literal] = max(lower[level, side, literal], bound)
            lacked += np.int64(held[level, classes, other]) - np.int64(mass)
