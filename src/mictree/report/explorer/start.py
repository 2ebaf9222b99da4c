"""The explorer's first problem: a formula, or a table of data."""

from typing import TYPE_CHECKING, Any

from mictree.columns.cells import Reading, read_cells
from mictree.functions.expression import Expression

if TYPE_CHECKING:
    import polars

# as in twin/problem.js and twin/csv.js
MOST_VARIABLES = 10
MOST_ROWS = 200
MOST_COLUMNS = 50
MOST_TEXT = 60_000

FORMULA_SIZE, DATA_SIZE = 8, 6  # splits that the page grows at first


def start_with_formula(text: str) -> dict[str, Any]:
    """The state of the page for a formula; refuses what the page could not take."""
    variables = len(Expression.parse(text).variables)
    if variables > MOST_VARIABLES:
        raise ValueError(
            f"the explorer takes at most {MOST_VARIABLES} variables; this formula has {variables}; "
            "mictree mic takes it"
        )
    return {"formula": text, "maxSize": max(1, min(FORMULA_SIZE, 2**variables - 1))}


def start_with_data(features: "polars.DataFrame", labels: Any, target: str) -> dict[str, Any]:
    """The state of the page for a table of data; refuses what the page could not take."""
    import polars

    frame = features.with_columns(polars.Series(target, labels))
    if frame.height > MOST_ROWS:
        raise ValueError(
            f"the explorer takes at most {MOST_ROWS} rows; the file has {frame.height}; "
            "mictree data takes it"
        )
    if frame.width > MOST_COLUMNS:
        raise ValueError(
            f"the explorer takes at most {MOST_COLUMNS} columns; the file has {frame.width}; "
            "mictree data takes it"
        )
    # the page reads texts again, and refuses what this refuses
    read_cells(frame, Reading(options=("--drop",)), {})
    text = frame.write_csv()
    if len(text) > MOST_TEXT:
        raise ValueError(
            f"the explorer takes at most {MOST_TEXT:,} characters of data; the file has "
            f"{len(text):,}; mictree data takes it"
        )
    return {"kind": "data", "csv": text, "target": target, "maxSize": DATA_SIZE}
