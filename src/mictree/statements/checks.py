"""The check of one statement of the paper, its verdict, and all trees of a class to check it on.

A check looks for a counterexample over a stated range. It raises `Counterexample` when it finds
one, and otherwise returns the range it covered. A statement with several readings has a check for
each reading, and its verdict follows from all of them by `VERDICT_RULE`. A reading known to be
false comes with its counterexample: the parameters and the exact values at which it fails. Any
other counterexample is as unexpected as none. Pages that link a statement to its check read the
code with `sources_of`.

`Enumeration` finds the errors of every tree of a class. Nothing is minimised on the way, so that
nothing is assumed about optimal trees: a class's errors at a size are all sums of an error of a low
and of a high subtree. A class is a grammar. It maps a kind of tree to its splits, each the
variables that may be tested and the kinds of the subtrees.

A small Boolean function is a tuple of labels; bit i of a row's number is the value of variable i.
"""

import inspect
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cache, partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from mictree.families.function_classes import FunctionFamily
from mictree.problems import FormulaProblem, TableProblem

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


class Source(NamedTuple):
    """A function as its author wrote it."""

    place: str  # such as "mictree.statements.gains.lemma_c6"
    line: int  # of the module's file, from 1
    code: str


def sources_of(statement: Statement) -> tuple[Source, ...]:
    """The functions that check the readings of a statement, each once."""
    functions = dict.fromkeys(_written(reading.function) for reading in statement.readings)
    return tuple(_source(function) for function in functions)


def _written(function: Any) -> Any:
    """The function without the arguments that a reading fixes."""
    return function.func if isinstance(function, partial) else function


def _source(function: Any) -> Source:
    lines, first = inspect.getsourcelines(function)
    return Source(f"{function.__module__}.{function.__name__}", first, "".join(lines).rstrip())


Split = tuple[frozenset[int], str, str]  # variables, low kind, high kind
Grammar = dict[str, tuple[Split, ...]]
LEAF = "leaf"  # the kind of trees without a split


def as_table(problem: FormulaProblem) -> TableProblem:
    """A formula problem's distribution, row by row."""
    names = problem.variables
    rows = (np.arange(2 ** len(names))[:, None] >> np.arange(len(names))) & 1
    biases = list(problem.biases.values())
    chances = [
        math.prod(bias if value else 1 - bias for value, bias in zip(row, biases, strict=True))
        for row in rows
    ]
    return TableProblem(problem.formula.evaluate(rows, names), chances, names)


def any_tree(problem: TableProblem) -> Grammar:
    """All trees."""
    everything = frozenset(range(len(problem.variables)))
    return {"any": ((everything, "any", "any"),)}


def right_path(variables: Iterable[int], kind: str) -> Grammar:
    """Trees in which every low child is a leaf, over the given variables."""
    return {kind: ((frozenset(variables), LEAF, kind),)}


@dataclass
class Enumeration:
    """The errors of all trees of a class, in integers over one denominator.

    Labels are majority labels: any other label only adds to a tree's error.
    """

    problem: TableProblem
    grammar: Grammar
    _known: dict[tuple[str, int, int], frozenset[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        mass, positive, self.denominator = self.problem.scaled_masses
        self._leaf_errors = [int(error) for error in np.minimum(positive, mass - positive)]
        self._digits = [3**variable for variable in range(len(self.problem.variables))]

    def least_errors(self, kind: str, max_size: int) -> list[Fraction]:
        """The least error of any tree of the kind with at most ``size`` splits; index = size."""
        errors: list[Fraction] = []
        for size in range(max_size + 1):
            exactly = self.errors(kind, size)
            errors.append(min([*errors[-1:], *(Fraction(e, self.denominator) for e in exactly)]))
        return errors

    def errors(self, kind: str, size: int, subcube: int | None = None) -> frozenset[int]:
        """The errors of all trees of a kind with exactly ``size`` splits, times the denominator."""
        if subcube is None:
            subcube = len(self._leaf_errors) - 1
        if size == 0:
            return frozenset([self._leaf_errors[subcube]])
        key = (kind, size, subcube)
        if key not in self._known:
            self._known[key] = frozenset(self._split_errors(kind, size, subcube))
        return self._known[key]

    def _split_errors(self, kind: str, size: int, subcube: int) -> Iterable[int]:
        for variables, low_kind, high_kind in self.grammar.get(kind, ()):
            for variable in variables:
                step = self._digits[variable]
                if subcube // step % 3 != 2:
                    continue
                for low_size in range(size):
                    low = self.errors(low_kind, low_size, subcube - 2 * step)
                    high = self.errors(high_kind, size - 1 - low_size, subcube - step)
                    yield from (one + other for one in low for other in high)


Labels = tuple[int, ...]


def labels_of(family: FunctionFamily, member: int) -> Labels:
    """A member's truth table."""
    return tuple(family.table(member).tolist())


def members(family: FunctionFamily) -> Iterator[tuple[str, Labels, int]]:
    """Each member's truth table as text and as labels, and how many functions it stands for."""
    for member, text in enumerate(family.texts()):
        yield text, labels_of(family, member), int(family.counts[member])


@cache
def variables(labels: Labels) -> range:
    """The numbers of the variables."""
    return range(len(labels).bit_length() - 1)


def is_constant(labels: Labels) -> bool:
    """Whether all labels are the same."""
    return len(set(labels)) == 1


@cache
def halves(labels: Labels, variable: int) -> tuple[Labels, Labels]:
    """The restrictions to both values of a variable."""
    low, high = (
        tuple(label for row, label in enumerate(labels) if row >> variable & 1 == value)
        for value in (0, 1)
    )
    return low, high


@cache
def least_height(labels: Labels) -> int:
    """The least height of a tree without error."""
    if is_constant(labels):
        return 0
    return 1 + min(max(map(least_height, halves(labels, each))) for each in variables(labels))
