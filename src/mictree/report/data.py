"""One self-contained page about trees on a data set.

Names of columns, classes and files come from users, so all text is escaped. Pictures are image
elements, which cannot run scripts, and the content security policy allows no script at all.
"""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure

from mictree import __version__
from mictree._support import notebook
from mictree._support.words import merged_note
from mictree.estimators.scoring import MOST_CLASSES, NEVER
from mictree.report.page import Table, fill

if TYPE_CHECKING:
    from mictree.estimators.base import TreeClassifier
    from mictree.estimators.scoring import ClassResults

SVG_STYLE: dict[Any, Any] = {
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "mictree data",
}
RULE_HEADS = ("if", "then", "rows", "of all", "right")
ENLARGED, PAGE_WIDTH = 1.6, 744  # how many times, and points: 62 rem, as in page.css
MOST_IMPORTANT = 20  # columns that the page lists


@dataclass(frozen=True)
class Curves:
    """The picture of errors by size, and its numbers."""

    svg: bytes
    alt: str
    caption: str
    numbers: Table
    legend: str  # what the marks in the table mean


@dataclass(frozen=True)
class ShownTree:
    """A tree: its picture, and its rules with their rows, coverage and precision.

    ``results`` has a table of classes on held-out rows, and a confusion matrix if it fits.
    """

    title: str
    note: str
    svg: bytes
    text: str
    rules: tuple[tuple[str, str, str, str, str], ...]
    results: tuple[Table, ...] = ()


@dataclass(frozen=True)
class Importance:
    """The share of a column in the drop of impurity, a number from 0 to 1 for each tree."""

    column: str
    shares: tuple[float, ...]


@dataclass(frozen=True)
class DataPage:
    """The content of the page.

    Attributes
    ----------
    advice : one plain sentence or more: what to do
    notes : the findings behind it
    command : what to type to write the optimal tree, or nothing
    trees : the chosen one first
    facts : the settings with which a user can repeat the run
    """

    title: str
    subtitle: str
    advice: tuple[str, ...]
    notes: tuple[str, ...]
    curves: Curves
    trees: tuple[ShownTree, ...]
    importances: tuple[Importance, ...]
    importance_heads: tuple[str, ...]
    facts: dict[str, object]
    command: str = ""


def render(page: DataPage) -> str:
    """The page as HTML text."""
    facts = {"mictree": __version__, **page.facts}
    return fill("data.html", page=page, rule_heads=RULE_HEADS, facts=facts, never=NEVER)


def show_tree(
    model: "TreeClassifier",
    title: str,
    note: str = "",
    results: "ClassResults | None" = None,
    merge: bool = True,
) -> ShownTree:
    """A fitted model's tree of full size; the note ends with the number of merged splits."""
    with matplotlib.rc_context(SVG_STYLE):
        drawn = enlarge(notebook.to_svg(model.draw(merge=merge))).encode()
    tree = model.tree_.merged() if merge else model.tree_
    merged = merged_note(model.tree_.size - tree.size)
    note = " ".join(filter(None, [note, f"{merged}." if merged else ""]))
    text = tree.to_text([str(label) for label in model.classes_], merge=False)
    rules = model.to_rules()
    rows = tuple(
        (str(row["rule"]), str(row["label"]), f"{row['rows']:,}", f"{row['coverage']:.0%}",
         f"{row['precision']:.0%}")
        for row in rules.frame.iter_rows(named=True)
    )  # fmt: skip
    tables = () if results is None else show_classes(results)
    return ShownTree(title[0].upper() + title[1:], note, drawn, text, rows, tables)


def show_classes(results: "ClassResults") -> tuple[Table, ...]:
    """Recall and precision of classes, and their confusion matrix unless it is too large."""
    by_class = Table("classes on held-out rows", results.heads(), tuple(results.cells()))
    if len(results.classes) > MOST_CLASSES:
        return (by_class,)
    matrix = Table("confusion matrix", results.matrix_heads(), tuple(results.matrix_cells()))
    return by_class, matrix


def enlarge(svg: str) -> str:
    """A tree drawn for paper, larger for a screen, but for that no wider than the page."""
    found = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg)
    assert found is not None
    width, height = map(float, found.groups())
    scale = max(1.0, min(ENLARGED, PAGE_WIDTH / width))
    size = f'width="{scale * width:.6f}pt" height="{scale * height:.6f}pt"'
    return svg[: found.start()] + size + svg[found.end() :]


def importances(models: Sequence["TreeClassifier"], names: Sequence[str]) -> tuple[Importance, ...]:
    """The columns that some tree tests, the most important of the first tree first."""
    shares = [model.feature_importances_.tolist() for model in models]
    found = [
        Importance(name, own)
        for name, *each in zip(names, *shares, strict=True)
        if any(own := tuple(each))
    ]
    return tuple(sorted(found, key=lambda each: tuple(-share for share in each.shares)))[
        :MOST_IMPORTANT
    ]


def to_svg(draw: Callable[[Figure], object]) -> bytes:
    """A figure of curves, the same bytes for the same picture."""
    stream = io.BytesIO()
    with matplotlib.rc_context(SVG_STYLE):
        figure = Figure(layout="constrained")
        draw(figure)
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
