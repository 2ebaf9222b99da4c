"""One self-contained page about all good trees of a problem.

It says how many there are by size, which variables all of them test, and how likely greedy rules
with random ties end among them; beside a heat map of shares and a few trees that differ most. The
same template, policy and escaping as of all pages (``report.page``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import matplotlib

from mictree import __version__
from mictree._support.words import count_of, show_number, to_svg
from mictree.optimal.good import good_trees
from mictree.problems.tasks import Errors
from mictree.report.data import SVG_STYLE
from mictree.report.page import Table, fill

if TYPE_CHECKING:
    from mictree.optimal.good import GoodTrees
    from mictree.optimal.good_chance import Chance

MOST_NAMED = 8  # variables in a sentence


@dataclass(frozen=True)
class GoodPage:
    """The content of the page."""

    title: str
    subtitle: str
    lines: tuple[str, ...]  # what was found
    counts: Table
    shares: bytes
    shares_alt: str
    trees: bytes
    trees_alt: str
    chances: tuple[Table, ...]
    facts: dict[str, str]


def make_page(good: GoodTrees, name: str, chances: Sequence[Chance] = ()) -> GoodPage:
    """The page about good trees of a formula or a file; all of them must be counted."""
    size = max((each for each, count in enumerate(good.counts) if count), default=0)
    heads, rows = good.cells()
    with matplotlib.rc_context(SVG_STYLE):
        shares, trees = to_svg(good.plot()), to_svg(good.draw(size).axes[0])
    return GoodPage(
        f"Good trees of {name}",
        "Every tree whose error is at most the least one of its size, and "
        f"{show_number(good.within)} more",
        tuple(sentences(good, size)),
        Table("Good trees by size", tuple(heads), tuple(map(tuple, rows))),
        shares.encode(),
        "a heat map: the share of the good trees that test each variable, by size",
        trees.encode(),
        f"a few good trees of {count_of(size, 'split')} that differ most",
        tuple(map(_chance_table, chances)),
        {"mictree": __version__, "within": str(good.within)},
    )


def sentences(good: GoodTrees, size: int) -> list[str]:
    """How many good trees of a size there are, and which variables all of them test, or none."""
    count = good.counts[size]
    least = show_number(float(good.optimal_errors[size]), 4)
    first = f"With {count_of(size, 'split')} the least error is {least}; "
    if count == 1:
        first += "one tree is good" if good.within else "one tree has it"
    else:
        first += f"{count:,} trees are good"
    lines = [f"{first}."]
    shares = {
        name: share
        for each, name, share in good.variables.select("size", "variable", "share").iter_rows()
        if each == size and share is not None
    }
    every = [name for name, share in shares.items() if share == 1.0]
    never = [name for name, share in shares.items() if share == 0.0]
    if size and every:
        lines.append(f"All of them test {_listed(every)}.")
    elif size and count > 1:
        lines.append("No variable is tested by all of them.")
    if size and never:
        lines.append(f"None of them tests {_listed(never)}.")
    return lines


def _listed(names: Sequence[str]) -> str:
    if len(names) <= MOST_NAMED:
        return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
    return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"


def _chance_table(chance: Chance) -> Table:
    how = "exact" if chance.runs is None else f"of {chance.runs:,} runs"
    rows = tuple(
        (str(size), show_number(each, 4), "too many to tell" if reached is None else f"{reached:,}")
        for size, (each, reached) in enumerate(zip(chance.chances, chance.reached, strict=True))
    )
    title = f"{chance.rule} with random ties: chance to end among the good trees, {how}"
    return Table(title, ("size", "chance", "good trees that it can reach"), rows)


MOST_COUNTED = 8  # splits of a fitted tree whose like are counted
ROOM = 2**29  # bytes


def among_good(model: Any, size: int, seconds: float) -> str:
    """One sentence: how many trees of a size err almost as little as the best; or nothing.

    Trees count that make at most one error more than the best of their size on the rows that the
    model grew on. Nothing is said of weighted rows and of other tasks than errors, nor where this
    cannot be counted in so many seconds. All splits count, also those that a drawing leaves out.
    """
    problem, tree = model._problem, model.at_size(size).tree_  # whose own problem has no rows
    size, rows = tree.size, int(problem.class_rows.sum())
    plain = isinstance(problem.task, Errors) and not len(problem.weights)
    if not plain or (problem.class_weight != 1).any() or not 0 < size <= MOST_COUNTED:
        return ""
    try:
        good = good_trees(problem, size, Fraction(1, rows), memory_limit=ROOM, time_limit=seconds)
        if good.ended[size]:
            return ""
        count, mine = good.counts[size], good.contains(tree)
        columns = {problem.literals.locate(each)[0] for each in tree.positions(problem).values()}
        names = [problem.literals.columns[column].name for column in sorted(columns)]
        needed = [name for name in names if count and good.needs(size, name)]
    except ValueError:  # no proof, or no room
        return ""
    most = f"at most one error more than the best tree of {count_of(size, 'split')}"
    if mine:
        others = "It is the only tree" if count == 1 else f"It is one of {count:,} trees"
        first = f"{others} of this size with {most}"
    elif count == 1:
        first = f"One tree has {most}, and this is another"
    else:
        first = f"{count:,} trees have {most}, and this is none of them"
    if needed and count > 1:
        first += f"; all of them test {_listed(needed)}"
    return f"{first}, on the rows that it grew on."


def render(page: GoodPage) -> str:
    """The page as HTML text."""
    return fill("good.html", page=page)
