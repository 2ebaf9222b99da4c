"""The rules that choose the next leaf, and the result of growing: one tree per size.

TopDown splits the leaf whose split lowers the whole tree's impurity most, ``reach * gain`` (Kearns
and Mansour). BestFirst splits the leaf with the largest ``gain`` (Shi; WEKA's BFTree). ID3 goes
depth first (Quinlan). scikit-learn's ``max_leaf_nodes`` weights by reach, so it is TopDown in spite
of the name "best first". Lookahead weights by reach too, and looks at whole subtrees.

``Grower.grow`` chooses the loop, and any loop returns the same ``Growth``.
"""

from __future__ import annotations

import copy
import inspect
import math
import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from mictree._support.checks import check_count, check_size, insert_shared
from mictree._support.words import count_of, show_number
from mictree.impurity import Criterion, check_criterion, name_of
from mictree.problems.base import Problem, check_problem
from mictree.tree import Tree

FloatArray = np.typing.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GrowthStep:
    """One split, in the order of growth.

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
    >>> step = mt.TopDown().grow(problem, max_size=1).steps[0]
    >>> step.variable, round(step.gain, 4)
    ('c', 0.5488)
    """

    leaf: int  # number of the split leaf in order of creation; the root is 0
    variable: str
    gain: float  # drop in impurity at the leaf
    reach: float
    position: int  # of the variable in problem.variables
    threshold: float | None = None  # of a test on an ordered column, exactly

    @property
    def weighted_gain(self) -> float:
        """W(v): the drop in the whole tree's impurity."""
        return self.reach * self.gain


@dataclass(frozen=True)
class Growth:
    """A growing tree, one split after another.

    Attributes
    ----------
    problem, rule : what it was grown on and by
    max_size : the size asked for
    errors : float array, index = size, 0 to ``max_size``; repeats the last error once growth ended
    steps : the splits in order, with their gains; fewer than ``max_size`` when growth ended early

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
    >>> growth = mt.TopDown().grow(problem, max_size=2)
    >>> [step.variable for step in growth.steps]
    ['c', 'b']
    >>> growth.errors.tolist()
    [0.375, 0.125, 0.125]
    """

    problem: Problem
    rule: Grower
    max_size: int
    errors: FloatArray
    steps: tuple[GrowthStep, ...]
    labels: tuple[int, ...]  # majority labels of all leaves, in order of creation

    def __repr__(self) -> str:
        splits = count_of(len(self.steps), "split")
        errors = f"{show_number(self.errors[0], 4)} to {show_number(self.errors[-1], 4)}"
        return f"Growth({self.rule!r}, {splits}, error {errors})"

    def _repr_html_(self) -> str:
        from mictree._support.words import to_table

        steps = [(0, "", "", float(self.errors[0]))]
        steps += [
            (size, step.variable, float(step.gain), float(self.errors[size]))
            for size, step in enumerate(self.steps, 1)
        ]
        return to_table(["size", "split on", "gain", "error"], steps, repr(self.rule))

    def tree(self, size: int) -> Tree:
        """The tree after ``size`` splits, or the last one when growth ended before.

        Examples
        --------
        >>> import mictree as mt
        >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
        >>> print(mt.TopDown().grow(problem, max_size=2).tree(1))
        Tree(size=1, depth=1, root='c')
        """
        steps = self.steps[: check_size(size, "size")]
        if size > self.max_size:
            raise ValueError(f"size must be at most max_size={self.max_size}; got {size}")
        leaves, tests = [step.leaf for step in steps], [step.position for step in steps]
        return self.problem.tree(leaves, tests, [step.threshold for step in steps], self.labels)

    @cached_property
    def exact_errors(self) -> list[Fraction]:
        """The errors as Fractions, index = size."""
        leaves = [self.problem.root(exact=True)]
        errors = [Fraction(leaves[0].error)]
        for step in self.steps:
            parent = leaves[step.leaf]
            children = self.problem.children(parent, step.position)
            leaves += children
            change = children[0].error + children[1].error - parent.error
            errors.append(errors[-1] + Fraction(change))
        return errors + errors[-1:] * (self.max_size + 1 - len(errors))


def curve(errors: Sequence[float] | FloatArray, limit: int) -> FloatArray:
    """Errors by size, the last one repeated once growth has ended."""
    curve = np.full(limit + 1, errors[-1])
    curve[: len(errors)] = errors
    return curve


TIES = ("last", "first", "random", "heaviest", "lightest")
# Two numbers tie when they differ by at most this, relative to the larger one: docs/decisions/0003.
TIE_TOLERANCE = 1e-10


def _check_signature(rule: type) -> None:
    """Refuse a priority that cannot be called with a leaf's three numbers."""
    method = inspect.getattr_static(rule, "priority")
    if not inspect.isfunction(method):
        return  # called as it is
    try:
        inspect.signature(method).bind(rule, 1.0, 1.0, 0)
    except TypeError:
        raise TypeError(
            f"priority must take self, reach, gain and born; "
            f"{rule.__name__}.priority takes {inspect.signature(method)}"
        ) from None


