"""Random problems: each case holds mictree's problem and the reference's table of the same thing.

Formulas are drawn as the reference's plain data and reach mictree as text, so nothing of mictree
decides what a case means.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

import mictree as mt
from mictree.problems.sample import SampleProblem
from tests.reference import Table, formula_table, task_samples

NAMES = ("a", "b", "c", "d", "e", "f")
KEYWORDS = ("and", "or", "not")


@dataclass(frozen=True)
class FormulaCase:
    """A read-once DNF, the biases as given, and irrelevant variables behind its own."""

    formula: tuple  # terms of (name, positive)
    biases: dict  # name -> float or Fraction, in declared order

    @property
    def text(self) -> str:
        return formula_text(self.formula)

    @cached_property
    def problem(self) -> mt.FormulaProblem:
        return mt.FormulaProblem(self.text, self.biases)

    @cached_property
    def exact_biases(self) -> dict:
        return {name: as_written(bias) for name, bias in self.biases.items()}

    @cached_property
    def table(self) -> Table:
        return formula_table(self.formula, self.exact_biases, tuple(self.biases))

    @cached_property
    def table_problem(self) -> mt.TableProblem:
        return table_problem(self.table)

    @property
    def term_chances(self) -> tuple:
        """Each term as its sorted satisfaction probabilities, the terms sorted."""
        chance = {True: lambda bias: bias, False: lambda bias: 1 - bias}
        return tuple(
            sorted(
                tuple(sorted(chance[positive](self.exact_biases[name]) for name, positive in term))
                for term in self.formula
            )
        )


@dataclass(frozen=True)
class TableCase:
    """Any Boolean function under any joint distribution."""

    table: Table

    @cached_property
    def problem(self) -> mt.TableProblem:
        return table_problem(self.table)


def as_written(number: float | Fraction) -> Fraction:
    """0.3 means 3/10."""
    return number if isinstance(number, Fraction) else Fraction(repr(number))


def formula_text(formula: tuple) -> str:
    """The formula as a user types it."""
    return " | ".join(
        " & ".join(name if positive else f"~{name}" for name, positive in term) for term in formula
    )


def table_problem(table: Table) -> mt.TableProblem:
    """mictree's problem of a reference table."""
    return mt.TableProblem(table.labels, table.weights, table.names)


def nested(tree: mt.Tree, node: int = 0):
    """A Tree in the reference's form."""
    if tree.tests[node] == -1:
        return tree.labels[node]
    name = tree.variables[tree.tests[node]]
    return (name, nested(tree, tree.low[node]), nested(tree, tree.high[node]))


def program_rows(solved: mt.OptimalTrees) -> np.ndarray:
    """The solver's own numbers: floats, 64-bit integers or Python integers."""
    return solved.program.errors if hasattr(solved, "program") else solved.rows


def all_inputs(count: int) -> np.ndarray:
    """Every 0/1 row of `count` columns; row r has bit i of r in column i."""
    return np.arange(2**count)[:, None] >> np.arange(count) & 1


@st.composite
def formulas(draw, max_variables: int = 6, min_variables: int = 1) -> tuple:
    """A read-once DNF with negations as plain data."""
    count = draw(st.integers(min_variables, max_variables))
    names = draw(st.permutations(NAMES[:count]))
    signs = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    breaks = draw(st.lists(st.booleans(), min_size=count - 1, max_size=count - 1))
    terms: list[list] = [[]]
    for name, positive, ends in zip(names, signs, [*breaks, False], strict=True):
        terms[-1].append((name, positive))
        if ends:
            terms.append([])
    return tuple(map(tuple, terms))


@st.composite
def bias_lists(draw, count: int, most_distinct: int | None = None) -> list:
    """Biases that share a denominator, or Fractions of any, or floats with two decimals."""
    kind = draw(st.sampled_from([2, 3, 4, 5, 7, 10, "any", "floats"]))
    if kind == "floats":
        one = st.integers(5, 95).map(lambda percent: percent / 100)
    elif kind == "any":
        one = st.fractions(Fraction(1, 12), Fraction(11, 12), max_denominator=12)
    else:
        one = st.integers(1, kind - 1).map(lambda numerator: Fraction(numerator, kind))
    if most_distinct is not None:
        one = st.sampled_from(draw(st.lists(one, min_size=1, max_size=most_distinct)))
    return draw(st.lists(one, min_size=count, max_size=count))


