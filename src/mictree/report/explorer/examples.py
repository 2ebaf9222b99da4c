"""The examples that the explorer offers; a test computes every number that their texts name."""

from dataclasses import dataclass, field
from typing import Any


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
