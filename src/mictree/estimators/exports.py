"""A grown tree in other forms: scikit-learn's, a frame, Graphviz, cards to draw.

Growth numbers nodes in order of creation: split ``k`` makes the nodes ``2k + 1`` and ``2k + 2``. A
``Tree``, and scikit-learn, number them in preorder, low subtrees first. ``preorder`` translates one
into the other, and everything here that reads counts of a growth for nodes of a tree goes through
it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mictree._support.words import count_of, shorten_set
from mictree.columns.written import TIMES
from mictree.tree import LEAF, Tree

if TYPE_CHECKING:
    import polars

    from mictree.estimators.leaves import LeafWords
    from mictree.growers.data_loop import Splitting
    from mictree.plotting.data_tree import Card


FloatArray = np.typing.NDArray[np.float64]


def preorder(splitting: Splitting, size: int) -> np.typing.NDArray[np.intp]:
    """Preorder numbers, low subtrees first, of all nodes by order of creation, up to a size."""
    split_of = {int(leaf): step for step, leaf in enumerate(splitting.leaves[:size])}
    number = np.zeros(2 * size + 1, dtype=np.intp)
    waiting = [0]
    for place in range(2 * size + 1):
        leaf = waiting.pop()
        number[leaf] = place
        step = split_of.get(leaf)
        if step is not None:
            waiting += [2 * step + 2, 2 * step + 1]
    return number


def by_node(splitting: Splitting, tree: Tree) -> np.typing.NDArray[np.intp]:
    """For each node of the tree, its number by order of creation."""
    return np.argsort(preorder(splitting, tree.size))


def to_frame(words: LeafWords, tree: Tree) -> polars.DataFrame:
    """One row for each node, in preorder."""
    import polars

    splitting = words.splitting
    creation = by_node(splitting, tree)
    split_of = {int(leaf): step for step, leaf in enumerate(splitting.leaves[: tree.size])}
    gains = [
        float(splitting.gains[split_of[int(leaf)]]) if int(leaf) in split_of else None
        for leaf in creation
    ]
    tests = [None if test == LEAF else tree.variables[test] for test in tree.tests]
    children = {
        name: [None if child == LEAF else child for child in side]
        for name, side in (("low", tree.low), ("high", tree.high))
    }
    columns: dict[str, Any] = {
        "node": range(len(tree.tests)),
        "depth": tree.depths,
        "test": polars.Series(tests, dtype=polars.String),
        "low": polars.Series(children["low"], dtype=polars.Int64),
        "high": polars.Series(children["high"], dtype=polars.Int64),
        "gain": polars.Series(gains, dtype=polars.Float64),
        "rows": splitting.rows[creation].sum(axis=1),
        "reach": splitting.reaches[creation],
    }
    return polars.DataFrame(columns | words.columns(creation))


def to_dot(tree: Tree, words: LeafWords) -> str:
    """Graphviz' language; low branches to the left."""
    lines = ["digraph tree {", '  node [fontname="sans-serif"];']
    for node, test in enumerate(tree.tests):
        text = words.text(tree.labels[node]) if test == LEAF else tree.variables[test]
        shape = "box" if test == LEAF else "ellipse"
        lines.append(f"  {node} [label={_quote(text)}, shape={shape}];")
        if test != LEAF:
            lines.append(f'  {node} -> {tree.low[node]} [label="0"];')
            lines.append(f'  {node} -> {tree.high[node]} [label="1"];')
    return "\n".join([*lines, "}"])


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def to_cards(
    words: LeafWords, tree: Tree, creation: np.typing.NDArray[np.intp], path: Collection[int] = ()
) -> list[Card]:
    """What every node of a drawing shows.

    Parameters
    ----------
    creation : for each node of the tree, its number by order of creation, as the path has them
    """
    from mictree.plotting.data_tree import Card

    splitting, cards = words.splitting, []
    counts, masses = (each[creation].sum(axis=1) for each in (splitting.rows, splitting.masses))
    shares = masses / masses[0] if splitting.weighted else counts / counts[0]
    of_all = "weighted: " if splitting.weighted else ""
    for node, (test, leaf) in enumerate(zip(tree.tests, creation.tolist(), strict=True)):
        label = tree.labels[node] if test == LEAF else words.merged_label(leaf)
        notes = (
            f"{count_of(int(counts[node]), 'row')} ({of_all}{_percent(shares[node])})",
            words.note(leaf, label),
        )
        whole = words.text(label) if test == LEAF else f"{tree.variables[test]}?"
        title = whole if test == LEAF else shorten_set(whole)
        colours = words.colour_parts(leaf, label, test != LEAF)
        shown = Card(title, notes, marked=leaf in path, **colours)
        cards.append(shown if title == whole else replace(shown, whole=whole))
    return cards


def _percent(share: float) -> str:
    return "<1%" if share < 0.005 else f"{share:.0%}"


