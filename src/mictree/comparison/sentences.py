"""The findings of a comparison, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mictree._support.words import count_of, show_number
from mictree.excess import ROUNDING

if TYPE_CHECKING:
    from mictree.comparison.result import Comparison


def findings(comparison: Comparison) -> list[str]:
    """The MIC of each learner, and the sizes at which the optimal tree does better."""
    lines = []
    for name in comparison.names:
        least, most = comparison.mic(name)
        ends = show_number(least, 4), show_number(most, 4)
        shown = f"= {ends[0]}" if comparison.proved else f"between {ends[0]} and {ends[1]}"
        lines.append(f"{name}: MIC({comparison.max_size}) {shown}")
    return lines + worth_it(comparison)


def worth_it(comparison: Comparison) -> list[str]:
    """One line for each learner: the sizes at which the optimal tree errs less on new rows."""
    lines = []
    for name in comparison.names if comparison.held_out else ():
        found = comparison.verdicts(name)
        parts = [
            f"{what} at size {_spans(found, what)}"
            for what in ("better", "worse")
            if what in found[1:]
        ]
        text = "; ".join(parts) or "no clear difference at any size"
        lines.append(f"on held-out rows the optimal tree against {name}: {text}")
    if comparison.unproved_folds.any():
        first = int(np.argmax(comparison.unproved_folds > 0))
        lines.append(
            f"from size {first} on, some folds' optimal trees are not proved: "
            "the best found in time"
        )
    if comparison.interrupted:
        lines.append(
            "interrupted by Ctrl-C: optimal errors are those proved so far; no rows held out"
        )
    return lines


def advice(comparison: Comparison) -> list[str]:
    """What to do, and a plain sentence for each learner; empty without held-out rows."""
    if not comparison.held_out:
        return []
    size = comparison.advised_size
    words = {
        "better": "and clearly better on new rows",
        "worse": "but clearly worse on new rows",
        "same": "and the same on new rows",
        "unclear": "no clear difference on new rows",
    }
    lines = [
        f"the optimal tree is {_ahead(comparison, name, size)} on training rows, "
        f"{words[comparison.verdicts(name)[size]]}"
        for name in comparison.names
    ]
    return [f"use {count_of(size, 'split')}; {lines[0]}", *lines[1:]]


def _ahead(comparison: Comparison, name: str, size: int) -> str:
    """How much better than a learner the optimal tree is on training rows, in words."""
    least, most = (100 * float(ends[size]) for ends in comparison.excess(name))
    if most <= 100 * ROUNDING:
        return f"no better than {name}"
    if most < 0.05:
        return f"less than 0.1 points better than {name}"
    points = f"{least:.1f}" if most - least < 0.05 else f"{least:.1f} to {most:.1f}"
    return f"{points} points better than {name}"


def _spans(found: list[str], what: str) -> str:
    """The sizes with a verdict; 1, 2, 3, 7 as "1-3, 7"."""
    spans: list[list[int]] = []
    for size in [size for size, each in enumerate(found) if each == what]:
        if spans and size == spans[-1][-1] + 1:
            spans[-1].append(size)
        else:
            spans.append([size])
    return ", ".join(f"{s[0]}-{s[-1]}" if len(s) > 1 else str(s[0]) for s in spans)
