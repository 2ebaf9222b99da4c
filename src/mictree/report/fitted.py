"""A tree whose size was chosen -> the page of ``mictree fit``, with the optimum beside it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.words import count_of
from mictree.plotting.fitted import draw_errors
from mictree.report.data import Curves, DataPage, importances, show_tree, to_svg
from mictree.report.page import Table

if TYPE_CHECKING:
    from mictree.estimators.base import TreeClassifier
    from mictree.estimators.greedy import GreedyTreeClassifier
    from mictree.estimators.optimal import OptimalTreeClassifier
    from mictree.estimators.scoring import ClassResults
    from mictree.estimators.sizes import SizeChoice

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


def make_page(
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
        curves=_curves(fitted),
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
    told = [f"{line[0].upper()}{line[1:]}." for line in fitted.remarks]
    return told + (_beside(fitted) if fitted.optimal is not None else _certified(fitted))


def _certified(fitted: Fitted) -> list[str]:
    """How far an optimal tree that is not proved may be from the best one."""
    if fitted.growth is not None or bool(fitted.frontier.proved[fitted.size]):
        return []
    most = 100 * float(fitted.frontier.upper[fitted.size] - fitted.frontier.lower[fitted.size])
    return [f"No tree of this size is more than {most:.1f} points better on training rows."]


def _beside(fitted: Fitted) -> list[str]:
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


def _curves(fitted: Fitted) -> Curves:
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
