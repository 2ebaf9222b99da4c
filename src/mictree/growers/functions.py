"""A rule's two functions, priority and impurity, in the form that kernels and loops take.

Both are the very functions that a rule is defined by: compiled, or called back if they are a
user's.
"""

from collections.abc import Callable
from types import MethodType

import numpy as np

from mictree._support.calls import IMPURITY, PRIORITY
from mictree._support.first_class import Callback, Compiled, is_own
from mictree.growers.rules import Grower, checked_priority
from mictree.impurity.criteria import GAINS, Criterion, own_impurity, refusal
from mictree.impurity.gains import CRITERION_CODES, OWN, own_gains
from mictree.problems.base import FloatArray, Leaf, Problem, Splits


def kernel_priority(rule: Grower) -> Callback | Compiled:
    """A rule's priority for kernels: compiled, or called back if it is a user's."""
    method = rule.priority
    if isinstance(method, MethodType) and method.__self__ is rule and is_own(method.__func__):
        return Compiled(method.__func__, PRIORITY)
    return Callback(
        lambda _, reach, gain, born: checked_priority(rule, reach, gain, born), PRIORITY
    )


def kernel_impurity(criterion: Criterion) -> Callback | Compiled:
    """A criterion's function for kernels, which use it where the code is ``OWN``."""
    if isinstance(criterion, str):
        return Compiled(_unused, IMPURITY)
    return Callback(lambda rate: own_impurity(criterion, rate), IMPURITY)


def _unused(rate: float) -> float:
    """Stands for the impurity of a built-in criterion, whose gains have formulas of their own."""
    return 0.0 * rate


def criterion_code(criterion: Criterion) -> int:
    """A number for kernels."""
    return CRITERION_CODES[criterion] if isinstance(criterion, str) else OWN


class RuleFunctions:
    """Both functions of a rule, compiled or called back; call ``settle`` when a kernel is done."""

    def __init__(self, rule: Grower) -> None:
        self._rule = rule
        self.refused_priority, self.refused_impurity = np.zeros(2), np.zeros(3)
        self.priority, self.impurity = kernel_priority(rule), kernel_impurity(rule.criterion)

    def settle(self) -> None:
        """Raise what the functions raised, and refuse what they must not give."""
        self.priority.settle()
        self.impurity.settle()
        check_refused(self._rule.criterion, self.refused_impurity)
        if self.refused_priority[0]:
            value = float(self.refused_priority[1])
            raise ValueError(f"a priority must be a number; {self._rule!r} gave {value!r}")


def check_refused(criterion: Criterion, refused: FloatArray) -> None:
    """Refuse what ``own_gain`` could not take for an impurity."""
    if refused[0]:
        raise ValueError(refusal(criterion, float(refused[1]), float(refused[2])))


def gains_by(criterion: Criterion) -> Callable[[Problem, Leaf, Splits], FloatArray]:
    """What gives the drop in impurity at a leaf for each split, not weighted by reach."""
    if criterion == "minority":
        return _minority_gains
    if isinstance(criterion, str):
        formula = GAINS[criterion]
        return lambda _, __, s: formula(
            s.low_probability, s.branch_probability, s.low_rates, s.high_rates, s.difference
        )
    impurity, refused = kernel_impurity(criterion), np.zeros(3)

    def gains(_: Problem, __: Leaf, s: Splits) -> FloatArray:
        found = own_gains(
            impurity.address,
            s.low_probability,
            s.branch_probability,
            s.low_rates,
            s.high_rates,
            refused,
        )
        impurity.settle()
        check_refused(criterion, refused)
        return found

    return gains


def _minority_gains(problem: Problem, leaf: Leaf, splits: Splits) -> FloatArray:
    low_lead, high_lead = problem.leads(leaf, splits)
    return splits.low_probability * low_lead + splits.branch_probability * high_lead


def built_in_name(rule: Grower) -> str | None:
    """The function that gives a rule's priorities; None if it or the criterion is a user's."""
    if not isinstance(rule.criterion, str) or not isinstance(kernel_priority(rule), Compiled):
        return None
    return rule.priority.__func__.__qualname__  # type: ignore[attr-defined]  # a method
