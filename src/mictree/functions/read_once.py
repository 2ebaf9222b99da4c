"""Read-once DNF formulas, and the syntax that they share with all Boolean expressions.

A formula is an *or* of terms, a term an *and* of literals, and no variable appears twice. So terms
are independent under a product distribution, and probabilities of a formula are products.

The parser works in two steps. ``postfix`` turns a text into symbols, operators behind their
operands, by operator precedence with an explicit stack: neither depth nor length of a formula is
limited. Then ``_build`` reduces the symbols to terms, and refuses whatever is no DNF. Errors name
the position of the mistake.

Operators, from the tightest to the loosest: ``~ & ^ | -> <->``. All associate to the left except
``->``, which associates to the right. ``xor``, ``implies`` and ``iff`` are operators only where an
operator is due, so that variables may still have these names.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np

from mictree._support.checks import check_unmasked


@dataclass(frozen=True, slots=True)
class Literal:
    """A variable or its negation.

    Examples
    --------
    >>> import mictree as mt
    >>> print(mt.Literal("a", False))
    ~a
    """

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
    """A conjunction of one or more literals.

    Examples
    --------
    >>> import mictree as mt
    >>> print(mt.ReadOnceDNF.parse("a & ~b | c").terms[0])
    a & ~b
    """

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

        Examples
        --------
        >>> import mictree as mt
        >>> mt.ReadOnceDNF.parse("a & ~b | c").variables
        ('a', 'b', 'c')
        """
        return _build(text)

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
        columns, rows = read_columns(X, variables, self.variables)
        value = np.zeros(rows, dtype=bool)
        for term in self.terms:
            satisfied = np.ones(rows, dtype=bool)
            for literal in term:
                satisfied &= columns[literal.variable] == literal.positive
            value |= satisfied
        return value.astype(np.uint8)

    def __str__(self) -> str:
        return " | ".join(map(str, self.terms))


def as_formula(formula: "str | ReadOnceDNF") -> ReadOnceDNF:
    """Return a formula unchanged; parse a text."""
    if isinstance(formula, ReadOnceDNF):
        return formula
    if isinstance(formula, str):
        return ReadOnceDNF.parse(formula)
    raise TypeError(f"a formula must be a text or a ReadOnceDNF; got {type(formula).__name__}")


def read_columns(
    X: np.typing.ArrayLike, names: Sequence[str] | None, variables: tuple[str, ...]
) -> tuple[dict[str, np.typing.NDArray[np.bool_]], int]:
    """The column of each variable in a 0/1 matrix, and the number of rows.

    ``names`` are the names of the matrix's columns; by default, they are the variables.
    """
    names = variables if names is None else tuple(names)
    matrix = binary_matrix(X, names)
    columns = dict(zip(names, matrix.T, strict=True))
    missing = [name for name in variables if name not in columns]
    if missing:
        raise ValueError(f"every variable needs a column; there is none for {missing[0]}")
    return {name: columns[name] for name in variables}, len(matrix)


def binary_matrix(X: np.typing.ArrayLike, names: Sequence[str]) -> np.typing.NDArray[np.bool_]:
    """``X`` as a boolean matrix with one column per name; anything but 0 and 1 is refused."""
    matrix = np.asarray(check_unmasked(X, "X"))
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


def check_names(names: Sequence[str] | Mapping[str, object]) -> tuple[str, ...]:
    """Distinct identifiers, as a tuple."""
    checked = tuple(Literal(name).variable for name in names)
    if len(set(checked)) < len(checked):
        twice = next(name for name in checked if checked.count(name) > 1)
        raise ValueError(f"variable names must differ; {twice} is given twice")
    return checked


# A parsed part is a row of terms, a term a row of (name, positive, position).
_Term = deque[tuple[str, bool, int]]
_Part = deque[_Term]


def _build(text: str) -> ReadOnceDNF:
    parts: list[_Part] = []
    for symbol, position in postfix(text):
        if symbol in CONSTANTS:
            fail(text, f"a read-once DNF has no constants; got {symbol!r}", position)
        elif symbol in PRECEDENCE:
            _reduce(text, symbol, position, parts)
        else:
            parts.append(deque([deque([(symbol, True, position)])]))
    terms = parts[0]
    seen: set[str] = set()
    for name, _, position in (literal for term in terms for literal in term):
        if name in seen:
            fail(text, f"each variable may appear only once; {name} appears again", position)
        seen.add(name)
    return ReadOnceDNF(tuple(Term(tuple(Literal(n, p) for n, p, _ in term)) for term in terms))


def _reduce(text: str, operator: str, position: int, parts: list[_Part]) -> None:
    """Replace the operator's operands, at the end of ``parts``, by the result."""
    right = parts.pop()
    if operator == "~":
        if len(right) != 1 or len(right[0]) != 1:
            fail(text, "only a single variable may be negated", position)
        name, positive, start = right[0][0]
        parts.append(deque([deque([(name, not positive, start)])]))
    elif operator == "|":
        parts[-1] = _join(parts[-1], right)
    elif operator == "&":
        if len(right) != 1 or len(parts[-1]) != 1:
            fail(text, "not a DNF: 'and' may not join an 'or'", position)
        parts[-1][0] = _join(parts[-1][0], right[0])
    else:
        fail(text, f"a DNF has only '~', '&' and '|'; got {operator!r}", position)