class Grower(ABC):
    """A greedy learner that knows the distribution.

    A rule of one's own derives from it and has a method ``priority``. It grows on every problem and
    in sweeps: see ``docs/own-rules.md``.

    Parameters
    ----------
    criterion : "entropy", "gini", "root" (Kearns and Mansour), "minority", or a function
        of a positive rate that gives a finite impurity, not negative. Several classes add up what
        it gives each against the rest, and halve the sum. None for "entropy"; for the squared
        error where numbers are predicted; for "minority", the drop in least cost, where each row
        has costs, or where some class costs nothing to miss.
    ties : which of several equally good splits is made
        "last": the last leaf in order of creation, then the last variable in declared order, as
        the paper's ``>=`` does. "first": the first of both. "random": any of both. "heaviest",
        "lightest": the leaf of largest or smallest reach, else as "last".
    seed : for ``ties="random"``

    Examples
    --------
    >>> import mictree as mt
    >>> class Cautious(mt.Grower):
    ...     def priority(self, reach, gain, born):
    ...         return reach * gain**2
    ...
    >>> Cautious().grow(mt.FormulaProblem("a & b | c"), max_size=3).errors.tolist()
    [0.375, 0.125, 0.125, 0.0]
    """

    name: ClassVar[str]  # by default the class's name in small letters

    def __init_subclass__(cls, **settings: object) -> None:
        super().__init_subclass__(**settings)
        if "name" not in vars(cls):  # a rule of another kind must not bear its parent's name
            cls.name = cls.__name__.lower()
        if "Parameters\n" not in (cls.__doc__ or ""):
            shared = (Grower.__doc__ or "").partition("    Parameters\n")
            cls.__doc__ = insert_shared(cls.__doc__ or cls.__name__, "".join(shared[1:]))
        _check_signature(cls)

    implied: bool = False  # whether no criterion was given

    def __init__(
        self, criterion: Criterion | None = None, ties: str = "last", seed: int | None = None
    ) -> None:
        if criterion is None:
            vars(self)["implied"] = True
        self.criterion: Criterion = check_criterion("entropy" if criterion is None else criterion)
        if not isinstance(ties, str) or ties not in TIES:
            raise ValueError(f"ties must be one of {', '.join(TIES)}; got {ties!r}")
        self.ties: str = ties
        self.seed: int | None = None if seed is None else check_count(seed, "seed")

    def __repr__(self) -> str:
        shown = {name: repr(value) for name, value in self._settings.items()}
        if not isinstance(self.criterion, str):
            shown["criterion"] = name_of(self.criterion)
        if self.seed is None:
            del shown["seed"]
        told = ", ".join(f"{name}={value}" for name, value in shown.items())
        return f"{type(self).__name__}({told})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grower) or type(self) is not type(other):
            return False
        return self._settings == other._settings

    @property
    def _settings(self) -> dict[str, Any]:
        """What the rule was made with."""
        return {name: value for name, value in vars(self).items() if name != "implied"}

    def __hash__(self) -> int:
        return hash((type(self), name_of(self.criterion), self.ties, self.seed))

    @property
    def label(self) -> str:
        """The name, and what tells rules of this name apart."""
        return self.name

    @abstractmethod
    def priority(self, reach: float, gain: float, born: int) -> float:
        """How soon a leaf is split: any number, the largest first.

        ``born`` numbers leaves in depth-first order of birth: the children of the latest split
        have the largest numbers, and of the two the low child.
        """

    def with_seed(self, seed: int | None = None) -> Self:
        """The same rule, whose random ties, if any, are decided by a fixed seed."""
        if self.ties != "random" or (seed is None and self.seed is not None):
            return self
        seeded = copy.copy(self)
        seeded.seed = secrets.randbits(31) if seed is None else seed
        return seeded

    def grow(self, problem: Problem, max_size: int) -> Growth:
        """Split leaves one at a time until the tree has ``max_size`` splits or only pure leaves.

        Examples
        --------
        >>> import mictree as mt
        >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
        >>> mt.TopDown().grow(problem, max_size=3).errors.tolist()
        [0.375, 0.125, 0.125, 0.0]
        """
        return _grow(self, check_problem(problem), check_size(max_size))


def _grow(rule: Grower, problem: Problem, limit: int) -> Growth:
    """Grow by the compiled loop where there is one, else by the loop for any problem."""
    from mictree.growers.loop import grow_any
    from mictree.problems.formula import FormulaProblem
    from mictree.problems.table import TableProblem

    if not isinstance(problem, FormulaProblem | TableProblem):
        from mictree.growers import data_loop  # many kernels, which formulas need not load
        from mictree.problems.sample import SampleProblem

        if isinstance(problem, SampleProblem):
            return data_loop.split(problem, rule, limit).growth(problem, rule, limit)
    return grow_any(rule, problem, limit)


