"""Values as HTML for notebooks: tables that escape their cells, and drawings as SVG."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from mictree._support.words import show_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def to_table(heads: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "") -> str:
    """A table; every cell is escaped, floats have six digits."""
    lead = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_show(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table>{lead}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def to_text(text: str) -> str:
    """A text with its lines and spaces."""
    return f"<pre>{escape(text)}</pre>"


def to_svg(axes: Axes) -> str:
    """A drawing, whose figure is closed."""
    from matplotlib import pyplot

    figure = axes.get_figure(root=True)
    assert figure is not None
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None}, bbox_inches="tight")
    pyplot.close(figure)
    text = drawn.getvalue()
    return text[text.index("<svg") :]


def _show(cell: Any) -> str:
    return show_number(cell) if isinstance(cell, float) else str(cell)
