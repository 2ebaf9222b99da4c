"""The open leaves of a growing tree against a plain list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mictree.growers import choosing as module
from mictree.growers.choosing import below, stream
from mictree.growers.rules import TIE_TOLERANCE, TIES

PRIORITIES = st.sampled_from([0.0, 1.0, 1.0 - 1e-12, 1.0 - 1e-9, -2.0, 0.5, np.inf, -np.inf])
REACHES = st.sampled_from([0.5, 0.25, 0.25 * (1 + 1e-12)])


def slow_choice(leaves, ties, draws):
    """Of all (number, reach, priority) in order of creation."""
    limited = [min(max(priority, -1e308), 1e308) for _, _, priority in leaves]
    least = max(limited) - TIE_TOLERANCE * abs(max(limited))
    tied = [leaf for leaf, priority in zip(leaves, limited, strict=True) if priority >= least]
    if ties == "first":
        return tied[0][0]
    if ties == "last":
        return tied[-1][0]
    if ties == "random":
        return tied[below(draws, len(tied))][0]
    sign = 1 if ties == "heaviest" else -1
    most = max(sign * reach for _, reach, _ in tied)
    return [n for n, reach, _ in tied if sign * reach >= most - TIE_TOLERANCE * abs(most)][-1]


@pytest.mark.parametrize("ties", TIES)
@given(
    capacity=st.sampled_from([1, 2, 15, 16, 17, 40, 256, 257, 300, 5000]),
    rows=st.lists(st.tuples(PRIORITIES, REACHES, st.booleans()), min_size=1, max_size=60),
    gap=st.integers(1, 90),
)
def test_the_leaf_of_a_plain_list(ties, capacity, rows, gap):
    frontier = module.new_frontier(capacity)
    fast, slow = stream(3), stream(3)
    leaves = []
    assert not module.any_open(frontier)
    for place, (priority, reach, splits) in enumerate(rows):
        number = place * gap
        if number < capacity:
            module.open_leaf(frontier, number, reach, priority)
            leaves.append((number, reach, priority))
        if splits and leaves:
            chosen = module.choose_leaf(frontier, TIES.index(ties), fast)
            assert chosen == slow_choice(leaves, ties, slow)
            module.close_leaf(frontier, chosen)
            leaves = [leaf for leaf in leaves if leaf[0] != chosen]
        assert module.any_open(frontier) == bool(leaves)
