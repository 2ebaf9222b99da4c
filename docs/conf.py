"""The site: `make docs` builds it from these pages, the docstrings and the gallery, offline."""

import re
import warnings
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from mictree.report.explorer.render import render
from mictree.statements.checks import sources_of
from mictree.statements.later import EVERYTHING

project = "mictree"
author = "the authors of mictree"
release = version_of("mictree")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/*"]
html_theme = "furo"
html_title = "mictree"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_copyright = False
html_copy_source = False
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
# Sphinx takes a word such as "frame" in the description of a parameter for a name, which several
# classes have.
suppress_warnings = ["config.cache", "ref.python"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
    "min_reported_time": 10**6,  # times differ from build to build
    "write_computation_times": False,
    "abort_on_example_error": True,
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

_CODE = re.compile(r"(``.*?``)")


def escape(app: Any, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
    """Our docstrings are plain text with code in double quotes: a star is a star."""
    inside = False
    for number, line in enumerate(lines):
        if line.lstrip().startswith(">>>"):
            inside = True
        elif not line.strip():
            inside = False
        if not inside:
            parts = _CODE.split(line)
            parts[::2] = [re.sub(r"([*|`])", r"\\\1", part) for part in parts[::2]]
            lines[number] = "".join(parts)


def add_checks(app: Any, name: str, source: list[str]) -> None:
    """The code of every check, on the page to which the statements link."""
    if name != "checks":
        return
    for statement in EVERYTHING:
        source[0] += f"\n## {statement.number}\n\n{statement.text}\n"
        for function in sources_of(statement):
            source[0] += f"\n`{function.place}`, line {function.line}:\n"
            source[0] += f"\n````python\n{function.code}\n````\n"


def add_explorer(app: Any, error: Exception | None) -> None:
    """The explorer, which the first page shows in a frame."""
    if error is None and app.builder.format == "html":
        Path(app.outdir, "explorer.html").write_text(render(), encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", escape, priority=1)
    app.connect("source-read", add_checks)
    app.connect("build-finished", add_explorer)
