"""One self-contained page about trees on a data set: that of ``mictree data`` or ``mictree fit``.

Both pages have one form (``DataPage``): advice, findings, curves of errors by size, trees with
their rules and results of classes, importances of columns, settings. ``make_comparison_page`` makes
it of a comparison of learners with the optimal trees; ``make_fitted_page`` of one tree whose size
was chosen (``Fitted``), with the optimum beside it. ``render`` writes either as HTML.

Names of columns, classes and files come from users, so all text is escaped. Pictures are image
elements, which cannot run scripts, and the content security policy allows no script at all. An
error that is not proved optimal is never called optimal: it is shown as a certified interval.
"""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from mictree import __version__
from mictree._support import words
from mictree._support.words import count_of, merged_note
from mictree.estimators.predicting import MOST_CLASSES, NEVER
from mictree.plotting.comparison import draw_errors
from mictree.report.page import Table, fill

if TYPE_CHECKING:
    from mictree.comparison.result import Comparison
    from mictree.estimators.greedy import GreedyTreeClassifier
    from mictree.estimators.kinds import TreeClassifier
    from mictree.estimators.optimal import OptimalTreeClassifier
    from mictree.estimators.predicting import ClassResults
    from mictree.estimators.sizes import SizeChoice


SVG_STYLE: dict[Any, Any] = {
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "mictree data",
}
RULE_HEADS = ("if", "then", "rows", "of all", "right")
WEIGHTED = (  # a drawing and rules show numbers of rows beside them
    "Class shares and errors in the drawing, and the rules' columns of all and right, are weighted."
)
ENLARGED, PAGE_WIDTH = 1.6, 744  # how many times, and points: 62 rem, as in page.css
MOST_IMPORTANT = 20  # columns that the page lists


@dataclass(frozen=True)
class Curves:
    """The picture of errors by size, and its numbers."""

    svg: bytes
    alt: str
    caption: str
    numbers: Table
    legend: str  # what the marks in the table mean


@dataclass(frozen=True)
class ShownTree:
    """A tree: its picture, and its rules with their rows, coverage and precision.

    ``results`` has a table of classes on held-out rows, and a confusion matrix if it fits.
    """

    title: str
    note: str
    svg: bytes
    text: str
    rules: tuple[tuple[str, str, str, str, str], ...]
    results: tuple[Table, ...] = ()


@dataclass(frozen=True)
class Importance:
    """The share of a column in the drop of impurity, a number from 0 to 1 for each tree."""

    column: str
    shares: tuple[float, ...]


@dataclass(frozen=True)
class DataPage:
    """The content of the page.

    Attributes
    ----------
    advice : one plain sentence or more: what to do
    notes : the findings behind it
    command : what to type to write the optimal tree, or nothing
    trees : the chosen one first
    facts : the settings with which a user can repeat the run
    """

    title: str
    subtitle: str
    advice: tuple[str, ...]
    notes: tuple[str, ...]
    curves: Curves
    trees: tuple[ShownTree, ...]
    importances: tuple[Importance, ...]
    importance_heads: tuple[str, ...]
    facts: dict[str, object]
    command: str = ""


def render(page: DataPage) -> str:
    """The page as HTML text."""
    facts = {"mictree": __version__, **page.facts}
    return fill("data.html", page=page, rule_heads=RULE_HEADS, facts=facts, never=NEVER)


