"""One self-contained page about trees on a data set: that of ``mictree data`` or ``mictree fit``.

Both pages have one form (``DataPage``): advice, findings, curves of errors by size, trees with
their rules and results of classes, importances of columns, settings. ``make_comparison_page`` makes
it of a comparison of learners with the optimal trees; ``make_fitted_page`` of one tree whose size
was chosen (``Fitted``), with the optimum beside it. ``render`` writes either as HTML.

Names of columns, classes and files come from users, so all text is escaped. Pictures are image
elements, which cannot run scripts, and the content security policy allows no script at all. An
error that is not proved optimal is never called optimal: it is shown as a certified interval.

One self-contained page about all good trees of a problem.

It says how many there are by size, which variables all of them test, and how likely greedy rules
with random ties end among them; beside a heat map of shares and a few trees that differ most. The
same template, policy and escaping as of all pages (``report.page``).
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from mictree import __version__
from mictree._support import words
from mictree._support.words import (
    SQUARED,
    count_of,
    measure_of,
    merged_note,
    names_of_labels,
    root_of,
    shorten_set,
    show_measured,
    show_number,
    show_significant,
)
from mictree.estimators.leaves import ActionResults, LeafResults
from mictree.estimators.predicting import MOST_CLASSES, NEVER
from mictree.optimal.good import good_trees
from mictree.plotting.comparison import draw_errors, draw_residuals
from mictree.problems.tasks import Errors
from mictree.report.page import Table, fill

if TYPE_CHECKING:
    from mictree.comparison.result import Comparison
    from mictree.estimators.base import TreeModel
    from mictree.estimators.predicting import ClassResults
    from mictree.estimators.sizes import SizeChoice

    Results = ClassResults | ActionResults | LeafResults
    from mictree.optimal.good import GoodTrees
    from mictree.optimal.good_chance import Chance


SVG_STYLE: dict[Any, Any] = {
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "mictree data",
}
DROPS = {"error": "impurity", "mean cost": "impurity", SQUARED: "squared error"}
RULE_HEADS = ("if", "then", "rows", "of all")  # then how good the rule is
SHOWN_AS = {"precision": "right"}  # what else a rule has is called by its name
WEIGHTED = (  # a drawing and rules show numbers of rows beside them
    "Class shares and errors in the drawing, and the rules' columns of all and right, are weighted."
)
WEIGHTED_OTHERS = "All numbers in the drawing and in the rules but those of rows are weighted."
CARDS = {  # what a node of the drawing shows, by what errors are
    "error": "its test, a bar of class shares, the rows that come there, and the error of their "
    "most frequent class",
    "mean cost": "its test, a bar of class shares, the rows that come there, and the mean cost of "
    "the cheapest action",
    SQUARED: "its test, a bar with the mean of its rows and one standard deviation to both sides "
    "of it, the rows that come there, and the same two numbers",
}
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
    """A tree: its picture, and its rules with their rows, coverage, and how good each is.

    Attributes
    ----------
    caption : what a node of the picture shows
    rule_heads : the headings of the rules
    results : what the tree does on held-out rows
    whole : tests of which the picture shows only a part
    """

    title: str
    note: str
    svg: bytes
    text: str
    caption: str
    rule_heads: tuple[str, ...]
    rules: tuple[tuple[str, ...], ...]
    results: ShownResults | None = None
    whole: str = ""


@dataclass(frozen=True)
class ShownResults:
    """What a tree does on held-out rows: a picture or none, tables, and how to read them."""

    title: str
    tables: tuple[Table, ...]
    legend: str
    svg: bytes = b""
    alt: str = ""


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
    drop: str = "impurity"  # what importances are shares of


def render(page: DataPage) -> str:
    """The page as HTML text."""
    facts = {"mictree": __version__, **page.facts}
    return fill("data.html", page=page, facts=facts, never=NEVER)


def show_tree(
    model: TreeModel,
    title: str,
    note: str = "",
    results: Results | None = None,
    merge: bool = True,
    target: str = "",
) -> ShownTree:
    """A fitted model's tree of full size; the note ends with weights and merged splits."""
    with matplotlib.rc_context(SVG_STYLE):
        drawn = enlarge(words.to_svg(model.draw(merge=merge))).encode()
    measure = measure_of(model)
    tree = model.tree_.merged() if merge else model.tree_
    tests = dict.fromkeys(tree.variables[test] for test in tree.tests if test >= 0)
    whole = "\n".join(test for test in tests if words.shorten_set(test) != test)
    merged = merged_note(model.tree_.size - tree.size)
    rules = model.to_rules()
    weighted = (WEIGHTED if measure == "error" else WEIGHTED_OTHERS) if rules.weighted else ""
    note = " ".join(filter(None, [note, weighted, f"{merged}." if merged else ""]))
    heads = [SHOWN_AS.get(name) or name for name, _ in rules[0].names]
    rows = tuple(
        (str(row["rule"]), rule.shown or str(rule.label), f"{rule.rows:,}", f"{rule.coverage:.0%}",
         *rule.cells)
        for rule, row in zip(rules, rules.frame.iter_rows(named=True), strict=True)
    )  # fmt: skip
    return ShownTree(
        title=title[0].upper() + title[1:],
        note=note,
        svg=drawn,
        whole=whole,
        text=tree.to_text(names_of_labels(model), merge=False),
        caption=f"At every node: {CARDS[measure]}.",
        rule_heads=(*RULE_HEADS, *heads),
        rules=rows,
        results=None if results is None else show_results(results, target),
    )


