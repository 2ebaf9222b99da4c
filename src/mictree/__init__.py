"""How far is a greedily grown decision tree from the best tree of its size?

Every name is imported when it is first used: `import mictree` loads nothing, so that the command
line can answer Ctrl-C from its first moment on.
"""

__version__ = "0.2.0"

TYPE_CHECKING = False  # not from typing, which would have to be loaded
if TYPE_CHECKING:
    from mictree import families, impurity
    from mictree.comparison import Comparison, compare, identify_rule
    from mictree.distributed.counted import counted_errors
    from mictree.estimators import (
        BestFirstClassifier,
        BestFirstRegressor,
        ClassResults,
        ID3Classifier,
        LookaheadClassifier,
        OptimalPolicyTree,
        OptimalTreeClassifier,
        OptimalTreeRegressor,
        SizeChoice,
        TopDownClassifier,
        TopDownRegressor,
        load,
        select_size,
    )
    from mictree.excess import MicResult, TopResult, mic, mic_over_tops
    from mictree.families.biases import MicOverBiases, mic_over_biases
    from mictree.families.sweep import sweep
    from mictree.forests import ForestErrors, forest_errors
    from mictree.functions import Literal, ReadOnceDNF, Term
    from mictree.growers import ID3, BestFirst, Grower, Growth, GrowthStep, Lookahead, TopDown
    from mictree.optimal import (
        OptimalTrees,
        minimal_consistent_tree,
        optimal_errors,
        optimal_tree,
        optimal_trees,
        staircase_tree,
    )
    from mictree.optimal.good import GoodTrees, good_trees
    from mictree.problems import FormulaProblem, Leaf, Problem, TableProblem, distributions
    from mictree.problems.sample import SampleProblem
    from mictree.tree import Tree

__all__ = [
    "ID3",
    "BestFirst",
    "BestFirstClassifier",
    "BestFirstRegressor",
    "ClassResults",
    "Comparison",
    "ForestErrors",
    "FormulaProblem",
    "GoodTrees",
    "Grower",
    "Growth",
    "GrowthStep",
    "ID3Classifier",
    "Leaf",
    "Literal",
    "Lookahead",
    "LookaheadClassifier",
    "MicOverBiases",
    "MicResult",
    "OptimalPolicyTree",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "OptimalTrees",
    "Problem",
    "ReadOnceDNF",
    "SampleProblem",
    "SizeChoice",
    "TableProblem",
    "Term",
    "TopDown",
    "TopDownClassifier",
    "TopDownRegressor",
    "TopResult",
    "Tree",
    "__version__",
    "compare",
    "counted_errors",
    "distributions",
    "families",
    "forest_errors",
    "good_trees",
    "identify_rule",
    "impurity",
    "load",
    "mic",
    "mic_over_biases",
    "mic_over_tops",
    "minimal_consistent_tree",
    "optimal_errors",
    "optimal_tree",
    "optimal_trees",
    "select_size",
    "staircase_tree",
    "sweep",
]

# No module may have the name of a function here: Python would put the module in its place.
_NAMES = {
    "comparison": ("Comparison", "compare", "identify_rule"),
    "distributed.counted": ("counted_errors",),
    "estimators": (
        "BestFirstClassifier",
        "BestFirstRegressor",
        "ClassResults",
        "ID3Classifier",
        "LookaheadClassifier",
        "OptimalPolicyTree",
        "OptimalTreeClassifier",
        "OptimalTreeRegressor",
        "SizeChoice",
        "TopDownClassifier",
        "TopDownRegressor",
        "load",
        "select_size",
    ),
    "excess": ("MicResult", "TopResult", "mic", "mic_over_tops"),
    "families.biases": ("MicOverBiases", "mic_over_biases"),
    "families.sweep": ("sweep",),
    "forests": ("ForestErrors", "forest_errors"),
    "functions": ("Literal", "ReadOnceDNF", "Term"),
    "growers": ("ID3", "BestFirst", "Grower", "Growth", "GrowthStep", "Lookahead", "TopDown"),
    "optimal": (
        "OptimalTrees",
        "minimal_consistent_tree",
        "optimal_errors",
        "optimal_tree",
        "optimal_trees",
        "staircase_tree",
    ),
    "optimal.good": ("GoodTrees", "good_trees"),
    "problems": ("FormulaProblem", "Leaf", "Problem", "TableProblem", "distributions"),
    "problems.sample": ("SampleProblem",),
    "tree": ("Tree",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}
_ROOMS = ("families", "impurity")


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f"mictree.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'mictree' has no attribute {name!r}")
    found = getattr(import_module(f"mictree.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    special = {name for name in globals() if name.startswith("__")}
    return sorted({*__all__, *special} - {"__getattr__", "__dir__"})
