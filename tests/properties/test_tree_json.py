"""Trees survive JSON both ways, and what is no tree is a ValueError and nothing else."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mictree as mt
from tests.strategies import NAMES, trees

FORMAT = "mictree.tree/2"
NAMED = "mictree.tree/1"  # tests by name
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 8), st.floats(), st.sampled_from([*NAMES, "low", ""])
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["test", "low", "high", "label", "x"]), inner),
    ),
    max_leaves=12,
)


@given(trees())
def test_round_trip(tree):
    built = mt.Tree.build(NAMES, tree)
    text = built.to_json()
    assert mt.Tree.from_json(text) == built
    assert mt.Tree.from_json(json.dumps(json.loads(text), indent=2)) == built


@given(trees())
def test_tests_by_name_can_still_be_read(tree):
    built = mt.Tree.build(NAMES, tree)
    content = json.loads(built.to_json()) | {"format": NAMED}
    for node in content["nodes"]:
        if "test" in node:
            node["test"] = NAMES[node["test"]]
    assert mt.Tree.from_json(json.dumps(content)) == built


def test_a_test_is_a_position():
    tree = mt.Tree.build(("a", "b"), ("b", 0, (0, 0, 1)))
    assert json.loads(tree.to_json()) == {
        "format": FORMAT,
        "variables": ["a", "b"],
        "nodes": [
            {"test": 1, "low": 1, "high": 2},
            {"label": 0},
            {"test": 0, "low": 3, "high": 4},
            {"label": 0},
            {"label": 1},
        ],
    }


def check_total(text: str | bytes) -> None:
    """A tree that survives, or a ValueError."""
    try:
        tree = mt.Tree.from_json(text)
    except ValueError:
        return
    assert mt.Tree.from_json(tree.to_json()) == tree


@given(st.one_of(st.text(max_size=30), st.binary(max_size=30)))
@example("[" * 100_000)
@example('{"a":' * 100_000)
@example("9" * 5000)
def test_any_text(text):
    check_total(text)


@given(ANYTHING)
def test_any_json(content):
    check_total(json.dumps(content))
    for form in (FORMAT, NAMED):
        check_total(json.dumps({"format": form, "variables": ["a"], "nodes": content}))
    check_total(json.dumps({"format": FORMAT, "variables": content, "nodes": [{"label": 0}]}))


@given(st.lists(ANYTHING, max_size=4), st.sampled_from([FORMAT, NAMED]))
def test_any_nodes(nodes, form):
    check_total(json.dumps({"format": form, "variables": ["a", "b"], "nodes": nodes}))


@given(trees(), st.data())
def test_a_tree_with_one_thing_changed(tree, data):
    content = json.loads(mt.Tree.build(NAMES, tree).to_json())
    node = data.draw(st.sampled_from(content["nodes"]))
    key = data.draw(st.sampled_from(["test", "low", "high", "label"]))
    if data.draw(st.booleans()):
        node[key] = data.draw(ANYTHING)
    else:
        node.pop(key, None)
    check_total(json.dumps(content))


@given(trees(), st.data())
def test_a_tree_with_one_character_changed(tree, data):
    text = mt.Tree.build(NAMES, tree).to_json()
    place = data.draw(st.integers(0, len(text) - 1))
    check_total(text[:place] + data.draw(st.text(max_size=2)) + text[place + 1 :])


LEAVES = [{"label": 0}, {"label": 1}]


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        [{}],
        [{"label": -1}],
        [{"label": None}],
        [{"label": "0"}],
        [{"label": float("nan")}],
        [{"label": True}],
        [{"label": ["a", 0, 1]}],
        [0],
        [{"label": 0}, {"label": 1}],
        [{"test": "a"}],
        [{"test": "a", "low": 1, "high": 1}, {"label": 0}],
        [{"test": "a", "low": 1, "high": 1}, *LEAVES],
        [{"test": "a", "low": 0, "high": 1}, {"label": 0}],
        [{"test": "a", "low": 1, "high": 3}, *LEAVES],
        [{"test": "a", "low": -2, "high": -1}, *LEAVES],
        [{"test": "a", "low": True, "high": 2}, *LEAVES],
        [{"test": "a", "low": 1.0, "high": 2}, *LEAVES],
        [{"test": "w", "low": 1, "high": 2}, *LEAVES],
        [{"test": ["a"], "low": 1, "high": 2}, *LEAVES],
        [
            {"test": "a", "low": 1, "high": 2},
            LEAVES[0],
            {"test": "a", "low": 3, "high": 4},
            *LEAVES,
        ],
    ],
    ids=json.dumps,
)
def test_nodes_that_make_no_tree(nodes):
    by_name = {"format": NAMED, "variables": ["a", "b"], "nodes": nodes}
    by_position = by_name | {"format": FORMAT, "nodes": [numbered(node) for node in nodes]}
    for content in (by_name, by_position):
        with pytest.raises(ValueError, match=r"must|at most"):
            mt.Tree.from_json(json.dumps(content))


def numbered(node):
    """The same node with the position of its test."""
    if isinstance(node, dict) and node.get("test") in ("a", "b", "w"):
        return node | {"test": {"a": 0, "b": 1, "w": 2}[node["test"]]}
    return node


@pytest.mark.parametrize(
    ("form", "test"),
    [(NAMED, 0), (FORMAT, "a"), (FORMAT, 2), (FORMAT, -1), (FORMAT, True), (FORMAT, 0.0)],
)
def test_a_test_of_the_other_format(form, test):
    nodes = [{"test": test, "low": 1, "high": 2}, *LEAVES]
    with pytest.raises(ValueError, match="a test must be"):
        mt.Tree.from_json(json.dumps({"format": form, "variables": ["a", "b"], "nodes": nodes}))


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"format": "mictree.tree/3", "variables": ["a"], "nodes": LEAVES[:1]},
        {"format": FORMAT, "variables": ["a", "a"], "nodes": LEAVES[:1]},
        {"format": FORMAT, "variables": "a", "nodes": LEAVES[:1]},
        {"format": FORMAT, "variables": [1], "nodes": LEAVES[:1]},
        {"format": FORMAT, "variables": ["a"], "nodes": {"0": LEAVES[0]}},
        {"format": FORMAT, "nodes": LEAVES[:1]},
        {"format": FORMAT, "variables": ["a"]},
    ],
    ids=json.dumps,
)
def test_content_that_is_no_tree(content):
    with pytest.raises(ValueError, match="must"):
        mt.Tree.from_json(json.dumps(content))
