"""Helpers of every command: standard output and error, tables, JSON, progress, drawings."""

import codecs
import errno
import io
import json
import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Column, Table
from rich.text import Text

from mictree._support.checks import caught, raise_all
from mictree._support.files import write_whole
from mictree._support.progress import Progress, Report, ignore
from mictree._support.words import count_of, merged_note, shell_word, show_number, show_text
from mictree.growers.rules import RULES, Grower, Lookahead

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mictree.estimators.scoring import ClassResults
    from mictree.estimators.sizes import SizeChoice
    from mictree.estimators.streamed import HeldOut
    from mictree.tree import Tree

SLACK = 1e-12  # errors that differ by less are equal
MOST_NAMES = 5  # of classes in a sentence

SPELL = "mictree.spell"  # the error handler of encodings that lack a character
SPELLED = {
    "├": "|", "└": "`", "│": "|", "─": "-", "←": "<-", "±": "+-", "…": "...",
}  # fmt: skip


class Sink(io.RawIOBase):
    """The bytes of standard output or error: a failure ends this output, not the command.

    ``error`` is the first failure. It stays None if the stream was closed from the start.
    """

    def __init__(self, stream: TextIO | None) -> None:
        binary = getattr(stream, "buffer", None)
        self._raw: Any = getattr(binary, "raw", binary)
        self.error: OSError | None = None
        self._writing = False  # stays true if Ctrl-C interrupts it

    def writable(self) -> bool:
        """Yes, always."""
        return True

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._raw is not None and self._raw.isatty()

    def fileno(self) -> int:
        """The number of the file, if there is one."""
        return super().fileno() if self._raw is None else self._raw.fileno()

    def write(self, data: Any) -> int:
        """Write some bytes, or drop them once writing has failed.

        If Ctrl-C interrupts it, nobody can say how many were written: then the rest is dropped, as
        a buffer would write them all a second time.
        """
        if self._raw is None or self.error is not None or self._writing:
            return len(data)
        self._writing, count = True, None
        try:
            while (count := self._raw.write(data)) is None:
                select.select([], [self._raw], [])  # a pipe that does not block, and is full
        except OSError as error:
            self.error, count = error, len(data)
        self._writing = False
        return count

    @property
    def failure(self) -> str:
        """Why output is lost; empty if there was none, or if its reader closed the pipe."""
        closed = (errno.EPIPE, errno.EINVAL) if sys.platform == "win32" else (errno.EPIPE,)
        if self.error is None or self.error.errno in closed:
            return ""
        return f"cannot write to standard output: {self.error.strerror}"


@contextmanager
def guarded_output() -> Iterator[Sink]:
    """Within it, no write to standard output or error fails; gives the sink of the output.

    Characters that an encoding lacks are spelled in ASCII.
    """
    before = sys.stdout, sys.stderr
    sinks = [Sink(stream) for stream in before]
    sys.stdout, sys.stderr = map(_guard, before, sinks)
    try:
        yield sinks[0]
    finally:
        sys.stdout.flush()  # what was printed before Ctrl-C, too
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


def _guard(stream: TextIO | None, sink: Sink) -> TextIO:
    """A stream that writes to the sink; one of text in memory stays as it is."""
    if stream is not None and not hasattr(stream, "buffer"):
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(sink),
        encoding=getattr(stream, "encoding", None) or "utf-8",
        errors=SPELL,
        line_buffering=getattr(stream, "line_buffering", False),
        write_through=getattr(stream, "write_through", False),
    )


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Spell characters that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    marks = error.object[error.start : error.end]
    escaped = (
        SPELLED.get(mark) or mark.encode("ascii", "backslashreplace").decode() for mark in marks
    )
    return "".join(escaped), error.end


codecs.register_error(SPELL, _spell)


def spelled(text: str, encoding: str) -> str:
    """A text as a stream of this encoding shows it."""
    return text.encode(encoding, SPELL).decode(encoding)


def write_each(*writes: Callable[[], None]) -> None:
    """Write all files that can be written, then raise what failed."""
    raise_all([error for write in writes for error in caught(write)])


