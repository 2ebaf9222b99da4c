"""What a command prints, and the files that it writes.

Results go to standard output, everything else to standard error: notes, warnings, progress. Three
rules hold for all commands. First, a failure of an output never loses work: a closed pipe (as by
``head``) or a full disk ends that output, and the command still writes its files; the exit status
tells a full disk. Second, any terminal can show the text: a character that the encoding lacks is
spelled in ASCII, and tables are laid out with the spelled text. Third, a file is written whole or
not at all, and a file that cannot be written does not keep the others from being written.

Below the streams stand the parts that several commands print: trees, errors by size, warnings about
a tree, results of classes, JSON, and the progress line.
"""

import codecs
import errno
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Column, Table
from rich.text import Text

from mictree._support.checks import caught, raise_all
from mictree._support.files import write_whole
from mictree._support.progress import Progress, Report, ignore, listening
from mictree._support.words import (
    DIGITS,
    SQUARED,
    count_of,
    measure_of,
    merged_note,
    names_of_labels,
    root_of,
    shorten_set,
    show_digits,
    show_number,
    show_significant,
    show_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mictree.estimators.leaves import ActionResults, LeafResults
    from mictree.estimators.predicting import ClassResults
    from mictree.estimators.sizes import SizeChoice
    from mictree.estimators.streamed import HeldOut, NumberResults
    from mictree.tree import Tree

SPELL = "mictree.spell"  # the error handler of encodings that lack a character
SPELLED = {
    "├": "|", "└": "`", "│": "|", "─": "-", "←": "<-", "±": "+-", "…": "...",
}  # fmt: skip
SLACK = 1e-12  # errors that differ by less are equal
MOST_NAMES = 5  # of classes in a sentence


@contextmanager
def guarded_output() -> Iterator["GuardedStream"]:
    """Within it, no write to standard output or error fails; gives the former.

    Characters that an encoding lacks are spelled in ASCII.
    """
    before = sys.stdout, sys.stderr
    with ExitStack() as stack:
        output, errors = (
            GuardedStream(stack.enter_context(_prepared(stream))) for stream in before
        )
        sys.stdout, sys.stderr = cast(TextIO, output), cast(TextIO, errors)
        try:
            yield output
        finally:
            output.flush()  # what was printed before Ctrl-C, too
            errors.flush()
            sys.stdout, sys.stderr = before


class GuardedStream:
    """Standard output or error: a failure ends this output, not the command.

    Text goes through Python's own buffers, which Ctrl-C leaves whole: nothing is written twice.
    ``error`` is the first failure. It stays None if the stream was closed from the start.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # typer would write bytes to it
            raise AttributeError(name)
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text, or drop it once writing has failed."""
        self._try(self._stream.write, text)
        return len(text)

    def flush(self) -> None:
        """Write what waits in buffers."""
        self._try(self._stream.flush)

    def _try(self, write: Callable[..., object], *arguments: str) -> None:
        try:
            write(*arguments)
        except OSError as error:
            self.error = self.error or error
            nowhere = os.open(os.devnull, os.O_WRONLY)  # for the rest, and for what waits
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    @property
    def failure(self) -> str:
        """Why output is lost; empty if there was none, or if its reader closed the pipe."""
        closed = (errno.EPIPE, errno.EINVAL) if sys.platform == "win32" else (errno.EPIPE,)
        if self.error is None or self.error.errno in closed:
            return ""
        return f"cannot write to standard output: {self.error.strerror}"


@contextmanager
def _prepared(stream: TextIO | None) -> Iterator[TextIO]:
    """A stream that spells what it cannot encode, and waits while a pipe is full."""
    if stream is None:  # closed by whoever started the command
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            yield nowhere
        return
    if not isinstance(stream, io.TextIOWrapper):  # text in memory
        yield stream
        return
    handler, blocking = stream.errors, True
    with suppress(OSError, ValueError):  # it may be no file
        blocking = os.get_blocking(stream.fileno())
        os.set_blocking(stream.fileno(), True)
    stream.reconfigure(errors=SPELL)
    try:
        yield stream
    finally:
        stream.reconfigure(errors=handler)
        if not blocking:
            os.set_blocking(stream.fileno(), False)


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


def print_parts(*parts: RenderableType) -> None:
    """Tables and texts on stdout, one below the other; a wide table is not cut."""
    console = _Console(highlight=False, markup=False, soft_wrap=True)
    unlimited = console.options.update(width=10**6)
    widths = [Measurement.get(console, unlimited, part).maximum for part in parts if part]
    console.width = max([console.width, *widths])
    for part in parts:
        console.print(part)


class _Console(Console):
    """A console that measures texts as its encoding spells them."""

    def render_str(self, text: str, **options: Any) -> Text:
        """A text, spelled."""
        return super().render_str(spelled(text, self.encoding), **options)


def print_json(start: dict[str, Any], **more: Any) -> None:
    """One JSON object on stdout; arrays become lists."""
    print(json.dumps(start | more, default=lambda array: array.tolist()))


@contextmanager
def show_progress(what: str) -> Iterator[Report]:
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
        with listening(show):
            yield show


def tree_text(tree: "Tree", classes: list[str] | None, no_merge: bool) -> str:
    """A tree as lines; without --no-merge, splits whose leaves agree are left out and counted."""
    shown = tree if no_merge else tree.merged()
    note = merged_note(tree.size - shown.size, "--no-merge")
    return shown.to_text(classes, merge=False) + (f"\n{note}" if note else "")


def table_of_sizes(model: Any, choice: "SizeChoice | HeldOut | None") -> Table:
    """A model's errors by size, also those by which one was chosen, which an arrow marks.

    Beside mean squared errors stand their roots, in the unit of the target.
    """
    greedy, squared = hasattr(model, "growth_"), measure_of(model) == SQUARED
    show = show_significant if squared else show_number
    splits = ["", *(shorten_set(step.variable) for step in model.growth_.steps)] if greedy else []
    heads = ["size", *(["split on"] if greedy else []), f"training {measure_of(model)}"]
    heads += ["its root"] if squared else []
    table = Table(*heads, *([choice.title] if choice is not None else []))
    for number in range(len(splits) if greedy else len(model.frontier_)):
        cells = [str(number), *map(show_text, splits[number : number + 1])]
        cells.append(_show_interval(model, number, show) + _certificate(model, number))
        if squared:
            cells.append(_show_interval(model, number, lambda error: show(root_of(error))))
        if choice is not None:
            chosen = " ←" if number == choice.size else ""
            place = min(number, len(choice.means) - 1)  # no fold has a larger tree
            spread = choice.standard_errors[place]
            shown = show_significant(spread, 2) if squared else f"{spread:.2g}"
            cells.append(f"{show(choice.shown[place])} ± {shown}{chosen}")
        table.add_row(*cells)
    return table


def show_error(model: Any, size: int) -> str:
    """A training error; for a least error that is not proved, its certified interval."""
    if measure_of(model) != SQUARED:
        return _show_interval(model, size, show_number)
    root = _show_interval(model, size, lambda error: show_significant(root_of(error)))
    return f"{_show_interval(model, size, show_significant)} (root {root})"


def _show_interval(model: Any, size: int, show: Callable[[float], str]) -> str:
    """A training error, or its certified interval if it is not proved to be the least."""
    errors = training_errors(model)
    if hasattr(model, "growth_") or model.frontier_.proved[size]:
        return show(errors[size])
    return f"{show(model.frontier_.lower[size])}..{show(errors[size])}"


def _certificate(model: Any, size: int) -> str:
    """What certifies the interval of a size, in brackets; nothing if there is none."""
    if hasattr(model, "growth_") or model.frontier_.proved[size]:
        return ""
    return f" ({model.frontier_.certificate[size]})"


def training_errors(model: Any) -> Any:
    """A fitted model's training errors by size: of a growth, or the least ones that were found."""
    return model.growth_.errors if hasattr(model, "growth_") else model.frontier_.upper


def tree_warnings(model: Any, class_weight: Any, advise_scoring: bool) -> list[str]:
    """Sentences about a tree that is no better than a leaf, and about classes it never predicts.

    They advise --class-weight unless one is given. ``advise_scoring`` also advises --scoring: the
    user gave none, and held-out rows chose the size. Where costs choose, no class is missed.
    """
    lines = _no_better_than_a_leaf(model)
    if measure_of(model) != "error":
        return lines
    tree, unpredicted = model.tree_, never_predicted(model)
    if not unpredicted:
        return lines
    names = ", ".join(map(repr, unpredicted[:MOST_NAMES]))
    rest = len(unpredicted) - MOST_NAMES
    more = f" and {count_of(rest, 'other class', 'es')}" if rest > 0 else ""
    advice = []
    if 0 < tree.size < len(model.classes_) - 1:
        advice.append(f"{tree.size + 1:,} leaves cannot name {len(model.classes_):,} classes")
    elif class_weight is None:
        advice.append("--class-weight balanced makes rare classes count as much as others")
    if advise_scoring:
        advice.append("--scoring balanced_accuracy chooses the size by the mean recall of classes")
    never = f"warning: the tree never predicts {names}{more}"
    return [*lines, "; ".join([never, *advice])]


def _no_better_than_a_leaf(model: Any) -> list[str]:
    """A sentence about a tree whose splits do not lower its error."""
    tree, errors, measure = model.tree_, training_errors(model), measure_of(model)
    slack = SLACK if measure == "error" else SLACK * abs(float(errors[0]))
    if not tree.size or errors[-1] < errors[0] - slack:
        return []
    predicted, names = {tree.labels[leaf] for leaf in tree.leaves}, names_of_labels(model)
    if len(predicted) == 1:
        (label,) = predicted
        shown = show_digits(label, DIGITS) if names is None else repr(names[label])
        does = f"predicts {shown} everywhere, as"
    elif measure == "error":
        does = "makes as many errors as"
    else:
        does = f"has the same {measure} as"
    size = count_of(tree.size, "split")
    return [f"no split lowers the {measure}: the tree of {size} {does} a lone leaf does"]


def never_predicted(model: Any) -> list[str]:
    """The classes that no leaf of a model's tree predicts, as texts."""
    tree = model.tree_
    predicted = {tree.labels[leaf] for leaf in tree.leaves}
    return [str(label) for number, label in enumerate(model.classes_) if number not in predicted]


def result_facts(
    results: "ClassResults | LeafResults | NumberResults | ActionResults",
) -> dict[str, Any]:
    """Results on held-out rows for JSON."""
    from mictree.estimators.leaves import ActionResults, LeafResults
    from mictree.estimators.streamed import NumberResults

    if isinstance(results, LeafResults | NumberResults):
        root, explained = root_of(results.mean_squared_error), results.r2
        return {
            "held_out_root": root,
            "held_out_r2": None if math.isnan(explained) else explained,
            "leaf_results": results.frame.to_dicts(),
        }
    if not isinstance(results, ActionResults):
        return class_facts(results)
    costs = [None if math.isnan(cost) else cost for cost in results.costs_of_classes.tolist()]
    heads = ("class", "rows", "mean_cost")
    lines = zip(map(str, results.classes), results.counts.sum(axis=1).tolist(), costs, strict=True)
    by_class = [dict(zip(heads, line, strict=True)) for line in lines]
    return {
        "actions": [str(action) for action in results.actions],
        "class_results": by_class,
        "actions_taken": results.counts.tolist(),
    }


def class_facts(results: "ClassResults") -> dict[str, Any]:
    """Results of classes for JSON; shares of nothing are null."""
    table = results.frame.with_columns(results.frame["class"].cast(str)).fill_nan(None)
    return {
        "class_results": table.to_dicts(),
        "confusion": results.confusion.tolist(),
        "never_predicted": [str(label) for label in results.never_predicted],
    }


def write_each(*writes: Callable[[], None]) -> None:
    """Write all files that can be written, then raise what failed."""
    raise_all([error for write in writes for error in caught(write)])


def save_model(path: Path, model: Any) -> None:
    """Write a model for ``mictree predict``."""
    model.save(path)
    print(f"mictree: wrote {path}", file=sys.stderr)


def save_drawing(path: Path, axes: "Axes") -> None:
    """Write a figure to a temporary file, then rename it: no file is ever half written."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:].lower(), bbox_inches="tight")
    write_whole(path, drawn.getvalue())
    print(f"mictree: drew {path}", file=sys.stderr)
