"""Sets of categories that may split a leaf, from its rows by category.

A test ``town in {A, C}`` divides the categories that a leaf has, and missing values are one more.
``k`` of them divide in ``2**(k - 1) - 1`` ways. Two ways to look through them:

- In order. For two classes and a concave criterion, some best division cuts the categories in the
  order of their rate (Breiman, Friedman, Olshen and Stone, *Classification and Regression Trees*,
  1984, theorem 4.5); for the squared error, in the order of their means (Fisher, *On grouping for
  maximum homogeneity*, 1958); for two actions, in the order of how much more one of them costs.
  With three and more classes or actions there is one order for each of them against the rest, and
  the best cut of all orders need not be the best division.
- One by one, in the order of a Gray code: each division differs from the one before in one
  category, so its sums cost one update (Knuth, *The Art of Computer Programming* 4A, 7.2.1.1). So
  it is with at most ``MOST_LISTED`` categories where no single order is sure to have the best one:
  with three and more classes, with limits on leaves, which may forbid all cuts, and for criteria of
  one's own.

Either way a column's divisions are a walk: a category changes sides at each step. Invariant: the
sides after a step are what the steps until then have moved, and no walk divides alike twice; where
walks in several orders do, ``repeats`` tells. The set of a test is the side without missing values;
without these the side with fewer rows; of equal ones, that without the first category present.
"""

from typing import NamedTuple

import numpy as np

from mictree._support.jit import inner_jit, jit

MOST_LISTED = 10  # categories of a leaf, missing values counted, whose divisions are all looked at


class Walks(NamedTuple):
    """The divisions of a leaf's categories; one walk for each order, or one through all."""

    moves: np.ndarray  # (walks, steps): which category changes sides
    places: np.ndarray  # (walks, categories): the place of each in the order; of no walks if listed


@jit
def class_keys(sums):
    """What categories are ordered by: the share of each class, of two that of the second one.

    ``sums`` are the weights by category and class.
    """
    categories, classes = sums.shape
    keys = np.zeros((1 if classes == 2 else classes, categories))
    for category in range(categories):
        total = sums[category].sum()
        for number in range(len(keys) if total > 0 else 0):
            code = 1 if classes == 2 else number
            keys[number, category] = sums[category, code] / total
    return keys


@jit
def cost_keys(sums, masses):
    """The same for sums of other numbers than the weights of classes.

    A single number is a label: its mean. Of two, which are costs, how much the second one is above
    the first; of more, each one's distance from their mean. All are divided by ``masses``.
    """
    categories, several = sums.shape
    keys = np.zeros((1 if several <= 2 else several, categories))
    for category in range(categories):
        if masses[category] == 0:
            continue
        numbers = sums[category].astype(np.float64) / np.float64(masses[category])
        for number in range(len(keys)):
            if several == 1:
                keys[number, category] = numbers[0]
            elif several == 2:
                keys[number, category] = numbers[1] - numbers[0]
            else:
                keys[number, category] = several * numbers[number] - numbers.sum()
    return keys


@jit
def new_walks(rows, keys, sure):
    """The divisions of the categories that have rows.

    ``sure`` is whether a single order is sure to have a best division.
    """
    present = np.flatnonzero(rows)
    count = len(present)
    if count < 2:
        return Walks(np.empty((0, 0), dtype=np.int64), np.empty((0, 0), dtype=np.int64))
    if count <= MOST_LISTED and not (sure and len(keys) == 1):
        moves = np.empty((1, 2 ** (count - 1) - 1), dtype=np.int64)
        for step in range(moves.shape[1]):
            moved, number = 0, step + 1  # the binary digits at the end that are 0
            while number % 2 == 0:
                moved += 1
                number //= 2
            moves[0, step] = present[moved]
        return Walks(moves, np.empty((0, len(rows)), dtype=np.int64))
    moves = np.empty((len(keys), count - 1), dtype=np.int64)
    places = np.full((len(keys), len(rows)), -1)
    for walk in range(len(keys)):
        order = _sorted(present, keys[walk])
        moves[walk] = order[: count - 1]
        for place in range(count):
            places[walk, order[place]] = place
    return Walks(moves, places)


@inner_jit
def _sorted(present, keys):
    """Some categories by ascending keys, equal ones as they are given: a merge sort."""
    order, other, count = present.copy(), present.copy(), len(present)
    width = 1
    while width < count:
        for start in range(0, count, 2 * width):
            left, right = start, min(start + width, count)
            middle, stop = right, min(start + 2 * width, count)
            for place in range(start, stop):
                take_left = left < middle and (
                    right == stop or keys[order[left]] <= keys[order[right]]
                )
                if take_left:
                    other[place] = order[left]
                    left += 1
                else:
                    other[place] = order[right]
                    right += 1
        order, other = other, order
        width *= 2
    return order


@inner_jit
def repeats(walks, walk, step):
    """Whether a walk before this one divides as this one does after a step."""
    if walk == 0:
        return False
    count = walks.moves.shape[1] + 1
    for earlier in range(walk):
        least, most = count, -1
        for place in range(step + 1):
            other = walks.places[earlier, walks.moves[walk, place]]
            least, most = min(least, other), max(most, other)
        if most == step or least == count - 1 - step:  # at one end of the earlier order
            return True
    return False


@inner_jit
def write_side(walks, walk, step, rows, missing, out_side):
    """Write the set of the test that divides as a walk does after a step: 1 for its categories.

    ``missing`` is whether the last category stands for missing values.
    """
    out_side[:] = 0
    for place in range(step + 1):
        out_side[walks.moves[walk, place]] ^= 1
    turn_side(rows, missing, out_side)


@jit
def turn_side(rows, missing, side):
    """Turn one side of a division, in place, into the set of its test, if it is the other one."""
    first, inside, total = -1, 0, 0
    for category in range(len(rows)):
        if rows[category] > 0 and first < 0:
            first = category
        side[category] = side[category] == 1 and rows[category] > 0
        total += rows[category]
        inside += rows[category] * side[category]
    last = len(rows) - 1
    if missing and rows[last] > 0:
        turned = side[last] == 1
    else:
        turned = 2 * inside > total or (2 * inside == total and side[first] == 1)
    if turned:
        for category in range(len(rows)):
            side[category] = rows[category] > 0 and side[category] == 0
    return turned


@jit
def list_sides(rows, keys, missing, sure):
    """The sets of all divisions to look at, one in a row, in the order of the walks."""
    walks = new_walks(rows, keys, sure)
    sides = np.zeros((walks.moves.size, len(rows)), dtype=np.uint8)
    count = 0
    for walk in range(len(walks.moves)):
        for step in range(walks.moves.shape[1]):
            if len(walks.places) == 0 or not repeats(walks, walk, step):
                write_side(walks, walk, step, rows, missing, sides[count])
                count += 1
    return sides[:count]
