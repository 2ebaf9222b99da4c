"""How far is a greedily grown decision tree from the best tree of its size?"""

from importlib import import_module
from typing import TYPE_CHECKING

from mictree.optimal.consistent import minimal_consistent_tree
from mictree.functions.read_once import Literal, ReadOnceDNF, Term
from mictree.growers.rules import ID3, BestFirst, Growth, GrowthStep, TopDown
from mictree.mic import MicResult, mic
from mictree.optimal import OptimalTrees, optimal_errors, optimal_tree, optimal_trees
from mictree.problems import FormulaProblem, Leaf, Problem, TableProblem
from mictree.optimal.staircase import staircase_tree
from mictree.tree import Tree

if TYPE_CHECKING:
    from mictree import families
    from mictree.comparison.run import compare
    from mictree.comparison.result import Comparison
    from mictree.estimators.greedy import BestFirstClassifier, ID3Classifier, TopDownClassifier
    from mictree.comparison.growth_order import identify_rule
    from mictree.estimators.optimal import OptimalTreeClassifier
    from mictree.problems.sample import SampleProblem
    from mictree.families.sweep import sweep

__version__ = "0.1.0"

__all__ = [
    "ID3",
    "BestFirst",
    "BestFirstClassifier",
    "Comparison",
    "FormulaProblem",
    "Growth",
    "GrowthStep",
    "ID3Classifier",
    "Leaf",
    "Literal",
    "MicResult",
    "OptimalTreeClassifier",
    "OptimalTrees",
    "Problem",
    "ReadOnceDNF",
    "SampleProblem",
    "TableProblem",
    "Term",
    "TopDown",
    "TopDownClassifier",
    "Tree",
    "__version__",
    "compare",
    "families",
    "identify_rule",
    "mic",
    "minimal_consistent_tree",
    "optimal_errors",
    "optimal_tree",
    "optimal_trees",
    "staircase_tree",
    "sweep",
]


# loaded on first use, as they bring scikit-learn, polars or numba with them
_LAZY = {
    "BestFirstClassifier": "mictree.estimators.greedy",
    "Comparison": "mictree.comparison.result",
    "ID3Classifier": "mictree.estimators.greedy",
    "OptimalTreeClassifier": "mictree.estimators.optimal",
    "TopDownClassifier": "mictree.estimators.greedy",
    "compare": "mictree.comparison.run",
    "SampleProblem": "mictree.problems.sample",
    "families": "mictree.families",
    "identify_rule": "mictree.comparison.growth_order",
    "sweep": "mictree.families.sweep",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'mictree' has no attribute {name!r}")
    module = import_module(_LAZY[name])
    return getattr(module, name, module)
