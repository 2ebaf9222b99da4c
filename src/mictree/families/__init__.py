"""Sets of problems, and sweeps over them."""

from mictree.families.family import Family, grid, up_to

__all__ = ["Family", "grid", "up_to"]
