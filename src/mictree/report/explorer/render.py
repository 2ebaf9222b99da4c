"""The explorer's files -> one self-contained HTML page, with its first problem and its examples.

The page has two scripts, both allowed by their hashes: the twin, whose text also becomes the
worker, and the page's own. Its first problem and its examples are JSON that cannot close its
element. The first problem is an example, or a formula or table of the user's; what the page could
not take is refused here, by the same limits. A test computes every number that the texts of the
examples name.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from mictree.columns.cells import Reading, read_cells
from mictree.functions.expression import Expression
from mictree.report.page import fill, hash_source

if TYPE_CHECKING:
    import polars


FOLDER = Path(__file__).parent
# in the order in which they use each other
TWIN = (
    "syntax", "fractions", "problem", "gains", "draws", "lookahead", "growth", "optimal", "cells",
    "csv", "answer", "worker",
)  # fmt: skip
PAGE = (
    "elements", "state", "tree", "curves", "step", "tables", "truth", "controls", "tour", "picture",
    "main",
)  # fmt: skip


def render(start: dict[str, Any] | None = None) -> str:
    """The page as HTML text.

    Parameters
    ----------
    start : fields of the problem that it shows first, as in ``page/state.js``; by default the first
        example
    """
    twin = _join("twin", TWIN)
    page = f"(() => {{\n{_join('page', PAGE)}\n}})();"  # its names hide the twin's
    sources = f"script-src '{hash_source(twin)}' '{hash_source(page)}'; worker-src blob:; "
    return fill(
        "explorer.html",
        sources,
        folder=FOLDER,
        style_name="explorer.css",
        twin=Markup(twin),
        script=Markup(page),
        examples=[asdict(example) for example in EXAMPLES],
        start=start or EXAMPLES[0].state,
    )


def _join(folder: str, names: tuple[str, ...]) -> str:
    parts = [(FOLDER / folder / f"{name}.js").read_text("utf-8") for name in names]
    return "\n".join(['"use strict";', *parts])


@dataclass(frozen=True)
class Example:
    """A problem to look at, and what to look for."""

    title: str
    text: str
    state: dict[str, Any] = field(default_factory=dict)  # as in page/state.js


TENNIS = """\
outlook,temperature,humidity,wind,play
sunny,hot,high,weak,no
sunny,hot,high,strong,no
overcast,hot,high,weak,yes
rain,mild,high,weak,yes
rain,cool,normal,weak,yes
rain,cool,normal,strong,no
overcast,cool,normal,strong,yes
sunny,mild,high,weak,no
sunny,cool,normal,weak,yes
rain,mild,normal,weak,yes
sunny,mild,normal,strong,yes
overcast,mild,high,strong,yes
overcast,hot,normal,weak,yes
rain,mild,high,strong,no
"""

EXAMPLES = (
    Example(
        "The paper's example",
        "With 5 splits BestFirst errs twice as often as it must: 1/16 instead of 1/32. It splits a "
        "leaf that few inputs reach, because the gain there is large. TopDown makes no such "
        "mistake.",
        {
            "formula": "x1 & x2 | y1 & y2 & y3",
            "rule": "bestfirst",
            "ties": "last",
            "maxSize": 8,
            "size": 5,
        },
    ),
    Example(
        "XOR: no first split helps",
        "The label is 1 when exactly one of a and b is 1. Every first split gains 0, so a rule "
        "that looks one step ahead learns nothing from it. After any first split, the second and "
        "third finish the tree. Lookahead 2 sees that before the first split.",
        {"formula": "a ^ b", "rule": "topdown", "ties": "last", "maxSize": 3, "size": 1},
    ),
    Example(
        "An irrelevant variable",
        "z has nothing to do with the label. All first splits gain 0 and tie, and with ties "
        "'last' the tree starts with z, the last one. It needs 7 splits where 3 would do. Try ties "
        "'first', or Lookahead 2.",
        {
            "formula": "a ^ b",
            "extra": ["z"],
            "rule": "topdown",
            "ties": "last",
            "maxSize": 7,
            "size": 3,
        },
    ),
    Example(
        "Where BestFirst fails worst",
        "Of all read-once formulas of at most 10 variables, all biases 1/2 and ties 'last', "
        "BestFirst has its largest MIC(20) here: 0.153. TopDown's is far smaller; choose it and "
        "compare.",
        {
            "formula": "a1 & a2 | b1 & b2 | c1 & c2 | d1 & d2 & d3",
            "rule": "bestfirst",
            "ties": "last",
            "maxSize": 20,
            "size": 17,
        },
    ),
    Example(
        "The smallest function on which greed never wins",
        "If s is 0 the label is a, otherwise b. Three splits suffice if s comes first. But s alone "
        "gains 0, so every rule that looks one split ahead starts with a or b and needs 5 "
        "splits, whatever the criterion and ties. No function of fewer variables does this. "
        "Lookahead 2 starts with s.",
        {
            "formula": "~s & a | s & b",
            "rule": "topdown",
            "ties": "first",
            "maxSize": 6,
            "size": 3,
        },
    ),
    Example(
        "Data: when to play tennis",
        "Quinlan's fourteen days (1986). The label is 1 if there was play. Replace the table with "
        "one of your own.",
        {"kind": "data", "csv": TENNIS, "target": "play", "maxSize": 6, "size": 2},
    ),
)


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
