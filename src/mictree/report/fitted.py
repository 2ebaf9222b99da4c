"""A grown tree whose size was chosen -> the page of ``mictree fit``, with the optimum beside it."""

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
    from mictree.estimators.sizes import SizeChoice

SLACK = 1e-12  # errors that differ by less are equal


@dataclass(frozen=True)
class Fitted:
    """A fitted model and what is known about its errors.

    Attributes
    ----------
    model : with the trees of all sizes
    rule : the name of its rule
    size : the chosen one
    choice : the cross-validation that chose it; None if the user did
    optimal : the optimal trees of the same rows up to this size, or None
    wrong : for the chosen tree and the optimal one, the number of held-out rows with a wrong label
    rows, held_out : the numbers of rows that the tree grew on, and of held-out ones
    """

    model: "GreedyTreeClassifier"
    rule: str
    size: int
    choice: "SizeChoice | None"
    optimal: "OptimalTreeClassifier | None"
    wrong: tuple[int, ...]
    rows: int
    held_out: int

    @property
    def errors(self) -> Any:
        """The training errors by size."""
        return self.model.growth_.errors


def make_page(
    fitted: Fitted, file: str, target: str, settings: dict[str, object], merge: bool = True
) -> DataPage:
    """The page about a tree and the optimal tree of its size."""
    chosen = fitted.model.at_size(fitted.size)
    models: list[TreeClassifier] = [chosen]
    title = f"{fitted.rule}'s tree of {count_of(fitted.size, 'split')}"
    trees = [show_tree(chosen, title, _note(fitted, fitted.errors[fitted.size], 0), merge)]
    if fitted.optimal is not None:
        optimal = fitted.optimal.at_size(fitted.size)
        models.append(optimal)
        proved = bool(fitted.optimal.frontier_.proved[fitted.size])
        most = f"of at most {count_of(fitted.size, 'split')}"
        title = f"Optimal tree {most}" if proved else f"Best tree found {most}, not proved optimal"
        error = fitted.optimal.frontier_.upper[fitted.size]
        trees.append(show_tree(optimal, title, _note(fitted, error, 1), merge))
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
    )


def advice(fitted: Fitted) -> str:
    """What to do, in one sentence."""
    by = "" if fitted.choice is None else ", chosen by cross-validation"
    wrong = f"{fitted.wrong[0]:,} of {count_of(fitted.held_out, 'held-out row')}"
    rate = fitted.wrong[0] / fitted.held_out
    return (
        f"Use {count_of(fitted.size, 'split')}{by}: expect an error of about {rate:.1%} on new "
        f"rows (wrong on {wrong})."
    )


def notes(fitted: Fitted) -> list[str]:
    """The optimum beside the tree, in words."""
    if fitted.optimal is None:
        return []
    frontier, size = fitted.optimal.frontier_, fitted.size
    own = float(fitted.errors[size])
    proved = bool(frontier.proved[size])
    best = "optimal tree of this size" if proved else "best tree of this size that was found"
    ahead = _better(own - float(frontier.upper[size]))
    apart = fitted.wrong[0] - fitted.wrong[1]
    fewer = f"{abs(apart):,} {'fewer' if apart > 0 else 'more'}" if apart else "as many"
    found = [
        f"The {best} is {ahead} on training rows; on held-out rows it makes {fewer} "
        f"{'mistake' if abs(apart) == 1 else 'mistakes'} {'than' if apart else 'as'} "
        f"{fitted.rule}'s tree."
    ]
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


def _better(difference: float) -> str:
    """How much better a tree is, in words; never 0.0 points."""
    if difference <= SLACK:
        return "no better"
    points = 100 * difference
    return f"{points:.1f} points better" if points >= 0.05 else "less than 0.1 points better"


def _note(fitted: Fitted, error: float, number: int) -> str:
    wrong = fitted.wrong[number]
    return (
        f"Training error {error:.2%}. Held-out error {wrong / fitted.held_out:.2%}: {wrong:,} of "
        f"{count_of(fitted.held_out, 'row')}."
    )


def _curves(fitted: Fitted) -> Curves:
    optimal = None if fitted.optimal is None else fitted.optimal.frontier_

    def draw(figure: Any) -> None:
        draw_errors(figure, fitted.rule, fitted.errors, fitted.choice, optimal, fitted.size)

    known = ["training error"]
    known += ["cross-validated error with its standard error"] if fitted.choice is not None else []
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
    heads = ["size", "split on", f"{fitted.rule}, training"]
    heads += ["cross-validated"] if fitted.choice is not None else []
    heads += ["optimal, training"] if fitted.optimal is not None else []
    splits = ["", *(step.variable for step in fitted.model.growth_.steps)]
    return Table(
        "Errors by size", tuple(heads), tuple(_cells(fitted, *each) for each in enumerate(splits))
    )


def _cells(fitted: Fitted, size: int, split: str) -> tuple[str, ...]:
    cells = [f"{size}{' ←' if size == fitted.size else ''}", split, f"{fitted.errors[size]:.4f}"]
    if fitted.choice is not None:
        place = min(size, len(fitted.choice.means) - 1)  # no fold has a larger tree
        error = 1 - fitted.choice.means[place]
        cells.append(f"{error:.4f}\u00a0±\u00a0{fitted.choice.standard_errors[place]:.4f}")
    if fitted.optimal is not None:
        frontier = fitted.optimal.frontier_
        if size >= len(frontier):
            cells.append("")
        elif frontier.proved[size]:
            cells.append(f"{frontier.upper[size]:.4f}")
        else:
            cells.append(f"{frontier.lower[size]:.4f}..{frontier.upper[size]:.4f}")
    return tuple(cells)