def show_tree(
    model: "TreeClassifier",
    title: str,
    note: str = "",
    results: "ClassResults | None" = None,
    merge: bool = True,
) -> ShownTree:
    """A fitted model's tree of full size; the note ends with weights and merged splits."""
    with matplotlib.rc_context(SVG_STYLE):
        drawn = enlarge(words.to_svg(model.draw(merge=merge))).encode()
    tree = model.tree_.merged() if merge else model.tree_
    merged = merged_note(model.tree_.size - tree.size)
    rules = model.to_rules()
    weighted = WEIGHTED if rules.weighted else ""
    note = " ".join(filter(None, [note, weighted, f"{merged}." if merged else ""]))
    text = tree.to_text([str(label) for label in model.classes_], merge=False)
    rows = tuple(
        (str(row["rule"]), str(row["label"]), f"{row['rows']:,}", f"{row['coverage']:.0%}",
         f"{row['precision']:.0%}")
        for row in rules.frame.iter_rows(named=True)
    )  # fmt: skip
    tables = () if results is None else show_classes(results)
    return ShownTree(title[0].upper() + title[1:], note, drawn, text, rows, tables)


def show_classes(results: "ClassResults") -> tuple[Table, ...]:
    """Recall and precision of classes, and their confusion matrix unless it is too large."""
    by_class = Table("classes on held-out rows", results.heads(), tuple(results.cells()))
    if len(results.classes) > MOST_CLASSES:
        return (by_class,)
    matrix = Table("confusion matrix", results.matrix_heads(), tuple(results.matrix_cells()))
    return by_class, matrix


def enlarge(svg: str) -> str:
    """A tree drawn for paper, larger for a screen, but for that no wider than the page."""
    found = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg)
    assert found is not None
    width, height = map(float, found.groups())
    scale = max(1.0, min(ENLARGED, PAGE_WIDTH / width))
    size = f'width="{scale * width:.6f}pt" height="{scale * height:.6f}pt"'
    return svg[: found.start()] + size + svg[found.end() :]


def importances(models: Sequence["TreeClassifier"], names: Sequence[str]) -> tuple[Importance, ...]:
    """The columns that some tree tests, the most important of the first tree first."""
    shares = [model.feature_importances_.tolist() for model in models]
    found = [
        Importance(name, own)
        for name, *each in zip(names, *shares, strict=True)
        if any(own := tuple(each))
    ]
    return tuple(sorted(found, key=lambda each: tuple(-share for share in each.shares)))[
        :MOST_IMPORTANT
    ]


def to_svg(draw: Callable[[Figure], object]) -> bytes:
    """A figure of curves, the same bytes for the same picture."""
    stream = io.BytesIO()
    with matplotlib.rc_context(SVG_STYLE):
        figure = Figure(layout="constrained")
        draw(figure)
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def make_comparison_page(
    result: "Comparison", file: str, target: str, size: int, settings: dict[str, object],
    remarks: Sequence[str] = (), command: str = "", merge: bool = True,
) -> DataPage:  # fmt: skip
    """The page about learners and optimal trees; the tree of the given size is shown.

    ``remarks`` are about a tree that helps nobody; the ``command`` writes the tree.
    """
    model = result.model(size)
    names = [column.name for column in result.optimal_trees.problem.literals.columns]
    error = result.optimal_errors.upper[size]
    weighted = model.to_rules().weighted
    note = f"{'Weighted training' if weighted else 'Training'} error {error:.2%}."
    if result.held_out:
        value = result.held_out["optimal"].shown[size]
        kind = "Weighted held-out" if weighted and not result.scoring else "Held-out"
        shown = f"{value:.4g}" if result.scoring else f"{value:.2%}"
        note += f" {kind} {result.measure} {shown}."
    results = result.class_results(size) if result.held_out else None
    return DataPage(
        title=f"{file}: predicting {target}",
        subtitle=result.title,
        advice=tuple(line[0].upper() + line[1:] + "." for line in result.advice),
        notes=(*(f"{line[0].upper()}{line[1:]}." for line in remarks), *result.findings),
        curves=_comparison_curves(result),
        trees=(show_tree(model, result.tree_title(size), note, results, merge),),
        importances=importances([model], names),
        importance_heads=(count_of(size, "split"),),
        facts=settings,
        command=command,
    )


