"""One self-contained page about learners and optimal trees on a data set.

Names of columns, classes and files are whatever a file held, so all text is escaped; the picture
is an image, which can run nothing, and the content security policy allows no script at all.
"""

import io
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure

from mictree import __version__
from mictree.report.page import fill

if TYPE_CHECKING:
    from mictree.comparison.result import Comparison

SVG_STYLE: dict[Any, Any] = {
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "mictree data",
}


def render(
    result: "Comparison", file: str, target: str, size: int, settings: dict[str, object]
) -> str:
    """The page as HTML text; the settings are those it takes to do the run again."""
    tree_title = result.tree_title(size)
    classes = [str(label) for label in result.classes]
    return fill(
        "data.html",
        title=f"{file}: predicting {target}",
        result=result,
        notes=result.summary,
        tree_title=tree_title[0].upper() + tree_title[1:],
        tree=result.optimal_trees.tree(size).to_text(classes),
        svg=_picture(result),
        facts={"mictree": __version__, **settings},
    )


def _picture(result: "Comparison") -> bytes:
    with matplotlib.rc_context(SVG_STYLE):
        figure = result.plot(Figure(layout="constrained"))
        stream = io.BytesIO()
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
