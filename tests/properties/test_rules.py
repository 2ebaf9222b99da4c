"""Rules, SQL and Python text give the labels that predict gives, also to missing values."""

import sqlite3

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.estimators.saved import from_json, to_json
from tests.properties.test_saved_models import tables


def by_sql(sql, frame):
    """The labels that a database computes."""
    database = sqlite3.connect(":memory:")
    columns = ", ".join(f'"{name}"' for name in frame.columns)
    database.execute(f"CREATE TABLE data ({columns})")
    marks = ", ".join("?" * frame.width)
    database.executemany(f"INSERT INTO data VALUES ({marks})", frame.rows())
    return [label for (label,) in database.execute(f"SELECT {sql} FROM data")]


def by_python(text, frame, spelling=None):
    names = {}
    exec(text, names)
    rows = frame.rows(named=True)
    return [
        names["predict"]({k: spelling if v is None else v for k, v in row.items()}) for row in rows
    ]


def by_rules(rules, frame):
    """Each row's labels by the rules whose conditions hold, read as Python."""
    return [
        [
            rule.label
            for rule in rules
            if all(
                eval(each.in_python("value"), {"value": row[each.column.name]})
                for each in rule.conditions
            )
        ]
        for row in frame.rows(named=True)
    ]


@settings(max_examples=60)
@given(tables(), tables(), st.integers(0, 7))
def test_all_forms_agree_with_predict(table, other, size):
    (X, y), (new, _) = table, other
    X, new = X.drop("day", "grade"), new.drop("day", "grade")
    model = mt.TopDownClassifier(size).fit(X, y)
    rules = model.to_rules()
    for frame in (X, new):
        expected = model.predict(frame).tolist()
        assert by_rules(rules, frame) == [[label] for label in expected]  # exactly one applies
        assert by_python(rules.to_python(), frame) == expected
        assert by_python(rules.to_python(), frame, float("nan")) == expected
        assert by_sql(rules.to_sql(), frame) == expected
    assert from_json(to_json(model)).to_rules() == rules


@settings(max_examples=40)
@given(tables(), st.integers(0, 7))
def test_counts_and_order(table, size):
    X, y = table
    model = mt.TopDownClassifier(size).fit(X, y)
    rules = model.to_rules()
    predicted = model.predict(X)
    assert sum(rule.rows for rule in rules) == len(y)
    assert sum(rule.coverage for rule in rules) == pytest.approx(1)
    assert [rule.rows for rule in rules] == sorted((rule.rows for rule in rules), reverse=True)
    for rule in rules:
        columns = [each.column for each in rule.conditions]
        assert len(set(columns)) == len(columns)
    right = sum(rule.rows * rule.precision for rule in rules)
    assert right == pytest.approx((predicted == y).sum())
    assert len(rules) <= model.get_n_leaves()
    lines = str(rules).splitlines()
    assert len(set(lines)) == len(lines) == len(rules)
    assert rules.frame.height == len(rules)


@settings(max_examples=40)
@given(tables(), st.integers(0, 5), st.data())
def test_an_explanation_is_the_path_of_the_row(table, size, data):
    X, y = table
    model = mt.TopDownClassifier(size).fit(X, y)
    number = data.draw(st.integers(0, len(y) - 1))
    row = X.rows(named=True)[number]
    text = model.explain(row)
    assert text.startswith(f"{model.predict(X)[number]}, ")
    assert text == model.explain(X[number]) == from_json(to_json(model)).explain(row)
    leaf = model.apply(X)[number]
    count = int((model.apply(X) == leaf).sum())
    assert f"The {count} training row" in text


AGES = [20, 30, 40, 50, 60, 70, None, 45] * 3
COLORS = ["red", "blue", "green", None] * 6


def test_words():
    X = pl.DataFrame({"radius": [1.0, 2, 3, 4, 5, 6]})
    model = mt.TopDownClassifier(5).fit(X, ["a", "a", "b", "b", "c", "c"])
    assert str(model.to_rules()) == (
        "if radius <= 2.5 then a  (2 rows, 33% of all; 100% of them a)\n"
        "if 2.5 < radius <= 4.5 then b  (2 rows, 33% of all; 100% of them b)\n"
        "if radius > 4.5 then c  (2 rows, 33% of all; 100% of them c)"
    )
    assert model.explain({"radius": 3}) == (
        "b, because\n  2.5 < radius <= 4.5 (it is 3)\nThe 2 training rows like this: 100% b."
    )
    assert model.explain({"radius": None}).startswith("a, because\n  radius <= 2.5 (it is missing)")


def test_leaves_of_one_class_are_one_rule():
    X = pl.DataFrame({"a": [0, 0, 1, 1] * 3 + [1], "b": [0, 1, 0, 1] * 3 + [1]})
    model = mt.TopDownClassifier(3).fit(X, [0, 0, 1, 1] * 3 + [0])
    assert model.get_n_leaves() > 2
    assert [str(rule) for rule in model.to_rules()] == ["if a then 1", "if not a then 0"]


def test_categories_in_words():
    X = pl.DataFrame({"c": ["red", "blue", "green", None, "pink", "grey"] * 2})
    model = mt.TopDownClassifier(6).fit(X, ["r", "b", "g", "m", "o", "o"] * 2)
    shown = {str(rule) for rule in model.to_rules()}
    assert {"if c is red then r", "if c is missing then m"} <= shown
    assert any(text.startswith("if c is none of ") for text in shown)


def test_code_with_quotes_in_names_and_texts():
    X = pl.DataFrame({'it\'s "x"': ["o'k", 'n"o', "\n"] * 4, "y\\": range(12)})
    labels = np.array(["a'b", 'c"d', "e\nf"] * 4)
    model = mt.TopDownClassifier(6).fit(X, labels)
    rules = model.to_rules()
    assert by_python(rules.to_python(), X) == labels.tolist()
    database = sqlite3.connect(":memory:")
    database.execute('CREATE TABLE data ("it\'s ""x""", "y\\")')
    database.executemany("INSERT INTO data VALUES (?, ?)", X.rows())
    found = database.execute(f"SELECT {rules.to_sql()} FROM data")
    assert [label for (label,) in found] == labels.tolist()
    with pytest.raises(ValueError, match="name must be an identifier"):
        rules.to_python("f()")


def test_matrices_and_bad_rows():
    X = np.array([[0.5, 1], [1.5, 1], [2.5, 0], [3.5, 0]])
    model = mt.TopDownClassifier(2).fit(X, [0, 0, 1, 1])
    assert model.explain(X[2]).startswith("1, because")
    assert model.explain([[0.5, 1]]).startswith("0, because")
    assert model.explain({"x0": 3, "x1": 0}).startswith("1, because")
    with pytest.raises(ValueError, match="explain takes one row; got 4"):
        model.explain(X)
    with pytest.raises(ValueError, match="it has no 'x"):
        model.explain({})
