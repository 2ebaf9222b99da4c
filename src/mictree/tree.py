"""Decision trees over named binary variables, immutable and independent of how they were grown.

A ``Tree`` is a few tuples with one entry for each node, in preorder: the tested variable or -1,
both children, and the label of a leaf, a whole number, or a float where a tree predicts numbers.
Because parents come before their children, every walk over
a tree is a loop and nothing recurses. A tree measures itself against any ``Problem``: its error,
its impurity, the reach of its nodes.

Others write trees as nested tuples or as JSON. Both are checked here and turned into splits: every
test is a variable, every node but the root is the child of one node, and no path tests a variable
twice.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.words import DIGITS, merged_note, show_digits, show_text
from mictree.functions.read_once import binary_matrix
from mictree.impurity.criteria import CRITERIA, Criterion, check_criterion, of_classes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mictree.problems.base import Leaf, Probability, Problem


LEAF = -1
# what a test of data reads: the number of a column, and a threshold, the position of a literal, or
# those of a set of categories
Source = tuple[int, float | int | tuple[int, ...]]
JSON_FORMAT = "mictree.tree/2"
NAMED_FORMAT = "mictree.tree/1"  # as written before 0.2: tests by name


@dataclass(frozen=True)
class Tree:
    """A binary decision tree; size counts its internal nodes.

    Nodes are numbered in preorder, low subtree first; node 0 is the root. Two trees are equal
    when they have the same columns and make the same tests with the same labels. Tests are
    positions; names are only for display.

    Attributes
    ----------
    variables : the names of the columns it reads
    tests : for each node the position of the tested variable, -1 at a leaf
    low, high : for each node its children for value 0 and 1, -1 at a leaf
    labels : for each node the label it predicts, -1 at an internal node; floats are numbers that
        are predicted
    sources : of a tree on a table with numbers, which has only the variables that it tests: for
        each the number of its column and the exact threshold; -1 for "is missing", the position of
        a category, or the positions of a set of them

    Examples
    --------
    >>> tree = Tree.build(("x1", "x2"), ("x1", 0, ("x2", 0, 1)))
    >>> print(tree.to_text())
    x1?
    ├─0─ label 0
    └─1─ x2?
         ├─0─ label 0
         └─1─ label 1
    """

    variables: tuple[str, ...]
    tests: tuple[int, ...]
    low: tuple[int, ...] = field(repr=False)
    high: tuple[int, ...] = field(repr=False)
    labels: tuple[Any, ...] = field(repr=False)
    sources: tuple[Source, ...] = field(default=(), repr=False)

    @classmethod
    def build(cls, variables: Sequence[str], nested: Any, sources: Sequence[Source] = ()) -> Tree:
        """From nested tuples: a label 0, 1, ..., or ``(test, low subtree, high subtree)``.

        A test is the name of a variable or its position. Floats in place of labels are predicted as
        they are; whole numbers beside them are numbers too.

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 0, 1)))
        >>> print(tree)
        Tree(size=2, depth=2, root='a')
        """
        names, leaves, tests, labels = _read_nested(variables, nested)
        tree = cls.from_splits(names, leaves, tests, labels, tuple(sources))
        tree._check_paths()
        return tree

    @classmethod
    def from_splits(
        cls,
        variables: tuple[str, ...],
        leaves: Sequence[int],
        tests: Sequence[int],
        labels: Sequence[Any],
        sources: tuple[Source, ...] = (),
    ) -> Tree:
        """From splits in any order of growth, without checking them.

        Parameters
        ----------
        variables : the names, in order
        leaves : for each split the number of the leaf; split k makes leaves 2k + 1 (low), 2k + 2
        tests : for each split the position of the tested variable
        labels : by number of the leaf

        Examples
        --------
        >>> import mictree as mt
        >>> print(mt.Tree.from_splits(("a", "b"), [0, 2], [0, 1], [0, 0, 1, 0, 1]).to_text())
        a?
        ├─0─ label 0
        └─1─ b?
             ├─0─ label 0
             └─1─ label 1
        """
        split_of = {leaf: number for number, leaf in enumerate(leaves)}
        count = 2 * len(leaves) + 1
        node_tests, node_labels = [LEAF] * count, [LEAF] * count
        low, high = [LEAF] * count, [LEAF] * count
        waiting = [(0, low, 0)]  # leaf; where its number in preorder is due
        for node in range(count):
            leaf, children, parent = waiting.pop()
            if node:
                children[parent] = node
            split = split_of.get(leaf)
            if split is None:
                node_labels[node] = labels[leaf]
            else:
                node_tests[node] = tests[split]
                waiting += [(2 * split + 2, high, node), (2 * split + 1, low, node)]
        return cls(
            variables, tuple(node_tests), tuple(low), tuple(high), tuple(node_labels), sources
        )

    def __repr__(self) -> str:
        root = "" if self.tests[0] == LEAF else f", root={self.variables[self.tests[0]]!r}"
        return f"Tree(size={self.size}, depth={self.depth}{root})"

    def _repr_html_(self) -> str:
        from mictree._support.words import to_svg

        return to_svg(self.draw())

    @property
    def size(self) -> int:
        """The number of internal nodes; a lone leaf has size 0."""
        return len(self.tests) // 2

    @cached_property
    def depth(self) -> int:
        """The number of tests on the longest path."""
        return max(self.depths)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """The number of tests above each node."""
        depths = [0] * len(self.tests)
        for node in self.internal_nodes:
            depths[self.low[node]] = depths[self.high[node]] = depths[node] + 1
        return tuple(depths)

    @property
    def internal_nodes(self) -> Iterator[int]:
        """The numbers of the nodes that test a variable, parents first."""
        return (node for node, test in enumerate(self.tests) if test != LEAF)

    @property
    def leaves(self) -> Iterator[int]:
        """The numbers of the leaves, left to right."""
        return (node for node, test in enumerate(self.tests) if test == LEAF)

    @cached_property
    def predicts_numbers(self) -> bool:
        """Whether labels are floats."""
        return any(isinstance(self.labels[leaf], float) for leaf in self.leaves)

    def predict(self, X: np.typing.ArrayLike) -> np.typing.NDArray[Any]:
        """The label of each row of a 0/1 matrix whose columns are ``self.variables``.

        A tree without variables also takes a matrix of one column, as ``transform`` of its literals
        gives it.

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 0, 1)))
        >>> tree.predict([[1, 1], [1, 0]]).tolist()
        [1, 0]
        """
        labels = np.array(self.labels)
        if not self.predicts_numbers:
            labels = labels.astype(np.min_scalar_type(labels.max()))
        return labels[self.apply(X)]

    def apply(self, X: np.typing.ArrayLike) -> np.typing.NDArray[np.intp]:
        """The leaf that each row of a 0/1 matrix reaches.

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 0, 1)))
        >>> tree.apply([[1, 1], [0, 0]]).tolist()
        [4, 1]
        """
        names = self.variables or [""] * (np.shape(X)[1:] == (1,))
        matrix = binary_matrix(X, names)
        tests, low, high = np.array(self.tests), np.array(self.low), np.array(self.high)
        node = np.zeros(len(matrix), dtype=np.intp)
        rows = np.arange(len(matrix))
        for _ in range(self.depth):
            rows = rows[tests[node[rows]] != LEAF]
            here = node[rows]
            node[rows] = np.where(matrix[rows, tests[here]], high[here], low[here])
        return node

    def walk(self, problem: Problem, exact: bool = False) -> list[Leaf]:
        """The problem's leaf for every node, as if the tree ended there, by node number.

        The problem's variables are the tree's, or else found by their names.

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 0, 1)))
        >>> [leaf.reach for leaf in tree.walk(mt.FormulaProblem("a & b"))]
        [1.0, 0.5, 0.5, 0.25, 0.25]
        """
        column = self.positions(problem)
        found: list[Leaf | None] = [None] * len(self.tests)
        found[0] = problem.root(exact)
        for node in self.internal_nodes:
            here = found[node]
            assert here is not None  # parents come first
            children = problem.children(here, column[self.tests[node]])
            found[self.low[node]], found[self.high[node]] = children
        return [leaf for leaf in found if leaf is not None]

    def positions(self, problem: Problem) -> Mapping[int, int]:
        """For each test its position among the problem's variables."""
        tests = {test for test in self.tests if test != LEAF}
        if not tests:
            return {}
        if self.sources:
            return {test: problem.find(self.variables[test], self.sources[test]) for test in tests}
        if self.variables == problem.variables:
            return {test: test for test in tests}
        for names in (self.variables, problem.variables):
            check_names(names)
        position = {name: index for index, name in enumerate(problem.variables)}
        for test in sorted(tests):
            name = self.variables[test]
            if name not in position:
                raise ValueError(f"the problem must have every variable tested; it has no {name}")
        return {test: position[self.variables[test]] for test in tests}

    def error(self, problem: Problem, exact: bool = False) -> Probability:
        """E(T): the probability that the tree predicts the wrong label.

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 0, 1)))
        >>> tree.error(mt.FormulaProblem("a & b | c"))
        0.375
        """
        nodes = self.walk(problem, exact)
        if self.predicts_numbers and not hasattr(nodes[0], "variance"):
            raise ValueError(
                "a tree that predicts numbers needs a problem of loss='squared'; "
                f"got {type(problem).__name__}"
            )
        wrong = [nodes[leaf].misclassified(self.labels[leaf]) for leaf in self.leaves]
        return sum(wrong, Fraction(0)) if exact else math.fsum(wrong)

    def impurity(self, problem: Problem, criterion: Criterion = "entropy") -> float:
        """The reach-weighted sum of the leaves' impurities; with entropy, H(T).

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 0, 1)))
        >>> round(tree.impurity(mt.FormulaProblem("a & b | c")), 4)
        0.75
        """
        check_criterion(criterion)
        if getattr(problem, "classes", None) == ():  # of data with costs or numbers
            raise ValueError("impurity needs classes, and the problem has none: see Tree.error")
        nodes = self.walk(problem)
        if nodes[0].class_rates is None and hasattr(problem, "classes"):
            raise ValueError(f"impurity is that of classes; {problem!r} has none")
        return math.fsum(
            float(nodes[leaf].reach) * _impurity(nodes[leaf], criterion) for leaf in self.leaves
        )

    def error_reductions(self, problem: Problem, exact: bool = False) -> dict[int, Probability]:
        """For each internal node v, p(v)C(v): by how much its split lowers the least error."""
        nodes = self.walk(problem, exact)
        return {
            node: nodes[node].error - nodes[self.low[node]].error - nodes[self.high[node]].error
            for node in self.internal_nodes
        }

    def merged(self) -> Tree:
        """The tree without the splits whose leaves all have one label; it predicts the same.

        A split above two that are merged goes too if these agree. The variables stay.

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 1, 1)))
        >>> print(tree.merged().to_text())
        a?
        ├─0─ label 0
        └─1─ label 1
        """
        return self.pruned(self.agreed)[0]

    @cached_property
    def agreed(self) -> tuple[Any, ...]:
        """For each node the label of all leaves below it, -1 where they differ."""
        labels = list(self.labels)
        for node in reversed(range(len(labels))):  # children come after their parents
            if self.tests[node] != LEAF:
                low, high = labels[self.low[node]], labels[self.high[node]]
                labels[node] = low if low == high and _is_label(low) and _is_label(high) else LEAF
        return tuple(labels)

    def pruned(self, labels: Sequence[Any]) -> tuple[Tree, list[int]]:
        """End the tree where a node has a label, not -1; also return the numbers nodes had.

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", ("b", 0, 1), 1))
        >>> top, numbers = tree.pruned([-1, 0, 0, 1, 1])
        >>> print(top.to_text(), numbers)
        a?
        ├─0─ label 0
        └─1─ label 1 [0, 1, 4]
        """
        place, kept, waiting = {LEAF: LEAF}, [], [0]
        while waiting:
            node = waiting.pop()
            place[node] = len(kept)
            kept.append(node)
            if not _is_label(labels[node]):
                waiting += [self.high[node], self.low[node]]

        def inner(values: tuple[int, ...]) -> list[int]:
            return [LEAF if _is_label(labels[node]) else values[node] for node in kept]

        low, high = (tuple(place[child] for child in inner(side)) for side in (self.low, self.high))
        ends = tuple(labels[node] for node in kept)
        return replace(self, tests=tuple(inner(self.tests)), low=low, high=high, labels=ends), kept

    def to_text(self, classes: Sequence[str] | None = None, *, merge: bool = True) -> str:
        """The tree as indented lines, labels as numbers or by the names of their classes.

        Parameters
        ----------
        classes : the names of the labels
        merge : leave out splits whose leaves all have one label, and say how many in a last line

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 0, 1)))
        >>> print(tree.to_text(["no", "yes"]))
        a?
        ├─0─ label no
        └─1─ b?
             ├─0─ label no
             └─1─ label yes
        """
        if merge:
            shown = self.merged()
            note = merged_note(self.size - shown.size, "merge=False")
            return shown.to_text(classes, merge=False) + (f"\n{note}" if note else "")
        lines = []
        waiting = [(0, "", "")]
        while waiting:
            node, lead, indent = waiting.pop()
            if self.tests[node] == LEAF:
                lines.append(lead + self._name(self.labels[node], classes))
                continue
            lines.append(f"{lead}{show_text(self.variables[self.tests[node]])}?")
            waiting.append((self.high[node], f"{indent}└─1─ ", f"{indent}     "))
            waiting.append((self.low[node], f"{indent}├─0─ ", f"{indent}│    "))
        return "\n".join(lines)

    @staticmethod
    def _name(label: Any, classes: Sequence[str] | None) -> str:
        """A label in words."""
        if isinstance(label, float):
            return f"value {show_digits(label, DIGITS)}"
        return f"label {show_text(str(classes[label])) if classes else label}"

    def draw(
        self,
        ax: Axes | None = None,
        problem: Problem | None = None,
        show: Sequence[str] = (),
        *,
        merge: bool = True,
    ) -> Axes:
        """Draw the tree with matplotlib.

        Parameters
        ----------
        ax : where to draw; by default a new figure of a fitting size
        problem : gives the formula, so that tests are coloured by their term
        show : any of ``"reach"`` and ``"rate"``, written under every node
        merge : leave out splits whose leaves all have one label, and say how many below the tree

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 0, 1)))
        >>> axes = tree.draw(problem=mt.FormulaProblem("a & b"))
        >>> axes.get_figure().savefig("tree.svg")  # doctest: +SKIP
        """
        from mictree.plotting.tree import decorations, draw_tree

        tree = self.merged() if merge else self
        note = merged_note(self.size - tree.size)
        return draw_tree(ax, tree, *decorations(tree, problem, show), note)

    def to_tikz(
        self, problem: Problem | None = None, show: Sequence[str] = (), *, merge: bool = True
    ) -> str:
        r"""The drawing as a ``tikzpicture`` for LaTeX; the document needs ``\usepackage{tikz}``.

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 0, 1)))
        >>> print(tree.to_tikz(problem=mt.FormulaProblem("a & b")).splitlines()[-1])
        \end{tikzpicture}
        """
        from mictree.plotting.tree import decorations, tree_to_tikz

        tree = self.merged() if merge else self
        note = merged_note(self.size - tree.size)
        return tree_to_tikz(tree, *decorations(tree, problem, show), note)

    def to_json(self) -> str:
        """A text that ``from_json`` reads back; a node's test is a position in the variables.

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 0, 1)))
        >>> mt.Tree.from_json(tree.to_json()) == tree
        True
        """
        nodes = [
            {"label": self.labels[node]}
            if test == LEAF
            else {"test": test, "low": self.low[node], "high": self.high[node]}
            for node, test in enumerate(self.tests)
        ]
        content = {"format": JSON_FORMAT, "variables": self.variables, "nodes": nodes}
        return json.dumps(content | ({"sources": self.sources} if self.sources else {}))

    @classmethod
    def from_json(cls, text: str) -> Tree:
        """Read the output of ``to_json``, also of versions before 0.2; else raise a ValueError.

        Examples
        --------
        >>> import mictree as mt
        >>> tree = mt.Tree.build(["a", "b"], ("a", 0, ("b", 0, 1)))
        >>> mt.Tree.from_json(tree.to_json()).variables
        ('a', 'b')
        """
        variables, nested, sources = _parse_json(text)
        return cls.build(variables, nested, sources)

    def _check_paths(self) -> None:
        path: list[int] = []  # the variables tested above the node, in preorder
        for node, depth in enumerate(self.depths):
            del path[depth:]
            test = self.tests[node]
            if test == LEAF:
                continue
            if test in path:
                name = self.variables[test]
                raise ValueError(f"a path tests a variable at most once; {name} is tested twice")
            path.append(test)


