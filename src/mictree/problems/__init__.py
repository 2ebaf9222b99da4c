"""Distributions over (x, y): formula, table, sample.

Import ``mictree.problems.sample`` for data; it is separate because it loads numba.
"""

from mictree.problems.base import Leaf, Problem, Splits
from mictree.problems.formula import FormulaProblem
from mictree.problems.table import TableProblem

__all__ = ["FormulaProblem", "Leaf", "Problem", "Splits", "TableProblem"]
