"""What the target is: classes or numbers to predict, and what a mistake costs.

``decide_task`` takes a target of numbers with a fraction, or of many different numbers, for numbers
to predict, and says so in one line; --task overrides. Nobody is asked anything. Three more options
are about the labels and are read here: the file of --costs, a table of numbers with true classes on
the left and predicted actions on top; --class-weight; and the options that only classes have, which
are refused beside a regression.

A command collects them in a ``TaskRequest`` before it reads anything. What is wrong with a file of
costs, alone or beside the labels, comes with the other complaints about files.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mictree._support.checks import caught, raise_all
from mictree._support.words import count_of, show_name

if TYPE_CHECKING:
    import polars

CLASSIFICATION, REGRESSION = TASKS = ("classification", "regression")
MOST_CLASSES = 20  # different numbers that are taken for classes
NO_CLASSES = "it predicts numbers and has no classes"
SEPARATORS = ",;\t|"  # of a file of costs; the first is the usual one


class Decision(NamedTuple):
    """What a target is, the labels as that wants them, and a line that says what was decided.

    The line is empty if the user has decided, or if labels are classes in any case.
    """

    task: str
    labels: "polars.Series"
    line: str = ""

    @property
    def is_regression(self) -> bool:
        """Whether the labels are numbers to predict."""
        return self.task == REGRESSION


@dataclass(frozen=True, kw_only=True)
class TaskRequest:
    """What the options of a command say about its target.

    Attributes
    ----------
    task : as --task names it, or None
    costs : the file of --costs
    class_weight : the text of --class-weight
    of_classes : other options that were given and that a regression refuses, with the reason
    """

    task: str | None = None
    costs: Path | None = None
    class_weight: str | None = None
    of_classes: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.task is not None and self.task not in TASKS:
            raise ValueError(f"--task must be one of {', '.join(TASKS)}; got {self.task!r}")
        if self.costs is not None and self.task == REGRESSION:
            raise ValueError(
                "--costs must not be given with --task regression: it has a cost for each class "
                "and action, and a regression has no classes"
            )
        read_class_weight(self.class_weight)
        if self.task == REGRESSION:
            self._refuse_for_regression(f"--task {REGRESSION}")

    @property
    def asked(self) -> str | None:
        """The task that the options name; costs are those of classes."""
        return CLASSIFICATION if self.costs is not None else self.task

    def decide(self, labels: "polars.Series", some: bool = False) -> Decision:
        """What the target is; options that do not suit it are refused.

        ``some`` of the labels may be given if there are others.
        """
        decision = decide_task(labels, self.asked, some)
        if decision.is_regression and self.task is None:
            self._refuse_for_regression("a regression", f"; {decision.line}")
        return decision

    def _refuse_for_regression(self, beside: str, why: str = "") -> None:
        weighted = () if self.class_weight is None else (("--class-weight", NO_CLASSES),)
        for option, reason in (*weighted, *self.of_classes):
            raise ValueError(f"{option} must not be given with {beside}: {reason}{why}")

    def complain(self, decision: Decision | None = None) -> list[Exception]:
        """What is wrong with the file of costs and with class weights; labels may be unknown."""
        errors = [] if self.costs is None else caught(lambda: self.cost_table)
        if decision is None or decision.is_regression:
            return errors
        classes = class_labels(decision.labels)
        if self.costs is not None and not errors:
            errors += caught(self.cost_table.matrix, classes)
        return errors + caught(read_class_weight, self.class_weight, classes)

    @cached_property
    def cost_table(self) -> "CostTable":
        """The file of costs, read once."""
        assert self.costs is not None
        return read_costs(self.costs)

    def cost_matrix(self, classes: Sequence[Any]) -> "dict[Any, dict[Any, float]] | None":
        """A cost for each of these classes and each action; None without --costs."""
        return None if self.costs is None else self.cost_table.matrix(classes)


def class_labels(labels: "polars.Series") -> list[Any]:
    """The classes, sorted."""
    import numpy as np

    return np.unique(labels.unique().to_numpy()).tolist()


def decide_task(labels: "polars.Series", asked: str | None = None, some: bool = False) -> Decision:
    """What a target without missing values is; it may be given by its different values only.

    If there may be more than ``some`` of them, no line says how many there are.

    Numbers with a fraction, or more than ``MOST_CLASSES`` different ones, are a regression, unless
    the user asks for classes: then each number with a fraction becomes a text.
    """
    import polars

    kind, name = labels.dtype, show_name(labels.name)
    if not len(labels):
        raise ValueError(f"some row must have a label; {name} is missing in all rows")
    numeric = kind.is_numeric()
    if not numeric and str(kind) not in ("String", "Boolean") and not str(kind).startswith(
        ("Categorical", "Enum")
    ):  # fmt: skip
        raise ValueError(f"labels must be numbers, texts or booleans; {name} has {kind}")
    if asked == REGRESSION and not numeric:
        raise ValueError(f"labels must be numbers with --task regression; {name} has {labels[0]!r}")
    if not numeric:
        return Decision(CLASSIFICATION, labels)
    if kind.is_float() and bool(labels.is_infinite().any()):
        raise ValueError(f"labels must be finite; {name} has an infinite number")
    if str(kind).startswith("Decimal"):
        labels = labels.cast(polars.Float64)
    fractions = _fractions(labels)
    classes = labels
    if len(fractions) or (kind.is_float() and float(labels.abs().max()) >= 2**63):  # type: ignore[arg-type]
        classes = labels.cast(polars.String)  # scikit-learn takes such floats for measured numbers
    if asked == CLASSIFICATION:
        return Decision(asked, classes)
    line = "" if asked else _line(name, labels, fractions, some)
    if asked != REGRESSION and not line:
        return Decision(CLASSIFICATION, classes)
    _check_squares(labels)
    return Decision(REGRESSION, labels, line)


def _fractions(labels: "polars.Series") -> "polars.Series":
    """The numbers that are not whole."""
    return labels.filter(labels != labels.round()) if labels.dtype.is_float() else labels[:0]


def _line(name: str, labels: "polars.Series", fractions: "polars.Series", some: bool) -> str:
    """Why numbers are a regression; empty if they are few whole ones."""
    different = labels.n_unique()
    if len(fractions):
        why = f"holds numbers with a fraction, such as {fractions[0]:g}"
    elif different > MOST_CLASSES:
        count = f"more than {MOST_CLASSES}" if some else f"{different:,}"
        why = f"holds {count} different numbers"
    else:
        return ""
    return f"{name} {why}, so this is a regression; --task classification makes each number a class"


def _check_squares(labels: "polars.Series") -> None:
    from mictree.problems.tasks import check_squares

    numbers = labels.drop_nulls().to_numpy().astype(float)
    check_squares(numbers, "labels of a regression must have squares", show_name(labels.name))


def check_labels(labels: "polars.Series") -> None:
    """Refuse labels that are no classes: lists, dates, and measured numbers; or none at all."""
    decide_task(labels, CLASSIFICATION)
    measured = _fractions(labels)
    if len(measured):
        raise ValueError(
            f"labels must be classes; {show_name(labels.name)} holds measured numbers such as "
            f"{measured[0]}"
        )


@dataclass(frozen=True)
class CostTable:
    """A file of costs: names of actions and, for each true class, the cost of each action."""

    file: Path
    actions: tuple[str, ...]
    rows: Mapping[str, tuple[float, ...]]

    def matrix(self, classes: Sequence[Any]) -> dict[Any, dict[Any, float]]:
        """The costs by class and action, in the order of the classes; others follow as written.

        An action is a class if it is called so.
        """
        found = {name: _label_of(name, classes) for name in (*self.rows, *self.actions)}
        known = _some(classes)
        errors: list[Exception] = [
            ValueError(
                f"--costs must name a class of the target on the left; {name!r} is none of {known}"
            )
            for name in self.rows
            if found[name] is None
        ]
        named = [found[name] for name in self.rows]
        missing = [label for label in classes if label not in named]
        if missing:
            errors.append(
                ValueError(
                    "--costs must have a line for each class of the target; "
                    f"{_some(missing)} {'has' if len(missing) == 1 else 'have'} none "
                    f"in {str(self.file)!r}"
                )
            )
        raise_all(errors)
        row_of = {found[name]: costs for name, costs in self.rows.items()}
        place = {found[name] if found[name] is not None else name: number
                 for number, name in enumerate(self.actions)}  # fmt: skip
        actions = [label for label in classes if label in place]
        actions += [action for action in place if action not in actions]
        return {
            label: {action: row_of[label][place[action]] for action in actions} for label in classes
        }


def _some(classes: Sequence[Any], most: int = 6) -> str:
    """The names of the first classes, and how many others there are."""
    shown = classes if len(classes) <= most else classes[: most - 1]
    text = ", ".join(repr(str(label)) for label in shown)
    return text if len(shown) == len(classes) else f"{text} and {len(classes) - len(shown)} others"


def _label_of(name: str, classes: Sequence[Any]) -> Any:
    """The class that a name in a file means: by its text, or a number by its value; or None."""
    for label in classes:
        if str(label) == name:
            return label
    for label in classes:
        if isinstance(label, bool) and str(label).casefold() == name.casefold():
            return label
        if isinstance(label, int | float) and not isinstance(label, bool) and _cost(name) == label:
            return label
    return None


def read_costs(file: Path) -> CostTable:
    """Read a file of costs; all that is wrong with it comes together."""
    heads, lines, marked = _cells(file)
    actions, where = heads[1:], repr(str(file))
    if not actions or not lines:
        raise ValueError(
            "--costs must be a CSV file with the names of actions in its first line and a line for "
            f"each class: its name, then the cost of each action; {where} has "
            f"{count_of(len(lines) + 1, 'line')} and {count_of(len(heads), 'column')}"
        )
    errors = _names_again([name for name, *_ in lines], "line", where)
    errors += _names_again(actions, "column", where)
    rows = dict[str, tuple[float, ...]]()
    for name, *cells in lines:
        if len(cells) != len(actions):
            has = count_of(len(cells), "cost")
            errors.append(ValueError(
                f"--costs must have a cost for each of the {count_of(len(actions), 'action')} in "
                f"every line; that of {name!r} in {where} has {has}"
            ))  # fmt: skip
            continue
        costs = [_cost(cell.replace(",", ".") if marked else cell) for cell in cells]
        errors += [
            ValueError(
                f"--costs must hold finite numbers, at least 0; the cost of {action!r} for class "
                f"{name!r} is {cell!r}"
            )
            for action, cost, cell in zip(actions, costs, cells, strict=True)
            if not 0 <= cost < math.inf
        ]
        rows[name] = tuple(costs)
    raise_all(errors)
    return CostTable(file, tuple(actions), rows)


def _cells(file: Path) -> tuple[list[str], list[list[str]], bool]:
    """The header and the other lines of a file, and whether commas may be decimal ones."""
    if not file.is_file():
        raise ValueError(f"--costs must name a CSV file; there is no file {str(file)!r}")
    content = file.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    first = text.partition("\n")[0]
    mark = max(SEPARATORS, key=first.count)
    rows = csv.reader(text.splitlines(), delimiter=mark)
    lines = [[cell.strip() for cell in row] for row in rows if any(map(str.strip, row))]
    heads, *others = lines or [[""]]
    return heads, others, mark != ","


def _names_again(names: Sequence[str], what: str, where: str) -> list[Exception]:
    """Complaints about names that occur twice, or are empty."""
    errors = [
        ValueError(f"--costs must have one {what} for {name!r}; {where} has {names.count(name)}")
        for name in dict.fromkeys(names)
        if name and names.count(name) > 1
    ]
    if "" in names:
        errors.append(ValueError(f"--costs must name every {what}; one in {where} has no name"))
    return [*errors]


def _cost(text: str) -> float:
    """A number, or NaN for what is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def read_class_weight(text: str | None, classes: Sequence[Any] | None = None) -> Any:
    """The option --class-weight: None, "balanced", or a mapping of labels to weights.

    Without classes the labels are texts, so that a bad option is refused before a file is read.
    With classes they are those whose texts the option names; an unknown one is refused.
    """
    if text is None or text == "balanced":
        return text
    pairs = _weights_in_file(Path(text)) if Path(text).is_file() else _weights_in_text(text)
    found: dict[Any, float] = {}
    labels = None if classes is None else {str(label): label for label in classes}
    for label, weight in pairs:
        if label in found:
            raise ValueError(f"--class-weight must name each label once; {label!r} occurs twice")
        if labels is not None and label not in labels:
            known = ", ".join(map(repr, labels))
            raise ValueError(f"--class-weight must name classes; {label!r} is none of {known}")
        found[label] = _positive(label, weight)
    return found if labels is None else {labels[label]: each for label, each in found.items()}