def _comparison_curves(result: "Comparison") -> Curves:
    def draw(figure: Any) -> None:
        result.plot(figure)

    kinds = f"Training error and held-out {result.measure}" if result.held_out else "Training error"
    learners = ", ".join(result.names)
    grey = "" if result.proved else " Grey: the interval of an optimal error that is not proved."
    legend = (
        f"MIC({result.max_size}): the mean, over the sizes 1 to {result.max_size}, of a learner's "
        "excess: its training error minus the optimal one."
    )
    if not result.proved:
        legend += " Two numbers with dots between them are a certified interval."
    if result.held_out:
        legend += (
            " A star: the optimal tree is clearly better on held-out rows; a plus: clearly worse "
            "(by two standard errors)."
        )
    return Curves(
        svg=to_svg(draw),
        alt=f"{kinds} against size for the optimal trees and {learners}; the table below has "
        "the numbers.",
        caption=f"Errors against size, the number of splits.{grey}",
        numbers=Table(
            "Errors by size",
            tuple(result.columns()),
            tuple(tuple(result.cells(size)) for size in range(result.max_size + 1)),
        ),
        legend=legend,
    )


SLACK = 1e-12  # errors that differ by less are equal


@dataclass(frozen=True)
class Fitted:
    """A fitted model and what is known about its errors.

    Attributes
    ----------
    model : with the trees of all sizes, greedy or optimal
    rule : the name of its rule, or "optimal"
    size : the chosen one
    choice : the cross-validation that chose it; None if the user did
    optimal : the optimal trees of the same rows up to this size, or None
    wrong : for the chosen tree and the optimal one, the number of held-out rows with a wrong label
    rows, held_out : the numbers of rows that the tree grew on, and of held-out ones
    rates : the errors of the same trees on held-out rows; by default shares of rows
    weighted : whether rows or classes have weights
    scores : for the same trees, the name of a scoring and its value on held-out rows
    results : for the same trees, the results of each class on held-out rows
    remarks : sentences about a tree that helps nobody
    command : what to type to write the optimal tree
    """

    model: "GreedyTreeClassifier | OptimalTreeClassifier"
    rule: str
    size: int
    choice: "SizeChoice | None"
    optimal: "OptimalTreeClassifier | None"
    wrong: tuple[int, ...]
    rows: int
    held_out: int
    rates: tuple[float, ...] = ()
    weighted: bool = False
    scores: tuple[tuple[str, float], ...] = ()
    results: tuple["ClassResults", ...] = ()
    remarks: tuple[str, ...] = ()
    command: str = ""

    @property
    def growth(self) -> Any:
        """The growth of a greedy model; None for an optimal one."""
        return getattr(self.model, "growth_", None)

    @property
    def frontier(self) -> Any:
        """The least training errors by size, certified; None if they were not searched."""
        searched: Any = self.optimal if self.growth is not None else self.model
        return None if searched is None else searched.frontier_

    @property
    def errors(self) -> Any:
        """The training errors by size."""
        return self.frontier.upper if self.growth is None else self.growth.errors

    def rate(self, number: int) -> float:
        """The error of a tree on held-out rows."""
        return self.rates[number] if self.rates else self.wrong[number] / self.held_out

    @property
    def is_improved(self) -> bool:
        """Whether the optimal tree makes fewer errors, and on held-out rows no more of them."""
        if self.optimal is None or self.rate(1) > self.rate(0) + SLACK:
            return False
        ahead = float(self.errors[self.size]) - float(self.frontier.upper[self.size])
        return ahead > SLACK or self.rate(1) < self.rate(0) - SLACK


