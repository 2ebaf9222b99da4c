"""What the check of one statement is, and what it returns.

A check looks for a counterexample over a stated range. It raises `Counterexample` when it finds
one, and otherwise says what it covered.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

Verdict = Literal["holds", "fails", "unclear as printed"]


class Counterexample(Exception):
    """A case in which a statement does not hold, in words."""


def require(condition: bool, case: str) -> None:
    """Raise a Counterexample unless the condition holds."""
    if not condition:
        raise Counterexample(case)


class Covered(NamedTuple):
    """What a check went through without finding a counterexample."""

    range_covered: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """The verdict on one statement of the paper.

    Attributes
    ----------
    number : as the paper numbers it
    statement : in our own words
    range_covered : the cases that were checked, and how
    verdict : "holds", "fails" or "unclear as printed"
    detail : the counterexample, the correction, or what the range rests on
    seconds : the time the check took
    expected : the verdict that a correct program gives
    """

    number: str
    statement: str
    range_covered: str
    verdict: Verdict
    detail: str
    seconds: float
    expected: Verdict = "holds"

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one a correct program gives."""
        return self.verdict == self.expected


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of the paper and the function that checks it, ``function(quick) -> Covered``."""

    number: str
    text: str
    function: Callable[[bool], Covered]
    expected: Verdict

    def check(self, quick: bool = False) -> Check:
        """Look for a counterexample; an unclear statement is one whose gap was exhibited."""
        begin = time.perf_counter()
        try:
            covered, verdict = self.function(quick), "holds"
            if self.expected == "unclear as printed":
                verdict = self.expected
        except Counterexample as case:
            covered, verdict = Covered("up to the counterexample", str(case)), "fails"
        seconds = time.perf_counter() - begin
        return Check(
            self.number, self.text, covered.range_covered, verdict, covered.detail, seconds,
            self.expected,
        )  # fmt: skip


def states(
    number: str, text: str, expected: Verdict = "holds"
) -> Callable[[Callable[[bool], Covered]], Statement]:
    """Turn a function into the check of a numbered statement."""
    return lambda function: Statement(number, text, function, expected)