def _impurity(leaf: Leaf, criterion: Criterion) -> float:
    if leaf.class_rates is None:
        rate = float(leaf.positive_rate)
        if isinstance(criterion, str):
            return float(CRITERIA[criterion](rate))
        return float(of_classes(criterion, [1 - rate, rate]))
    return float(of_classes(criterion, [float(rate) for rate in leaf.class_rates]))


def _read_nested(
    variables: Sequence[str], nested: Any
) -> tuple[tuple[str, ...], list[int], list[int], list[Any]]:
    """The names, and for ``Tree.from_splits`` the leaves, tests and labels of nested tuples."""
    names = check_names(variables)
    position: dict[Any, int] = {name: index for index, name in enumerate(names)}
    leaves: list[int] = []
    tests: list[int] = []
    labels: list[Any] = [LEAF]
    waiting: list[tuple[Any, int]] = [(nested, 0)]  # subtree, leaf by order of creation
    while waiting:
        subtree, leaf = waiting.pop()
        if isinstance(subtree, tuple | list):
            test, low, high = _unpack(subtree)
            if _is_count(test) and test < len(names):
                tests.append(int(test))
            elif isinstance(test, str) and test in position:
                tests.append(position[test])
            else:
                raise ValueError(f"a test must be one of the variables; got {test!r}")
            leaves.append(leaf)
            waiting += [(high, len(labels) + 1), (low, len(labels))]
            labels += [LEAF, LEAF]
        else:
            labels[leaf] = _read_label(subtree)
    if any(isinstance(label, float) for label in labels):  # some may be written without a point
        inner = set(leaves)
        labels = [LEAF if leaf in inner else float(each) for leaf, each in enumerate(labels)]
    return names, leaves, tests, labels