def make_rules(
    names: list[str], depth: int | None, criterion: str, ties: list[str], seed: int | None
) -> list[Grower]:
    """Growers from their options, each name with each choice of ties."""
    for name in names:
        check_rule(name)
    if depth is not None and Lookahead.name not in names:
        raise ValueError(f"--depth is for --rule {Lookahead.name}; got --rule {', '.join(names)}")
    return [
        RULES[name](criterion=criterion, ties=choice, seed=seed, **depth_setting(name, depth))
        for name in names
        for choice in ties
    ]


def check_rule(name: str) -> None:
    """Refuse a name of no rule."""
    if name not in RULES:
        raise ValueError(f"--rule must be one of {', '.join(RULES)}; got {name!r}")


def read_bias(number: str, typed: str, form: str) -> Fraction:
    """The number of a --bias, strictly between 0 and 1; errors show what was typed."""
    try:
        bias = Fraction(number.strip())
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"--bias must be {form}; got {typed!r}") from None
    if not 0 < bias < 1:
        raise ValueError(f"--bias must lie strictly between 0 and 1; got {typed!r}")
    return bias


def depth_setting(name: str, depth: int | None) -> dict[str, Any]:
    """The depth, for the rule that has one."""
    return {"depth": depth} if name == Lookahead.name and depth is not None else {}


def errors_of(model: Any) -> Any:
    """A fitted model's training errors by size: of a growth, or the least ones that were found."""
    return model.growth_.errors if hasattr(model, "growth_") else model.frontier_.upper


def show_error(model: Any, size: int) -> str:
    """A training error; for a least error that is not proved, its certified interval."""
    errors = errors_of(model)
    if hasattr(model, "growth_") or model.frontier_.proved[size]:
        return show_number(errors[size])
    return f"{show_number(model.frontier_.lower[size])}..{show_number(errors[size])}"


def never_predicted(model: Any) -> list[str]:
    """The classes that no leaf of a model's tree predicts, as texts."""
    from mictree.tree import LEAF

    tree = model.tree_
    said = {tree.labels[node] for node, test in enumerate(tree.tests) if test == LEAF}
    return [str(label) for number, label in enumerate(model.classes_) if number not in said]


def find_useless(model: Any, options: dict[str, Any], chosen: bool) -> list[str]:
    """Sentences about a tree that is no better than a leaf, and about classes it never predicts.

    They name options that the user did not give. Held-out rows have ``chosen`` the size, or not.
    """
    tree, unsaid, errors = model.tree_, never_predicted(model), errors_of(model)
    lines = []
    if tree.size and errors[-1] >= errors[0] - SLACK:
        alone = len(unsaid) == len(model.classes_) - 1
        (label, *_) = [str(each) for each in model.classes_ if str(each) not in unsaid]
        does = f"predicts {label!r} everywhere, as" if alone else "makes as many errors as"
        size = count_of(tree.size, "split")
        lines.append(f"no split lowers the error: the tree of {size} {does} a lone leaf does")
    if not unsaid:
        return lines
    names = ", ".join(map(repr, unsaid[:MOST_NAMES]))
    rest = len(unsaid) - MOST_NAMES
    more = f" and {count_of(rest, 'other class', 'es')}" if rest > 0 else ""
    advice = []
    if 0 < tree.size < len(model.classes_) - 1:
        advice.append(f"{tree.size + 1:,} leaves cannot name {len(model.classes_):,} classes")
    elif options["class_weight"] is None:
        advice.append("--class-weight balanced makes rare classes count as much as others")
    if chosen and options["scoring"] is None:
        advice.append("--scoring balanced_accuracy chooses the size by the mean recall of classes")
    told = "; ".join(["", *advice])
    return [*lines, f"warning: the tree never predicts {names}{more}{told}"]


def class_facts(results: "ClassResults") -> dict[str, Any]:
    """Results of classes for JSON; shares of nothing are null."""
    table = results.frame.with_columns(results.frame["class"].cast(str)).fill_nan(None)
    return {
        "class_results": table.to_dicts(),
        "confusion": results.confusion.tolist(),
        "never_predicted": [str(label) for label in results.never_predicted],
    }