def _join(left: deque[Any], right: deque[Any]) -> deque[Any]:
    """Both in order; the shorter one is moved, so that no shape of a formula takes long."""
    if len(left) >= len(right):
        left.extend(right)
        return left
    right.extendleft(reversed(left))
    return right


_SPELLINGS = {
    "~": ("~", "not", "¬"),
    "&": ("&", "and", "∧"),
    "^": ("^", "⊕"),
    "|": ("|", "or", "∨"),
    "->": ("->", "→"),
    "<->": ("<->", "↔"),
}
OPERATORS: dict[str, str] = {
    text: operator for operator, texts in _SPELLINGS.items() for text in texts
}
# names where an operand is due
WORDS_BETWEEN = {"xor": "^", "implies": "->", "iff": "<->"}
PRECEDENCE = {"~": 6, "&": 5, "^": 4, "|": 3, "->": 2, "<->": 1}
RIGHT_ASSOCIATIVE = "->"
CONSTANTS = ("0", "1")
_SIGNS = {text[0] for text in OPERATORS if not text.isidentifier()}


class Symbol(NamedTuple):
    """A name, a constant or an operator, and where the text has it."""

    text: str  # operators in their first spelling
    position: int


def postfix(text: str) -> list[Symbol]:
    """The symbols of an expression, operators behind their operands.

    Operator precedence with an explicit stack, so that depth and length are unbounded.
    """
    if not isinstance(text, str):
        raise TypeError(f"a formula must be a text; got {type(text).__name__}")
    finished: list[Symbol] = []
    pending: list[Symbol] = []  # operators and parentheses whose right operand is not complete
    expect_operand = True
    for kind, symbol in _tokens(text):
        if not expect_operand:
            expect_operand = _take_operator(text, kind, symbol, pending, finished)
        elif kind == "operand":
            finished.append(symbol)
            expect_operand = False
        elif symbol.text in ("(", "~"):
            pending.append(symbol)
        elif not pending and not finished:
            fail(text, f"a formula must not start with {symbol.text!r}", symbol.position)
        else:
            fail(text, f"a literal is missing before {symbol.text!r}", symbol.position)
    if expect_operand:
        if not pending:
            raise ValueError("a formula must have at least one term; the text is empty")
        fail(text, "a literal is missing", len(text))
    while pending:
        if pending[-1].text == "(":
            fail(text, "'(' is never closed", pending[-1].position)
        finished.append(pending.pop())
    return finished


def fail(text: str, reason: str, position: int) -> NoReturn:
    """Refuse a text, with the position of the mistake."""
    shown = text[max(0, position - 20) : position + 20]
    raise ValueError(f"{reason}, at position {position + 1} (near {shown!r})")


def _take_operator(
    text: str, kind: str, symbol: Symbol, pending: list[Symbol], finished: list[Symbol]
) -> bool:
    """Take one token after an operand; say whether an operand is due next."""
    if symbol.text == ")":
        while pending and pending[-1].text != "(":
            finished.append(pending.pop())
        if not pending:
            fail(text, "')' has no '('", symbol.position)
        pending.pop()
        return False
    if symbol.text in WORDS_BETWEEN:
        kind, symbol = "operator", Symbol(WORDS_BETWEEN[symbol.text], symbol.position)
    if kind != "operator" or symbol.text == "~":
        fail(text, f"an operator is missing before {symbol.text!r}", symbol.position)
    mine = PRECEDENCE[symbol.text]
    while pending:
        before = PRECEDENCE.get(pending[-1].text, 0)  # a parenthesis holds everything back
        if before < mine or (before == mine and symbol.text == RIGHT_ASSOCIATIVE):
            break
        finished.append(pending.pop())
    pending.append(symbol)
    return True


def _tokens(text: str) -> Iterator[tuple[str, Symbol]]:
    """Kind and symbol of each token; a name is whatever Python would take as one."""
    start = 0
    while start < len(text):
        first, end = text[start], start + 1
        if first in "()":
            yield "parenthesis", Symbol(first, start)
        elif first in _SIGNS:
            starts = (text[start : start + length] for length in (3, 2, 1))
            sign = next((each for each in starts if each in OPERATORS), None)
            if sign is None:
                fail(text, f"unknown character {first!r}", start)
            yield "operator", Symbol(OPERATORS[sign], start)
            end = start + len(sign)
        elif not first.isspace():
            while end < len(text) and f"x{text[end]}".isidentifier():
                end += 1
            yield _word(text, start, end)
        start = end


def _word(text: str, start: int, end: int) -> tuple[str, Symbol]:
    word = text[start:end]
    if word in OPERATORS:
        return "operator", Symbol(OPERATORS[word], start)
    if not word.isidentifier() and word not in CONSTANTS:
        if f"x{word[0]}".isidentifier():
            fail(text, f"{word!r} is not an identifier", start)
        fail(text, f"unknown character {word[0]!r}", start)
    return "operand", Symbol(word, start)
