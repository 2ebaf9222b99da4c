"""The options that several commands share, each declared once, and how their values are read.

An option is a type with its name and help text (``Annotated``); a command adds the default. Where
the meaning differs between commands, a function makes the option from the words that differ, so
that the rest of the text stays the same. ``fit`` and ``data`` have some forty options each. Typer
needs them as parameters of the command; everything behind the command takes one frozen value, a
``TableSettings``, which holds them as the user gave them.

Below stand functions that read or refuse values of options before any work is done, write the
command that was typed again, and spread a command over the workers of a Dask cluster.
"""

import os
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from mictree._support.checks import CATEGORIES, MOST_POWER
from mictree._support.words import shell_word
from mictree.cli.tasks import MOST_CLASSES, REGRESSION, TASKS, TaskRequest
from mictree.growers.rules import RULES, TIES, Grower, Lookahead
from mictree.impurity.criteria import CRITERIA


def rule_option(names: Sequence[str], more: str = "", **settings: Any) -> Any:
    """The option --rule of a command that takes these rules."""
    return typer.Option(help=f"One of {', '.join(names)}{more}.", **settings)


def ties_option(names: Sequence[str], more: str = "", **settings: Any) -> Any:
    """The option --ties of a command that takes these choices."""
    return typer.Option(
        help=f"Choice among equally good splits: {', '.join(names)}{more}.", **settings
    )


def criterion_option(what: str = "Impurity") -> Any:
    """The option --criterion; ``what`` it is the impurity of."""
    return typer.Option(help=f"{what}: {', '.join(CRITERIA)}.")


def seed_option(uses: str) -> Any:
    """The option --seed of a command that draws at random for these uses."""
    return typer.Option(help=f"Random seed for {uses}.")


def max_size_option(more: str = "") -> Any:
    """The option --max-size."""
    return typer.Option(help=f"Largest number of splits{more}.")


def size_option(tree: str, default: str) -> Any:
    """The option --size of a command that shows or uses one tree of several."""
    return typer.Option(help=f"Size of the {tree}; default: {default}.", show_default=False)


def cv_option(more: str) -> Any:
    """The option --cv."""
    return typer.Option(help=f"Folds of the cross-validation{more}.")


def jobs_option(tasks: str) -> Any:
    """The option --jobs of a command that divides its work into such tasks."""
    return typer.Option(help=f"Number of {tasks} at once; -1 for one on each core.")


def plot_option(what: str) -> Any:
    """The option --plot."""
    return typer.Option(help=f"Also plot {what} (.svg, .png or .pdf).", show_default=False)


def save_option(what: str) -> Any:
    """The option --save."""
    return typer.Option(
        "--save", help=f"Also save {what} (.json) for mictree predict.", show_default=False
    )


Rule = Annotated[str, rule_option([*RULES])]
Rules = Annotated[list[str], rule_option([*RULES], "; repeatable", metavar="RULE")]
Depth = Annotated[
    int | None,
    typer.Option(
        help="Depth of the subtrees that --rule lookahead looks at; default: 2.", show_default=False
    ),
]
Criterion = Annotated[str, criterion_option()]
Ties = Annotated[str, ties_option(TIES)]
ManyTies = Annotated[list[str], ties_option(TIES, "; repeatable", metavar="TIES")]
Seed = Annotated[int | None, seed_option("--ties random")]
LargestSize = Annotated[int, max_size_option(", t*")]
MostSplits = Annotated[int, max_size_option()]
MostThresholds = Annotated[
    int | None,
    typer.Option(
        help="Largest number of thresholds per column of numbers, dates or ordered categories; "
        "default: all.",
        show_default=False,
    ),
]
Categories = Annotated[
    str,
    typer.Option(
        help="Tests on categories: each, one category (town is A); or subsets, any set of them "
        "(town in {A, C})."
    ),
]
Jobs = Annotated[int, jobs_option("tasks")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Use the workers of a running Dask cluster, such as tcp://10.0.0.1:8786.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(help="Start a Dask cluster of this many local processes.", show_default=False),
]

# what is printed and written
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
NoMerge = Annotated[
    bool, typer.Option("--no-merge", help="Also show splits whose leaves all say the same.")
]
Details = Annotated[
    bool,
    typer.Option(
        "--details",
        help="Also print recall, precision and confusion of classes on held-out rows; with --costs "
        "the actions taken for each class; of a regression, the rows by what is predicted.",
    ),
]
Draw = Annotated[
    Path | None,
    typer.Option(help="Also save a drawing (.svg, .png or .pdf).", show_default=False),
]
HtmlReport = Annotated[
    Path | None, typer.Option(help="Also write a self-contained HTML page.", show_default=False)
]
OutFolder = Annotated[Path, typer.Option(help="Folder for the page, figures and results.")]

