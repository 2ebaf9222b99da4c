"""Joint distributions by multiplying conditional probabilities, row by row."""

from fractions import Fraction


def joint(parents: list[list[int]], tables: list[dict], row: int) -> Fraction:
    """The probability of a row: bit i is variable i; tables map parents' values to P[x = 1]."""
    probability = Fraction(1)
    for variable, (others, table) in enumerate(zip(parents, tables, strict=True)):
        one = table[tuple(row >> other & 1 for other in others)]
        probability *= one if row >> variable & 1 else 1 - one
    return probability
