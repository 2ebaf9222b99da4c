"""The rules that choose the next leaf.

TopDown splits the leaf whose split lowers the whole tree's impurity most, ``reach * gain``
(Kearns and Mansour). BestFirst splits the leaf with the largest ``gain`` (Shi; WEKA's BFTree).
ID3 goes depth first (Quinlan). scikit-learn's ``max_leaf_nodes`` weights by reach, so it is TopDown
in spite of the name "best first".
"""

from abc import ABC, abstractmethod
from typing import ClassVar

from mictree._support.checks import check_count, check_size
from mictree.growers.growth import Growth
from mictree.impurity import check_criterion
from mictree.problems.base import Problem

TIES = ("last", "first", "random", "heaviest", "lightest")


class Grower(ABC):
    """A greedy learner that knows the distribution.

    A rule of one's own derives from it and has a method ``priority``. It grows on every problem;
    only ``sweep`` refuses it.

    Parameters
    ----------
    criterion : "entropy", "gini", "root" (Kearns and Mansour) or "minority"
    ties : which of several equally good splits is made
        "last": the last leaf in order of creation, then the last variable in declared order, as
        the paper's ``>=`` does. "first": the first of both. "random": any of both. "heaviest",
        "lightest": the leaf of largest or smallest reach, else as "last".
    seed : for ``ties="random"``
    """

    name: ClassVar[str]  # by default the class's name in small letters

    def __init_subclass__(cls, **settings: object) -> None:
        super().__init_subclass__(**settings)
        if "name" not in vars(cls):  # a rule of another kind must not bear its parent's name
            cls.name = cls.__name__.lower()

    def __init__(
        self, criterion: str = "entropy", ties: str = "last", seed: int | None = None
    ) -> None:
        self.criterion = check_criterion(criterion)
        if not isinstance(ties, str) or ties not in TIES:
            raise ValueError(f"ties must be one of {', '.join(TIES)}; got {ties!r}")
        self.ties = ties
        self.seed = None if seed is None else check_count(seed, "seed")

    def __repr__(self) -> str:
        shown = {"criterion": self.criterion, "ties": self.ties, **vars(self)}
        if shown["seed"] is None:
            del shown["seed"]
        told = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"{type(self).__name__}({told})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), self.criterion, self.ties, self.seed))

    @abstractmethod
    def priority(self, reach: float, gain: float, born: int) -> float:
        """How soon a leaf is split: any number, the largest first.

        ``born`` numbers leaves in depth-first order of birth: the children of the latest split
        have the largest numbers, and of the two the low child.
        """

    def grow(self, problem: Problem, max_size: int) -> Growth:
        """Split leaves one at a time until the tree has ``max_size`` splits or only pure leaves."""
        from mictree.growers.loops import grow

        return grow(self, problem, check_size(max_size))


class TopDown(Grower):
    """Splits the leaf with the largest reach times gain."""

    name = "topdown"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return reach * gain


class BestFirst(Grower):
    """Splits the leaf with the largest gain, however rarely it is reached."""

    name = "bestfirst"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return gain


class ID3(Grower):
    """Splits depth first, the low branch before the high one."""

    name = "id3"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return born


RULES: dict[str, type[Grower]] = {rule.name: rule for rule in (TopDown, BestFirst, ID3)}
_PRIORITIES = {rule: rule.priority for rule in RULES.values()}


def is_built_in(rule: Grower) -> bool:
    """Whether compiled loops, which have the priorities written out, may grow by a rule.

    Not by a rule derived from one of the three, nor by one whose priority was replaced.
    """
    own = _PRIORITIES.get(type(rule))
    return own is not None and own is type(rule).priority and "priority" not in vars(rule)
