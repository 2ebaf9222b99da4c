"""Texts of literals, all different.

No two literals of a data set have the same text, and none has the text of another's negation. If
two would clash, a column's texts are quoted (``c is '1'`` beside ``c is 1``, and always if one is
"missing"). Any other clash is resolved by the number of the column: ``a > 1.5 (column 0)``.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from mictree.columns.column import Texts

JOINTS = (" > ", " <= ", " is ")  # what follows a column's name in a text


def may_clash(names: Sequence[str]) -> bool:
    """Whether texts of different columns may be equal, judged by their names alone.

    Both begin with a name, so one name must begin with the other and a joint, or be equal to it.
    """
    bare = names
    if "not " in "\n".join(names):
        bare = [_without_not(name) for name in names]
    known = set(bare)
    if len(known) < len(bare) or not all(map(str.strip, names)):
        return True
    every = "\n".join(bare)
    if not any(joint in every for joint in JOINTS):  # as in most tables
        return False
    return any(
        name[:place] in known for name in bare for joint in JOINTS for place in _places(name, joint)
    )


def _without_not(name: str) -> str:
    while name.startswith("not "):
        name = name.removeprefix("not ")
    return name


def _places(text: str, part: str) -> Iterable[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def tell_apart(columns: Iterable[Sequence[Texts]]) -> list[Texts]:
    """The texts of all columns in one list; blank texts and duplicates get a mark.

    The mark is the number of the column, and a second number if that is not enough.
    """
    numbered = [(number, pair) for number, texts in enumerate(columns) for pair in texts]
    uses = Counter(text for _, pair in numbered for text in pair)
    return [
        pair
        if all(uses[text] == 1 and text.strip() for text in pair)
        else _mark(pair, number, uses)
        for number, pair in numbered
    ]


def _mark(pair: Texts, number: int, uses: Counter[str]) -> Texts:
    """Texts with the number of their column that no literal has yet; adds them to ``uses``."""
    again, mark = 1, f" (column {number})"
    while pair[0] + mark in uses or pair[1] + mark in uses:
        again += 1
        mark = f" (column {number}, {again})"
    marked = pair[0] + mark, pair[1] + mark
    uses.update(marked)
    return marked
