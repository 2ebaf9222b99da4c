"""The explorer's files -> one self-contained HTML page.

The page has two scripts, both allowed by their hashes: the twin, whose text also becomes the
worker, and the page's own. Its first problem and its examples are JSON that cannot close its
element.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from markupsafe import Markup

from mictree.report.explorer.examples import EXAMPLES
from mictree.report.page import fill, hash_source

FOLDER = Path(__file__).parent
# in the order in which they use each other
TWIN = (
    "syntax", "fractions", "problem", "gains", "draws", "lookahead", "growth", "optimal", "cells",
    "csv", "answer", "worker",
)  # fmt: skip
PAGE = (
    "elements", "state", "tree", "curves", "step", "tables", "truth", "controls", "tour", "picture",
    "main",
)  # fmt: skip


def render(start: dict[str, Any] | None = None) -> str:
    """The page as HTML text.

    Parameters
    ----------
    start : fields of the problem that it shows first, as in ``page/state.js``; by default the first
        example
    """
    twin = _join("twin", TWIN)
    page = f"(() => {{\n{_join('page', PAGE)}\n}})();"  # its names hide the twin's
    sources = f"script-src '{hash_source(twin)}' '{hash_source(page)}'; worker-src blob:; "
    return fill(
        "explorer.html",
        sources,
        folder=FOLDER,
        style_name="explorer.css",
        twin=Markup(twin),
        script=Markup(page),
        examples=[asdict(example) for example in EXAMPLES],
        start=start or EXAMPLES[0].state,
    )


def _join(folder: str, names: tuple[str, ...]) -> str:
    parts = [(FOLDER / folder / f"{name}.js").read_text("utf-8") for name in names]
    return "\n".join(['"use strict";', *parts])
