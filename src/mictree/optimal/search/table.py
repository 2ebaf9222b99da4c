"""The table of row sets: a lower bound on the least error for every budget of splits.

One table serves the whole search, under a 128-bit hash of the row set: two random 64-bit numbers
per row, xor-ed. Two different sets share a key with probability 2**-128; among n sets a collision
has probability below n**2 / 2**129.

Workers share the table. Each entry has a version, odd while it is written: a reader that finds it
odd or changed has read nothing, a writer that finds it odd leaves the entry alone.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import atomic_add, atomic_load, atomic_swap, inner_jit, jit

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
