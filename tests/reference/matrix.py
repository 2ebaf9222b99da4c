"""What a matrix of floats may be tested for: each column's values, ranks and literals, one by one.

A row is a list of floats, NaN where a value is missing. 0.0 and -0.0 are one value.
"""

import math
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Reading:
    """A column as its literals see it.

    `values` are distinct and ascending; a row's rank is the number of values below its own, one
    more if some are missing, and 0 where its own is. `truths` has a list for each literal, with a
    Boolean for each row: above each of the `thresholds`, and missing.
    """

    values: list
    missing: bool
    ranks: list
    thresholds: list  # (the value below, the value above)
    truths: list


def read_matrix(rows):
    """A `Reading` of each column."""
    return [read_column([float(row[number]) for row in rows]) for number in range(len(rows[0]))]


def read_column(cells):
    """A `Reading` of a column; one of a single value, or of none, has no thresholds."""
    values = []
    for cell in cells:
        if not math.isnan(cell) and cell not in values:  # == holds for 0.0 and -0.0
            values.append(cell)
    values = sorted(0.0 if value == 0 else value for value in values)
    missing = bool(values) and any(math.isnan(cell) for cell in cells)
    ranks = [
        0 if math.isnan(cell) else sum(value < cell for value in values) + missing for cell in cells
    ]
    thresholds = list(pairwise(values))
    truths = [[cell >= above for cell in cells] for _, above in thresholds]
    if missing:
        truths.append([math.isnan(cell) for cell in cells])
    return Reading(values, missing, ranks, thresholds, truths)


def least_error_of_a_split(readings, labels):
    """The fewest rows that the best test, or none, leaves with another label than most have."""
    return min(
        _minority(labels),
        *(
            sum(
                _minority(
                    [label for label, true in zip(labels, truth, strict=True) if true == side]
                )
                for side in (False, True)
            )
            for reading in readings
            for truth in reading.truths
        ),
        math.inf,
    )


def _minority(labels):
    return len(labels) - max(map(labels.count, labels), default=0)
