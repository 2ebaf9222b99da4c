"""The error of a majority vote, one input after another."""

from collections.abc import Callable, Sequence
from fractions import Fraction


def vote_error(
    inputs: Sequence[tuple[Sequence[int], Sequence[Fraction]]],
    trees: Sequence[Callable[[Sequence[int]], int]],
) -> Fraction:
    """The chance of a wrong vote.

    Each input has its values and the chance of that input with each label; trees map values to a
    label. Labels of equally many votes are each given an equal share.
    """
    wrong = Fraction(0)
    for values, chances in inputs:
        votes = [tree(values) for tree in trees]
        most = max(votes.count(label) for label in set(votes))
        winners = [label for label in set(votes) if votes.count(label) == most]
        for label, chance in enumerate(chances):
            share = Fraction(winners.count(label), len(winners))
            wrong += chance * (1 - share)
    return wrong
