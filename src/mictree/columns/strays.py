"""The error for a column of numbers or dates with other texts in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from mictree._support.words import shell_word, shorten

if TYPE_CHECKING:
    import polars

SHOWN = 5  # texts
MOST_SPELLINGS = 3  # of missing to offer; more texts than that are hardly all gaps


class Ways(NamedTuple):
    """Which options can act on the column.

    options : those that read it in another way, or leave it out
    asked : the user asked for numbers by ``--number``
    points : its numbers may have points between thousands
    """

    options: Sequence[str] = ()
    asked: bool = False
    points: bool = False


def tell_strays(
    present: polars.Series, good: polars.Series, ways: Ways, wanted: str = "numbers"
) -> str:
    """The rule, the texts that break it, and the options that act on them.

    Parameters
    ----------
    present, good : the cells that are not missing, and which of them are as wanted
    ways : what the options of the command can do
    wanted : "numbers" or "dates"
    """
    name, column = present.name, shell_word(present.name)
    texts = present.filter(~good).value_counts(sort=True, name="rows")[name].to_list()
    listed = ", ".join(repr(shorten(text)) for text in texts[:SHOWN])
    more = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    rows, right = int((~good).sum()), int(good.sum())
    found = wanted[:-1] if right == 1 else wanted
    rule, example, other = "numbers or texts, not both", "", "text"
    if wanted == "dates":
        rule, other = "dates of one form", "other text"
        example = f" such as {present.filter(good)[0]!r}"
    options = _missing_options(texts)
    if ways.points:
        options.append("--decimal , if points separate thousands")
    options += ways.options
    last = ", or " if len(options) > 1 else ""
    added = f", or add {', '.join(options[:-1])}{last}{options[-1]}" if options else ""
    left_out = f", or leave out --number {column}" if ways.asked else ""
    return (
        f"a column must hold {rule}; {name} has {right} {found}{example} and {rows} "
        f"{other}{'' if rows == 1 else 's'}: {listed}{more}. Correct them{added}{left_out}"
    )


def _missing_options(texts: Sequence[str]) -> list[str]:
    """The options that read a few texts as missing."""
    if len(texts) > MOST_SPELLINGS:
        return ["--missing TEXT for each of them that means missing"]
    # only what can be typed
    typed = [f"--missing {shell_word(text)}" for text in texts if text == shorten(text)]
    return [f"{' '.join(typed)} to read them as missing"] if typed else []
