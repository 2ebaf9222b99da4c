"""A model survives JSON exactly, and whatever else a file holds is refused."""

import copy
import json
import math
from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.estimators.saved import FORMAT, from_json, to_json

CELLS = {
    "number": st.one_of(st.none(), st.floats(-1e9, 1e9), st.sampled_from([0.1, 0.2, 0.30000001])),
    "whole": st.one_of(st.none(), st.integers(-3, 3)),
    "text": st.one_of(st.none(), st.sampled_from(["red", "1", "missing", "a, b", "ü", ""])),
    "flag": st.one_of(st.none(), st.booleans()),
    "binary": st.integers(0, 1),
    "day": st.one_of(st.none(), st.dates(date(2020, 1, 1), date(2020, 3, 1))),
    "grade": st.one_of(st.none(), st.sampled_from(["low", "middle", "high"])),
}
LABELS = (
    st.sampled_from(["yes", "no", "ü"]),
    st.sampled_from([0, 1, 7]),
    st.booleans(),
    st.sampled_from([0.0, 1.0]),
)


@st.composite
def tables(draw, most=24):
    rows = draw(st.integers(2, most))
    grades = pl.Enum(["low", "middle", "high"])
    kinds = {"number": pl.Float64, "whole": pl.Int64, "text": pl.String, "flag": pl.Boolean,
             "binary": pl.Int64, "day": pl.Date, "grade": grades}  # fmt: skip
    columns = {
        name: pl.Series(
            name, draw(st.lists(CELLS[name], min_size=rows, max_size=rows)), kinds[name]
        )
        for name in kinds
    }
    labels = draw(st.lists(draw(st.sampled_from(LABELS)), min_size=rows, max_size=rows))
    return pl.DataFrame(columns), np.array(labels)


def same(one, other, X, sizes):
    """Two models that answer alike, to the last bit."""
    for size in (None, *range(sizes)):
        guess, again = one.predict(X, size), other.predict(X, size)
        assert guess.dtype == again.dtype
        assert guess.tolist() == again.tolist()
        assert one.predict_proba(X, size).tolist() == other.predict_proba(X, size).tolist()
        assert one.apply(X, size).tolist() == other.apply(X, size).tolist()
        assert one.to_text(size) == other.to_text(size)
        assert one.to_rules(size) == other.to_rules(size)
        assert one.to_frame(size).equals(other.to_frame(size))
    paths = one.decision_path(X) != other.decision_path(X)
    assert paths.nnz == 0
    assert one.feature_importances_.tolist() == other.feature_importances_.tolist()


@settings(max_examples=40)
@given(tables(), tables(), st.integers(0, 6), st.booleans())
def test_a_greedy_model_survives(table, other, size, weighted):
    (X, y), (new, _) = table, other
    weights = np.arange(1, len(y) + 1) / 3 if weighted else None
    model = mt.TopDownClassifier(size).fit(X, y, weights)
    loaded = from_json(to_json(model))
    same(model, loaded, X, size)
    same(model, loaded, new, size)
    # columns are found by name, whatever else the table has
    moved = new.select(reversed(new.columns)).with_columns(more=pl.lit("x"))
    assert loaded.predict(moved).tolist() == model.predict(new).tolist()
    assert to_json(loaded) == to_json(model)


@settings(max_examples=15)
@given(tables(12), st.integers(0, 3))
def test_an_optimal_model_survives(table, size):
    X, y = table
    model = mt.OptimalTreeClassifier(size).fit(X, y)
    loaded = from_json(to_json(model))
    same(model, loaded, X, size)
    assert to_json(loaded.at_size(0)) == to_json(model.at_size(0))


AGES = [20, 30, 40, 50, None, 60, 60, 60]
COLORS = ["red", "blue", "red", None, "blue", "blue", "red", "red"]
X = pl.DataFrame({"age": AGES, "color": COLORS, "unused": [1] * 8})
Y = ["yes", "no", "yes", "yes", "no", "no", "yes", "no"]
MODEL = mt.TopDownClassifier(3).fit(X, Y)
TEXT = to_json(MODEL)

JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5),
        st.sampled_from([-1, 0, 1, 2, 10**400, "age", "number", "category", "text", "is"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)  # fmt: skip


def places(content, path=()):
    """All paths into a JSON value."""
    yield path
    if isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            yield from places(value, (*path, key))


PLACES = list(places(json.loads(TEXT)))


def works_or_is_refused(text):
    try:
        model = from_json(text)
    except ValueError:
        return
    for size in (None, 0):
        model.to_text(size)
        model.to_rules(size)
        try:
            model.predict(X, size)
            assert np.all(model.predict_proba(X, size) >= 0)
        except ValueError as error:  # a column of another name or kind
            assert "column" in str(error)  # noqa: PT017


@settings(max_examples=300)
@given(st.data())
def test_a_hostile_change_is_refused_or_harmless(data):
    content = json.loads(TEXT)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(PLACES))
        try:
            holder = content
            for key in path[:-1]:
                holder = holder[key]
            what = data.draw(st.sampled_from(["replace", "delete", "double"]))
            if not path:
                content = data.draw(JSON)
            elif what == "replace":
                holder[path[-1]] = data.draw(JSON)
            elif what == "delete":
                del holder[path[-1]]
            elif isinstance(holder, list):
                holder.insert(0, copy.deepcopy(holder[path[-1]]))
        except (KeyError, IndexError, TypeError):  # changed before
            continue
    works_or_is_refused(json.dumps(content))


@settings(max_examples=100)
@given(st.one_of(st.text(), JSON.map(json.dumps)))
def test_any_text_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        from_json(text)


@settings(max_examples=100)
@given(st.integers(0, len(TEXT) - 1), st.text(max_size=3))
def test_a_damaged_text_is_refused_or_harmless(place, text):
    works_or_is_refused(TEXT[:place] + text + TEXT[place + 1 :])


def changed(**parts):
    return json.dumps(json.loads(TEXT) | parts)


def tree(**parts):
    content = json.loads(TEXT)
    content["trees"][0] |= parts
    return json.dumps(content)


def two_columns_alike(key):
    content = json.loads(TEXT)
    content["columns"][1][key] = content["columns"][0][key]
    return json.dumps(content)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (two_columns_alike("name"), "columns must have different names"),
        (two_columns_alike("position"), "columns must have different positions"),
        ("[" * 100_000, "a model must be JSON"),
        ("{}", f"must say format {FORMAT!r}"),
        (changed(format="mictree.model/3"), "must say format"),
        (changed(more=1), "'more' is not right"),
        (TEXT.replace('"format"', '"format": 1, "format"', 1), "a name occurs twice"),
        (TEXT.replace('"max_size": 3', '"max_size": NaN'), "numbers must be finite; got NaN"),
        (changed(estimator="__import__('os')"), "wrong estimator"),
        (changed(width=1), "position must be below the width"),
        (changed(max_size=1), "max_size must be at least"),
        (changed(trees=[]), "must have trees"),
        (changed(prefixes=False), "the tree of a size must have"),
        (changed(classes={"type": "object", "values": []}), "wrong values"),
        (changed(classes={"type": "int8", "values": [1, 1000]}), "of the type int8"),
        (changed(classes={"type": "text", "values": ["b", "a"]}), "different and in order"),
        (changed(classes={"type": "O", "values": ["b", "a"]}), "wrong type"),
        (changed(tests=[]), "must make the 0 tests"),
        (tree(leaves=[0, 0]), "must split leaves that it has; split 1"),
        (tree(leaves=[0]), "must have 1 tests"),
        (tree(tests=[0, 99]), "one is not among them"),
        (tree(gains=[0.5, -1]), "gains of at least 0"),
        (tree(rows=[[1, 1]] * 5), "must keep its rows; split 0"),
        (tree(masses=[[0, 0]] * 5), "weight at every node"),
        (tree(masses=[[1, -1]] * 5), "weight at every node"),
        (tree(masses=[[1, 10**400]] * 5), "masses must be 2 numbers"),
    ],
)
def test_what_is_refused(text, rule):
    assert len(MODEL.literals_) > len(json.loads(TEXT)["tests"]) == 2
    with pytest.raises(ValueError, match=rule) as raised:
        from_json(text)
    assert len(str(raised.value)) < 300


