"""MIC: the mean over sizes of a learner's error minus the least possible error.

The excess at a size is the error of the learner's tree of that size minus the least error of any
tree with as many splits (the paper's OPT). ``mic`` takes a grower, or any function that returns a
tree of a given size. ``mic_over_tops`` measures trees in between: the best ones whose nodes test
only their splits of largest gain.

Invariant: no excess over the best of all trees is negative. Both errors are rounded, so a lead of
the learner within ``ROUNDING`` counts as 0, and a larger one raises an error. Where the optimum is
only known to lie in an interval, MIC is an interval too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from mictree._support.checks import check_size
from mictree._support.words import show_number
from mictree.growers.rules import Grower, as_rule, criterion_on, task_name
from mictree.impurity import Criterion, name_of
from mictree.optimal import DEFAULT_MEMORY_LIMIT, CertifiedErrors, Errors, optimal_errors
from mictree.problems.base import Problem
from mictree.tree import Tree

if TYPE_CHECKING:
    import polars
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
    scale : how large errors are: 1 for probabilities of mistakes

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("a & b | c & d & e")
    >>> mt.mic("bestfirst", problem, max_size=5).excess_errors.tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.03125]
    """

    rule: str
    greedy_errors: np.ndarray
    optimal_errors: np.ndarray
    excess_errors: np.ndarray
    mic: float | Fraction
    optimal_lower: np.ndarray
    scale: float = 1.0

    @property
    def interval(self) -> tuple[float | Fraction, float | Fraction]:
        """The least and the largest MIC that the bounds on the optimal errors allow."""
        gap = (self.optimal_errors - self.optimal_lower)[1:]
        return self.mic, self.mic + sum(gap, 0 * self.mic) / len(gap)

    @property
    def proved(self) -> bool:
        """Whether every optimal error is proved, so that MIC is exact."""
        return bool(CertifiedErrors(self.optimal_lower, self.optimal_errors).proved.all())

    @property
    def max_size(self) -> int:
        """The largest size, t*."""
        return len(self.excess_errors) - 1

    @property
    def worst_size(self) -> int:
        """The smallest size with the largest excess error."""
        return int(
            np.argmax(self.excess_errors >= self.excess_errors.max() - ROUNDING * self.scale)
        )

    def __repr__(self) -> str:
        return f"MicResult({str(self).partition(chr(10))[0]})"

    def _repr_html_(self) -> str:
        from mictree._support.words import to_svg, to_text

        return to_text(str(self)) + to_svg(self.plot())

    def __str__(self) -> str:
        least, most = map(show_number, self.interval)
        shown = f"= {least}" if self.proved else f"between {least} and {most}"
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

    def to_frame(self) -> polars.DataFrame:
        """A polars frame with a row for each size, all numbers as floats.

        Examples
        --------
        >>> import mictree as mt
        >>> found = mt.mic("bestfirst", mt.FormulaProblem("a & b | c & d & e"), max_size=5)
        >>> found.to_frame().columns
        ['rule', 'size', 'greedy_error', 'optimal_error', 'optimal_lower', 'excess_error']
        >>> found.to_frame()["excess_error"].sum()
        0.03125
        """
        import polars

        curves = (self.greedy_errors, self.optimal_errors, self.optimal_lower, self.excess_errors)
        names = ("greedy_error", "optimal_error", "optimal_lower", "excess_error")
        return polars.DataFrame(
            {"rule": [self.rule] * (self.max_size + 1), "size": range(self.max_size + 1)}
            | dict(zip(names, (curve.astype(float) for curve in curves), strict=True))
        )

    def to_latex(self, sizes: Iterable[int] | None = None) -> str:
        r"""The errors as a ``tabular`` for LaTeX, which needs no package, and the MIC below them.

        Parameters
        ----------
        sizes : the rows; by default those that ``print`` shows, at most 17

        Examples
        --------
        >>> import mictree as mt
        >>> found = mt.mic("bestfirst", mt.FormulaProblem("a & b | c & d & e"), max_size=5)
        >>> print(found.to_latex([4, 5]))
        \begin{tabular}{rrrr}
        \hline
        size & greedy & optimal & excess \\
        \hline
        4 & 0.09375 & 0.09375 & 0 \\
        5 & 0.0625 & 0.03125 & 0.03125 \\
        \hline
        \multicolumn{4}{l}{BestFirst(criterion='{}entropy'{}, ties='{}last'{}): MIC(5) = 0.00625} \\
        \end{tabular}
        """
        from mictree.plotting.tree import to_latex

        chosen = self.telling_sizes() if sizes is None else [check_size(each) for each in sizes]
        if max(chosen, default=0) > self.max_size:
            raise ValueError(f"sizes must be at most {self.max_size}; got {max(chosen)}")
        rows = [" & ".join((str(size), *self._shown(size))) for size in chosen]
        mean = to_latex(str(self).partition("\n")[0])
        heads = "size & greedy & optimal & excess"
        lines = [
            r"\hline",
            heads,
            r"\hline",
            *rows,
            r"\hline",
            rf"\multicolumn{{4}}{{l}}{{{mean}}}",
        ]
        ended = [line if line == r"\hline" else rf"{line} \\" for line in lines]
        return "\n".join([r"\begin{tabular}{rrrr}", *ended, r"\end{tabular}"])

    def _shown(self, size: int) -> tuple[str, str, str]:
        """A size's greedy, optimal and excess error; intervals where the optimum is not proved."""
        excess, optimal = self.excess_errors[size], self.optimal_errors[size]
        lower = self.optimal_lower[size]
        return (
            show_number(self.greedy_errors[size]),
            _show_interval(lower, optimal),
            _show_interval(excess, excess + (optimal - lower)),
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw greedy, optimal and excess errors against size."""
        from mictree.plotting.curves import draw_curves

        return draw_curves(ax, self)


def _show_interval(least: float | Fraction, most: float | Fraction) -> str:
    return show_number(least) if least == most else f"{show_number(least)}--{show_number(most)}"


def mic(
    rule: Grower | Learner | str,
    problem: Problem,
    max_size: int = 100,
    exact: bool = False,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    time_limit: float | None = None,
    top: int | None = None,
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
    top : compare with the best tree whose nodes test only splits of largest gain by the rule's
        criterion (see ``optimal_trees``); entropy for learners that are no growers. TopDown,
        BestFirst and ID3 grow such trees; others may be better, and have a negative MIC.

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("x1 & x2 | y1 & y2 & y3")
    >>> mt.mic(mt.BestFirst(), problem, max_size=8, exact=True).mic
    Fraction(3, 256)
    """
    limit = _check_sizes(max_size)
    learner = as_rule(rule)
    criterion = learner.criterion if isinstance(learner, Grower) else "entropy"
    optimal = optimal_errors(
        problem, limit, exact, memory_limit, time_limit=time_limit, top=top, criterion=criterion
    )
    return against(learner, problem, optimal, exact, restricted=top is not None)


def against(
    rule: Grower | Learner,
    problem: Problem,
    optimal: Errors,
    exact: bool = False,
    restricted: bool = False,
) -> MicResult:
    """The same as ``mic``, from optimal errors computed before, index = size.

    ``restricted``: they are of some trees only, so that the learner's may be smaller.
    """
    greedy = _greedy_errors(rule, problem, len(optimal) - 1, exact)
    lower = getattr(optimal, "lower", optimal)
    if restricted:
        optimal = np.asarray(optimal)
    else:  # the greedy error also bounds the optimum; use whichever is lower
        optimal = np.where(lower < optimal, np.minimum(optimal, greedy), optimal)
    excess = greedy - optimal
    scale = 1.0 if task_name(problem) == "errors" else float(np.abs(greedy).max()) or 1.0
    rounding = ROUNDING * scale
    if excess.min() < -rounding and not restricted:
        size = int(np.argmin(excess))
        raise AssertionError(
            f"{rule!r} on {problem!r} beats the optimal tree of size {size}: a wrong optimum"
        )
    if not (restricted and exact):  # where the rest of this is rounding
        excess = np.where((excess < 0) & (excess >= -rounding), np.abs(0 * excess), excess)
    mean = sum(excess[1:], Fraction(0)) / (len(excess) - 1) if exact else float(excess[1:].mean())
    name = _name(rule, problem)
    return MicResult(name, greedy, optimal, excess, mean, np.asarray(lower), scale)


@dataclass(frozen=True)
class TopResult:
    """The least errors of trees whose nodes test only their ``top`` best splits, against all trees.

    Attributes
    ----------
    criterion : of the splits' gains, as text
    tops : ascending
    errors : for each top, index = size, 0 to ``max_size``
    optimal_errors : index = size
    excess_errors : ``errors`` minus ``optimal_errors``
    mic : for each top, the mean of its excess errors from size 1 on
    proved : for each top, whether all its errors, and the optimal ones, are proved

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.TableProblem.from_formula("a & (b ^ c) | ~a & d")
    >>> result = mt.mic_over_tops(problem, max_size=8)
    >>> [float(mic) for mic in result.mic]
    [0.0625, 0.0]
    """

    criterion: str
    tops: tuple[int, ...]
    errors: np.ndarray
    optimal_errors: np.ndarray
    excess_errors: np.ndarray
    mic: np.ndarray
    proved: tuple[bool, ...]

    @property
    def max_size(self) -> int:
        """The largest size, t*."""
        return len(self.optimal_errors) - 1

    def __str__(self) -> str:
        lines = [f"{'top':>6} {f'MIC({self.max_size})':>12} {'largest excess':>16}"]
        for top, mean, excess, proved in zip(
            self.tops, self.mic, self.excess_errors, self.proved, strict=True
        ):
            note = "" if proved else "  (not proved)"
            lines.append(f"{top:>6} {float(mean):>12.6g} {float(excess.max()):>16.6g}{note}")
        return "\n".join(lines)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw MIC and the largest excess error against ``top``."""
        from mictree.plotting.curves import draw_tops

        return draw_tops(ax, self)


def mic_over_tops(
    problem: Problem,
    max_size: int = 100,
    tops: Iterable[int] | None = None,
    criterion: Criterion = "entropy",
    exact: bool = False,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    time_limit: float | None = None,
) -> TopResult:
    """How far the best tree of the ``top`` best splits at every node is from the best of all trees.

    From ``top=1``, the best pruning of a greedy tree over all choices of ties, to the optimum.

    Parameters
    ----------
    problem : FormulaProblem, TableProblem or SampleProblem
    max_size : t*, at least 1
    tops : by default 1, 2, ... until no excess is left, at most the number of variables
    criterion : of the splits' gains
    exact : compute errors as Fractions
    memory_limit : in bytes, for each top
    time_limit : in seconds, for each top on data

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.TableProblem.from_formula("a & (b ^ c) | ~a & d")
    >>> print(mt.mic_over_tops(problem, max_size=8))
       top       MIC(8)   largest excess
         1       0.0625            0.125
         2            0                0
    """
    limit = _check_sizes(max_size)
    every = len(problem.variables)
    limits = {"memory_limit": memory_limit, "time_limit": time_limit}
    optimal = optimal_errors(problem, limit, exact, **limits)
    lower = np.asarray(getattr(optimal, "lower", optimal))
    wanted = range(1, max(every, 1) + 1) if tops is None else sorted({*tops})
    if not wanted:
        raise ValueError("tops must have at least one number; it has none")
    found: dict[int, Errors] = {}
    for top in wanted:
        found[top] = optimal_errors(problem, limit, exact, top=top, criterion=criterion, **limits)
        if tops is None and np.all(found[top] - optimal <= (0 if exact else ROUNDING)):
            break
    errors = np.array([np.asarray(each) for each in found.values()])
    best = np.minimum(np.asarray(optimal), errors.min(axis=0))  # a bound that is not proved
    excess = errors - best
    mean = excess[:, 1:].sum(axis=1) / limit
    proved = tuple(
        bool(np.all(getattr(each, "lower", each) == np.asarray(each)) and np.all(lower == best))
        for each in found.values()
    )
    return TopResult(name_of(criterion), tuple(found), errors, best, excess, mean, proved)


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


def _check_sizes(max_size: int) -> int:
    limit = check_size(max_size)
    if limit == 0:
        raise ValueError(
            "MIC is a mean over sizes 1 to max_size; max_size must be at least 1; got 0"
        )
    return limit


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


def _name(rule: object, problem: Problem | None = None) -> str:
    """A rule, with the criterion by which it grows on the problem."""
    if isinstance(rule, Grower):
        used = rule.criterion if problem is None else criterion_on(rule, problem)
        return repr(rule).replace(repr(rule.criterion), repr(used), 1)
    return getattr(rule, "__name__", repr(rule))
