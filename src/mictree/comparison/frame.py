"""A comparison as a table of numbers: a row for each learner and size."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree.comparison.held_out import OPTIMAL

if TYPE_CHECKING:
    import polars

    from mictree.comparison.result import Comparison


def to_frame(comparison: Comparison) -> polars.DataFrame:
    """A polars frame; "optimal" is one of the learners."""
    import polars

    rows = [row for name in (OPTIMAL, *comparison.names) for row in _rows(comparison, name)]
    texts = {"learner": polars.String, "size": polars.Int64, "proved": polars.Boolean}
    kinds = {
        name: texts.get(name, polars.String if name == "optimal_is" else polars.Float64)
        for name in rows[0]
    }
    return polars.DataFrame(rows, schema=kinds)


def _rows(comparison: Comparison, name: str) -> Iterator[dict[str, Any]]:
    own = name == OPTIMAL
    errors = comparison.optimal_errors.upper if own else comparison.training_errors[name]
    least, most = (0 * errors, 0 * errors) if own else comparison.excess(name)
    verdicts: list[Any] = [None] * len(errors)
    apart = spread = held = np.full(len(errors), math.nan)
    if comparison.held_out:
        held = comparison.held_out[name].shown
        if not own:
            apart, spread = comparison.held_out[name].less(comparison.held_out[OPTIMAL])
            verdicts = list(comparison.verdicts(name))
    names = ("held_out_error", "held_out_above_optimal")
    if comparison.scoring:
        names = ("held_out_score", "held_out_below_optimal")
    for size in range(len(errors)):
        yield {
            "learner": name,
            "size": size,
            "training_error": float(errors[size]),
            "optimal_lower": float(comparison.optimal_errors.lower[size]),
            "optimal_upper": float(comparison.optimal_errors.upper[size]),
            "proved": bool(comparison.optimal_errors.proved[size]),
            "excess_least": float(least[size]),
            "excess_most": float(most[size]),
            names[0]: _known(held[size]),
            names[1]: _known(apart[size]),
            "standard_error": _known(spread[size]),
            "optimal_is": verdicts[size],
        }


def _known(number: float) -> float | None:
    return None if math.isnan(number) else float(number)
