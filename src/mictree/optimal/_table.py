"""What is known of row sets: a lower bound on the least error for every budget of splits.

One table serves the whole search, under a 128-bit hash of the row set: two random 64-bit numbers
per row, xor-ed. Two different sets share a key with probability 2**-128; among n sets a collision
has probability below n**2 / 2**129.
"""

from typing import NamedTuple

import numpy as np

from mictree._jit import jit

PROBES = 8  # places of the table that a key may have; the last is overwritten when all are taken
STORED, VISITED, OVERWRITTEN, ROOM, STATUS = range(5)  # ROOM: how many may be stored
RUN, STOP, GROW = range(3)  # the status: go on; give up; come back for a larger table
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
UNLIMITED = 1 << 20  # a depth that no budget reaches


class Table(NamedTuple):
    """What is known: keys, lower bounds by budget, and which of them are exact."""

    entries: np.ndarray  # (places, 3): key, key, and bit b: lower[b] is the least error
    lower: np.ndarray  # (places, budgets)


@jit
def finish_key(high, low, depth):
    """Where depth is limited, what is left of it belongs to the key; the second half is never 0."""
    if depth < 62:
        high += np.uint64(depth + 1) * GOLDEN
    return high, low | np.uint64(1)


@jit
def find(high_key, low_key, entries):
    """The place of a key, or -1."""
    mask = np.uint64(len(entries) - 1)
    for probe in range(PROBES):
        place = np.int64((high_key + np.uint64(probe)) & mask)
        if entries[place, 1] == 0:
            return -1
        if entries[place, 0] == high_key and entries[place, 1] == low_key:
            return place
    return -1


@jit
def make_place(high_key, low_key, floor, table, control):
    """The place of a key, made if there is none."""
    mask = np.uint64(len(table.entries) - 1)
    place = np.int64(0)
    for probe in range(PROBES):
        place = np.int64((high_key + np.uint64(probe)) & mask)
        if table.entries[place, 0] == high_key and table.entries[place, 1] == low_key:
            return place
        if table.entries[place, 1] == 0:
            break
    if table.entries[place, 1] != 0:
        control[OVERWRITTEN] += 1
    else:
        control[STORED] += 1
    table.entries[place, 0], table.entries[place, 1] = high_key, low_key
    table.entries[place, 2] = 0
    table.lower[place, :] = floor
    return place


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
                new.entries[place] = old.entries[number]
                new.lower[place] = old.lower[number]
                break
