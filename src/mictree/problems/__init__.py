"""What a learner may ask of a distribution, and the distributions that answer."""

from mictree.problems.base import Leaf, Problem, Splits
from mictree.problems.formula import FormulaProblem
from mictree.problems.sample import SampleProblem
from mictree.problems.table import TableProblem

__all__ = ["FormulaProblem", "Leaf", "Problem", "SampleProblem", "Splits", "TableProblem"]