def make_fitted_page(
    fitted: Fitted, file: str, target: str, settings: dict[str, object], merge: bool = True
) -> DataPage:
    """The page about a tree and the optimal tree of its size."""
    models: list[TreeClassifier] = [
        each.at_size(fitted.size) for each in (fitted.model, fitted.optimal) if each is not None
    ]
    titles = [f"{fitted.rule}'s tree of {count_of(fitted.size, 'split')}"]
    errors = [fitted.errors[fitted.size]]
    if fitted.frontier is not None:
        proved = bool(fitted.frontier.proved[fitted.size])
        most = f"of at most {count_of(fitted.size, 'split')}"
        best = f"Optimal tree {most}" if proved else f"Best tree found {most}, not proved optimal"
        titles = [best] if fitted.growth is None else [*titles, best]
        errors = [*errors, fitted.frontier.upper[fitted.size]]
    trees = [
        show_tree(model, titles[number], _note(fitted, errors[number], number),
                  fitted.results[number] if fitted.results else None, merge)
        for number, model in enumerate(models)
    ]  # fmt: skip
    names = [column.name for column in fitted.model.literals_.columns]
    return DataPage(
        title=f"{file}: predicting {target}",
        subtitle=f"{count_of(fitted.rows, 'row')} to grow on, {fitted.held_out:,} held out, "
        f"{count_of(len(fitted.model.literals_), 'literal')}, "
        f"{count_of(len(fitted.model.classes_), 'class', 'es')}",
        advice=(advice(fitted),),
        notes=tuple(notes(fitted)),
        curves=_fitted_curves(fitted),
        trees=tuple(trees),
        importances=importances(models, names),
        importance_heads=(fitted.rule, "optimal")[: len(models)],
        facts=settings,
        command=fitted.command if fitted.is_improved else "",
    )


def advice(fitted: Fitted) -> str:
    """What to do, in one sentence."""
    by = "" if fitted.choice is None else ", chosen by cross-validation"
    wrong = f"{fitted.wrong[0]:,} of {count_of(fitted.held_out, 'held-out row')}"
    kind = "a weighted error" if fitted.weighted else "an error"
    return (
        f"Use {count_of(fitted.size, 'split')}{by}: expect {kind} of about {fitted.rate(0):.1%} on "
        f"new rows (wrong on {wrong})."
    )


def notes(fitted: Fitted) -> list[str]:
    """The optimum beside the tree, and why the tree may help nobody, in words."""
    remarks = [f"{line[0].upper()}{line[1:]}." for line in fitted.remarks]
    return remarks + (_compare(fitted) if fitted.optimal is not None else _certified(fitted))


def _certified(fitted: Fitted) -> list[str]:
    """How far an optimal tree that is not proved may be from the best one."""
    if fitted.growth is not None or bool(fitted.frontier.proved[fitted.size]):
        return []
    most = 100 * float(fitted.frontier.upper[fitted.size] - fitted.frontier.lower[fitted.size])
    return [f"No tree of this size is more than {most:.1f} points better on training rows."]


def _compare(fitted: Fitted) -> list[str]:
    """The optimum beside a greedy tree."""
    frontier, size = fitted.frontier, fitted.size
    own = float(fitted.errors[size])
    proved = bool(frontier.proved[size])
    best = "optimal tree of this size" if proved else "best tree of this size that was found"
    ahead = _better(own - float(frontier.upper[size]))
    found = [f"The {best} is {ahead} on training rows; on held-out rows {_on_new_rows(fitted)}."]
    if not proved:
        most = 100 * max(own - float(frontier.lower[size]), 0.0)
        found.append(
            f"No tree of this size is more than {most:.1f} points better on training rows."
        )
    enough = int(np.argmax(frontier.upper <= own + SLACK))
    if enough < size:
        found.append(
            f"A tree of {count_of(enough, 'split')} makes no more training errors than "
            f"{fitted.rule}'s of {size}."
        )
    return found


