"""MIC: the mean over sizes of a learner's error minus the least possible error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from mictree._support.checks import check_size
from mictree.growers.rules import Grower, as_rule
from mictree.optimal import DEFAULT_MEMORY_LIMIT, CertifiedErrors, optimal_errors
from mictree.problems.base import Problem
from mictree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Learner = Callable[[Problem, int], Tree]
# Greedy and optimal errors are rounded in different orders; a larger lead of the greedy tree over
# the optimal one would be a wrong optimum.
ROUNDING = 1e-12


@dataclass(frozen=True)
class MicResult:
    """Two error curves over sizes 0 to ``max_size``, and the difference between them.

    Attributes
    ----------
    rule : the learner of the greedy trees, as text
    greedy_errors, optimal_errors : index = size
    excess_errors : greedy minus optimal errors
    mic : the mean of ``excess_errors[1:]``, m(t*)
    optimal_lower : lower bounds on the optimal errors; on data they differ from ``optimal_errors``
        if a time limit ended the search, and MIC then lies in ``interval``
    """

    rule: str
    greedy_errors: np.ndarray
    optimal_errors: np.ndarray
    excess_errors: np.ndarray
    mic: float | Fraction
    optimal_lower: np.ndarray

    @property
    def interval(self) -> tuple[float | Fraction, float | Fraction]:
        """The least and the largest MIC that the bounds on the optimal errors allow."""
        gap = (self.optimal_errors - self.optimal_lower)[1:]
        return self.mic, self.mic + sum(gap, 0 * self.mic) / len(gap)

    @property
    def proved(self) -> bool:
        """Whether every optimal error is proved, so that MIC is exact."""
        return bool(CertifiedErrors.between(self.optimal_lower, self.optimal_errors).proved.all())

    @property
    def max_size(self) -> int:
        """The largest size, t*."""
        return len(self.excess_errors) - 1

    @property
    def worst_size(self) -> int:
        """The smallest size with the largest excess error."""
        return int(np.argmax(self.excess_errors >= self.excess_errors.max() - ROUNDING))

    def __str__(self) -> str:
        least, most = (float(end) for end in self.interval)
        shown = f"= {least:.6g}" if self.proved else f"between {least:.6g} and {most:.6g}"
        lines = [
            f"{self.rule}: MIC({self.max_size}) {shown}",
            f"{'size':>6} {'greedy':>10} {'optimal':>10} {'excess':>10}",
        ]
        lines += [
            f"{size:>6} {float(self.greedy_errors[size]):>10.6f} "
            f"{float(self.optimal_errors[size]):>10.6f} {float(self.excess_errors[size]):>10.6f}"
            for size in self.telling_sizes()
        ]
        return "\n".join(lines)

    def telling_sizes(self, most: int = 16) -> list[int]:
        """At most ``most`` evenly spaced sizes to show, and the worst one."""
        spread = np.linspace(0, self.max_size, min(most, self.max_size + 1)).round().astype(int)
        return sorted({*spread.tolist(), self.worst_size})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw greedy, optimal and excess errors against size."""
        from mictree.plotting.curves import draw_curves

        return draw_curves(ax, self)


def mic(
    rule: Grower | Learner | str,
    problem: Problem,
    max_size: int = 100,
    exact: bool = False,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    time_limit: float | None = None,
) -> MicResult:
    """Compare a learner's tree of every size with the best tree of that size.

    Parameters
    ----------
    rule : a grower, the name of one, or any callable ``(problem, size) -> Tree``
    problem : FormulaProblem, TableProblem or SampleProblem
    max_size : t*, at least 1
    exact : compute errors as Fractions
    memory_limit : in bytes, for the optimal errors
    time_limit : in seconds, for the optimal errors on data; MIC is then an interval

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("x1 & x2 | y1 & y2 & y3")
    >>> mt.mic(mt.BestFirst(), problem, max_size=8, exact=True).mic
    Fraction(3, 256)
    """
    limit = check_size(max_size)
    if limit == 0:
        raise ValueError(
            "MIC is a mean over sizes 1 to max_size; max_size must be at least 1; got 0"
        )
    learner = as_rule(rule)
    optimal = optimal_errors(problem, limit, exact, memory_limit, time_limit=time_limit)
    return against(learner, problem, optimal, exact)


def against(
    rule: Grower | Learner, problem: Problem, optimal: np.ndarray, exact: bool = False
) -> MicResult:
    """The same as ``mic``, from optimal errors computed before, index = size."""
    greedy = _greedy_errors(rule, problem, len(optimal) - 1, exact)
    lower = getattr(optimal, "lower", optimal)
    # the greedy error also bounds the optimum; use whichever is lower
    optimal = np.where(lower < optimal, np.minimum(optimal, greedy), optimal)
    excess = greedy - optimal
    if excess.min() < -ROUNDING:
        size = int(np.argmin(excess))
        raise AssertionError(
            f"{rule!r} on {problem!r} beats the optimal tree of size {size}: a wrong optimum"
        )
    excess = np.maximum(excess, 0 * excess)
    mean = sum(excess[1:], Fraction(0)) / (len(excess) - 1) if exact else float(excess[1:].mean())
    return MicResult(_name(rule), greedy, optimal, excess, mean, np.asarray(lower))


def _greedy_errors(
    rule: Grower | Learner, problem: Problem, max_size: int, exact: bool
) -> np.ndarray:
    if isinstance(rule, Grower):
        growth = rule.grow(problem, max_size)
        return np.array(growth.exact_errors) if exact else growth.errors
    if not callable(rule):
        raise TypeError(
            f"a rule must be a grower, a name or a callable (problem, size) -> Tree; "
            f"got {type(rule).__name__}"
        )
    return np.array(
        [_checked_tree(rule, problem, size).error(problem, exact) for size in range(max_size + 1)],
        dtype=object if exact else float,
    )


def _checked_tree(learner: Learner, problem: Problem, size: int) -> Tree:
    tree = learner(problem, size)
    if not isinstance(tree, Tree):
        raise TypeError(f"a rule must return a Tree; {_name(learner)} gave {type(tree).__name__}")
    if tree.size > size:
        raise ValueError(
            f"a rule must return at most as many splits as asked for; "
            f"{_name(learner)} gave {tree.size} for {size}"
        )
    return tree


def _name(rule: object) -> str:
    if isinstance(rule, Grower):
        return repr(rule)
    return getattr(rule, "__name__", repr(rule))
