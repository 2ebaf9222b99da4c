"""How far is a greedily grown decision tree from the best tree of its size?

Every name is imported when it is first used: `import mictree` loads nothing, so that the command
line can answer Ctrl-C from its first moment on.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # not from typing, which would have to be loaded
if TYPE_CHECKING:
    from mictree import families
    from mictree.comparing import compare
    from mictree.comparison import Comparison
    from mictree.consistent import minimal_consistent_tree
    from mictree.estimators import BestFirstClassifier, ID3Classifier, TopDownClassifier
    from mictree.excess import MicResult, mic
    from mictree.formulas import Literal, ReadOnceDNF, Term
    from mictree.growers import ID3, BestFirst, Growth, GrowthStep, TopDown
    from mictree.identify import identify_rule
    from mictree.optimal import OptimalTrees, optimal_errors, optimal_tree, optimal_trees
    from mictree.optimal_estimator import OptimalTreeClassifier
    from mictree.problems import FormulaProblem, Leaf, Problem, TableProblem
    from mictree.problems.sample import SampleProblem
    from mictree.staircase import staircase_tree
    from mictree.sweeps import sweep
    from mictree.tree import Tree

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

# No module may have the name of a function here: Python would put the module in its place.
_NAMES = {
    "comparing": ("compare",),
    "comparison": ("Comparison",),
    "consistent": ("minimal_consistent_tree",),
    "estimators": ("BestFirstClassifier", "ID3Classifier", "TopDownClassifier"),
    "excess": ("MicResult", "mic"),
    "formulas": ("Literal", "ReadOnceDNF", "Term"),
    "growers": ("ID3", "BestFirst", "Growth", "GrowthStep", "TopDown"),
    "identify": ("identify_rule",),
    "optimal": ("OptimalTrees", "optimal_errors", "optimal_tree", "optimal_trees"),
    "optimal_estimator": ("OptimalTreeClassifier",),
    "problems": ("FormulaProblem", "Leaf", "Problem", "TableProblem"),
    "problems.sample": ("SampleProblem",),
    "staircase": ("staircase_tree",),
    "sweeps": ("sweep",),
    "tree": ("Tree",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "families":
        return import_module("mictree.families")
    if name not in _MODULES:
        raise AttributeError(f"module 'mictree' has no attribute {name!r}")
    found = getattr(import_module(f"mictree.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