def show_results(results: Results, target: str) -> ShownResults:
    """What a tree does on held-out rows: by class, by class and action, or by leaf."""
    if isinstance(results, LeafResults):
        return _show_leaves(results, target)
    by_class = Table("classes on held-out rows", results.heads(), tuple(results.cells()))
    if isinstance(results, ActionResults):
        return ShownResults("Held-out rows by class", (by_class,), ACTION_LEGEND)
    if len(results.classes) > MOST_CLASSES:
        return ShownResults("Held-out rows by class", (by_class,), CLASS_LEGEND)
    matrix = Table("confusion matrix", results.matrix_heads(), tuple(results.matrix_cells()))
    return ShownResults("Held-out rows by class", (by_class, matrix), CLASS_LEGEND)


def _show_leaves(results: LeafResults, target: str) -> ShownResults:
    """Predicted beside true numbers, and residuals by leaf."""
    table = Table("what is predicted, on held-out rows", results.heads(), tuple(results.cells()))
    return ShownResults(
        "Held-out rows by what is predicted",
        (table,),
        LEAF_LEGEND,
        to_svg(lambda figure: draw_residuals(figure, results, target)),
        f"Left: true against predicted {target} of held-out rows. Right: residuals of each leaf; "
        "the table below has the numbers.",
    )


CLASS_LEGEND = (
    "Recall: the share of a class's rows that the tree finds. Precision: the share of its "
    "predictions of a class that are right. The second table counts rows by true and predicted "
    "class."
)
ACTION_LEGEND = (
    "Mean cost: of the actions that the tree takes for the rows of a class. Then the rows for "
    "which it takes each action."
)
LEAF_LEGEND = (
    "A residual is the true number minus the predicted one. Left: points on the dashed line are "
    "predicted exactly. Right: a box has the middle half of a leaf's rows and a line at their "
    "median, whiskers the middle 90%. A leaf whose mean residual is far from 0 is wrong on one "
    "side."
)


def enlarge(svg: str) -> str:
    """A tree drawn for paper, larger for a screen, but for that no wider than the page."""
    found = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', svg)
    assert found is not None
    width, height = map(float, found.groups())
    scale = max(1.0, min(ENLARGED, PAGE_WIDTH / width))
    size = f'width="{scale * width:.6f}pt" height="{scale * height:.6f}pt"'
    return svg[: found.start()] + size + svg[found.end() :]


