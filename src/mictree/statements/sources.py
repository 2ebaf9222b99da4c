"""The code that checks a statement, for pages that link a statement to its check."""

import inspect
from functools import partial
from typing import Any, NamedTuple

from mictree.statements.checks import Statement


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
