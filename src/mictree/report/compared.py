"""A comparison -> the page of ``mictree data``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mictree._support.words import count_of
from mictree.report.data import Curves, DataPage, importances, show_tree, to_svg
from mictree.report.page import Table

if TYPE_CHECKING:
    from mictree.comparison.result import Comparison


def make_page(
    result: "Comparison", file: str, target: str, size: int, settings: dict[str, object],
    remarks: Sequence[str] = (), command: str = "", merge: bool = True,
) -> DataPage:  # fmt: skip
    """The page about learners and optimal trees; the tree of the given size is shown.

    ``remarks`` are about a tree that helps nobody; the ``command`` writes the tree.
    """
    model = result.model(size)
    names = [column.name for column in result.optimal_trees.problem.literals.columns]
    error = result.optimal_errors.upper[size]
    note = f"Training error {error:.2%}."
    if result.held_out:
        value = result.held_out["optimal"].shown[size]
        note += (
            f" Held-out {result.measure} {f'{value:.4g}' if result.scoring else f'{value:.2%}'}."
        )
    results = result.class_results(size) if result.held_out else None
    return DataPage(
        title=f"{file}: predicting {target}",
        subtitle=result.title,
        advice=tuple(line[0].upper() + line[1:] + "." for line in result.advice),
        notes=(*(f"{line[0].upper()}{line[1:]}." for line in remarks), *result.findings),
        curves=_curves(result),
        trees=(show_tree(model, result.tree_title(size), note, results, merge),),
        importances=importances([model], names),
        importance_heads=(count_of(size, "split"),),
        facts=settings,
        command=command,
    )


def _curves(result: "Comparison") -> Curves:
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
