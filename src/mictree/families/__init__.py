"""Sets of problems, and sweeps over them."""

from mictree.families.family import Family, grid, up_to
from mictree.families.function_classes import FunctionFamily, functions, monotone, threshold
from mictree.families.table_growth import Sizes, exact_sizes

__all__ = [
    "Family",
    "FunctionFamily",
    "Sizes",
    "exact_sizes",
    "functions",
    "grid",
    "monotone",
    "threshold",
    "up_to",
]


def __dir__() -> list[str]:
    return __all__
