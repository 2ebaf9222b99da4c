"""Helpers of every command: tables, JSON, progress, drawings."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from mictree._support.files import write_whole
from mictree.growers.rules import RULES, Grower

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
def spinner(what: str) -> Iterator[Callable[[str], None]]:
    """A line on stderr that can be changed; without a terminal nothing, and no thread either."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status(what) as status:
            yield status.update
    else:
        yield lambda _: None


@contextmanager
def working(what: str) -> Iterator[Callable[[float], None]]:
    """A spinner with the share of the work done."""
    with spinner(f"{what} ...") as show:
        yield lambda share: show(f"{what} ... {share:.0%}")


def check_drawing(path: Path | None, option: str = "--draw") -> None:
    """Refuse a drawing that cannot be written, before any work is done."""
    check_output(path, option, (".svg", ".png", ".pdf"))


def check_output(path: Path | None, option: str, endings: tuple[str, ...]) -> None:
    """Refuse an output file that cannot be written."""
    if path is None:
        return
    if path.suffix.lower() not in endings:
        allowed = " or ".join(filter(None, [", ".join(endings[:-1]), endings[-1]]))
        raise ValueError(f"{option} must end in {allowed}; got {str(path)!r}")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ValueError(f"{option} must name a file in an existing folder; got {str(path)!r}")


def save(path: Path, axes: "Axes") -> None:
    """Write a figure to a temporary file, then rename it: no file is ever half written."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:].lower(), bbox_inches="tight")
    write_whole(path, drawn.getvalue())
    print(f"mictree: drew {path}", file=sys.stderr)