def importances(models: Sequence[TreeModel], names: Sequence[str]) -> tuple[Importance, ...]:
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
    result: Comparison, file: str, target: str, size: int, settings: dict[str, object],
    remarks: Sequence[str] = (), command: str = "", merge: bool = True,
    results: Results | None = None,
) -> DataPage:  # fmt: skip
    """The page about learners and optimal trees; the tree of the given size is shown.

    ``remarks`` are about a tree that helps nobody; the ``command`` writes the tree. ``results`` are
    those of the tree on held-out rows, by default by class.
    """
    model = result.model(size)
    names = [column.name for column in result.optimal_trees.problem.literals.columns]
    weighted, measure = model.to_rules().weighted, measure_of(model)
    note = _say(f"{'weighted ' * weighted}training {measure}",
                _percentage(result.optimal_errors.upper[size], measure))  # fmt: skip
    if result.held_out:
        value = result.held_out["optimal"].shown[size]
        kind = "weighted " * (weighted and not result.scoring)
        shown = f"{value:.4g}" if result.scoring else _percentage(value, measure)
        note += f" {_say(f'{kind}held-out {result.measure}', shown)}"
    if results is None and result.held_out and result.classes:
        results = result.class_results(size)
    return DataPage(
        title=f"{file}: predicting {target}",
        subtitle=result.title,
        advice=tuple(line[0].upper() + line[1:] + "." for line in result.advice),
        notes=(*(f"{line[0].upper()}{line[1:]}." for line in remarks), *result.findings),
        curves=_comparison_curves(result, measure),
        trees=(show_tree(model, result.tree_title(size), note, results, merge, target),),
        importances=importances([model], names),
        importance_heads=(count_of(size, "split"),),
        facts=settings,
        command=command,
        drop=DROPS[measure],
    )


def _say(what: str, shown: str) -> str:
    """A sentence that begins with a capital letter."""
    return f"{what[0].upper()}{what[1:]} {shown}."


def _percentage(value: float, measure: str) -> str:
    """An error as a share of rows; costs and squared errors are none."""
    return f"{value:.2%}" if measure == "error" else show_measured(value, measure, 4)


INTERVALS = (
    " Two numbers with dots between them are a certified interval. The word after them says what "
    "its lower end is from: a search that was stopped, or a relaxation."
)


