"""What a learner may ask of a distribution, and the distributions that answer.

Data are in ``mictree.problems.sample``, which is loaded only when asked for: it brings numba.
"""

from mictree.problems.base import Leaf, Problem, Splits
from mictree.problems.formula import FormulaProblem
from mictree.problems.table import TableProblem

__all__ = ["FormulaProblem", "Leaf", "Problem", "Splits", "TableProblem"]
