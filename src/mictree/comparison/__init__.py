"""Any learner beside the optimal trees."""

from mictree.comparison.growth_order import identify_rule
from mictree.comparison.result import Comparison
from mictree.comparison.run import compare

__all__ = ["Comparison", "compare", "identify_rule"]
