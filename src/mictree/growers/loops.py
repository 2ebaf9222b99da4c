"""Which loop grows a rule on a problem."""

from mictree.growers import generic_loop
from mictree.growers.growth import Growth
from mictree.growers.rules import Grower
from mictree.problems.base import Problem
from mictree.problems.formula import FormulaProblem
from mictree.problems.table import TableProblem


def grow(rule: Grower, problem: Problem, limit: int) -> Growth:
    """The compiled loop where there is one, else the loop for any problem."""
    if not isinstance(problem, FormulaProblem | TableProblem):
        from mictree.growers import data_loop  # many kernels, which formulas need not load
        from mictree.problems.sample import SampleProblem

        if isinstance(problem, SampleProblem):
            return data_loop.split(problem, rule, limit).growth(problem, rule, limit)
    return generic_loop.grow(rule, problem, limit)
