"""Impurity functions of a positive rate, and the gains of splits by them."""

from mictree.impurity.criteria import (
    CRITERIA,
    GAINS,
    Criterion,
    check_criterion,
    entropy,
    gini,
    minority,
    name_of,
    of_classes,
    root,
)

__all__ = [
    "CRITERIA",
    "GAINS",
    "Criterion",
    "check_criterion",
    "entropy",
    "gini",
    "minority",
    "name_of",
    "of_classes",
    "root",
]


def __dir__() -> list[str]:
    return __all__
