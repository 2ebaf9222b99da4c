"""The data of the page's stepper, as plain values for JSON."""

from typing import Any

from mictree.experiments.examples import OPTIMAL, SteppedGrowth
from mictree.tree import Tree


def stepper_data(growths: tuple[SteppedGrowth, ...]) -> list[dict[str, Any]]:
    """One entry per problem: names, and by learner the trees and errors of every size."""
    return [_case(growth) for growth in growths]


def _case(growth: SteppedGrowth) -> dict[str, Any]:
    least = growth.errors[OPTIMAL]
    learners = [
        {
            "name": name,
            "errors": list(errors),
            "excess": [max(0.0, error - best) for error, best in zip(errors, least, strict=True)],
            "trees": [_tree(tree) for tree in growth.trees[name]],
        }
        for name, errors in growth.errors.items()
    ]
    return {
        "title": growth.title,
        "formula": str(growth.problem.formula),
        "biases": _biases(growth),
        "variables": list(growth.problem.variables),
        "terms": list(growth.problem.term_of),
        "maxSize": growth.max_size,
        "learners": learners,
    }


def _biases(growth: SteppedGrowth) -> str:
    """Every bias, or the one that all variables share."""
    biases = growth.problem.biases
    if len(set(biases.values())) == 1:
        return f"every bias {float(next(iter(biases.values()))):g}"
    return "biases: " + ", ".join(f"{name} {float(bias):g}" for name, bias in biases.items())


def _tree(tree: Tree) -> dict[str, Any]:
    return {
        "tests": list(tree.tests),
        "low": list(tree.low),
        "high": list(tree.high),
        "labels": list(tree.labels),
    }