@st.composite
def formula_cases(
    draw, max_variables: int = 6, max_irrelevant: int = 1, most_distinct: int | None = None
) -> FormulaCase:
    """A formula and biases; few distinct ones make gains tie often."""
    formula = draw(formulas(max_variables))
    names = [name for term in formula for name, _ in term]
    names += [f"z{number}" for number in range(draw(st.integers(0, max_irrelevant)))]
    values = draw(bias_lists(len(names), most_distinct))
    return FormulaCase(formula, dict(zip(names, values, strict=True)))


@st.composite
def table_cases(draw, max_variables: int = 4, min_variables: int = 1) -> TableCase:
    """Labels and probabilities at random; rows of probability zero are common."""
    count = draw(st.integers(min_variables, max_variables))
    rows = 2**count
    labels = draw(st.lists(st.integers(0, 1), min_size=rows, max_size=rows))
    if draw(st.booleans()):
        shares = [1] * rows
    else:
        shares = draw(
            st.lists(st.integers(0, 6), min_size=rows, max_size=rows).filter(lambda s: sum(s) > 0)
        )
    weights = tuple(Fraction(share, sum(shares)) for share in shares)
    return TableCase(Table(NAMES[:count], tuple(labels), weights))


def identifiers() -> st.SearchStrategy[str]:
    """Any name that Python allows for a variable and that is no operator."""
    letters = st.characters(categories=["Lu", "Ll", "Lo", "Nd", "Mn", "Mc", "Pc", "Nl"])
    return st.text(letters, min_size=1, max_size=5).filter(
        lambda name: name.isidentifier() and name not in KEYWORDS
    )


@st.composite
def trees(draw, names: tuple = NAMES, max_depth: int = 4):
    """A nested tree that tests no variable twice on a path."""
    if not names or max_depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.integers(0, 1))
    name = draw(st.sampled_from(names))
    others = tuple(other for other in names if other != name)
    subtree = trees(others, max_depth - 1)
    return (name, draw(subtree), draw(subtree))


@st.composite
def samples(draw, most_rows: int = 12, most_literals: int = 4, weights=None, min_rows: int = 1):
    """Few literals and many classes, weights and contradictions; rows repeat often."""
    literals = draw(st.integers(1, most_literals))
    count = draw(st.integers(min_rows, most_rows))
    rows = draw(
        st.lists(st.tuples(*[st.integers(0, 1)] * literals), min_size=count, max_size=count)
    )
    classes = draw(st.integers(1, 6))
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=count, max_size=count))
    kinds = [st.just(1), st.integers(1, 5), st.sampled_from([0.25, 0.5, 1.75, 3.125])]
    kind = draw(st.sampled_from(kinds)) if weights is None else weights
    return rows, labels, draw(st.lists(kind, min_size=count, max_size=count))


def sample_problem(rows, labels, weights=None, class_weight=None) -> mt.SampleProblem:
    """Mictree's problem of some rows of 0 and 1."""
    return mt.SampleProblem(np.array(rows, dtype=float), labels, weights, class_weight=class_weight)


@dataclass(frozen=True)
class TaskCase:
    """Data with what leaves cost: the reference's task, and mictree's problem of the same thing.

    ``given`` is what the task takes: a label for each row and a cost matrix, costs by row and
    action, or a number for each row.
    """

    kind: str  # "matrix", "costs", "squared"
    rows: list
    given: Any
    weights: list | None

    @cached_property
    def table(self) -> Any:
        """What a user gives as X."""
        return as_table(self.rows)

    @property
    def arguments(self) -> dict:
        """What a user gives besides, for ``SampleProblem``."""
        if self.kind == "matrix":
            labels, matrix = self.given
            return {"y": labels, "cost_matrix": matrix, "sample_weight": self.weights}
        if self.kind == "costs":
            return {"costs": self.given, "sample_weight": self.weights}
        return {"y": self.given, "loss": "squared", "sample_weight": self.weights}

    def problem(self, **settings: Any) -> SampleProblem:
        return SampleProblem(self.table, **(self.arguments | settings))

    @cached_property
    def task(self) -> task_samples.Task:
        weights = self.weights or [1] * len(self.rows)
        if self.kind == "matrix":
            return task_samples.Matrix.of(*self.given, weights)
        if self.kind == "costs":
            return task_samples.Actions(self.given, weights)
        return task_samples.Squares(self.given, weights)

    def with_given(self, given: Any) -> "TaskCase":
        """Another task on the same rows."""
        return TaskCase(self.kind, self.rows, given, self.weights)