# a table of data
ENDINGS = ".csv, .tsv, .txt, .parquet, .feather, .xlsx; also .gz, .zst"
DataFile = Annotated[
    Path, typer.Argument(help=f"A table ({ENDINGS}), or - for stdin.", show_default=False)
]
DataFiles = Annotated[
    Path,
    typer.Argument(
        help=f"A table ({ENDINGS}), or - for stdin; or a folder or a quoted pattern of Parquet "
        "files, which are read batch by batch.",
        show_default=False,
    ),
]
Target = Annotated[str, typer.Option(help="Column to predict.", show_default=False)]
Drop = Annotated[list[str], typer.Option(help="Column to leave out; repeatable.", metavar="COLUMN")]
Keep = Annotated[
    list[str], typer.Option(help="Column not to warn about; repeatable.", metavar="COLUMN")
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header", help="The first line is a row; columns are column_1, column_2, ..."
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(help="comma, semicolon, tab, pipe or a character.", show_default="found"),
]
Encoding = Annotated[
    str | None, typer.Option(help="utf-8, utf-16, latin-1, ...", show_default="found")
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal mark: ',' or '.'.", show_default="found")
]
Missing = Annotated[
    list[str],
    typer.Option(help="One more spelling of missing; repeatable.", metavar="TEXT"),
]
Text = Annotated[
    list[str], typer.Option(help="Column to read as categories; repeatable.", metavar="COLUMN")
]
Number = Annotated[
    list[str],
    typer.Option(
        help="Column to read as numbers, even with leading zeros; repeatable.", metavar="COLUMN"
    ),
]
DateOrder = Annotated[
    list[str],
    typer.Option(
        "--date",
        help="Column of dates and its order of day and month, as in when=dmy or when=mdy; "
        "repeatable.",
        metavar="COLUMN=ORDER",
    ),
]
Parts = Annotated[
    list[str],
    typer.Option(
        help="Column of dates whose month, weekday (1 is Monday) and, if times vary, hour become "
        "columns too; repeatable.",
        metavar="COLUMN",
    ),
]
After = Annotated[
    str | None,
    typer.Option(
        help="Column of dates or numbers by which rows are ordered: trees grow on earlier rows and "
        "are tested on later ones, and equal values stay together. Not used in trees, as a test of "
        "the time itself says nothing about later rows.",
        metavar="COLUMN",
        show_default=False,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        help="Column with the weight of each row; not used in trees.",
        metavar="COLUMN",
        show_default=False,
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        help="Factors of the weights of classes: balanced, label=weight,... or a CSV file of "
        "lines label,weight. For rare classes; errors are then weighted, too.",
        metavar="WEIGHTS",
        show_default=False,
    ),
]
Costs = Annotated[
    Path | None,
    typer.Option(
        help="CSV file of what a mistake costs: true classes on the left, predicted actions on "
        "top, which may be no classes. Leaves take the action of least cost, and errors are mean "
        "costs.",
        metavar="FILE",
        show_default=False,
    ),
]
TaskName = Annotated[
    str | None,
    typer.Option(
        "--task",
        help=f"{' or '.join(TASKS)}; default: a target of numbers with a fraction, or of more than "
        f"{MOST_CLASSES} different numbers, is a regression.",
        metavar="TASK",
        show_default=False,
    ),
]
Scoring = Annotated[
    str | None,
    typer.Option(
        help="Measure on held-out rows, by scikit-learn's name: balanced_accuracy, "
        "neg_log_loss, roc_auc, ...; of a regression r2, neg_mean_absolute_error, ...",
        show_default="error, or mean squared error",
    ),
]


