"""OPT: the least error of any tree of each size, and the trees."""

from mictree.optimal.certified import CertifiedErrors
from mictree.optimal.solve import (
    DEFAULT_MEMORY_LIMIT,
    Errors,
    OptimalTrees,
    minimal_consistent_tree,
    optimal_errors,
    optimal_tree,
    optimal_trees,
    staircase_tree,
)

__all__ = [
    "DEFAULT_MEMORY_LIMIT",
    "CertifiedErrors",
    "Errors",
    "OptimalTrees",
    "minimal_consistent_tree",
    "optimal_errors",
    "optimal_tree",
    "optimal_trees",
    "staircase_tree",
]
