"""Words, numbers and pictures -> one self-contained HTML page.

Every value is escaped by the template engine, and data for the script is JSON that cannot close its
element. A content security policy allows the page's own style and script by their hashes, and no
request. ``fill`` does this for all pages; ``Page`` is the content of the page of the paper, and
``Section`` is a part of the atlas: words, figures, claims and tables about one experiment.
"""

import base64
import hashlib
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from mictree.report.claims import CASES_RULE, Claim
from mictree.report.figures import Drawing, Picture
from mictree.statements.checks import VERDICT_RULE, Check, Source

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Table:
    """Rows of texts under a heading."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    section: str = ""
    has_texts: bool = False  # long ones, and the verdict last


@dataclass(frozen=True)
class Page:
    """The content of the page."""

    title: str
    summary: str
    claims: tuple[Claim, ...]
    pictures: tuple[Picture, ...]
    tables: tuple[Table, ...]
    statements: tuple[Check, ...]  # in the paper's order
    stepper: list[dict[str, Any]]
    facts: dict[str, str] = field(default_factory=dict)  # versions, seeds, time
    quick: bool = False
    found: str = ""  # one sentence
    sources: dict[str, tuple[Source, ...]] = field(default_factory=dict)  # by statement's number
    claims_rule: str = CASES_RULE
    statements_rule: str = VERDICT_RULE


def render(page: Page) -> str:
    """The page as HTML text."""
    script = (TEMPLATES / "page.js").read_text("utf-8")
    return fill(
        "page.html", f"script-src '{hash_source(script)}'; ", page=page, script=Markup(script)
    )


def fill(
    template: str,
    allowed: str = "",
    folder: Path = TEMPLATES,
    style_name: str = "page.css",
    **values: Any,
) -> str:
    """Fill a template and add its style and a policy: no requests, only the allowed scripts."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["data_uri"] = data_uri
    style = (folder / style_name).read_text("utf-8")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{hash_source(style)}'; {allowed}"
        "base-uri 'none'; form-action 'none'"
    )
    return environment.get_template(template).render(policy=policy, style=Markup(style), **values)


def data_uri(svg: bytes) -> str:
    """A picture as a data URI; inside an image element it cannot run scripts."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode('ascii')}"


def hash_source(text: str) -> str:
    """A style or script as a source that a content security policy allows."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


@dataclass(frozen=True)
class Section:
    """One part of the page."""

    name: str  # its anchor, and the section of its drawings
    short: str  # in the navigation
    title: str
    text: str
    drawings: tuple[Drawing, ...]
    claims: tuple[Claim, ...]
    tables: tuple[Table, ...]

    @property
    def ranges(self) -> list[tuple[str, list[Claim]]]:
        """Claims about the same range together, in order."""
        return [(range_, list(group)) for range_, group in groupby(self.claims, lambda c: c.source)]
