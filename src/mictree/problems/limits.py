"""Limits on the leaves and splits of a learner."""

import math
from dataclasses import dataclass

from mictree._support.checks import check_count


@dataclass(frozen=True)
class Limits:
    """Limits on the leaves and splits of a learner.

    Parameters
    ----------
    min_samples_split : do not split leaves with fewer rows
    min_samples_leaf : do not make leaves with fewer rows
    max_depth : the largest number of tests on a path; None for no limit
    min_gain : do not make splits with a smaller gain (not weighted by reach)
    min_weight_fraction_leaf : do not make leaves with a smaller share of the total weight
    """

    min_samples_split: int = 2
    min_samples_leaf: int = 1
    max_depth: int | None = None
    min_gain: float = 0.0
    min_weight_fraction_leaf: float = 0.0

    def __post_init__(self) -> None:
        for name in ("min_samples_split", "min_samples_leaf"):
            check_count(getattr(self, name), name)
        if self.max_depth is not None:
            check_count(self.max_depth, "max_depth")
        if not 0 <= self.min_gain < math.inf:
            raise ValueError(f"min_gain must be finite and not negative; got {self.min_gain!r}")
        share = self.min_weight_fraction_leaf
        if not 0 <= share <= 0.5:
            raise ValueError(f"min_weight_fraction_leaf must be from 0 to 0.5; got {share!r}")


NO_LIMITS = Limits()
