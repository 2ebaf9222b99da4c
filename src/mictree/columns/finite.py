"""Infinite numbers, which a tree neither learns from nor tests."""

from __future__ import annotations

from mictree._support.checks import ColumnError
from mictree.columns.data import Data


def check_finite(data: Data, number: int, name: str) -> None:
    """Refuse a column with an infinite number; the tree that tests it needs the column."""
    if data.has_infinity(number):
        raise infinite(name)


def infinite(name: str, where: str = "", advice: str = "") -> ColumnError:
    """The error about a column with an infinite number."""
    return ColumnError(f"X must not contain infinity; {name} does{where}", name, advice)