def _parse_json(text: str) -> tuple[list[str], Any, tuple[Source, ...]]:
    """The variables, the nested form and the sources of what ``Tree.to_json`` wrote."""
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"a tree must be JSON; {error}") from None
    kinds = {JSON_FORMAT: int, NAMED_FORMAT: str}
    kind = content.get("format") if isinstance(content, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"a tree's JSON must say format {JSON_FORMAT!r}")
    variables, nodes = content.get("variables"), content.get("nodes")
    if not isinstance(variables, list) or not isinstance(nodes, list) or not nodes:
        raise ValueError("a tree's JSON must list its variables and at least one node")
    sources = _read_sources(content.get("sources", []), len(variables))
    return variables, _nest(nodes, kinds[kind]), sources


def _read_sources(listed: Any, count: int) -> tuple[Source, ...]:
    """A column and a number for each variable, or nothing at all."""
    rule = "a tree's sources must be a column and a number, or positions, for each variable"
    if not isinstance(listed, list) or len(listed) not in (0, count):
        raise ValueError(f"{rule}; got {listed!r}")
    for pair in listed:
        if not isinstance(pair, list) or len(pair) != 2 or not _is_count(pair[0]):
            raise ValueError(f"{rule}; got {pair!r}")
        number = isinstance(pair[1], int | float) and not isinstance(pair[1], bool)
        if not number and not _are_positions(pair[1]):
            raise ValueError(f"{rule}; got {pair!r}")
    return tuple(
        (column, tuple(what) if isinstance(what, list) else what) for column, what in listed
    )


