"""OPT: the least error of any tree of each size, and the trees."""

from mictree._checks import check_size
from mictree.optimal.base import DEFAULT_MEMORY_LIMIT, OptimalTrees, Progress
from mictree.problems import FormulaProblem, Problem, TableProblem
from mictree.tree import Tree

import numpy as np  # isort: skip

__all__ = [
    "DEFAULT_MEMORY_LIMIT",
    "OptimalTrees",
    "optimal_errors",
    "optimal_tree",
    "optimal_trees",
]


def optimal_trees(
    problem: Problem,
    max_size: int,
    exact: bool = False,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Progress | None = None,
) -> OptimalTrees:
    """Solve a problem once for all sizes: ``.errors`` and ``.tree(size)``.

    Parameters
    ----------
    problem : FormulaProblem or TableProblem
    max_size : the largest number of splits
    exact : compute with integers and return Fractions
    memory_limit : in bytes; a problem that needs more is refused with a ValueError
    progress : called with the share of the work done, from 0 to 1

    Examples
    --------
    >>> import mictree as mt
    >>> solved = mt.optimal_trees(mt.FormulaProblem("a & b | c"), max_size=3)
    >>> solved.errors
    array([0.375, 0.125, 0.   , 0.   ])
    """
    limit = check_size(max_size)
    if isinstance(problem, FormulaProblem):
        from mictree.optimal.formula import solve
    elif isinstance(problem, TableProblem):
        from mictree.optimal.table import solve
    else:
        raise TypeError(
            "optimal trees are known for FormulaProblem and TableProblem; "
            f"got {type(problem).__name__}"
        )
    return solve(problem, limit, exact, memory_limit, progress)  # type: ignore[arg-type]


def optimal_errors(
    problem: Problem,
    max_size: int,
    exact: bool = False,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
) -> np.ndarray:
    """OPT(D, size) for every size from 0 to ``max_size``; see ``optimal_trees``."""
    return optimal_trees(problem, max_size, exact, memory_limit).errors


def optimal_tree(problem: Problem, size: int, memory_limit: int = DEFAULT_MEMORY_LIMIT) -> Tree:
    """A tree with at most ``size`` splits and the least error; see ``optimal_trees``."""
    return optimal_trees(problem, check_size(size, "size"), memory_limit=memory_limit).tree(size)
