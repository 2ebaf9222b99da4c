"""Joint distributions of binary variables, for ``TableProblem(truth_table, probabilities)``.

Each function returns 2**n Fractions that sum exactly to one; bit i of the position is the value of
variable i. Numbers are read as written: 0.1 means 1/10.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from itertools import product as all_values
from typing import Any, NamedTuple

import numpy as np

from mictree._support.checks import as_fraction, check_count
from mictree.functions.expression import check_variables
from mictree.functions.read_once import check_names
from mictree.problems.base import read_bias

__all__ = ["bayes_net", "markov_chain", "mixture", "product"]

Number = float | Fraction
Distribution = tuple[Fraction, ...]
SUM_TOLERANCE = 1e-9  # rounded numbers that sum to one within this are scaled


def __dir__() -> list[str]:
    return __all__


def product(biases: Iterable[Number] | Mapping[str, Number]) -> Distribution:
    """Independent variables.

    Parameters
    ----------
    biases : for each variable P[x_i = 1], strictly between 0 and 1; of a mapping, the names are
        only used in errors

    Examples
    --------
    >>> [str(chance) for chance in product([0.5, 0.1])]
    ['9/20', '9/20', '1/20', '1/20']
    """
    named: dict[Any, Any] = (
        dict(biases)
        if isinstance(biases, Mapping)
        else {f"x{number}": bias for number, bias in enumerate(biases, start=1)}
    )
    return _joint([_Conditional((), (read_bias(name, bias),)) for name, bias in named.items()])


def mixture(weights: Sequence[Number], distributions: Sequence[Sequence[Number]]) -> Distribution:
    """One of several distributions, chosen at random.

    Parameters
    ----------
    weights : the probability of each; they sum to one
    distributions : each 2**n probabilities that sum to one

    Examples
    --------
    >>> both = mixture([0.5, 0.5], [product([0.1, 0.1]), product([0.9, 0.9])])
    >>> [str(chance) for chance in both]
    ['41/100', '9/100', '9/100', '41/100']
    """
    parts = list(distributions)
    shares = read_distribution(weights, len(parts), "weights", "distributions")
    rows = len(parts[0])
    if rows & (rows - 1):
        raise ValueError(f"a distribution must have 2**n probabilities; the first has {rows}")
    exact = [
        read_distribution(part, rows, f"the probabilities of distribution {number}")
        for number, part in enumerate(parts, start=1)
    ]
    return tuple(
        sum((share * chance for share, chance in zip(shares, chances, strict=True)), Fraction(0))
        for chances in zip(*exact, strict=True)
    )


def markov_chain(
    variables: int,
    start: Number,
    after_zero: Number | Sequence[Number],
    after_one: Number | Sequence[Number],
) -> Distribution:
    """A chain in which each variable depends only on the one before it.

    Parameters
    ----------
    variables : how many
    start : P[x_1 = 1]
    after_zero, after_one : P[x_(i+1) = 1 given x_i = 0] and given x_i = 1; one number for all
        steps, or one for each of the ``variables - 1`` steps

    Examples
    --------
    >>> [str(chance) for chance in markov_chain(2, start=0.5, after_zero=0.1, after_one=0.9)]
    ['9/20', '1/20', '1/20', '9/20']
    """
    count = check_count(variables, "variables")
    if count < 1:
        raise ValueError(f"a chain must have at least one variable; got {count}")
    steps = [
        _read_steps(name, given, count - 1)
        for name, given in (("after_zero", after_zero), ("after_one", after_one))
    ]
    chain = [_Conditional((), (_read_chance("start", start),))]
    chain += [
        _Conditional((variable,), chances)
        for variable, chances in enumerate(zip(*steps, strict=True))
    ]
    return _joint(chain)


def bayes_net(network: Mapping[str, tuple[Sequence[str], Any]]) -> Distribution:
    """A Bayesian network.

    Parameters
    ----------
    network : for each variable its parents and its table. The table of a variable without parents
        is P[x = 1]; otherwise it maps every tuple of the parents' values to P[x = 1 given them].
        Instead of one probability, a pair ``(P[x = 0], P[x = 1])`` may stand, which must sum to
        one. Variable i of the result is the i-th name.

    Examples
    --------
    >>> network = {
    ...     "rain": ((), 0.2),
    ...     "wet": (("rain",), {(0,): 0.1, (1,): 0.9}),
    ... }
    >>> [str(chance) for chance in bayes_net(network)]
    ['18/25', '1/50', '2/25', '9/50']
    """
    names = check_names(network)
    position = {name: index for index, name in enumerate(names)}
    parents: dict[str, tuple[str, ...]] = {}
    for name in names:
        parents[name] = check_names(network[name][0])
        unknown = [parent for parent in parents[name] if parent not in position]
        if unknown:
            raise ValueError(f"a parent must be a variable; {name} has {unknown[0]!r}")
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        cycle = " -> ".join(error.args[1])
        raise ValueError(f"a Bayesian network must have no cycle; it has {cycle}") from None
    return _joint([
        _Conditional(
            tuple(position[parent] for parent in parents[name]),
            _read_table(name, parents[name], network[name][1]),
        )
        for name in names
    ])  # fmt: skip


def read_distribution(
    values: Any, count: int, name: str = "probabilities", each: str = "rows"
) -> Distribution:
    """Numbers that are not negative and sum to one, as Fractions that do so exactly."""
    numbers = list(values) if np.iterable(values) else [values]
    if len(numbers) != count or not count:
        raise ValueError(
            f"{name} must have one number for each of the {count} {each}; it has {len(numbers)}"
        )
    exact = [_read_share(name, number) for number in numbers]
    total = _add(exact)
    if abs(total - 1) > SUM_TOLERANCE:
        shown = float(total) if total < 10**300 else "more than 1e300"
        raise ValueError(f"{name} must sum to one; they sum to {shown}")
    return tuple(exact) if total == 1 else tuple(number / total for number in exact)


class _Conditional(NamedTuple):
    """How a variable depends on others."""

    parents: tuple[int, ...]
    chances: tuple[Fraction, ...]  # of value 1; bit j of the position is the value of parent j


def _joint(conditionals: Sequence[_Conditional]) -> Distribution:
    """The distribution of variables whose parents form no cycle."""
    count = len(conditionals)
    check_variables(count)
    rows = np.arange(2**count)
    numerators = np.ones(len(rows), dtype=object)
    denominator = 1
    for variable, (parents, chances) in enumerate(conditionals):
        scale = math.lcm(*(chance.denominator for chance in chances))
        ones = np.array([int(chance * scale) for chance in chances], dtype=object)
        case = sum(
            ((rows >> parent & 1) << place for place, parent in enumerate(parents)), 0 * rows
        )
        numerators *= np.stack([scale - ones, ones])[rows >> variable & 1, case]
        denominator *= scale
    distinct = {number: Fraction(number, denominator) for number in set(numerators)}
    return tuple(distinct[number] for number in numerators)


def _read_steps(name: str, given: Any, steps: int) -> tuple[Fraction, ...]:
    if isinstance(given, str) or not np.iterable(given):
        return (_read_chance(name, given),) * steps
    values = list(given)
    if len(values) != steps:
        raise ValueError(
            f"{name} must have one number for each of the {steps} steps; it has {len(values)}"
        )
    return tuple(_read_chance(name, value) for value in values)


def _read_table(name: str, parents: tuple[str, ...], table: Any) -> tuple[Fraction, ...]:
    """The chances of value 1, in the order of the parents' values."""
    if not parents:
        return (_read_entry(name, "", table),)
    if not isinstance(table, Mapping):
        raise ValueError(
            f"the table of {name}, which has parents, must map their values to probabilities; "
            f"got {table!r}"
        )
    entries = {key if isinstance(key, tuple) else (key,): value for key, value in table.items()}
    chances = []
    for backwards in all_values((0, 1), repeat=len(parents)):
        values = backwards[::-1]  # the first parent changes fastest
        shown = ", ".join(
            f"{parent}={value}" for parent, value in zip(parents, values, strict=True)
        )
        if values not in entries:
            raise ValueError(f"the table of {name} must have all rows; there is none for {shown}")
        chances.append(_read_entry(name, f" given {shown}", entries.pop(values)))
    if entries:
        raise ValueError(
            f"the table of {name} must have only the values 0 and 1 of {', '.join(parents)}; "
            f"it has a row {next(iter(entries))}"
        )
    return tuple(chances)