def _weights_in_text(text: str) -> list[tuple[str, str]]:
    """The pairs of label=weight,label=weight."""
    pairs = []
    for part in text.split(","):
        label, mark, weight = part.rpartition("=")
        if not mark:
            raise ValueError(
                "--class-weight must be balanced, label=weight,label=weight or a CSV file of lines "
                f"label,weight; got {text!r}, and there is no such file"
            )
        pairs.append((label.strip(), weight))
    return pairs


def _weights_in_file(file: Path) -> list[tuple[str, str]]:
    """The pairs of a CSV file of labels and weights; it may begin with the line label,weight."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines) if row]
    if rows and [cell.casefold() for cell in rows[0]] == ["label", "weight"]:
        del rows[0]
    if not rows:
        raise ValueError(f"--class-weight must have lines label,weight; {str(file)!r} has none")
    for row in rows:
        if len(row) != 2:
            raise ValueError(
                f"--class-weight must have lines label,weight; {str(file)!r} has {','.join(row)!r}"
            )
    return [(label, weight) for label, weight in rows]


def _positive(label: str, text: str) -> float:
    """A weight, positive and finite."""
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0 < weight < math.inf:
        raise ValueError(
            f"--class-weight must be positive, finite numbers; {label!r} has {text.strip()!r}"
        )
    return weight
