"""Identify the order in which a learner splits leaves, from the trees it grows on crafted data.

Libraries call their growth "best first" or "leaf-wise" but do not document whether they weight a
leaf's gain by its rows. So the learner grows trees of sizes 1 to ``MAX_SIZE`` on each of ``CASES``,
and its predictions are compared with those of growers whose order is known. An order is named only
if one of its growers agrees at every size of every case and no other order's grower does.

The data leave no other explanation. On them the orders give different trees, entropy and gini make
the same tests at every leaf by a wide margin, and every split changes a prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from mictree.comparison.held_out import TrainingSet
from mictree.comparison.run import Peer, read_peers
from mictree.growers.rules import ID3, BestFirst, Grower, TopDown
from mictree.problems.sample import SampleProblem

MAX_SIZE = 5
NONE = "none of these"


class _HighFirst(Grower):
    """Depth first, the high branch before the low one."""

    name = "id3-high"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return born ^ 1  # the two children of a split have the numbers 2k and 2k + 1


class _LevelWise(Grower):
    """Level by level, low branches first."""

    name = "levels"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return 1 / (1 + (born ^ 1))


class _LevelWiseHigh(Grower):
    """Level by level, high branches first."""

    name = "levels-high"

    def priority(self, reach: float, gain: float, born: int) -> float:
        return 1 / (1 + born)


# name, description, and all growers that follow it
ORDERS: dict[str, tuple[str, tuple[Grower, ...]]] = {
    "weighted": (
        "splits the leaf with the largest reach times gain, as TopDown does",
        (TopDown(),),
    ),
    "unweighted": ("splits the leaf with the largest gain, as BestFirst does", (BestFirst(),)),
    "depth-first": ("finishes a branch before the next one, as ID3 does", (ID3(), _HighFirst())),
    "level-wise": ("finishes a level before the next one", (_LevelWise(), _LevelWiseHigh())),
}


@dataclass(frozen=True)
class Case:
    """A data set of five columns: a root test, one below on each side, and one below each of those.

    Attributes
    ----------
    rows : the number of rows in each of the eight pure leaves of the full tree, left to right
    flipped : for each pair of leaves, whether the low one is positive
    """

    rows: tuple[int, ...]
    flipped: tuple[bool, ...]

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and labels; irrelevant columns are balanced in every leaf."""
        bits, labels = [], []
        for root, low, high, below_low, below_high in product((0, 1), repeat=5):
            pair = 2 * root + (high if root else low)
            last = below_high if root else below_low
            count = self.rows[2 * pair + last]
            bits += count * [(root, low, high, below_low, below_high)]
            labels += count * [last ^ self.flipped[pair]]
        return np.array(bits, dtype=np.uint8), np.array(labels, dtype=np.intp)


# found by random search for sizes at which all orders differ by wide margins; on the last one
# growth by the fewest errors with ties="last" is not depth-first
CASES = (
    Case((2, 3, 2, 24, 1, 0, 4, 16), (False, True, True, False)),
    Case((1, 4, 6, 24, 0, 1, 0, 2), (True, False, True, True)),
    Case((0, 1, 12, 2, 2, 2, 3, 8), (False, True, False, True)),
    Case((1, 1, 6, 4, 12, 3, 16, 0), (False, False, True, True)),
    Case((3, 6, 1, 16, 2, 3, 2, 24), (False, False, False, True)),
)


@dataclass(frozen=True)
class Evidence:
    """The orders whose predictions equal the learner's, on one data set at one size."""

    case: int  # from 1
    size: int
    agrees: tuple[str, ...]


@dataclass(frozen=True)
class GrowthOrder:
    """The order in which a learner splits leaves.

    Attributes
    ----------
    learner : its name
    order : "weighted", "unweighted", "depth-first", "level-wise" or "none of these"
    evidence : for each data set and size the orders that agree with the learner
    """

    learner: str
    order: str
    evidence: tuple[Evidence, ...]

    def __str__(self) -> str:
        if self.order == NONE:
            head = f"{self.learner} follows none of the orders {', '.join(ORDERS)}"
        else:
            head = f"{self.learner} grows {self.order}: it {ORDERS[self.order][0]}"
        lines = [head, "case  size  predicts the same"]
        lines += [
            f"{each.case:>4}  {each.size:>4}  {', '.join(each.agrees) or NONE}"
            for each in self.evidence
        ]
        return "\n".join(lines)


def identify_rule(learner: Any) -> GrowthOrder:
    """Identify the order in which a learner splits leaves.

    Parameters
    ----------
    learner : a rule, an estimator, a name, or a callable ``(X, y, size)`` that returns a fitted
        model with at most ``size`` splits, as in ``compare``; regressors predict labels 0 and 1 as
        numbers

    Examples
    --------
    >>> import mictree as mt
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> mt.identify_rule(DecisionTreeClassifier()).order
    'weighted'
    """
    made = hasattr(learner, "get_params") and not isinstance(learner, type)
    numeric = made and is_regressor(learner)
    peers = read_peers(learner, numeric=numeric)
    if len(peers) != 1:
        raise ValueError(f"one learner is identified at a time; got {len(peers)}")
    peer = peers[0]
    evidence = []
    agreeing = {
        (order, grower) for order, (_, growers) in ORDERS.items() for grower in range(len(growers))
    }
    for number, case in enumerate(CASES):
        for size, labels in enumerate(_predictions(peer, case, numeric)):
            if size == 0:
                continue
            same = {
                (order, grower)
                for order, (_, growers) in ORDERS.items()
                for grower in range(len(growers))
                if np.allclose(_expected(order, grower, number, numeric)[size], labels)
            }
            agreeing &= same
            found = tuple(order for order in ORDERS if any(each == order for each, _ in same))
            evidence.append(Evidence(number + 1, size, found))
    orders = {order for order, _ in agreeing}
    return GrowthOrder(peer.name, orders.pop() if len(orders) == 1 else NONE, tuple(evidence))


def _predictions(peer: Peer, case: Case, numeric: bool) -> list[np.ndarray]:
    bits, labels = case.data()
    training = TrainingSet(_problem(bits, labels, numeric), bits, labels, bits)
    return [model.codes(bits) for model in peer.models(training, MAX_SIZE)]


def _problem(bits: np.ndarray, labels: np.ndarray, numeric: bool) -> SampleProblem:
    return SampleProblem(bits, labels, loss="squared" if numeric else None)


@cache
def _expected(
    order: str, grower: int, number: int, numeric: bool = False
) -> tuple[np.ndarray, ...]:
    """The predictions of a grower of a known order, by size."""
    bits, labels = CASES[number].data()
    growth = ORDERS[order][1][grower].grow(_problem(bits, labels, numeric), MAX_SIZE)
    return tuple(growth.tree(size).predict(bits) for size in range(MAX_SIZE + 1))