def as_table(rows: list) -> Any:
    """A matrix, or a frame if there are words."""
    if any(isinstance(cell, str) for row in rows for cell in row):
        columns = zip(*rows, strict=True)
        return pl.DataFrame({f"x{number}": column for number, column in enumerate(columns)})
    return np.array([[math.nan if cell is None else cell for cell in row] for row in rows], float)


CELLS = {
    "bit": st.integers(0, 1),
    "number": st.integers(0, 5),
    "gaps": st.one_of(st.none(), st.integers(0, 2)),
    "word": st.sampled_from([None, "u", "v", "w"]),
}
# whole numbers, a few that repeat (ties), decimals that floats round, and halves
COSTS = [
    st.integers(0, 4),
    st.sampled_from([0, 1, 2.5]),
    st.integers(0, 30).map(lambda number: number / 10),
    st.integers(0, 9).map(lambda number: number / 2),
]
NUMBERS = [
    st.integers(-3, 3),
    st.sampled_from([0, 1]),
    st.integers(-20, 20).map(lambda number: number / 10),
    st.integers(-9, 9).map(lambda number: number / 4),
]
WEIGHTS = [st.integers(1, 4), st.sampled_from([0.25, 0.5, 1.75]), st.sampled_from([0.1, 0.2, 0.7])]


@st.composite
def task_tables(draw, most_rows: int = 8, most_columns: int = 3, kinds: tuple = tuple(CELLS)):
    """Rows of bits, numbers, words and missing cells, some of them equal; weights or None."""
    count = draw(st.integers(1, most_rows))
    columns = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=most_columns))
    rows = [[draw(CELLS[kind]) for kind in columns] for _ in range(draw(st.integers(1, count)))]
    rows += [list(draw(st.sampled_from(rows))) for _ in range(count - len(rows))]
    one = draw(st.sampled_from([None, *WEIGHTS]))
    weights = None if one is None else draw(st.lists(one, min_size=count, max_size=count))
    return rows, weights


@st.composite
def task_cases(draw, task: str | None = None, most_rows: int = 8, most_columns: int = 3, **kinds):
    """A table and a task of a kind, or of any: see ``TaskCase``.

    Every class of a cost matrix occurs, and costs something to miss.
    """
    rows, weights = draw(task_tables(most_rows, most_columns, **kinds))
    count = len(rows)
    task = task or draw(st.sampled_from(["matrix", "costs", "squared"]))
    if task == "squared":
        one = draw(st.sampled_from(NUMBERS))
        return TaskCase(task, rows, draw(st.lists(one, min_size=count, max_size=count)), weights)
    one = draw(st.sampled_from(COSTS))
    if task == "costs":
        actions = draw(st.integers(1, 4))
        each = draw(st.sampled_from([one, *NUMBERS]))
        several = st.lists(each, min_size=actions, max_size=actions)
        costs = draw(st.lists(several, min_size=count, max_size=count))
        return TaskCase(task, rows, costs, weights)
    labels = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    labels = [sorted(set(labels)).index(label) for label in labels]
    classes = max(2, len(set(labels)))  # labels that are all 0 have both classes
    several = st.lists(one, min_size=classes, max_size=classes)
    several = several.filter(lambda costs: max(costs) > min(costs))
    matrix = draw(st.lists(several, min_size=classes, max_size=classes))
    return TaskCase(task, rows, (labels, matrix), weights)
