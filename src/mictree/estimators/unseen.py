"""Texts of a table that no training row had, where they reach a test of a saved tree.

A test "code is 007" fails for every other text. That is right for the categories that the tree was
grown on, but a text that it has never seen may be one of them in another spelling.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from mictree._support.words import count_of, shorten, show_name
from mictree.columns.data import Data
from mictree.estimators.saved import SavedTreeClassifier


class Unseen:
    """Counts such texts, by column, in one table or in the batches of a larger one."""

    def __init__(self, model: SavedTreeClassifier, size: int | None = None) -> None:
        self._model = model if size is None else model.at_size(size)
        self._tests = self._model.literals_
        self._rows: dict[int, Counter[str]] = {}  # by the number of the tested column

    def add(self, X: Any) -> None:
        """Count the rows of a table."""
        data = self._model._read(X, reset=False)
        unknown = {
            number: texts
            for number, column in enumerate(self._tests.read)
            if column.seen is not None and (texts := self._unknown(data, number))
        }
        if not unknown:
            return
        splitting = self._model._splitting
        reached: dict[int, set[int]] = {number: set() for number in unknown}
        staged = self._model._staged_leaves(X)
        for leaf, test, leaves in zip(splitting.leaves, splitting.literals, staged, strict=False):
            number = self._tests.tests[test].column
            if number in unknown:
                rows = np.flatnonzero(leaves == leaf).tolist()
                reached[number] |= unknown[number].keys() & rows
        for number, rows in reached.items():
            counts = self._rows.setdefault(number, Counter())
            counts.update(unknown[number][row] for row in sorted(rows))

    def _unknown(self, data: Data, number: int) -> dict[int, str]:
        """The rows with a text that was not seen, and that text."""
        column = self._tests.read[number]
        values = data.column(self._tests.find(data, column))
        if not isinstance(values, list):  # no text at all
            return {}
        seen = {None, *(column.seen or ())}
        return {row: value for row, value in enumerate(values) if value not in seen}

    def lines(self) -> list[str]:
        """A warning for each column with such texts."""
        return [self._line(number, texts) for number, texts in sorted(self._rows.items()) if texts]

    def _line(self, number: int, texts: Counter[str]) -> str:
        column = self._tests.read[number]
        meant = {_plain(text): text for text in reversed(column.seen or ())}
        like = [text for text in texts if _plain(text) in meant]
        example = (like or list(texts))[0]
        hint = f" (is it {shorten(meant[_plain(example)])!r}?)" if like else ""
        rows = count_of(texts.total(), "row")
        return (
            f"warning: column {show_name(column.name)} has texts that no training row had, such as "
            f"{shorten(example)!r}{hint}, in {rows} that a test on it meets; the test takes them "
            "for none of the texts that it knows"
        )


def _plain(text: str) -> str:
    """A text without what spellings differ in: case, spaces, leading zeros, ``.0`` at the end."""
    return "".join(text.casefold().split()).removesuffix(".0").lstrip("0")
