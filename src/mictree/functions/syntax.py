"""The syntax of Boolean expressions: a text becomes symbols in postfix order.

Operators, from the tightest to the loosest: ``~ & ^ | -> <->``. All associate to the left except
``->``, which associates to the right. ``xor``, ``implies`` and ``iff`` are operators only where an
operator is due, so that variables may still have these names.
"""

from collections.abc import Iterator
from typing import NamedTuple, NoReturn

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
