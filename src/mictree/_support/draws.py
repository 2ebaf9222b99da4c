"""A small random generator that Python code and compiled kernels share (Steele's SplitMix64)."""

MASK = 2**64 - 1
STEP = 0x9E3779B97F4A7C15
MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


class Draws:
    """A seeded stream of 64-bit numbers."""

    def __init__(self, seed: int) -> None:
        self._state = seed & MASK

    def below(self, count: int) -> int:
        """A number from 0 to ``count - 1``; the bias of the remainder is below 2**-50."""
        self._state = (self._state + STEP) & MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * MULTIPLIERS[0]) & MASK
        mixed = ((mixed ^ (mixed >> 27)) * MULTIPLIERS[1]) & MASK
        return ((mixed ^ (mixed >> 31)) >> 1) % count
