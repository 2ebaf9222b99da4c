"""OPT: the least error of any tree of each size, and the trees."""

from mictree.optimal.consistent import minimal_consistent_tree
from mictree.optimal.result import DEFAULT_MEMORY_LIMIT, CertifiedErrors, OptimalTrees
from mictree.optimal.solve import optimal_errors, optimal_tree, optimal_trees
from mictree.optimal.staircase import staircase_tree

__all__ = [
    "DEFAULT_MEMORY_LIMIT",
    "CertifiedErrors",
    "OptimalTrees",
    "minimal_consistent_tree",
    "optimal_errors",
    "optimal_tree",
    "optimal_trees",
    "staircase_tree",
]