class TopDown(Grower):
    """Splits the leaf with the largest reach times gain.

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
    >>> mt.TopDown().grow(problem, max_size=3).errors.tolist()
    [0.375, 0.125, 0.125, 0.0]
    """

    name = "topdown"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return reach * gain


class BestFirst(Grower):
    """Splits the leaf with the largest gain, however rarely it is reached.

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("a & b | c & d & e", bias=0.5)
    >>> mt.BestFirst(ties="lightest").grow(problem, max_size=4).errors.tolist()
    [0.34375, 0.28125, 0.09375, 0.09375, 0.09375]
    """

    name = "bestfirst"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return gain


class ID3(Grower):
    """Splits depth first, the low branch before the high one.

    Examples
    --------
    >>> import mictree as mt
    >>> problem = mt.FormulaProblem("a & b | c", bias=0.5)
    >>> mt.ID3().grow(problem, max_size=3).errors.tolist()
    [0.375, 0.125, 0.125, 0.0]
    """

    name = "id3"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return born


class Lookahead(Grower):
    """Splits the leaf at which a subtree brings the largest drop in impurity, times reach.

    It makes one split: the root test of that subtree. Where several root tests tie, those are kept
    whose best subtree of depth ``depth - 1`` brings most, and so on down to their own gain; then
    ``ties`` decides. ``Lookahead(1)`` is TopDown.

    Parameters
    ----------
    depth : the largest number of tests on a path of the subtree, at least 1
    criterion, ties, seed : as of every rule

    Examples
    --------
    >>> import mictree as mt
    >>> parity = mt.TableProblem.from_formula("a ^ b", bias={"a": 0.5, "b": 0.5, "z": 0.5})
    >>> [step.variable for step in mt.Lookahead(2).grow(parity, 3).steps]
    ['b', 'a', 'a']
    """

    name = "lookahead"

    def __init__(
        self,
        depth: int = 2,
        criterion: Criterion | None = None,
        ties: str = "last",
        seed: int | None = None,
    ) -> None:
        self.depth = check_count(depth, "depth")
        if self.depth == 0:
            raise ValueError("depth must be at least 1; got 0")
        super().__init__(criterion, ties, seed)

    def __hash__(self) -> int:
        return hash((super().__hash__(), self.depth))

    @property
    def label(self) -> str:
        return f"{self.name}({self.depth})"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return reach * gain


RULES: dict[str, type[Grower]] = {rule.name: rule for rule in (TopDown, BestFirst, ID3, Lookahead)}


def task_name(problem: Any) -> str:
    """What a leaf of a problem costs; "errors" where that is the probability of a mistake."""
    return getattr(getattr(problem, "task", None), "name", "errors")


def criterion_on(rule: Grower, problem: Any) -> Criterion:
    """The criterion by which a rule grows on a problem, which may have one of its own."""
    name = task_name(problem)
    if name == "squared":
        if not rule.implied:
            raise ValueError(
                "a problem with squared loss is grown by the drop in squared error; leave the "
                f"criterion out; got {rule.criterion!r}"
            )
        return "squared"
    if name == "costs":
        if not rule.implied and rule.criterion != "minority":
            raise ValueError(
                'costs of actions are grown by the drop in least cost, criterion="minority"; '
                f"got {rule.criterion!r}"
            )
        return "minority"
    if name == "cost matrix" and rule.implied and not (problem.task.missing_costs > 0).all():
        return "minority"  # entropy would leave classes that cost nothing to miss no weight
    return rule.criterion


def depth_of(rule: Grower) -> int:
    """The depth of the subtrees whose drop in impurity is a leaf's gain; 1 for a single split."""
    return rule.depth if isinstance(rule, Lookahead) else 1


def as_rule(rule: Any) -> Any:
    """A rule by its name; whatever is no name is returned as it is, unless it is a class."""
    if isinstance(rule, type) and issubclass(rule, Grower):
        name = rule.__name__
        raise TypeError(f"a rule must be an object; got the class {name}: write {name}()")
    if not isinstance(rule, str):
        return rule
    if rule not in RULES:
        raise ValueError(f"a rule must be one of {', '.join(RULES)}, or a grower; got {rule!r}")
    return RULES[rule]()


def checked_priority(rule: Grower, reach: float, gain: float, born: int) -> float:
    """The priority of a leaf, as a number."""
    priority = rule.priority(reach, gain, born)
    try:
        number = float(priority) if isinstance(priority, Real) else math.nan
    except OverflowError:
        raise ValueError(f"a priority must fit a float; {rule!r} gave a larger number") from None
    if math.isnan(number):
        raise ValueError(f"a priority must be a number; {rule!r} gave {priority!r}")
    return number
