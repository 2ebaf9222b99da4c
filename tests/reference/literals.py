"""What columns of data may be tested for. A row is a list of numbers, texts or None (missing).

A leaf's thresholds lie halfway between its own neighbouring values; of given thresholds, those that
separate its rows alike are the middle one.
"""

import math
from fractions import Fraction
from itertools import pairwise


def literals(rows, names, inside=None, thresholds=None):
    """(text, test) for each literal, column by column, as the rows of a leaf (or all) offer them.

    ``thresholds`` are those offered in each column, by default all.
    """
    inside = rows if inside is None else inside
    found = []
    for column, name in enumerate(names):
        known = {row[column] for row in rows} - {None}
        values = sorted(known)
        missing = any(row[column] is None for row in rows)
        if values and isinstance(values[0], str):
            shown = values if missing and len(values) > 1 else [] if missing else values
            shown = values[1:] if len(values) <= 2 and not missing else shown
            found += [(f"{name} is {v}", lambda row, c=column, v=v: row[c] == v) for v in shown]
        elif set(values) == {0, 1}:
            found.append((name, lambda row, c=column: row[c] == 1))
        else:
            here = sorted({row[column] for row in inside} - {None})
            for t in halfway(here, thresholds[column] if thresholds else None):
                test = lambda row, c=column, t=t: row[c] is not None and row[c] > t  # noqa: E731
                found.append((f"{name} > {t:g}", test))
        if missing and values:
            found.append((f"{name} is missing", lambda row, c=column: row[c] is None))
    return found


def halfway(values, offered):
    """One threshold for each way to separate sorted values."""
    found = []
    for a, b in pairwise(values):
        between = [t for t in offered if a <= t < b] if offered is not None else [(a + b) / 2]
        if between:
            found.append(between[(len(between) - 1) // 2])
    return found


def float_above(number: Fraction) -> float:
    """The least float that is not below a number."""
    found = float(number)
    while Fraction(found) < number:
        found = math.nextafter(found, math.inf)
    while Fraction(math.nextafter(found, -math.inf)) >= number:
        found = math.nextafter(found, -math.inf)
    return found