def _are_positions(listed: Any) -> bool:
    """Whether a list holds different positions, ascending."""
    if not isinstance(listed, list) or not listed or not all(map(_is_count, listed)):
        return False
    return all(one < other for one, other in pairwise(listed))


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Distinct texts: a test may be a literal of data such as ``age > 37.5``."""
    checked = tuple(names)
    for name in checked:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"a variable name must be a text that is not empty; got {name!r}")
    if len(set(checked)) < len(checked):
        twice = next(name for name in checked if checked.count(name) > 1)
        raise ValueError(f"variable names must differ; {twice} is given twice")
    return checked


def _is_count(value: Any) -> bool:
    """Whether a value is an integer of at least 0; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= 0)


def _read_label(label: Any) -> Any:
    """A class as a whole number, or a finite float."""
    if _is_count(label):
        return int(label)
    if isinstance(label, float | np.floating) and math.isfinite(label):
        return float(label)
    raise ValueError(f"a leaf's label must be 0, 1, ..., or a finite float; got {label!r}")


def _is_label(label: Any) -> bool:
    """Whether a node has a label; -1 is none, but -1.0 is a number that is predicted."""
    return isinstance(label, float) or label != LEAF


def _unpack(subtree: Sequence[Any]) -> Sequence[Any]:
    if len(subtree) != 3:
        raise ValueError(f"an internal node is (test, low, high); got {len(subtree)} parts")
    return subtree


def _nest(nodes: list[Any], kind: type) -> Any:
    """The nested form of JSON nodes, built from the last, as children follow their parents.

    Tests are of one kind, int for positions or str for names.
    """
    nested: dict[int, Any] = {}
    for number in reversed(range(len(nodes))):
        node = nodes[number]
        if not isinstance(node, Mapping):
            raise ValueError(f"a node must be a JSON object; node {number} is not")
        if "test" not in node:
            nested[number] = _read_label(node.get("label"))
            continue
        subtrees = []
        for child in (node.get("low"), node.get("high")):
            if not _is_count(child) or child not in nested:
                raise ValueError(f"a node's children must follow it, each once; node {number}")
            subtrees.append(nested.pop(child))
        if not isinstance(node["test"], kind):
            raise ValueError(
                f"a test must be of type {kind.__name__} in this format; got {node['test']!r}"
            )
        nested[number] = (node["test"], *subtrees)
    if list(nested) != [0]:
        raise ValueError(f"every node but the first must be a child; node {max(nested)} is not")
    return nested[0]
