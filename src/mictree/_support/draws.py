"""A small random generator for Python code and kernels alike (Steele's SplitMix64)."""

import numpy as np

from mictree._support.jit import jit

MASK = 2**64 - 1
STEP = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def stream(seed: int) -> np.typing.NDArray[np.uint64]:
    """The state of a generator, which ``below`` moves on."""
    return np.array([seed & MASK], dtype=np.uint64)


@jit
def below(state, count):
    """A number from 0 to ``count - 1``; the bias of the remainder is below 2**-40."""
    state[0] += STEP
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * FACTORS[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * FACTORS[1]
    mixed = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(1)
    return np.int64(mixed % np.uint64(count))
