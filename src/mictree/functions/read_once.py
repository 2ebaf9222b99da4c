"""Read-once DNF formulas: parse, print, evaluate.

A formula is an *or* of terms, a term an *and* of literals, and no variable appears twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_SPELLINGS = {"&": ("&", "and", "∧"), "|": ("|", "or", "∨"), "~": ("~", "not", "¬")}
OPERATORS = {text: operator for operator, texts in _SPELLINGS.items() for text in texts}


@dataclass(frozen=True, slots=True)
class Literal:
    """A variable or its negation."""

    variable: str
    positive: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.variable, str) or not self.variable.isidentifier():
            raise ValueError(f"a variable name must be an identifier; got {self.variable!r}")
        if self.variable in OPERATORS:
            raise ValueError(f"a variable name must not be an operator; got {self.variable!r}")

    def __str__(self) -> str:
        return self.variable if self.positive else f"~{self.variable}"


@dataclass(frozen=True, slots=True)
class Term:
    """A conjunction of one or more literals."""

    literals: tuple[Literal, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "literals", tuple(self.literals))
        if not self.literals:
            raise ValueError("a term must have at least one literal; got none")

    def __iter__(self) -> Iterator[Literal]:
        return iter(self.literals)

    def __len__(self) -> int:
        return len(self.literals)

    def __str__(self) -> str:
        return " & ".join(map(str, self.literals))


@dataclass(frozen=True)
class ReadOnceDNF:
    """A disjunction of terms in which each variable appears at most once.

    Examples
    --------
    >>> formula = ReadOnceDNF.parse("x1 and not x2 or y1")
    >>> print(formula)
    x1 & ~x2 | y1
    >>> formula.evaluate([[1, 0, 0], [1, 1, 0]])
    array([1, 0], dtype=uint8)
    """

    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))
        if not self.terms:
            raise ValueError("a formula must have at least one term; got none")
        seen: set[str] = set()
        for variable in self.variables:
            if variable in seen:
                raise ValueError(
                    f"a read-once formula uses each variable at most once; {variable} is used twice"
                )
            seen.add(variable)

    @classmethod
    def parse(cls, text: str) -> "ReadOnceDNF":
        """Read a formula such as ``x1 & ~x2 | (y1 & y2)``.

        Accepts ``& | ~``, ``and or not`` and ``∧ ∨ ¬``, and parentheses wherever what they
        enclose leaves the whole in disjunctive normal form.
        """
        return _Parser(text).formula()

    @classmethod
    def of_sizes(cls, sizes: Sequence[int]) -> "ReadOnceDNF":
        """Terms of the given sizes over positive literals named ``x1_1, x1_2, ...``."""
        for size in sizes:
            if size < 1:
                raise ValueError(f"a term must have at least one literal; got size {size}")
        return cls(
            tuple(
                Term(tuple(Literal(f"x{row}_{column}") for column in range(1, size + 1)))
                for row, size in enumerate(sizes, start=1)
            )
        )

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names, in the order in which they are first written."""
        return tuple(literal.variable for term in self.terms for literal in term)

    def evaluate(
        self, X: np.typing.ArrayLike, variables: Sequence[str] | None = None
    ) -> np.typing.NDArray[np.uint8]:
        """The formula's value, 0 or 1, on each row of a 0/1 matrix.

        Parameters
        ----------
        X : array of shape (rows, columns)
        variables : the columns' names; by default ``self.variables``
        """
        names = self.variables if variables is None else tuple(variables)
        matrix = binary_matrix(X, names)
        column = {name: index for index, name in enumerate(names)}
        missing = [name for name in self.variables if name not in column]
        if missing:
            raise ValueError(f"every variable needs a column; there is none for {missing[0]}")
        value = np.zeros(len(matrix), dtype=bool)
        for term in self.terms:
            satisfied = np.ones(len(matrix), dtype=bool)
            for literal in term:
                satisfied &= matrix[:, column[literal.variable]] == literal.positive
            value |= satisfied
        return value.astype(np.uint8)

    def __str__(self) -> str:
        return " | ".join(map(str, self.terms))


def as_formula(formula: "str | ReadOnceDNF") -> ReadOnceDNF:
    """A formula as it is, a text parsed."""
    if isinstance(formula, ReadOnceDNF):
        return formula
    if isinstance(formula, str):
        return ReadOnceDNF.parse(formula)
    raise TypeError(f"a formula must be a text or a ReadOnceDNF; got {type(formula).__name__}")


