"""What every command shares: tables, JSON, progress, drawings."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from mictree._support.files import write_whole
from mictree.growers.rules import RULES, Grower

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Draw = Annotated[
    Path | None,
    typer.Option(help="Also draw into FILE (.svg, .png or .pdf).", show_default=False),
]


def make_rule(name: str, criterion: str, ties: str, seed: int | None) -> Grower:
    """A grower from its options."""
    if name not in RULES:
        raise ValueError(f"--rule must be one of {', '.join(RULES)}; got {name!r}")
    return RULES[name](criterion, ties, seed)


def show_number(value: Any) -> str:
    """A probability in six digits."""
    return f"{float(value):.6g}"


def print_parts(*parts: object) -> None:
    """Tables and texts on stdout, one below the other."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    for part in parts:
        console.print(part)


def print_json(start: dict[str, Any], **more: Any) -> None:
    """One JSON object on stdout; arrays become lists."""
    typer.echo(json.dumps(start | more, default=lambda array: array.tolist()))


@contextmanager
def working(what: str) -> Iterator[Callable[[float], None]]:
    """A spinner on stderr, when that is a terminal, with the share of the work done."""
    with Console(stderr=True).status(f"{what} ...") as status:
        yield lambda share: status.update(f"{what} ... {share:.0%}")


def check_drawing(path: Path | None, option: str = "--draw") -> None:
    """Refuse a drawing that cannot be written before any work is done."""
    check_output(path, option, (".svg", ".png", ".pdf"))


def check_output(path: Path | None, option: str, endings: tuple[str, ...]) -> None:
    """Refuse a file whose name cannot be written to."""
    if path is None:
        return
    if path.suffix.lower() not in endings:
        allowed = " or ".join([", ".join(endings[:-1]), endings[-1]])
        raise ValueError(f"{option} must end in {allowed}; got {str(path)!r}")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ValueError(f"{option} must name a file in an existing folder; got {str(path)!r}")


def save(path: Path, axes: "Axes") -> None:
    """Write a figure to a temporary file, then rename it: nothing is left half written."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    write_whole(path, lambda unfinished: figure.savefig(unfinished, bbox_inches="tight"))
    print(f"mictree: drew {path}", file=sys.stderr)
