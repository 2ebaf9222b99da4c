"""A rule's two functions, priority and impurity, in the form that kernels and loops take.

Both are the very functions that a rule is defined by, compiled where that works.
"""

from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from mictree._support.calls import IMPURITY, PRIORITY
from mictree._support.first_class import (
    Callback,
    NotCompiledError,
    compile_function,
    fingerprint,
)
from mictree.growers.rules import Grower, checked_priority
from mictree.impurity.criteria import GAINS, Criterion, own_impurity, refusal
from mictree.impurity.gains import CRITERION_CODES, OWN, own_gains
from mictree.problems.base import FloatArray, Leaf, Problem, Splits

LEAVES = ((0, 1.0, 0.5, 0), (0, 0.3, 0.2, 3), (0, 0.001, 0.0, 8))
RATES = ((0.0,), (0.3,), (0.5,), (1.0,))


def compiled_priority(rule: Grower) -> Any:
    """A rule's priority for kernels; raises NotCompiledError."""
    method = rule.priority
    if not isinstance(method, MethodType) or method.__self__ is not rule:
        raise NotCompiledError("its priority is no method of its class")
    return compile_function(method.__func__, PRIORITY, LEAVES)


def compiled_impurity(criterion: Criterion) -> Any:
    """A criterion's function for kernels, which use it where the code is ``OWN``."""
    function = _unused if isinstance(criterion, str) else criterion
    return compile_function(function, IMPURITY, RATES)


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
        try:
            self.priority = compiled_priority(rule)
        except NotCompiledError:
            self.priority = Callback(
                lambda _, reach, gain, born: checked_priority(rule, reach, gain, born), PRIORITY
            )
        self.impurity = _impurity(rule.criterion)

    def settle(self) -> None:
        """Raise what the functions raised, and refuse what they must not give."""
        for function in (self.priority, self.impurity):
            if isinstance(function, Callback):
                function.settle()
        check_refused(self._rule.criterion, self.refused_impurity)
        if self.refused_priority[0]:
            value = float(self.refused_priority[1])
            raise ValueError(f"a priority must be a number; {self._rule!r} gave {value!r}")


def check_refused(criterion: Criterion, refused: FloatArray) -> None:
    """Refuse what ``own_gain`` could not take for an impurity."""
    if refused[0]:
        raise ValueError(refusal(criterion, float(refused[1]), float(refused[2])))


def _impurity(criterion: Criterion) -> Any:
    try:
        return compiled_impurity(criterion)
    except NotCompiledError:
        assert not isinstance(criterion, str)
        function = criterion
        return Callback(lambda rate: own_impurity(function, rate), IMPURITY)


def gains_by(criterion: Criterion) -> Callable[[Problem, Leaf, Splits], FloatArray]:
    """What gives the drop in impurity at a leaf for each split, not weighted by reach."""
    if criterion == "minority":
        return _minority_gains
    if isinstance(criterion, str):
        formula = GAINS[criterion]
        return lambda _, __, s: formula(
            s.low_probability, s.branch_probability, s.low_rates, s.high_rates, s.difference
        )
    impurity, refused = _impurity(criterion), np.zeros(3)

    def gains(_: Problem, __: Leaf, s: Splits) -> FloatArray:
        found = own_gains(
            impurity.address,
            s.low_probability,
            s.branch_probability,
            s.low_rates,
            s.high_rates,
            refused,
        )
        if isinstance(impurity, Callback):
            impurity.settle()
        check_refused(criterion, refused)
        return found

    return gains


def _minority_gains(problem: Problem, leaf: Leaf, splits: Splits) -> FloatArray:
    low_lead, high_lead = problem.leads(leaf, splits)
    return splits.low_probability * low_lead + splits.branch_probability * high_lead


def rule_fingerprint(rule: Grower) -> str | None:
    """A text that changes with what a rule computes; None where that cannot be told."""
    method = rule.priority
    parts = [fingerprint(getattr(method, "__func__", method))]
    if not isinstance(rule.criterion, str):
        parts.append(fingerprint(rule.criterion))
    return None if None in parts else " ".join(map(str, parts))
