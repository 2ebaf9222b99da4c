"""Greedy rules, and the loops that grow trees by them."""

from mictree.growers.growth import Growth, GrowthStep
from mictree.growers.rules import ID3, RULES, TIES, BestFirst, Grower, Lookahead, TopDown

__all__ = [
    "ID3",
    "RULES",
    "TIES",
    "BestFirst",
    "Grower",
    "Growth",
    "GrowthStep",
    "Lookahead",
    "TopDown",
]