def _on_new_rows(fitted: Fitted) -> str:
    """The optimal tree beside a greedy one on held-out rows: by weight, or by count."""
    if fitted.weighted:
        own, other = fitted.rate(0), fitted.rate(1)
        return f"its weighted error is {other:.2%}, that of {fitted.rule}'s tree {own:.2%}"
    apart = fitted.wrong[0] - fitted.wrong[1]
    fewer = f"{abs(apart):,} {'fewer' if apart > 0 else 'more'}" if apart else "as many"
    what = "mistake" if abs(apart) == 1 else "mistakes"
    return f"it makes {fewer} {what} {'than' if apart else 'as'} {fitted.rule}'s tree"


def _better(difference: float) -> str:
    """How much better a tree is, in words; never 0.0 points."""
    if difference <= SLACK:
        return "no better"
    points = 100 * difference
    return f"{points:.1f} points better" if points >= 0.05 else "less than 0.1 points better"


def _note(fitted: Fitted, error: float, number: int) -> str:
    wrong = f"{fitted.wrong[number]:,} of {count_of(fitted.held_out, 'row')}"
    kinds = (
        ("Weighted training", "Weighted held-out") if fitted.weighted else ("Training", "Held-out")
    )
    note = f"{kinds[0]} error {error:.2%}. {kinds[1]} error {fitted.rate(number):.2%}"
    note += f"; wrong on {wrong}." if fitted.weighted else f": {wrong}."
    if fitted.scores:
        name, score = fitted.scores[number]
        note += f" Held-out {name} {score:.4g}."
    return note


def _fitted_curves(fitted: Fitted) -> Curves:
    optimal = fitted.frontier
    errors = None if fitted.growth is None else fitted.errors

    def draw(figure: Any) -> None:
        draw_errors(figure, fitted.rule, errors, fitted.choice, optimal, fitted.size)

    known = ["training error"] if fitted.growth is not None else []
    if fitted.choice is not None:
        known.append(f"cross-validated {fitted.choice.measure} with its standard error")
    known += ["optimal training error"] if optimal is not None else []
    open_ = optimal is not None and not optimal.proved.all()
    legend = "An arrow marks the chosen size."
    if fitted.choice is not None:
        legend += " ±: one standard error of the mean over folds."
    if open_:
        legend += " Two numbers with dots between them are a certified interval."
    return Curves(
        svg=to_svg(draw),
        alt=f"By size: {', '.join(known)}; the table below has the numbers.",
        caption="Errors against size, the number of splits."
        + (" Grey: the interval of an optimal error that is not proved." if open_ else ""),
        numbers=_numbers(fitted),
        legend=legend,
    )


def _numbers(fitted: Fitted) -> Table:
    greedy = fitted.growth is not None
    heads = ["size", *(["split on", f"{fitted.rule}, training"] if greedy else [])]
    if fitted.choice is not None:
        scored = fitted.choice.scoring
        heads.append(f"cross-validated {scored}" if scored else "cross-validated")
    heads += ["optimal, training"] if fitted.frontier is not None else []
    sizes = range(len(fitted.growth.steps) + 1 if greedy else len(fitted.errors))
    return Table("Errors by size", tuple(heads), tuple(_cells(fitted, size) for size in sizes))


def _cells(fitted: Fitted, size: int) -> tuple[str, ...]:
    cells = [f"{size}{' ←' if size == fitted.size else ''}"]
    if fitted.growth is not None:
        split = fitted.growth.steps[size - 1].variable if size else ""
        cells += [split, f"{fitted.errors[size]:.4f}"]
    if fitted.choice is not None:
        place = min(size, len(fitted.choice.means) - 1)  # no fold has a larger tree
        value, error = fitted.choice.shown[place], fitted.choice.standard_errors[place]
        cells.append(f"{value:.4f}\u00a0±\u00a0{error:.4f}")
    frontier = fitted.frontier
    if frontier is not None:
        if size >= len(frontier):
            cells.append("")
        elif frontier.proved[size]:
            cells.append(f"{frontier.upper[size]:.4f}")
        else:
            cells.append(f"{frontier.lower[size]:.4f}..{frontier.upper[size]:.4f}")
    return tuple(cells)
