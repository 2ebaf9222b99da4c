"""The check of one statement of the paper, and its verdict.

A check looks for a counterexample over a stated range. It raises `Counterexample` when it finds
one, and otherwise returns the range it covered. A statement with several readings has a check for
each reading, and its verdict follows from all of them by `VERDICT_RULE`.

A reading known to be false comes with its counterexample: the parameters and the exact values at
which it fails. Any other counterexample is as unexpected as none.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, Self

Verdict = Literal["holds", "fails", "unclear as printed"]
VERDICT_RULE = (
    "A reading of a statement holds when the check found no counterexample in the range covered. "
    "A statement holds when all its readings do, fails when none does, and is unclear as printed "
    "when some hold and others fail. A verdict is as expected only if every reading that is known "
    "to fail does so at its known counterexample, with the same values."
)


class Counterexample(Exception):
    """A case in which a statement does not hold, in words."""


def require(condition: bool, case: str) -> None:
    """Raise a Counterexample unless the condition holds."""
    if not condition:
        raise Counterexample(case)


def decide(holding: Sequence[bool]) -> Verdict:
    """The verdict on a statement, given which of its readings hold."""
    if not holding:
        raise ValueError("a statement needs at least one reading; there is none")
    if all(holding):
        return "holds"
    return "unclear as printed" if any(holding) else "fails"


class Covered(NamedTuple):
    """The cases that a check covered without finding a counterexample."""

    range_covered: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a statement, and its check.

    Attributes
    ----------
    name : how the statement is read; empty when there is one way only
    function : ``function(quick) -> Covered``, raises Counterexample
    counterexample : where the reading is known to fail, exactly; empty when it holds
    """

    name: str
    function: Callable[[bool], Covered]
    counterexample: str = ""

    def check(self, quick: bool) -> "Finding":
        """Look for a counterexample."""
        found = ""
        try:
            covered = self.function(quick)
        except Counterexample as case:
            covered, found = Covered("up to the counterexample"), str(case)
        return Finding(self.name, *covered, found, self.counterexample)


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking one reading.

    Attributes
    ----------
    reading : how the statement was read
    range_covered, detail : the cases that were checked, and the reasoning
    counterexample : the case found; empty if there was none
    expected_counterexample : the case that a correct program finds
    """

    reading: str
    range_covered: str
    detail: str
    counterexample: str
    expected_counterexample: str = ""

    @property
    def holds(self) -> bool:
        """Whether there was no counterexample."""
        return not self.counterexample

    @property
    def text(self) -> str:
        """The finding in sentences."""
        if not self.holds:
            return f"Counterexample: {self.counterexample}."
        return " ".join(sentence(part) for part in (self.range_covered, self.detail) if part)


def sentence(text: str) -> str:
    """A text that begins with a capital letter, unless with a symbol, and ends in a full stop."""
    word = text.split(maxsplit=1)[0].rstrip(".:,;")
    begins_with_word = word.isalpha() and len(word) > 1
    return f"{text[:1].upper() if begins_with_word else text[:1]}{text[1:].rstrip('.')}."


@dataclass(frozen=True, slots=True)
class Check:
    """The verdict on one statement of the paper.

    Attributes
    ----------
    number : as the paper numbers it
    statement : in our own words
    findings : one for each reading
    note : how a statement that fails or is unclear should be read, and what depends on it
    seconds : the time the check took
    """

    number: str
    statement: str
    findings: tuple[Finding, ...]
    note: str
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """The verdict by `VERDICT_RULE`, from the findings."""
        return decide([finding.holds for finding in self.findings])

    @property
    def expected(self) -> Verdict:
        """The verdict of a correct program, by the same rule from the known counterexamples."""
        return decide([not finding.expected_counterexample for finding in self.findings])

    @property
    def as_expected(self) -> bool:
        """Whether each reading holds or fails as it should, at the known counterexample."""
        return not self.surprises

    @property
    def surprises(self) -> tuple[str, ...]:
        """The expected findings of the readings whose finding is not the expected one."""
        return tuple(
            f"{finding.reading}{': ' if finding.reading else ''}expected "
            + (finding.expected_counterexample or "no counterexample")
            for finding in self.findings
            if finding.counterexample != finding.expected_counterexample
        )

    @property
    def range_covered(self) -> str:
        """The ranges of the readings, each once."""
        return "; ".join(dict.fromkeys(finding.range_covered for finding in self.findings))

    @property
    def detail(self) -> str:
        """The reason for the verdict, in words."""
        if len(self.findings) > 1:
            parts = [
                sentence(f"{each.reading}: {'holds' if each.holds else 'fails'}") + f" {each.text}"
                for each in self.findings
            ]
        else:
            parts = [each.detail if each.holds else each.text for each in self.findings]
        return " ".join(filter(None, (*parts, self.note)))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON; `from_dict` reads it back."""
        named = ("verdict", "expected", "range_covered", "detail")
        return asdict(self) | {name: getattr(self, name) for name in named}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The check that `to_dict` was called on."""
        findings = tuple(Finding(**finding) for finding in values["findings"])
        return cls(
            values["number"], values["statement"], findings, values["note"], values["seconds"]
        )


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of the paper, the ways to read it, and a note on how it should be read."""

    number: str
    text: str
    readings: tuple[Reading, ...]
    note: str = ""

    @property
    def expected(self) -> Verdict:
        """The verdict that a correct program gives."""
        return decide([not reading.counterexample for reading in self.readings])

    def check(self, quick: bool = False) -> Check:
        """Look for a counterexample to every reading."""
        begin = time.perf_counter()
        findings = tuple(reading.check(quick) for reading in self.readings)
        return Check(self.number, self.text, findings, self.note, time.perf_counter() - begin)


def states(
    number: str, text: str, counterexample: str = "", note: str = ""
) -> Callable[[Callable[[bool], Covered]], Statement]:
    """Turn a function into the check of a numbered statement that can be read in one way only."""
    return lambda function: Statement(number, text, (Reading("", function, counterexample),), note)
