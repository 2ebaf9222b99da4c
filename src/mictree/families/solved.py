"""The common parts of all sweeps: a family with its optimal errors, and columns of a frame."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mictree._support.checks import check_size
from mictree.families.blocks import Blocks
from mictree.families.family import Family
from mictree.families.formula_sweep import SolvedFormulas
from mictree.families.functions import FunctionFamily
from mictree.families.table_sweep import SolvedTables


def solve(
    family: Family | FunctionFamily, blocks: Blocks, memory_limit: int, scratch: Path | None
) -> SolvedFormulas | SolvedTables:
    """The optimal errors of all members."""
    if isinstance(family, Family):
        return SolvedFormulas(family, blocks, memory_limit, scratch)
    if scratch is not None:
        raise ValueError(f"scratch is for families of formulas; got {family.name}")
    return SolvedTables(family, blocks, memory_limit)


def repeated(columns: dict[str, Any], times: int) -> dict[str, Any]:
    """Columns about members, again and again."""
    member = np.tile(np.arange(len(columns["member"])), times)
    return {
        name: column.gather(member) if isinstance(column, pl.Series) else column[member]
        for name, column in columns.items()
    }


def excess_columns(table: np.ndarray) -> dict[str, np.ndarray]:
    """MIC, the largest excess error and its size by name."""
    return {
        "mic": table[:, 0],
        "largest_excess": table[:, 1],
        "largest_excess_size": table[:, 2].astype(np.int32),
    }


def check_max_size(max_size: int) -> int:
    """t*, the number of sizes that a mean is over."""
    limit = check_size(max_size)
    if limit < 1:
        raise ValueError(f"max_size must be at least 1, as MIC is a mean over sizes; got {limit}")
    return limit