def test_only_what_the_tree_tests_is_in_the_file():
    content = json.loads(TEXT)
    assert "unused" not in TEXT
    assert {column["name"] for column in content["columns"]} <= {"age", "color"}
    assert sorted({test for tree in content["trees"] for test in tree["tests"]}) == [
        *range(len(content["tests"]))
    ]


def test_a_table_that_does_not_fit_is_refused_with_the_differences():
    loaded = from_json(TEXT)
    with pytest.raises(ValueError, match=r"there is no 'age' \(did you mean 'Age'\?\)"):
        loaded.predict(X.rename({"age": "Age"}))
    wrong = pl.DataFrame({"age": ["a"] * 8, "color": [1] * 8})
    with pytest.raises(
        ValueError, match="'age' held numbers, now texts, 'color' held categories, now numbers"
    ):
        loaded.predict(wrong)
    empty = pl.DataFrame({"age": [None] * 2, "color": [None] * 2})
    assert len(loaded.predict(empty)) == 2


def test_matrices_have_columns_by_position():
    matrix = np.array([[1.5, math.nan], [2, 1], [3, math.nan], [4, 5]])
    model = mt.TopDownClassifier(2).fit(matrix, [0, 1, 0, 1])
    loaded = from_json(to_json(model))
    assert loaded.predict(matrix).tolist() == [0, 1, 0, 1]
    assert loaded.predict(pl.DataFrame(matrix)).tolist() == [0, 1, 0, 1]
    with pytest.raises(ValueError, match="2 features"):
        loaded.predict(matrix[:, :1])
    with pytest.raises(ValueError, match="X must have 2 columns; it has 1"):
        loaded.predict(pl.DataFrame(matrix[:, :1]))


def test_save_and_load(tmp_path):
    file = tmp_path / "model.json"
    MODEL.save(str(file))
    loaded = mt.load(file)
    assert loaded.estimator_ == "TopDownClassifier"
    assert loaded.classes_.tolist() == ["no", "yes"]
    assert loaded.score(X, Y) == MODEL.score(X, Y)
    assert loaded.draw() is not None
    with pytest.raises(ValueError, match="cannot be fitted; make a new TopDownClassifier"):
        loaded.fit(X, Y)
    with pytest.raises(ValueError, match="size must be at most the model's max_size, 3; got 4"):
        loaded.predict(X, 4)
    with pytest.raises(FileNotFoundError, match=r"there is no .*none.json"):
        mt.load(tmp_path / "none.json")
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="JSON in UTF-8"):
        mt.load(file)


def test_categories_that_were_seen_must_fit():
    content = json.loads(TEXT)
    color = next(column for column in content["columns"] if column["name"] == "color")
    age = next(column for column in content["columns"] if column["name"] == "age")
    seen = color["seen"]
    assert set(seen) == set(X["color"].drop_nulls())
    for column, wrong, rule in [
        (color, [1], "wrong seen"),
        (color, [], "does not fit its column"),
        (age, ["a"], "only columns of categories have seen any"),
    ]:
        before, column["seen"] = column["seen"], wrong
        with pytest.raises(ValueError, match=rule):
            from_json(json.dumps(content))
        column["seen"] = before


def test_the_repr_names_size_and_columns():
    loaded = from_json(TEXT)
    assert repr(loaded) == "SavedTreeClassifier(TopDownClassifier, 2 splits on age, color)"
    assert repr(loaded.at_size(0)) == "SavedTreeClassifier(TopDownClassifier, 0 splits)"
    assert repr(type(loaded)()) == "SavedTreeClassifier()"
    many = np.eye(9)
    wide = from_json(to_json(mt.TopDownClassifier(8).fit(many, np.arange(9))))
    assert repr(wide).endswith("8 splits on x1, x2, x3, x4, x5, x6, ...)")
