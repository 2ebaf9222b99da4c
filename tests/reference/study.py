"""What the study computes, written out: folds, true errors, chosen sizes, and tests over sets."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

Predictions = Sequence[Sequence[int]]  # by size, for every input


def true_error(
    chances: Sequence[Fraction], rates: Sequence[Fraction], labels: Sequence[int]
) -> Fraction:
    """The probability that labels, one for every input, are wrong."""
    return sum(
        (chance * (1 - rate if label == 1 else rate)
         for chance, rate, label in zip(chances, rates, labels, strict=True)),
        Fraction(0),
    )  # fmt: skip


def deal(labels: Sequence[int], folds: int, order: Sequence[int]) -> list[int]:
    """The fold of each row: in this order, all rows of the first label first, one fold each."""
    dealt = [-1] * len(labels)
    number = 0
    for label in sorted(set(labels)):
        for row in order:
            if labels[row] == label:
                dealt[row] = number % folds
                number += 1
    return dealt


def choose_size(
    learn: Callable[[list[int]], Predictions],
    codes: Sequence[int],
    labels: Sequence[int],
    fold: Sequence[int],
) -> int:
    """The first size with the fewest errors; ``learn`` gets the rows to learn from."""
    wrong: list[int] = []
    for held in sorted(set(fold)):
        rows = [row for row in range(len(codes)) if fold[row] != held]
        predictions = learn(rows)
        wrong = wrong or [0] * len(predictions)
        for size, predicted in enumerate(predictions):
            for row in range(len(codes)):
                if fold[row] == held and predicted[codes[row]] != labels[row]:
                    wrong[size] += 1
    return wrong.index(min(wrong))


def tau_b(one: Sequence[float], other: Sequence[float]) -> float:
    """Kendall's rank correlation with ties."""
    agree = ties_one = ties_other = 0
    pairs = 0
    for i in range(len(one)):
        for j in range(i):
            pairs += 1
            ties_one += one[i] == one[j]
            ties_other += other[i] == other[j]
            sign = (one[i] - one[j]) * (other[i] - other[j])
            agree += (sign > 0) - (sign < 0)
    return agree / ((pairs - ties_one) * (pairs - ties_other)) ** 0.5


def holm(p_values: Sequence[float]) -> list[float]:
    """The k-th smallest of n is multiplied by n - k + 1; none may be below a smaller one's."""
    order = sorted(range(len(p_values)), key=lambda number: p_values[number])
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for place, number in enumerate(order):
        least = max(least, min(1.0, p_values[number] * (len(p_values) - place)))
        adjusted[number] = least
    return adjusted


def signed_rank(differences: Sequence[float]) -> float:
    """Two-sided, by all signs of different ranks; no difference is 0 and none ties."""
    ranked = sorted(differences, key=abs)
    positive = sum(rank for rank, value in enumerate(ranked, 1) if value > 0)
    sums = [
        sum(rank for rank, sign in enumerate(signs, 1) if sign)
        for signs in product((False, True), repeat=len(ranked))
    ]
    low = sum(each <= positive for each in sums) / len(sums)
    high = sum(each >= positive for each in sums) / len(sums)
    return min(1.0, 2 * min(low, high))


def bayes_counts(
    differences: Sequence[float], rope: float, draws: Sequence[Sequence[float]]
) -> tuple[int, int, int]:
    """How often above, within and below the rope is the most probable of the three.

    A draw has a weight for the prior's difference 0, and then one for each difference.
    """
    values = [0.0, *differences]
    counts = [0, 0, 0]
    for weights in draws:
        chances = [0.0, 0.0, 0.0]
        for value, weight in zip(values, weights, strict=True):
            for other, second in zip(values, weights, strict=True):
                mean = (value + other) / 2
                place = 0 if mean > rope else 2 if mean < -rope else 1
                chances[place] += weight * second
        counts[chances.index(max(chances))] += 1
    return counts[0], counts[1], counts[2]


def corrected(differences: Sequence[float], ratio: float) -> tuple[float, float]:
    """The mean over folds and Nadeau and Bengio's standard error; rows held out per row learned."""
    count = len(differences)
    mean = sum(differences) / count
    variance = sum((each - mean) ** 2 for each in differences) / (count - 1)
    return mean, ((1 / count + ratio) * variance) ** 0.5