def _comparison_curves(result: Comparison, measure: str) -> Curves:
    def draw(figure: Any) -> None:
        result.plot(figure)

    kinds = f"Training {measure}"
    kinds += f" and held-out {result.measure}" if result.held_out else ""
    learners = ", ".join(result.names)
    grey = "" if result.proved else " Grey: the interval of an optimal error that is not proved."
    legend = (
        f"MIC({result.max_size}): the mean, over the sizes 1 to {result.max_size}, of a learner's "
        f"excess: its training {measure} minus the optimal one."
    )
    if not result.proved:
        legend += INTERVALS
    if result.held_out:
        legend += (
            " A star: the optimal tree is clearly better on held-out rows; a plus: clearly worse "
            "(by two standard errors)."
        )
    return Curves(
        svg=to_svg(draw),
        alt=f"{kinds} against size for the optimal trees and {learners}; the table below has "
        "the numbers.",
        caption=f"{_errors(measure)} against size, the number of splits.{grey}",
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
    wrong : for the chosen tree and the optimal one, the number of held-out rows with a wrong
        label; empty if errors are no mistakes
    rows, held_out : the numbers of rows that the tree grew on, and of held-out ones
    rates : the errors of the same trees on held-out rows; by default shares of rows
    weighted : whether rows or classes have weights
    scores : for the same trees, the name of a scoring and its value on held-out rows
    results : for the same trees, the results on held-out rows, by class or by leaf
    remarks : sentences about a tree that helps nobody
    command : what to type to write the optimal tree
    others : a sentence about all trees of the size that are as good, or nothing
    """

    model: Any
    rule: str
    size: int
    choice: SizeChoice | None
    optimal: Any
    wrong: tuple[int, ...]
    rows: int
    held_out: int
    rates: tuple[float, ...] = ()
    weighted: bool = False
    scores: tuple[tuple[str, float], ...] = ()
    results: tuple[Results, ...] = ()
    remarks: tuple[str, ...] = ()
    command: str = ""
    others: str = ""

    @property
    def measure(self) -> str:
        """What errors are: "error", "mean cost" or "mean squared error"."""
        return measure_of(self.model)

    @property
    def slack(self) -> float:
        """Errors that differ by less are equal."""
        return SLACK if self.measure == "error" else SLACK * abs(float(self.errors[0]))

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
        if self.optimal is None or self.rate(1) > self.rate(0) + self.slack:
            return False
        ahead = float(self.errors[self.size]) - float(self.frontier.upper[self.size])
        return ahead > self.slack or self.rate(1) < self.rate(0) - self.slack


def make_fitted_page(
    fitted: Fitted, file: str, target: str, settings: dict[str, object], merge: bool = True
) -> DataPage:
    """The page about a tree and the optimal tree of its size."""
    models: list[TreeModel] = [
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
                  fitted.results[number] if fitted.results else None, merge, target)
        for number, model in enumerate(models)
    ]  # fmt: skip
    names = [column.name for column in fitted.model.literals_.columns]
    return DataPage(
        title=f"{file}: predicting {target}",
        subtitle=f"{count_of(fitted.rows, 'row')} to grow on, {fitted.held_out:,} held out, "
        f"{count_of(len(fitted.model.literals_), 'literal')}{_labels_in_words(fitted.model)}",
        advice=(advice(fitted),),
        notes=tuple(notes(fitted)),
        curves=_fitted_curves(fitted),
        trees=tuple(trees),
        importances=importances(models, names),
        importance_heads=(fitted.rule, "optimal")[: len(models)],
        facts=settings,
        command=fitted.command if fitted.is_improved else "",
        drop=DROPS[fitted.measure],
    )


def _labels_in_words(model: Any) -> str:
    """How many classes and actions there are; nothing of a regression."""
    names = names_of_labels(model)
    if names is None:
        return ", regression"
    classes = f", {count_of(len(model.classes_), 'class', 'es')}"
    if measure_of(model) == "error":
        return classes
    return f"{classes}, {count_of(len(names), 'action')}"


def advice(fitted: Fitted) -> str:
    """What to do, in one sentence."""
    by = "" if fitted.choice is None else ", chosen by cross-validation"
    use = f"Use {count_of(fitted.size, 'split')}{by}: expect"
    a = "a weighted" if fitted.weighted else "an" if fitted.measure == "error" else "a"
    if fitted.measure == SQUARED:
        found, root = fitted.rate(0), show_significant(root_of(fitted.rate(0)))
        explained = _explained(fitted, 0)
        return (
            f"{use} {a} mean squared error of about {show_significant(found)} on new rows: "
            f"predictions are off by about {root}, its root{explained}."
        )
    if fitted.measure != "error":
        shown = show_measured(fitted.rate(0), fitted.measure, 4)
        return f"{use} {a} {fitted.measure} of about {shown} on new rows."
    wrong = f"{fitted.wrong[0]:,} of {count_of(fitted.held_out, 'held-out row')}"
    return f"{use} {a} error of about {fitted.rate(0):.1%} on new rows (wrong on {wrong})."


def _explained(fitted: Fitted, number: int) -> str:
    """The R^2 of a regression on held-out rows, as a part of a sentence."""
    found = fitted.results[number] if fitted.results else None
    if not isinstance(found, LeafResults) or np.isnan(found.r2):
        return ""
    return f"; R^2 {show_significant(found.r2)}"


def notes(fitted: Fitted) -> list[str]:
    """The optimum beside the tree, and why the tree may help nobody, in words."""
    remarks = [f"{line[0].upper()}{line[1:]}." for line in fitted.remarks]
    found = _compare(fitted) if fitted.optimal is not None else _certified(fitted)
    return [*remarks, *found, *filter(None, [fitted.others])]


def _certified(fitted: Fitted) -> list[str]:
    """How far an optimal tree that is not proved may be from the best one."""
    if fitted.growth is not None or bool(fitted.frontier.proved[fitted.size]):
        return []
    return _at_best(fitted, float(fitted.frontier.upper[fitted.size]))


def _at_best(fitted: Fitted, own: float) -> list[str]:
    """How much better than an error any tree of the size can be on training rows."""
    lower = float(fitted.frontier.lower[fitted.size])
    if fitted.measure == "error":
        most = 100 * max(own - lower, 0.0)
        return [f"No tree of this size is more than {most:.1f} points better on training rows."]
    if lower <= 0:  # of any tree
        return []
    least = show_measured(lower, fitted.measure, 4)
    return [f"No tree of this size has a training {fitted.measure} below {least}."]


def _compare(fitted: Fitted) -> list[str]:
    """The optimum beside a greedy tree."""
    frontier, size = fitted.frontier, fitted.size
    own, other = float(fitted.errors[size]), float(frontier.upper[size])
    proved = bool(frontier.proved[size])
    best = "optimal tree of this size" if proved else "best tree of this size that was found"
    if fitted.measure == "error":
        ahead = _better(own - other)
        found = [
            f"The {best} is {ahead} on training rows; on held-out rows {_on_new_rows(fitted)}."
        ]
        few = "makes no more training errors than"
    else:
        mine, its, new, its_new = (
            show_measured(error, fitted.measure, 4)
            for error in (other, own, fitted.rate(1), fitted.rate(0))
        )
        ahead = f"The {best} is no better on training rows"
        if own - other > fitted.slack:
            ahead = (
                f"The {best} has a {fitted.measure} of {mine} on training rows, {fitted.rule}'s "
                f"tree {its}"
            )
        found = [f"{ahead}; on held-out rows it has {new}, {fitted.rule}'s tree {its_new}."]
        few = f"has no larger training {fitted.measure} than"
    if not proved:
        found += _at_best(fitted, own)
    enough = int(np.argmax(frontier.upper <= own + fitted.slack))
    if enough < size:
        found.append(f"A tree of {count_of(enough, 'split')} {few} {fitted.rule}'s of {size}.")
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
    measure, kind = fitted.measure, "weighted " * fitted.weighted
    rate = fitted.rate(number)
    note = _say(f"{kind}training {measure}", _percentage(error, measure))
    shown = _percentage(rate, measure)
    if measure == "error":
        wrong = f"{fitted.wrong[number]:,} of {count_of(fitted.held_out, 'row')}"
        shown += f"; wrong on {wrong}" if fitted.weighted else f": {wrong}"
    note += " " + _say(f"{kind}held-out {measure}", f"{shown}{_explained(fitted, number)}")
    if fitted.scores:
        name, score = fitted.scores[number]
        note += f" Held-out {name} {score:.4g}."
    return note


def _fitted_curves(fitted: Fitted) -> Curves:
    optimal = fitted.frontier
    errors = None if fitted.growth is None else fitted.errors

    def draw(figure: Any) -> None:
        draw_errors(
            figure, fitted.rule, errors, fitted.choice, optimal, fitted.size, fitted.measure
        )

    training = f"training {fitted.measure}"
    known = [training] if fitted.growth is not None else []
    if fitted.choice is not None:
        known.append(f"cross-validated {fitted.choice.measure} with its standard error")
    known += [f"optimal {training}"] if optimal is not None else []
    open_ = optimal is not None and not optimal.proved.all()
    legend = "An arrow marks the chosen size."
    if fitted.choice is not None:
        legend += " ±: one standard error of the mean over folds."
    if open_:
        legend += INTERVALS
    return Curves(
        svg=to_svg(draw),
        alt=f"By size: {', '.join(known)}; the table below has the numbers.",
        caption=f"{_errors(fitted.measure)} against size, the number of splits."
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


def _errors(measure: str) -> str:
    """Errors in the plural, at the beginning of a sentence."""
    return f"{measure[0].upper()}{measure[1:]}s"


def _cells(fitted: Fitted, size: int) -> tuple[str, ...]:
    squared = fitted.measure == SQUARED

    def show(error: float) -> str:
        return show_significant(error) if squared else f"{error:.4f}"

    cells = [f"{size}{' ←' if size == fitted.size else ''}"]
    if fitted.growth is not None:
        split = shorten_set(fitted.growth.steps[size - 1].variable) if size else ""
        cells += [split, show(fitted.errors[size])]
    if fitted.choice is not None:
        place = min(size, len(fitted.choice.means) - 1)  # no fold has a larger tree
        value, error = fitted.choice.shown[place], fitted.choice.standard_errors[place]
        shown = show if not fitted.choice.scoring else "{:.4f}".format
        cells.append(f"{shown(value)}\u00a0±\u00a0{shown(error)}")
    frontier = fitted.frontier
    if frontier is not None:
        if size >= len(frontier):
            cells.append("")
        elif frontier.proved[size]:
            cells.append(show(frontier.upper[size]))
        else:
            ends = f"{show(frontier.lower[size])}..{show(frontier.upper[size])}"
            cells.append(f"{ends} ({frontier.certificate[size]})")
    return tuple(cells)


MOST_NAMED = 8  # variables in a sentence


@dataclass(frozen=True)
class GoodPage:
    """The content of the page."""

    title: str
    subtitle: str
    lines: tuple[str, ...]  # what was found
    counts: Table
    shares: bytes
    shares_alt: str
    trees: bytes
    trees_alt: str
    chances: tuple[Table, ...]
    facts: dict[str, str]


def make_good_page(good: GoodTrees, name: str, chances: Sequence[Chance] = ()) -> GoodPage:
    """The page about good trees of a formula or a file; all of them must be counted."""
    size = max((each for each, count in enumerate(good.counts) if count), default=0)
    heads, rows = good.cells()
    with matplotlib.rc_context(SVG_STYLE):
        shares, trees = words.to_svg(good.plot()), words.to_svg(good.draw(size).axes[0])
    return GoodPage(
        f"Good trees of {name}",
        "Every tree of the least error of its size"
        + (f", or at most {show_number(good.within)} more" if good.within else ""),
        tuple(sentences(good, size)),
        Table("Good trees by size", tuple(heads), tuple(map(tuple, rows))),
        shares.encode(),
        "a heat map: the share of the good trees that test each variable, by size",
        trees.encode(),
        f"a few good trees of {count_of(size, 'split')} that differ most",
        tuple(map(_chance_table, chances)),
        {"mictree": __version__, "within": str(good.within)},
    )


def sentences(good: GoodTrees, size: int) -> list[str]:
    """How many good trees of a size there are, and which variables all of them test, or none."""
    count = good.counts[size]
    least = show_number(float(good.optimal_errors[size]), 4)
    first = f"With {count_of(size, 'split')} the least error is {least}; "
    if count == 1:
        first += "one tree is good" if good.within else "one tree has it"
    else:
        first += f"{count:,} trees are good"
    lines = [f"{first}."]
    shares = good.shares(size)
    every = [name for name, share in shares.items() if share == 1]
    never = [name for name, share in shares.items() if share == 0]
    if size and every:
        lines.append(f"All of them test {_listed(every)}.")
    elif size and count > 1:
        lines.append("No variable is tested by all of them.")
    if size and never:
        lines.append(f"None of them tests {_listed(never, 'or')}.")
    return lines


def _listed(names: Sequence[str], word: str = "and") -> str:
    if len(names) <= MOST_NAMED:
        return ", ".join(names[:-1]) + (f" {word} " if len(names) > 1 else "") + names[-1]
    return f"{', '.join(names[:MOST_NAMED])} {word} {len(names) - MOST_NAMED} more"


def _chance_table(chance: Chance) -> Table:
    how = "exact" if chance.runs is None else f"of {chance.runs:,} runs"
    rows = tuple(
        (str(size), show_number(each, 4), "too many to tell" if reached is None else f"{reached:,}")
        for size, (each, reached) in enumerate(zip(chance.chances, chance.reached, strict=True))
    )
    title = f"{chance.rule} with random ties: chance to end among the good trees, {how}"
    return Table(title, ("size", "chance", "good trees that it can reach"), rows)


MOST_COUNTED = 8  # splits of a fitted tree whose like are counted
ROOM = 2**29  # bytes


def among_good(model: Any, size: int, seconds: float) -> str:
    """One sentence: how many trees of a size err almost as little as the best; or nothing.

    Trees count that make at most one error more than the best of their size on the rows that the
    model grew on. Nothing is said of weighted rows and of other tasks than errors, nor where this
    cannot be counted in so many seconds. All splits count, also those that a drawing leaves out.
    """
    problem, tree = model._problem, model.at_size(size).tree_  # whose own problem has no rows
    size, rows = tree.size, int(problem.class_rows.sum())
    plain = isinstance(problem.task, Errors) and not len(problem.weights)
    if not plain or (problem.class_weight != 1).any() or not 0 < size <= MOST_COUNTED:
        return ""
    try:
        good = good_trees(problem, size, Fraction(1, rows), memory_limit=ROOM, time_limit=seconds)
        if good.ended[size]:
            return ""
        count, mine = good.counts[size], good.contains(tree)
        needed = [name for name, share in good.shares(size).items() if share == 1]
    except ValueError:  # no proof, or no room
        return ""
    most = f"at most one error more than the best tree of {count_of(size, 'split')}"
    if mine:
        others = "It is the only tree" if count == 1 else f"It is one of {count:,} trees"
        first = f"{others} of this size with {most}"
    elif count == 1:
        first = f"One tree has {most}, and this is another"
    else:
        first = f"{count:,} trees have {most}, and this is none of them"
    if needed and count > 1:
        first += f"; all of them test {_listed(needed)}"
    return f"{first}, on the rows that it grew on."


def render_good(page: GoodPage) -> str:
    """The page as HTML text."""
    return fill("good.html", page=page)