class FileFormat(NamedTuple):
    """The options that say how a file is written."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    missing: Sequence[str] = ()
    text: Sequence[str] = ()
    number: Sequence[str] = ()
    no_header: bool = False
    date: Sequence[str] = ()
    only: Sequence[str] | None = None  # the columns that matter
    options: Sequence[str] = ("--text", "--drop")  # that errors about one column may name


@dataclass(frozen=True, kw_only=True)
class TableSettings:
    """The options that ``fit`` and ``data`` share, as the user gave them.

    Each command has its own ones in a subclass; ``Settings(**context.params)`` makes it. Those
    ``of_classes`` were given and are refused beside a regression, with the reason.
    """

    file: Path
    target: Target
    drop: Drop
    keep: Keep
    max_size: int
    size: int | None
    cv: int
    seed: int
    time_limit: float
    class_weight: ClassWeight
    task: TaskName
    costs: Costs
    weights: Weights
    scoring: Scoring
    max_thresholds: MostThresholds
    categories: Categories
    no_header: NoHeader
    separator: Separator
    encoding: Encoding
    decimal: Decimal
    missing: Missing
    text: Text
    number: Number
    date: DateOrder
    parts: Parts
    after: After
    no_merge: NoMerge
    as_json: AsJson
    details: Details
    draw: Draw
    save_to: Path | None
    report: HtmlReport
    of_classes: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.categories not in CATEGORIES:
            listed = ", ".join(CATEGORIES)
            raise ValueError(f"--categories must be one of {listed}; got {self.categories!r}")

    @property
    def file_format(self) -> FileFormat:
        """How the file is written."""
        return FileFormat(
            self.separator, self.encoding, self.decimal, self.missing, self.text, self.number,
            self.no_header, self.date,
        )  # fmt: skip

    @property
    def request(self) -> TaskRequest:
        """What the options say about the target."""
        if self.costs is not None and self.scoring is not None:
            raise ValueError(
                f"--scoring must not be given with --costs: {self.scoring} counts mistakes, and "
                "mean costs choose the size"
            )
        return TaskRequest(
            task=self.task,
            costs=self.costs,
            class_weight=self.class_weight,
            of_classes=self.of_classes,
        )

    def measured(self, task: str) -> str:
        """What is measured on held-out rows of a task."""
        if self.costs is not None:
            return "mean cost"
        return self.scoring or ("mean squared error" if task == REGRESSION else "error")


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


def depth_setting(name: str, depth: int | None) -> dict[str, Any]:
    """The depth, for the rule that has one."""
    return {"depth": depth} if name == Lookahead.name and depth is not None else {}


def read_fraction(number: str, option: str, form: str, typed: str | None = None) -> Fraction:
    """A number or a fraction exactly as typed; errors show all that was typed, if that is more.

    Powers of ten beyond ``MOST_POWER`` are refused, as they would take long to compute.
    """
    shown = number if typed is None else typed
    power = re.search(r"[eE][-+]?[0_]*([0-9_]+)", number)
    if power is not None and len(power[1]) > len(str(MOST_POWER)):
        raise ValueError(
            f"{option} must have a power of ten from -{MOST_POWER} to {MOST_POWER}; got {shown!r}"
        )
    try:
        return Fraction(number.strip())
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"{option} must be {form}; got {shown!r}") from None


def read_bias(number: str, typed: str, form: str) -> Fraction:
    """The number of a --bias, strictly between 0 and 1; errors show what was typed."""
    bias = read_fraction(number, "--bias", form, typed)
    if not 0 < bias < 1:
        raise ValueError(f"--bias must lie strictly between 0 and 1; got {typed!r}")
    return bias


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


def is_given(context: typer.Context, name: str) -> bool:
    """Whether the user has given an option; otherwise its default holds."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def write_command(context: typer.Context, without: Sequence[str], **changed: Any) -> str:
    """The command that was typed, without some options and with others, for a shell."""
    words = ["mictree", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        if name not in changed and (name in without or not is_given(context, name)):
            continue
        value = changed.get(name, context.params[name])
        for each in value if isinstance(value, list | tuple) else [value]:
            if parameter.param_type_name == "option":
                words.append(max(parameter.opts, key=len))
            if each is not True:
                words.append(shell_word(f"{each:g}" if isinstance(each, float) else str(each)))
    return " ".join(words)


SECONDS = 10  # to connect


@contextmanager
def on_workers(scheduler: str | None, workers: int | None) -> Iterator[int | None]:
    """Within it, joblib uses the cluster; gives ``n_jobs``, None without a cluster."""
    if scheduler is None and workers is None:
        yield None
        return
    if scheduler is not None and workers is not None:
        raise ValueError("--scheduler and --workers exclude each other; got both")
    if workers is not None and workers < 1:
        raise ValueError(f"--workers must be at least 1; got {workers}")
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            "--scheduler and --workers need the extra dask: pip install 'mictree[dask]'"
        ) from None
    from joblib import parallel_config

    with ExitStack() as stack:
        if workers is not None:
            stack.enter_context(Client(stack.enter_context(_start(workers))))
        else:
            try:
                stack.enter_context(Client(scheduler, timeout=SECONDS))
            except (OSError, ValueError) as error:
                raise ValueError(
                    f"--scheduler must be the address of a running Dask scheduler; {scheduler!r} "
                    f"gives {type(error).__name__}"
                ) from None
        stack.enter_context(parallel_config(backend="dask"))
        yield -1


def _start(workers: int) -> Any:
    """A cluster of processes that ignore Ctrl-C, which a terminal sends to all of them.

    This process answers it; workers end when it does. They inherit the signals that are blocked in
    the thread that starts them. This is a thread of its own, as Ctrl-C meanwhile must not wait.
    """
    from multiprocessing import resource_tracker

    from distributed import LocalCluster

    resource_tracker.ensure_running()  # the first worker would start it, and unblock Ctrl-C
    made: list[Any] = []
    failed: list[BaseException] = []

    def start() -> None:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
            made.append(LocalCluster(n_workers=workers, **options))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=start, daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return made[0]
