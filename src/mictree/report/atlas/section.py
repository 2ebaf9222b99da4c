"""One part of the atlas's page: words, figures, claims and tables about one experiment."""

from dataclasses import dataclass
from itertools import groupby

from mictree.report.claims import Claim
from mictree.report.figures import Drawing
from mictree.report.page import Table


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