def _read_entry(name: str, given: str, entry: Any) -> Fraction:
    if isinstance(entry, str) or not np.iterable(entry):
        return _read_chance(f"{name}{given}", entry)
    pair = [_read_chance(f"{name}{given}", value) for value in entry]
    if len(pair) != 2 or sum(pair) != 1:
        raise ValueError(
            f"P[{name} = 0] and P[{name} = 1]{given} must be two numbers that sum to one; "
            f"got {entry!r}"
        )
    return pair[1]


def _read_chance(name: str, value: object) -> Fraction:
    try:
        chance = as_fraction(value)
    except (ValueError, OverflowError):  # text, nan, infinity
        chance = Fraction(-1)
    if not 0 <= chance <= 1:
        raise ValueError(f"a probability must be a number from 0 to 1; {name} has {value!r}")
    return chance


def _read_share(name: str, value: object) -> Fraction:
    try:
        share = as_fraction(value)
    except (ValueError, OverflowError):
        share = Fraction(-1)
    if share < 0:
        raise ValueError(f"{name} must be numbers, finite and not negative; got {value!r}")
    return share


def _add(numbers: Sequence[Fraction]) -> Fraction:
    """The sum, over one denominator: much faster than Fractions that are reduced at every step."""
    denominator = math.lcm(*(number.denominator for number in numbers))
    return Fraction(
        sum(number.numerator * (denominator // number.denominator) for number in numbers),
        denominator,
    )
