"""Rows drawn from a known distribution, and trees learned from them judged by it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree.growers.rules import Grower
from mictree.problems import FormulaProblem
from mictree.problems.limits import Limits
from mictree.problems.sample import SampleProblem
from mictree.tree import LEAF, Tree

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

Bits = np.typing.NDArray[np.uint8]


@dataclass(frozen=True)
class Rows:
    """A sample: a 0/1 matrix whose columns are the problem's variables, and the labels."""

    X: Bits
    y: Bits

    @classmethod
    def draw(cls, problem: FormulaProblem, count: int, seed: list[int]) -> "Rows":
        """Independent rows, labelled by the formula."""
        biases = np.array([float(bias) for bias in problem.biases.values()])
        X = (np.random.default_rng(seed).random((count, len(biases))) < biases).astype(np.uint8)
        return cls(X, problem.formula.evaluate(X, problem.variables))

    def error(self, tree: Tree) -> float:
        """The share of rows that a tree labels wrongly."""
        return float(np.mean(tree.predict(self.X) != self.y))


@dataclass(frozen=True)
class Learned:
    """A tree grown on rows, and the true errors of the trees it went through."""

    tree: Tree
    true_errors: np.typing.NDArray[np.float64]  # index = size; the last repeats


def learn(
    problem: FormulaProblem, rule: Grower, rows: Rows, max_size: int, min_samples_split: int
) -> Learned:
    """Grow a tree on rows; the problem, which the rule does not see, judges every size."""
    sample = SampleProblem(rows.X, rows.y, limits=Limits(min_samples_split=min_samples_split))
    growth = rule.grow(sample, max_size)
    leaves = [problem.root()]
    errors = [float(leaves[0].misclassified(growth.labels[0]))]
    columns = []
    for number, step in enumerate(growth.steps):
        # a column that is constant in the rows offers no literal, so positions may differ
        column = sample.literals.locate(step.position)[0]
        columns.append(column)
        low = 2 * number + 1  # in order of creation
        leaves += problem.children(leaves[step.leaf], column)
        wrong = [
            leaves[leaf].misclassified(growth.labels[leaf]) for leaf in (step.leaf, low, low + 1)
        ]
        errors.append(errors[-1] + float(wrong[1] + wrong[2] - wrong[0]))
    curve = np.array(errors + errors[-1:] * (max_size + 1 - len(errors)))
    split = [step.leaf for step in growth.steps]
    return Learned(Tree.from_splits(problem.variables, split, columns, growth.labels), curve)


def from_sklearn(learner: "DecisionTreeClassifier", variables: tuple[str, ...]) -> Tree:
    """A fitted tree over 0/1 columns as one of ours."""
    fitted = learner.tree_
    labels = learner.classes_[fitted.value[:, 0, :].argmax(axis=1)]

    def nested(node: int) -> Any:
        if fitted.children_left[node] == LEAF:
            return int(labels[node])
        low, high = fitted.children_left[node], fitted.children_right[node]
        return fitted.feature[node], nested(low), nested(high)

    return Tree.build(variables, nested(0))
