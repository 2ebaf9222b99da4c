"""OPT: the least error of any tree of each size, and the trees."""

import numpy as np

from mictree._support.checks import check_count, check_size
from mictree._support.progress import Report
from mictree.impurity import Criterion, check_criterion
from mictree.optimal.result import DEFAULT_MEMORY_LIMIT, OptimalTrees, Top
from mictree.problems.base import Problem, check_problem
from mictree.problems.formula import FormulaProblem
from mictree.problems.table import TableProblem
from mictree.tree import Tree


def optimal_trees(
    problem: Problem,
    max_size: int,
    exact: bool = False,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Report | None = None,
    max_depth: int | None = None,
    time_limit: float | None = None,
    top: int | None = None,
    criterion: Criterion = "entropy",
) -> OptimalTrees:
    """Solve a problem once for all sizes: ``.errors`` and ``.tree(size)``.

    Parameters
    ----------
    problem : FormulaProblem, TableProblem or SampleProblem
    max_size : the largest number of splits
    exact : compute with integers and return Fractions
    memory_limit : in bytes; a formula or table that needs more raises a ValueError, and a search
        over data stays within it
    progress : called now and then with a value that has ``what``, ``share`` and ``detail``: the
        piece of work, the part of it that is done (from 0 to 1, or None), and more in words
    max_depth, time_limit : for data only: the largest number of tests on a path; the seconds after
        which sizes not yet proved get a certified interval. Ctrl-C has the same effect.
    top : each node may test only its splits of largest gain: those that tie with or exceed the
        gain number ``top``, zero gains included. Splits that divide the inputs at a node alike,
        as a column and its copy do, count once and are all allowed. 1 is the best pruning of a
        greedy tree over all choices of ties, the number of variables is no restriction.
    criterion : of those gains

    Examples
    --------
    >>> import mictree as mt
    >>> solved = mt.optimal_trees(mt.FormulaProblem("a & b | c"), max_size=3)
    >>> solved.errors
    array([0.375, 0.125, 0.125, 0.   ])
    >>> data = mt.SampleProblem([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> mt.optimal_trees(data, max_size=3).errors.proved
    array([ True,  True,  True,  True])
    """
    limit = check_size(max_size)
    best = None if top is None else Top(check_top(top), check_criterion(criterion))
    check_problem(problem)
    if isinstance(problem, FormulaProblem | TableProblem):
        if max_depth is not None or time_limit is not None:
            raise ValueError("max_depth and time_limit are for data; formulas and tables have none")
        if isinstance(problem, FormulaProblem):
            from mictree.optimal.dynamic import formula

            return formula.solve(problem, limit, exact, memory_limit, progress, best)
        from mictree.optimal.dynamic import table

        return table.solve(problem, limit, exact, memory_limit, progress, best)
    from mictree.optimal.search import certified as sample

    if not isinstance(problem, sample.SampleProblem):
        raise TypeError(
            "optimal trees are known for FormulaProblem, TableProblem and SampleProblem; "
            f"got {type(problem).__name__}"
        )
    if best is not None:
        from mictree.optimal.search import reached

        return reached.solve(
            problem, limit, exact, memory_limit, best, max_depth, time_limit, progress
        )
    return sample.solve(problem, limit, exact, memory_limit, progress, max_depth, time_limit)


def check_top(top: object) -> int:
    """A number of splits that a node may choose from."""
    number = check_count(top, "top")
    if number == 0:
        raise ValueError("top must be at least 1; got 0")
    return number


def optimal_errors(
    problem: Problem,
    max_size: int,
    exact: bool = False,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    max_depth: int | None = None,
    time_limit: float | None = None,
    top: int | None = None,
    criterion: Criterion = "entropy",
) -> np.ndarray:
    """OPT(D, size) for every size from 0 to ``max_size``; see ``optimal_trees``.

    On data the result is a ``CertifiedErrors``, with ``lower``, ``upper`` and ``proved``.

    Examples
    --------
    >>> import mictree as mt
    >>> chosen = mt.TableProblem.from_formula("a & (b ^ c) | ~a & d")
    >>> [float(mt.optimal_errors(chosen, 5, top=top)[5]) for top in (1, 2, 4)]
    [0.125, 0.0, 0.0]
    """
    solved = optimal_trees(
        problem,
        max_size,
        exact,
        memory_limit,
        max_depth=max_depth,
        time_limit=time_limit,
        top=top,
        criterion=criterion,
    )
    return solved.errors


def optimal_tree(
    problem: Problem,
    size: int,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    max_depth: int | None = None,
    time_limit: float | None = None,
    top: int | None = None,
    criterion: Criterion = "entropy",
) -> Tree:
    """A tree with at most ``size`` splits and the least error; see ``optimal_trees``.

    Examples
    --------
    >>> import mictree as mt
    >>> print(mt.optimal_tree(mt.FormulaProblem("a & b | c"), size=2))
    Tree(size=1, depth=1, root='c')
    """
    wanted = check_size(size, "size")
    solved = optimal_trees(
        problem,
        wanted,
        memory_limit=memory_limit,
        max_depth=max_depth,
        time_limit=time_limit,
        top=top,
        criterion=criterion,
    )
    return solved.tree(wanted)
