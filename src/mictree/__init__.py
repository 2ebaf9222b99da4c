"""How far is a greedily grown decision tree from the best tree of its size?"""

from mictree.formulas import Literal, ReadOnceDNF, Term
from mictree.growers import ID3, BestFirst, Growth, GrowthStep, TopDown
from mictree.mic import MicResult, mic
from mictree.optimal import OptimalTrees, optimal_errors, optimal_tree, optimal_trees
from mictree.problems import FormulaProblem, Leaf, Problem, TableProblem
from mictree.tree import Tree

__version__ = "0.1.0"

__all__ = [
    "ID3",
    "BestFirst",
    "FormulaProblem",
    "Growth",
    "GrowthStep",
    "Leaf",
    "Literal",
    "MicResult",
    "OptimalTrees",
    "Problem",
    "ReadOnceDNF",
    "TableProblem",
    "Term",
    "TopDown",
    "Tree",
    "__version__",
    "mic",
    "optimal_errors",
    "optimal_tree",
    "optimal_trees",
]