def fold(
    words: LeafWords, tree: Tree, cards: list[Card], max_depth: int,
    creation: np.typing.NDArray[np.intp],
) -> tuple[Tree, list[Card]]:  # fmt: skip
    """The top of a tree: splits at the depth become cards that say how many are not shown."""
    labels = [words.merged_label(leaf) for leaf in creation.tolist()]
    hidden = [depth == max_depth and test != LEAF
              for depth, test in zip(tree.depths, tree.tests, strict=True)]  # fmt: skip
    ends = [labels[node] if hide else tree.labels[node] for node, hide in enumerate(hidden)]
    top, kept = tree.pruned(ends)
    shown = []
    for node in kept:
        card = cards[node]
        if hidden[node]:
            below = next(
                (n for n in range(node + 1, len(cards)) if tree.depths[n] <= max_depth), len(cards)
            )
            splits = sum(tree.tests[n] != LEAF for n in range(node, below))
            notes = (*card.notes, f"{count_of(splits, 'split')} not shown")
            colours = words.colour_parts(int(creation[node]), labels[node], False)
            card = replace(
                card, title=words.text(labels[node]), notes=notes, folded=True, whole="", **colours
            )
        shown.append(card)
    return top, shown


def to_sklearn(model: Any, on: str, values: FloatArray, impurity: FloatArray) -> Any:
    """A tree of scikit-learn's, filled through ``Tree.__setstate__``.

    Parameters
    ----------
    values : what each node has for each class, or the number that it predicts, in preorder
    impurity : of each node, in preorder
    """
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from sklearn.tree._tree import Tree as SklearnTree

    if on not in ("columns", "literals"):
        raise ValueError(f'on must be "columns" or "literals"; got {on!r}')
    tree, literals = model.tree_, model.literals_
    columns = model.n_features_in_ if on == "columns" else len(tree.variables) or 1
    limits: dict[str, Any] = {
        "max_leaf_nodes": tree.size + 1 if tree.size else None,
        "min_samples_split": max(2, model.min_samples_split),
        "min_samples_leaf": max(1, model.min_samples_leaf),
        "max_depth": 1 if tree.size == 0 else None,
    }
    if tree.predicts_numbers:
        result: Any = DecisionTreeRegressor(**limits)
    else:
        criterion = "gini" if model.criterion == "gini" else "entropy"
        weight = getattr(model, "class_weight", None)
        result = DecisionTreeClassifier(criterion=criterion, class_weight=weight, **limits)
        result.classes_ = model.actions_.copy()
        result.n_classes_ = np.int64(len(result.classes_))
    if on == "columns":
        named = getattr(model, "feature_names_in_", None)
        if named is not None:
            result.feature_names_in_ = named.copy()
    result.n_features_in_ = columns
    result.n_outputs_ = 1
    result.max_features_ = columns
    result.tree_ = SklearnTree(columns, np.array([values.shape[1]], dtype=np.intp), 1)
    result.tree_.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": len(tree.tests),
            "nodes": _sklearn_nodes(model, tree, literals, on, impurity),
            "values": np.ascontiguousarray(values)[:, None, :],
        }
    )
    return result


def shares_of_classes(splitting: Splitting, tree: Tree) -> FloatArray:
    """The share of each class at each node, in preorder."""
    masses = splitting.masses[by_node(splitting, tree)]
    return masses / masses.sum(axis=1, keepdims=True)


def _sklearn_nodes(model: Any, tree: Tree, literals: Any, on: str, impurity: FloatArray) -> Any:
    """The nodes as an array of the installed scikit-learn's type, which a real fit provides."""
    from sklearn.tree import DecisionTreeClassifier

    splitting = model._splitting
    sample = DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1])
    template = sample.tree_.__getstate__()["nodes"]
    nodes: Any = np.zeros(len(tree.tests), dtype=template.dtype)
    creation = by_node(splitting, tree)
    split_of = {int(leaf): step for step, leaf in enumerate(splitting.leaves)}
    nodes["left_child"], nodes["right_child"] = tree.low, tree.high
    leaf = template[1]
    nodes["feature"], nodes["threshold"] = leaf["feature"], leaf["threshold"]
    nodes["impurity"] = impurity
    nodes["n_node_samples"] = splitting.rows[creation].sum(axis=1)
    nodes["weighted_n_node_samples"] = splitting.masses[creation].sum(axis=1)
    for node in tree.internal_nodes:
        feature, threshold, missing_left = tree.tests[node], 0.5, True
        if on == "columns":
            step = split_of[int(creation[node])]
            feature, position = literals.locate(int(splitting.literals[step]))
            column = literals.columns[feature]
            categorical = column.categories is not None or column.levels is not None
            if categorical or column.style in TIMES:  # scikit-learn reads times in another unit
                held = "is categorical" if categorical else "holds times"
                raise ValueError(
                    f"scikit-learn's trees test numbers; {column.name} {held}: use "
                    'to_sklearn(on="literals") with literals_.transform(X, tree_)'
                )
            # "is missing" is "not at most infinity, missing values to the right"
            missing_left = position < column.thresholds
            threshold = splitting.thresholds[step] if missing_left else np.inf
        nodes["feature"][node] = feature
        nodes["threshold"][node] = threshold
        nodes["missing_go_to_left"][node] = missing_left
    return nodes
