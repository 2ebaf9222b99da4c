"""OPT(F, t) by the recurrences of the section "Efficient Calculation of Optimal Trees".

Initialised as the supplement says: OPT(F, 0) is the error of a lone leaf, OPT of the empty formula
is 0, and S_i is 1 when the term has no variable of bias p_i. The paper does not say, but needs:
a formula with an empty term is constantly true, so its OPT is 0 too; and F is a multiset.
"""

from fractions import Fraction
from functools import cache
from math import prod

HALF = Fraction(1, 2)


def lone_leaf_error(term_probabilities: list[Fraction]) -> Fraction:
    """The error of a tree of size 0; the terms are independent as the formula is read-once."""
    rate = 1 - prod((1 - probability for probability in term_probabilities), start=Fraction(1))
    return min(rate, 1 - rate)


@cache
def uniform_optimal(term_sizes: tuple[int, ...], size: int) -> Fraction:
    """The paper's recurrence for the uniform distribution; a term is its number of literals."""
    if len(term_sizes) == 0 or 0 in term_sizes:
        return Fraction(0)
    if size == 0:
        return lone_leaf_error([HALF**length for length in term_sizes])
    errors = []
    for i, length in enumerate(term_sizes):
        without = term_sizes[:i] + term_sizes[i + 1 :]
        shortened = tuple(sorted((*without, length - 1)))
        for j in range(size):
            low = uniform_optimal(without, j)
            high = uniform_optimal(shortened, size - 1 - j)
            errors.append(HALF * low + HALF * high)
    return min(errors)


@cache
def two_bias_optimal(
    terms: tuple[tuple[int, int], ...], bias1: Fraction, bias2: Fraction, size: int
) -> Fraction:
    """The paper's recurrence for two biases; a term is its number of literals of either bias."""
    if len(terms) == 0 or (0, 0) in terms:
        return Fraction(0)
    if size == 0:
        return lone_leaf_error([bias1**count1 * bias2**count2 for count1, count2 in terms])
    errors = []
    for i, (count1, count2) in enumerate(terms):
        without = terms[:i] + terms[i + 1 :]
        for j in range(size):
            low = two_bias_optimal(without, bias1, bias2, j)
            s1 = s2 = Fraction(1)
            if count1 > 0:
                shortened = tuple(sorted((*without, (count1 - 1, count2))))
                high = two_bias_optimal(shortened, bias1, bias2, size - 1 - j)
                s1 = (1 - bias1) * low + bias1 * high
            if count2 > 0:
                shortened = tuple(sorted((*without, (count1, count2 - 1))))
                high = two_bias_optimal(shortened, bias1, bias2, size - 1 - j)
                s2 = (1 - bias2) * low + bias2 * high
            errors.append(min(s1, s2))
    return min(errors)


@cache
def any_bias_optimal(terms: tuple[tuple[Fraction, ...], ...], size: int) -> Fraction:
    """The same for any biases; a term is the sorted tuple of its satisfaction probabilities.

    A positive literal is satisfied with probability `bias`, a negated one with `1 - bias`.
    """
    if len(terms) == 0 or () in terms:
        return Fraction(0)
    if size == 0:
        return lone_leaf_error([prod(term, start=Fraction(1)) for term in terms])
    errors = []
    for i, term in enumerate(terms):
        without = terms[:i] + terms[i + 1 :]
        for k, satisfaction in enumerate(term):
            shortened = tuple(sorted((*without, term[:k] + term[k + 1 :])))
            for j in range(size):
                unsatisfied = any_bias_optimal(without, j)
                satisfied = any_bias_optimal(shortened, size - 1 - j)
                errors.append((1 - satisfaction) * unsatisfied + satisfaction * satisfied)
    return min(errors)