def binary_matrix(X: np.typing.ArrayLike, names: Sequence[str]) -> np.typing.NDArray[np.bool_]:
    """``X`` as a boolean matrix with one column per name; anything but 0 and 1 is refused."""
    matrix = np.asarray(X)
    if matrix.ndim != 2 or matrix.shape[1] != len(names):
        raise ValueError(
            f"X must have two dimensions and {len(names)} columns, one a variable; "
            f"its shape is {matrix.shape}"
        )
    if matrix.dtype == bool:
        return matrix
    ones = matrix == 1
    if not np.all(ones | (matrix == 0)):
        wrong = matrix[~(ones | (matrix == 0))].flat[0]
        raise ValueError(f"X must hold only 0 and 1; it has {wrong}")
    return ones


# A parsed part is a list of terms, a term a list of (name, positive, position).
_Part = list[list[tuple[str, bool, int]]]
_PRECEDENCE = {"|": 1, "&": 2, "~": 3}


class _Parser:
    """Operator precedence with explicit stacks, so that depth and length are unbounded."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a formula must be a text; got {type(text).__name__}")
        self.text = text
        self.parts: list[_Part] = []
        self.operators: list[tuple[str, int]] = []

    def formula(self) -> ReadOnceDNF:
        expect_operand = True
        for kind, value, position in self._tokens():
            if expect_operand:
                expect_operand = self._operand(kind, value, position)
            else:
                expect_operand = self._operator(kind, value, position)
        if expect_operand:
            if not self.operators:
                raise ValueError("a formula must have at least one term; the text is empty")
            self._fail("a literal is missing", len(self.text))
        while self.operators:
            operator, position = self.operators[-1]
            if operator == "(":
                self._fail("'(' is never closed", position)
            self._reduce()
        return self._build(self.parts[0])

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        """Kind, value and position of each token; a name is whatever Python would take as one."""
        text, start = self.text, 0
        while start < len(text):
            end = start
            while end < len(text) and f"x{text[end]}".isidentifier():
                end += 1
            word = text[start:end]
            if word in OPERATORS:
                yield "operator", OPERATORS[word], start
            elif word:
                if not word.isidentifier():
                    self._fail(f"{word!r} is not an identifier", start)
                yield "name", word, start
            elif text[start] in OPERATORS:
                yield "operator", OPERATORS[text[start]], start
            elif text[start] in "()":
                yield text[start], text[start], start
            elif not text[start].isspace():
                self._fail(f"unknown character {text[start]!r}", start)
            start = max(end, start + 1)

    def _operand(self, kind: str, value: str, position: int) -> bool:
        """Take one token where a literal may start; say whether an operand is still due."""
        if kind == "name":
            self.parts.append([[(value, True, position)]])
            return False
        if kind == "(" or value == "~":
            self.operators.append((value, position))
            return True
        if not self.operators and not self.parts:
            self._fail(f"a formula must not start with {value!r}", position)
        return self._fail(f"a literal is missing before {value!r}", position)

    def _operator(self, kind: str, value: str, position: int) -> bool:
        """Take one token after an operand; say whether an operand is due next."""
        if kind == ")":
            while self.operators and self.operators[-1][0] != "(":
                self._reduce()
            if not self.operators:
                self._fail("')' has no '('", position)
            self.operators.pop()
            return False
        if kind != "operator" or value == "~":
            self._fail(f"'&' or '|' is missing before {value!r}", position)
        while self.operators and _PRECEDENCE.get(self.operators[-1][0], 0) >= _PRECEDENCE[value]:
            self._reduce()
        self.operators.append((value, position))
        return True

    def _reduce(self) -> None:
        operator, position = self.operators.pop()
        right = self.parts.pop()
        if operator == "~":
            if len(right) != 1 or len(right[0]) != 1:
                self._fail("only a single variable may be negated", position)
            name, positive, start = right[0][0]
            self.parts.append([[(name, not positive, start)]])
        elif operator == "|":
            self.parts[-1].extend(right)
        else:
            if len(right) != 1 or len(self.parts[-1]) != 1:
                self._fail("not a DNF: 'and' may not join an 'or'", position)
            self.parts[-1][0].extend(right[0])

    def _build(self, terms: _Part) -> ReadOnceDNF:
        seen: set[str] = set()
        for name, _, position in (literal for term in terms for literal in term):
            if name in seen:
                self._fail(f"each variable may appear only once; {name} appears again", position)
            seen.add(name)
        return ReadOnceDNF(tuple(Term(tuple(Literal(n, p) for n, p, _ in term)) for term in terms))

    def _fail(self, reason: str, position: int) -> bool:
        shown = self.text[max(0, position - 20) : position + 20]
        raise ValueError(f"{reason}, at position {position + 1} (near {shown!r})")


def check_names(names: Sequence[str] | Mapping[str, object]) -> tuple[str, ...]:
    """Distinct identifiers, as a tuple."""
    checked = tuple(Literal(name).variable for name in names)
    if len(set(checked)) < len(checked):
        twice = next(name for name in checked if checked.count(name) > 1)
        raise ValueError(f"variable names must differ; {twice} is given twice")
    return checked