def write_command(context: typer.Context, without: Sequence[str], **changed: Any) -> str:
    """The command that was typed, without some options and with others, for a shell."""
    words = ["mictree", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        given = source is not None and source.name != "DEFAULT" and name not in without
        if name not in changed and not given:
            continue
        value = changed.get(name, context.params[name])
        for each in value if isinstance(value, list | tuple) else [value]:
            if parameter.param_type_name == "option":
                words.append(max(parameter.opts, key=len))
            if each is not True:
                words.append(shell_word(f"{each:g}" if isinstance(each, float) else str(each)))
    return " ".join(words)


class _Console(Console):
    """A console that measures texts as its encoding spells them."""

    def render_str(self, text: str, **options: Any) -> Text:
        """A text, spelled."""
        return super().render_str(spelled(text, self.encoding), **options)


def print_parts(*parts: RenderableType) -> None:
    """Tables and texts on stdout, one below the other; a wide table is not cut."""
    console = _Console(highlight=False, markup=False, soft_wrap=True)
    unlimited = console.options.update(width=10**6)
    widths = [Measurement.get(console, unlimited, part).maximum for part in parts if part]
    console.width = max([console.width, *widths])
    for part in parts:
        console.print(part)


def tree_text(tree: "Tree", classes: list[str] | None, no_merge: bool) -> str:
    """A tree as lines; without --no-merge, splits whose leaves agree are left out and counted."""
    shown = tree if no_merge else tree.merged()
    note = merged_note(tree.size - shown.size, "--no-merge")
    return shown.to_text(classes, merge=False) + (f"\n{note}" if note else "")


def table_of_sizes(model: Any, choice: "SizeChoice | HeldOut | None") -> Table:
    """A model's errors by size, also those by which one was chosen, which an arrow marks."""
    greedy = hasattr(model, "growth_")
    splits = ["", *(step.variable for step in model.growth_.steps)] if greedy else []
    heads = ["size", *(["split on"] if greedy else []), "training error"]
    table = Table(*heads, *([choice.title] if choice is not None else []))
    for number in range(len(splits) if greedy else len(model.frontier_)):
        cells = [str(number), *map(show_text, splits[number : number + 1])]
        cells.append(show_error(model, number))
        if choice is not None:
            chosen = " ←" if number == choice.size else ""
            place = min(number, len(choice.means) - 1)  # no fold has a larger tree
            error = show_number(choice.shown[place])
            cells.append(f"{error} ± {choice.standard_errors[place]:.2g}{chosen}")
        table.add_row(*cells)
    return table


def print_json(start: dict[str, Any], **more: Any) -> None:
    """One JSON object on stdout; arrays become lists."""
    print(json.dumps(start | more, default=lambda array: array.tolist()))


@contextmanager
def working(what: str) -> Iterator[Report]:
    """A line on stderr for the current piece of work; without a terminal nothing, and no thread."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield ignore
        return
    rest = Column(no_wrap=True, overflow="ellipsis", ratio=1)  # the rest of the line
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=8),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[detail]}", markup=False, table_column=rest),
    )
    with Bar(*columns, console=console, transient=True, expand=True) as bar:

        def show(progress: Progress) -> None:
            if bar.tasks and bar.tasks[0].description != progress.what:
                bar.remove_task(bar.tasks[0].id)
            if not bar.tasks:
                bar.add_task(progress.what, total=None, detail="")
            total = None if progress.share is None else 1.0
            detail = progress.detail
            bar.update(bar.tasks[0].id, total=total, completed=progress.share, detail=detail)

        show(Progress(what))
        yield show


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
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir():
        raise ValueError(f"{option} must name a file in an existing folder; got {str(path)!r}")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{option} must be in a folder that you may write to; got {str(path)!r}")


def save_model(path: Path, model: Any) -> None:
    """Write a model for ``mictree predict``."""
    model.save(path)
    print(f"mictree: wrote {path}", file=sys.stderr)


def save(path: Path, axes: "Axes") -> None:
    """Write a figure to a temporary file, then rename it: no file is ever half written."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:].lower(), bbox_inches="tight")
    write_whole(path, drawn.getvalue())
    print(f"mictree: drew {path}", file=sys.stderr)
