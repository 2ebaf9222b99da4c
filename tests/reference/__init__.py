"""Slow, obvious twins of everything mictree computes; nothing here imports mictree.

Everything is plain data: a `Table` is a truth table with Fraction weights, a formula a tuple of
terms of (name, positive), a tree an int label or (name, low subtree, high subtree).
"""

from .enumerate_trees import all_trees, label_leaves, least_errors, merge_leaves
from .impurity import entropy, gini, minority, root
from .loops import PRIORITIES, ahead, grow, paper_best_first, paper_topdown
from .recurrences import any_bias_optimal, two_bias_optimal, uniform_optimal
from .splits import gain
from .staircase import staircase_tree
from .table import (
    Table,
    bayes_error,
    branch_probability,
    formula_table,
    is_pure,
    majority_label,
    positive_rate,
    predict,
    reach,
    tree_depth,
    tree_error,
    tree_impurity,
    tree_size,
)

__all__ = [
    "PRIORITIES",
    "Table",
    "ahead",
    "all_trees",
    "any_bias_optimal",
    "bayes_error",
    "branch_probability",
    "entropy",
    "formula_table",
    "gain",
    "gini",
    "grow",
    "is_pure",
    "label_leaves",
    "least_errors",
    "majority_label",
    "merge_leaves",
    "minority",
    "paper_best_first",
    "paper_topdown",
    "positive_rate",
    "predict",
    "reach",
    "root",
    "staircase_tree",
    "tree_depth",
    "tree_error",
    "tree_impurity",
    "tree_size",
    "two_bias_optimal",
    "uniform_optimal",
]
