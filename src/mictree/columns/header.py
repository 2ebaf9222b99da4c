"""The names of a table's columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def check_header(names: Sequence[str], file: object = "") -> None:
    """Refuse duplicate names: a copy of the target would give the answer away."""
    for name, count in Counter(names).items():
        if count > 1:
            where = f" in {file}" if file else ""
            raise ValueError(
                f"columns must have different names; {name!r} occurs {_times(count)}{where}"
            )


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"
