"""The memory of the search: the rows, and one frame of scratch for each level of the recursion.

A sub-problem is a set of rows and a budget of splits. The search works on one sub-problem per level
at a time: frame 0 has the whole question, frame 1 a child of it, and so on. A frame has three kinds
of fields: the question (rows, budget, depth, bound), the errors that counting its pairs of literals
gives, and how far its list of (literal, share of the budget) has been tried.

Invariant: while frame ``n + 1`` works, frame ``n`` stands at ``(position, low_budget, side)``, and
the rows of frame ``n + 1`` are the rows of frame ``n`` on that side of that literal.

Low is the side where a literal does not hold (side 0), high where it holds (side 1). Scalars are
fields of records, which compile as fast as plain arrays; arrays are few, as compiling grows with
their number.
"""

from typing import NamedTuple

import numpy as np

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

LEVEL = np.dtype(
    [
        # the question: the least error of these rows with this budget, if it is below the bound
        ("budget", np.int64),
        ("depth", np.int64),
        ("bound", np.int64),
        ("key_high", np.uint64),  # the hash of the rows
        ("key_low", np.uint64),
        ("floor", np.int64),  # the error that no tree avoids
        # what is known of the answer
        ("errors", np.int64, (4,)),  # least errors with 0, 1, 2 splits; with one in each child too
        ("best", np.int64),  # an error that some tree attains
        ("limit", np.int64),  # only trees with a smaller error are wanted: the bound or the best
        ("goal", np.int64),  # an error that is good enough to stop
        # where the search stands
        (
            "counted",
            np.int64,
        ),  # the child of the frame above whose pairs are here: 2 literal + side
        ("useful", np.int64),  # how many literals split the rows; -1 until they are sorted
        ("position", np.int64),  # the place of the literal being tried, in the order
        ("turn", np.int64),  # the number of the share of the budget being tried
        ("low_budget", np.int64),  # that share: the splits of the low child
        ("side", np.int64),  # the child that was asked last
        ("looked_up", np.int64),  # whether the bounds of this literal's children are filled
        ("smaller", np.int64),  # the side of the child with less weight
        ("tried", np.int64),  # how many literals' bounds are kept
        ("refuted", np.int64),  # with a price: no test that was tried leads to a smaller cost
    ],
    align=True,
)

CHILD = np.dtype(
    [
        ("key_high", np.uint64),
        ("key_low", np.uint64),
        ("exact", np.uint64),  # bit b: the bound for budget b is the least error
    ],
    align=True,
)


class Data(NamedTuple):
    """Distinct rows in slots: sorted by class, each class from a word boundary on.

    Weights are integers, int32 or int64, kept as sums of a few amounts.
    """

    words: np.ndarray  # (slots, words): the literals' bits; then, if there are many, the amounts'
    columns: np.ndarray  # (literals, slot words): the slots in which each literal holds
    amounts: np.ndarray
    weights: np.ndarray  # (slots, 2): the weight, and what of it no tree can label right
    keys: np.ndarray  # (slots, 2) random
    first_word: np.ndarray  # (classes + 1,)


class Frames(NamedTuple):
    """One frame per level; every array's first index is the level."""

    levels: np.ndarray  # (levels,) of LEVEL
    children: np.ndarray  # (levels, 2) of CHILD: both children of the literal being tried
    mask: np.ndarray  # (levels, slot words): the slots of the rows
    totals: np.ndarray  # (levels, classes): the weight of each class
    pairs: np.ndarray  # (levels, classes, literals, literals) weight where both hold; lower half
    held: np.ndarray  # (levels, classes + 1, literals): weight where one holds, by class and in all
    least: np.ndarray  # (levels, 3, 2, literals): least errors of both children without a split
    # (low is -1 where the literal is constant), with one; their floors
    order: np.ndarray  # (levels, 2, literals): in which literals are tried; those tried so far
    bounds: np.ndarray  # (levels, 1 + literals, 2, budgets): lower bounds of both children by
    # budget: of the literal being tried, and of those tried so far


def make_frames(data: Data, budgets: int, levels: int) -> Frames:
    """Frames for a search over some rows."""
    return Frames(
        levels=np.zeros(levels, dtype=(np.record, LEVEL)),  # fields are attributes
        children=np.zeros((levels, 2), dtype=(np.record, CHILD)),
        **{
            name: np.empty((levels, *shape), dtype=kind)
            for name, (shape, kind) in _shapes(data, budgets).items()
        },
    )


def frame_bytes(data: Data, budgets: int) -> int:
    """The memory of one level, at most."""
    words = sum(int(np.prod(shape)) for shape, _ in _shapes(data, budgets).values())
    return LEVEL.itemsize + 2 * CHILD.itemsize + 8 * words


def _shapes(data: Data, budgets: int) -> dict[str, tuple[tuple[int, ...], np.dtype | type]]:
    literals, classes = len(data.columns), len(data.first_word) - 1
    kind = data.weights.dtype
    return {
        "mask": ((data.columns.shape[1],), np.uint64),
        "totals": ((classes,), kind),
        "pairs": ((classes, literals, literals), kind),
        "held": ((classes + 1, literals), kind),
        "least": ((3, 2, literals), kind),
        "order": ((2, literals), np.int64),
        "bounds": ((1 + literals, 2, budgets + 1), kind),
    }


def first_test(frames: Frames, budget: int, least: int) -> tuple[int, int, int, int]:
    """The first test of the tree that frame 0 has retraced.

    Returns the literal, the budget of the low child, and the least errors of both children. Of all
    that the pair counts prove to be as good, the one with the purest children is taken.
    """
    children = frames.least[0].astype(np.int64)
    for sizes in ([(0, 0)], [(0, 1), (1, 0)], [(1, 1)]):
        ways = []
        for low, high in sizes:
            errors = children[low, 0] + children[high, 1]
            attained = np.flatnonzero((children[0, 0] >= 0) & (errors == least))
            ways += [(literal, low, high) for literal in attained.tolist()]
        if ways and sum(sizes[0]) < budget:
            impurity = _impurities(frames.held[0, :-1], frames.totals[0])
            literal, low, high = min(ways, key=lambda way: impurity[way[0]])
            return literal, low, int(children[low, 0, literal]), int(children[high, 1, literal])
    root = frames.levels[0]
    literal, low = int(frames.order[0, 0, root.position]), int(root.low_budget)
    high = int(root.budget) - 1 - low  # depth may leave less than the budget
    low_error, high_error = frames.bounds[0, 0, 0, low], frames.bounds[0, 0, 1, high]
    return literal, low, int(low_error), int(high_error)


def _impurities(high: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """The Gini impurity of both children of each literal, weighted, from the classes' weights."""
    sides = np.stack([totals[:, None] - high, high]).astype(float)
    masses = sides.sum(axis=1)
    return (masses - (sides**2).sum(axis=1) / np.maximum(masses, 1)).sum(axis=0)
