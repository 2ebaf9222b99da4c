"""The least cost of a tree, wrong weight plus price of splits, by trying every test everywhere."""

from fractions import Fraction


def least_cost(rows, labels, weights, price):
    """The least cost over trees of any size; rows are lists of 0 and 1."""
    known = {}

    def cost(members):
        if members not in known:
            masses = {}
            for row in members:
                masses[labels[row]] = masses.get(labels[row], 0) + Fraction(weights[row])
            best = sum(masses.values()) - max(masses.values())
            for column in range(len(rows[0])):
                high = frozenset(row for row in members if rows[row][column])
                if high and high != members:
                    best = min(best, price + cost(high) + cost(members - high))
            known[members] = best
        return known[members]

    return cost(frozenset(range(len(rows))))
