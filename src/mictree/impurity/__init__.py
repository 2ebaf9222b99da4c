"""Impurity functions of a positive rate, and the gains of splits by them."""

from mictree.impurity.criteria import (
    CRITERIA,
    GAINS,
    check_criterion,
    entropy,
    gini,
    minority,
    of_classes,
    root,
)

__all__ = [
    "CRITERIA",
    "GAINS",
    "check_criterion",
    "entropy",
    "gini",
    "minority",
    "of_classes",
    "root",
]
