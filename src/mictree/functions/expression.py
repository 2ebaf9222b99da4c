"""Any Boolean expression: parse, print, evaluate.

An expression is kept as its symbols in postfix order, as ``mictree.functions.read_once`` parses
them. So nothing here recurses, and two expressions are equal when they are written alike, up to
spaces, spelling and needless parentheses. An expression is evaluated on all rows at once; at most
log2 of the number of symbols are in memory as columns (its Strahler number).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mictree.functions.read_once import (
    CONSTANTS,
    PRECEDENCE,
    RIGHT_ASSOCIATIVE,
    Literal,
    postfix,
    read_columns,
)

MAX_VARIABLES = 16  # of a truth table

Values = np.typing.NDArray[np.bool_]
_OPERATIONS: dict[str, Callable[[Values, Values], Values]] = {
    "&": lambda left, right: left & right,
    "^": lambda left, right: left != right,
    "|": lambda left, right: left | right,
    "->": lambda left, right: ~left | right,
    "<->": lambda left, right: left == right,
}


@dataclass(frozen=True)
class Expression:
    """A Boolean expression in which variables may appear as often as one likes.

    Attributes
    ----------
    symbols : names, ``0``, ``1`` and the operators ``~ & ^ | -> <->``, operators behind their
        operands

    Examples
    --------
    >>> expression = Expression.parse("(a or b) -> not c ^ 1")
    >>> print(expression)
    a | b -> ~c ^ 1
    >>> expression.variables
    ('a', 'b', 'c')
    >>> expression.truth_table()
    array([1, 0, 0, 0, 1, 1, 1, 1], dtype=uint8)
    """

    symbols: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "symbols", tuple(self.symbols))
        operands = 0
        for symbol in self.symbols:
            if symbol in PRECEDENCE:
                operands -= 0 if symbol == "~" else 1
                if operands < 1:
                    raise ValueError(f"an operator follows its operands; {symbol!r} does not")
                continue
            if symbol not in CONSTANTS:
                Literal(symbol)  # checks the name
            operands += 1
        if operands != 1:
            raise ValueError(f"an expression must be one; these symbols make {operands}")

    @classmethod
    def parse(cls, text: str) -> "Expression":
        """Read an expression such as ``(a | b) & ~c -> a ^ 1``.

        Operators, from the tightest to the loosest: ``~ & ^ | -> <->``; also ``not and xor or
        implies iff`` and ``¬ ∧ ⊕ ∨ → ↔``. ``a -> b -> c`` is ``a -> (b -> c)``. All others
        associate to the left: ``a <-> b <-> c`` is ``(a <-> b) <-> c``, and does not say that all
        three are equal. ``xor``, ``implies`` and ``iff`` are operators only between operands;
        elsewhere they are names.
        """
        return cls(tuple(symbol.text for symbol in postfix(text)))

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names, in the order in which they are first written."""
        names = (each for each in self.symbols if each not in PRECEDENCE and each not in CONSTANTS)
        return tuple(dict.fromkeys(names))

    def evaluate(
        self, X: np.typing.ArrayLike, variables: Sequence[str] | None = None
    ) -> np.typing.NDArray[np.uint8]:
        """The expression's value, 0 or 1, on each row of a 0/1 matrix.

        Parameters
        ----------
        X : array of shape (rows, columns)
        variables : the columns' names; by default ``self.variables``
        """
        columns, rows = read_columns(X, variables, self.variables)
        known = {text: np.full(rows, text == "1") for text in CONSTANTS}
        return self._compute(known | columns).astype(np.uint8)

    def truth_table(self, variables: Sequence[str] | None = None) -> np.typing.NDArray[np.uint8]:
        """The value on all inputs; bit i of the row number is the value of variable i."""
        names = self.variables if variables is None else tuple(variables)
        check_variables(len(names))
        rows = np.arange(2 ** len(names))[:, None] >> np.arange(len(names)) & 1
        return self.evaluate(rows.astype(bool), names)

    def __str__(self) -> str:
        pieces: list[str] = []
        waiting: list[int | str] = [len(self.symbols) - 1]
        while waiting:
            part = waiting.pop()
            if isinstance(part, str):
                pieces.append(part)
                continue
            symbol = self.symbols[part]
            if symbol not in PRECEDENCE:
                pieces.append(symbol)
            elif symbol == "~":
                pieces.append("~")
                waiting += self._operand(part, part - 1)
            else:
                # what is pushed last is printed first
                waiting += [*self._operand(part, part - 1), f" {symbol} "]
                waiting += self._operand(part, self._left[part])
        return "".join(pieces)

    @cached_property
    def _left(self) -> tuple[int, ...]:
        """Where the left operand of each binary operator ends; the right one ends before it."""
        left, ends = [0] * len(self.symbols), []
        for place, symbol in enumerate(self.symbols):
            if symbol in PRECEDENCE:
                ends.pop()
                if symbol != "~":
                    left[place] = ends.pop()
            ends.append(place)
        return tuple(left)

    def _operand(self, operator: int, operand: int) -> list[int | str]:
        """An operand, last piece first, in parentheses where they are needed."""
        outer, inner = self.symbols[operator], self.symbols[operand]
        if inner not in PRECEDENCE or inner == "~" or PRECEDENCE[inner] > PRECEDENCE[outer]:
            return [operand]
        is_left = operand == self._left[operator]
        if inner == outer and is_left != (outer == RIGHT_ASSOCIATIVE):
            return [operand]
        return [")", operand, "("]

    @cached_property
    def _registers(self) -> tuple[int, ...]:
        """How many results must be kept at once to compute each part (its Strahler number)."""
        needed: list[int] = []
        for place, symbol in enumerate(self.symbols):
            if symbol not in PRECEDENCE:
                needed.append(1)
            elif symbol == "~":
                needed.append(needed[-1])
            else:
                one, other = needed[self._left[place]], needed[-1]
                needed.append(one + 1 if one == other else max(one, other))
        return tuple(needed)

    def _compute(self, known: dict[str, Values]) -> Values:
        """The value, computed from those of names and constants.

        Of two operands the one that needs more registers comes first. So at most log2 of the number
        of symbols are in use, however deep the expression is.
        """
        results: list[Values] = []
        waiting = [(len(self.symbols) - 1, False)]
        while waiting:
            place, ready = waiting.pop()
            symbol, right, left = self.symbols[place], place - 1, self._left[place]
            if symbol not in PRECEDENCE:
                results.append(known[symbol])
            elif symbol == "~":
                if ready:
                    results.append(~results.pop())
                else:
                    waiting += [(place, True), (right, False)]
            else:
                right_first = self._registers[right] > self._registers[left]
                if not ready:
                    first, second = (right, left) if right_first else (left, right)
                    waiting += [(place, True), (second, False), (first, False)]
                    continue
                second_value, first_value = results.pop(), results.pop()
                pair = (second_value, first_value) if right_first else (first_value, second_value)
                results.append(_OPERATIONS[symbol](*pair))
        return results[0]


def check_variables(count: int) -> None:
    """Refuse a table of too many variables."""
    if count > MAX_VARIABLES:
        raise ValueError(
            f"a table may have at most {MAX_VARIABLES} variables, {2**MAX_VARIABLES} rows; "
            f"there are {count} variables"
        )
