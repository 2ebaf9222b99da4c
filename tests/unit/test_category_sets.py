"""Sets of categories in texts, code, files, pictures and commands; columns that are no use."""

import json
import pickle
import sqlite3
from html import escape

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mictree as mt
from mictree._support.words import shorten_set, to_svg
from mictree.columns.data import Data
from mictree.columns.written import Column, Test
from mictree.estimators.rules import merge
from mictree.problems.sample import Limits
from mictree.report.data import show_tree
from mictree.tree import Tree

ODD = ("O'Brien", "a, b", "{x}", "missing", 'B"q', "plain", " space", "L" * 30)


def data(rows=400, towns=ODD):
    """A column of odd texts, one with missing values, one of 0 and 1; labels of three of them."""
    draws = np.random.default_rng(1)
    town, kind = draws.choice(towns, rows), draws.choice(["x", "y", None], rows)
    X = pl.DataFrame({"town": town, "kind": kind, "bit": draws.integers(0, 2, rows)})
    return X, (np.isin(town, towns[:3]) ^ (draws.random(rows) < 0.2)).astype(int)


def unknown(X):
    """The same rows with towns that nobody has seen, and missing ones."""
    return X.with_columns(town=pl.Series(["elsewhere", None] * (len(X) // 2)))


@pytest.fixture(scope="module")
def fitted():
    X, y = data()
    return mt.TopDownClassifier(6, categories="subsets").fit(X, y), X


def test_code_gives_the_trees_answers_for_odd_names(fitted):
    model, X = fitted
    rules, names = model.to_rules(), {}
    exec(rules.to_python(), names)
    connection = sqlite3.connect(":memory:")
    connection.execute("create table rows (town, kind, bit)")
    for rows in (X, unknown(X)):
        expected = model.predict(rows).tolist()
        assert [names["predict"](row) for row in rows.iter_rows(named=True)] == expected
        connection.execute("delete from rows")
        connection.executemany("insert into rows values (?, ?, ?)", rows.rows())
        found = connection.execute(f"select {rules.to_sql()} from rows order by rowid").fetchall()
        assert [label for (label,) in found] == expected
    assert " IN (" in rules.to_sql()


def test_probabilities_in_code(fitted):
    model, X = fitted
    names = {}
    exec(model.to_rules().to_python(proba=True), names)
    found = [[*names["predict_proba"](row).values()] for row in X.iter_rows(named=True)]
    np.testing.assert_allclose(found, model.predict_proba(X))


def test_names_are_quoted_where_sets_could_read_alike(fitted):
    model, _ = fitted
    assert "'a, b'" in model.to_text()
    plain = mt.SampleProblem(pl.DataFrame({"c": ["a", "b", "c"]}), [0, 1, 0], categories="subsets")
    assert mt.TopDown().grow(plain, 1).steps[0].variable == "c in {b}"
    like = mt.SampleProblem(
        pl.DataFrame({"c": ["a", "a, b", "b"]}), [0, 1, 0], categories="subsets"
    )
    assert mt.TopDown().grow(like, 1).steps[0].variable == "c in {'a, b'}"


def test_models_survive_files_and_pickles(fitted, tmp_path):
    model, X = fitted
    model.save(tmp_path / "model.json")
    for other in (mt.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert other.to_text() == model.to_text()
        assert str(other.to_rules()) == str(model.to_rules())
        for rows in (X, unknown(X)):
            np.testing.assert_array_equal(other.predict(rows), model.predict(rows))
    again = mt.load(tmp_path / "model.json")
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "wrong value"),
        (["plain", "plain"], "wrong value"),
        ([["plain"]], "wrong value"),
        (["nowhere"], "does not fit its column"),
        ("plain", "does not fit its column"),
    ],
)
def test_sets_of_files_are_checked(fitted, tmp_path, value, message):
    file = tmp_path / "model.json"
    fitted[0].save(file)
    content = json.loads(file.read_text())
    test = next(each for each in content["tests"] if each["relation"] == "in")
    test["value"] = value
    file.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        mt.load(file)


def test_trees_survive_json_and_refuse_other_positions(fitted):
    model, X = fitted
    tree = model.tree_
    assert Tree.from_json(tree.to_json()) == tree
    bits = model.literals_.transform(X, tree)
    np.testing.assert_array_equal(tree.predict(bits), model.predict(X))
    for wrong in ("[2, 1]", "[1, 1]", "[]", "[-1]", '["a"]'):
        content = json.loads(tree.to_json())
        content["sources"][0][1] = json.loads(wrong)
        with pytest.raises(ValueError, match="a column and a number, or positions"):
            Tree.from_json(json.dumps(content))
    problem = mt.SampleProblem(X, model.predict(X), categories="subsets")
    content["sources"][0] = [0, [99]]
    with pytest.raises(ValueError, match="the problem must have every variable tested"):
        Tree.from_json(json.dumps(content)).error(problem)


def test_literals_list_only_sets_of_trees_and_fits_do_not_share_them():
    X, y = data()
    problem = mt.SampleProblem(X, y, categories="subsets")
    assert problem.variables == ("bit",)
    mt.TopDown().grow(problem, 5)
    small = mt.TopDownClassifier(1).fit(problem)
    assert len(small.literals_.names) == 2
    assert small.literals_.names[1] == small.tree_.variables[0]
    assert small.literals_.transform(X).shape == (len(X), 2)


def test_scikit_learns_tree_reads_sets_as_literals(fitted):
    model, X = fitted
    other = model.to_sklearn(on="literals")
    bits = model.literals_.transform(X, model.tree_)
    np.testing.assert_array_equal(other.predict(bits), model.predict(X))
    with pytest.raises(ValueError, match="is categorical"):
        model.to_sklearn()


def test_drawings_shorten_long_sets_and_have_the_whole_one_under_the_pointer():
    towns = [f'"town" & {number}' for number in range(16)]
    X, y = pl.DataFrame({"town": towns * 5}), np.arange(80) % 16 % 2
    model = mt.TopDownClassifier(1, categories="subsets").fit(X, y)
    whole, svg = model.tree_.variables[0], to_svg(model.draw())
    assert "more}?" in svg
    assert f"<title>{escape(whole)}?</title>" in svg
    assert whole in model.to_text()
    short = mt.TopDownClassifier(1, categories="subsets").fit(X[:4], y[:4])
    assert "<title>" not in to_svg(short.draw())
    shown = show_tree(model, "tree")
    assert shown.whole == whole
    assert show_tree(short, "tree").whole == ""


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("town in {A, B}", "town in {A, B}"),
        (f"c in {{{', '.join('ABCDEFGHIJKLMNOP')}}}?", "c in {A, B, C, D, E, F, G, and 9 more}?"),
        ("age > 3", "age > 3"),
        (f"c in {{'a, {'b' * 20}', '{'c' * 20}', 'd'}} (column 3)",
         f"c in {{'a, {'b' * 20}', and 2 more}} (column 3)"),
    ],
)  # fmt: skip
def test_shortened_sets(text, short):
    assert shorten_set(text) == short


def test_explained_rows_name_the_set():
    X = pl.DataFrame({"town": ["A", "B", "C", "D"] * 5})
    model = mt.TopDownClassifier(1, categories="subsets").fit(X, [0, 1, 1, 0] * 5)
    assert "town in {B, C} (it is B)" in model.explain({"town": "B"})
    assert "town not in {B, C} (it is missing)" in model.explain({"town": None})


def test_sets_on_a_path_are_merged():
    X = pl.DataFrame({"town": list("ABCDEF") * 4, "bit": [0, 1] * 12})
    y = [{"A": 0, "B": 1, "C": 2, "D": 0, "E": 1, "F": 2}[town] for town in X["town"]]
    model = mt.TopDownClassifier(2, categories="subsets").fit(X, y)
    rules = {rule.label: str(rule) for rule in model.to_rules()}
    assert model.score(X, y) == 1
    held = [text for text in rules.values() if text.count("{") == 1]
    assert len(held) == 3  # one condition for each leaf


def test_columns_that_offer_nothing():
    for cells in (["a"] * 4, [None] * 4):
        X = pl.DataFrame({"c": pl.Series(cells, dtype=pl.String)})
        model = mt.TopDownClassifier(3, categories="subsets").fit(X, [0, 1, 0, 1])
        assert model.tree_.size == 0
    one = pl.DataFrame({"c": ["a", None, "a", None]})
    model = mt.TopDownClassifier(3, categories="subsets").fit(one, [0, 1, 0, 1])
    assert model.tree_.variables == ("c in {a}",)
    assert model.score(one, [0, 1, 0, 1]) == 1
    many = pl.DataFrame({"c": [f"id{number}" for number in range(1025)]})
    with pytest.raises(ValueError, match="at most 1024 categories; c has 1025"):
        mt.TopDownClassifier(categories="subsets").fit(many, [0, 1] * 512 + [0])


def test_many_categories_are_grouped_in_one_split():
    names = [f"id{number:04d}" for number in range(1024)]
    X, y = pl.DataFrame({"c": names * 2}), np.arange(2048) % 1024 % 3 == 0
    model = mt.TopDownClassifier(1, categories="subsets").fit(X, y)
    assert model.score(X, y) == 1


@pytest.mark.parametrize("wrong", ["all", None, 3, ["each"]])
def test_unknown_ways_to_test_categories(wrong):
    message = "categories must be one of each, subsets; got"
    X, y = [[0], [1]], [0, 1]
    with pytest.raises(ValueError, match=message):
        mt.SampleProblem(X, y, categories=wrong)
    for model in (mt.TopDownClassifier, mt.TopDownRegressor, mt.OptimalTreeClassifier):
        with pytest.raises(ValueError, match=message):
            model(1, categories=wrong).fit(X, y)
    with pytest.raises(ValueError, match=message):
        mt.compare("topdown", X, y, 1, categories=wrong)


def test_what_lists_tests_refuses_sets():
    X, y = data(40)
    problem = mt.SampleProblem(X, y, categories="subsets")
    for refused in (
        lambda: mt.Lookahead(2).grow(problem, 2),
        lambda: mt.good_trees(problem, 2),
        lambda: mt.optimal_errors(problem, 2, top=2),
    ):
        with pytest.raises(ValueError, match='use categories="each"'):
            refused()
    with pytest.raises(ValueError, match='a problem must have categories="subsets"'):
        mt.TopDownClassifier(2, categories="subsets").fit(mt.SampleProblem(X, y))


@pytest.mark.parametrize("loss", [None, "squared"])
def test_files_give_the_same_tree(tmp_path, loss):
    X, y = data()
    weights = np.random.default_rng(4).integers(0, 3, len(y))
    X.with_columns(label=pl.Series(y), weight=pl.Series(weights)).write_parquet(
        tmp_path / "a.parquet"
    )
    file = mt.SampleProblem.from_parquet(
        tmp_path / "a.parquet", "label", sample_weight="weight", loss=loss, categories="subsets"
    )
    memory = mt.SampleProblem(X, y, weights, loss=loss, categories="subsets")
    one, other = (mt.TopDown(None).grow(each, 6) for each in (file, memory))
    assert one.tree(6) == other.tree(6)
    assert one.errors.tolist() == other.errors.tolist()


def test_importances_frames_and_sizes(fitted):
    model, X = fitted
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_importances_[0] > 0.5
    assert any("town in" in (test or "") for test in model.to_frame()["test"])
    small = model.at_size(1)
    assert small.tree_.size == 1
    assert small.tree_.predict(small.literals_.transform(X, small.tree_)).tolist() == (
        small.predict(X).tolist()
    )


def test_other_learners_get_a_column_for_each_category():
    X, y = data(120)
    result = mt.compare(["topdown", "sklearn"], X, y, 2, cv=2, repeats=1, categories="subsets")
    assert np.all(result.optimal_errors.upper <= result.training_errors["sklearn"] + 1e-12)
    model = result.model(2)
    assert all("town" in name or "kind" in name or name == "bit" for name in model.literals_.names)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_codes_are_the_values(make):
    cells = ["b", None, "a", "b"]
    frames = [make({"c": cells})]
    if make is pd.DataFrame:
        frames.append(pd.DataFrame({"c": pd.Categorical(cells, ["z", "b", "a"])}))
        frames.append(pd.DataFrame({"c": pd.Categorical([2, None, 1, 2])}))
    else:
        frames.append(pl.DataFrame({"c": pl.Series(cells, dtype=pl.Categorical)}))
    for frame in frames:
        each = Data(frame)
        values, codes = each.codes(0)
        assert [values[code] for code in codes] == each.column(0)
        assert values[-1] is None
    assert Data(make({"c": [1, 2]})).codes(0) is None
    assert Data(np.array([["a"], ["b"]])).codes(0) is None


def test_names_like_tests_of_another_column_do_not_clash():
    X = pl.DataFrame({"c": ["a", "b", "a", "b"], "c in {b}": [0, 1, 1, 0]})
    problem = mt.SampleProblem(X, [0, 1, 1, 0], categories="subsets")
    tree = mt.TopDown().grow(problem, 3).tree(3)
    assert len(set(tree.variables)) == len(tree.variables)
    assert tree.error(problem) == 0
    sets = [name for name in tree.variables if name.startswith("c in {b}") and "(column 0)" in name]
    assert sets or tree.variables == ("c in {b}",)


def test_ten_categories_are_enumerated_and_eleven_are_not():
    draws = np.random.default_rng(8)
    for count, exact in ((10, True), (11, False)):
        town = np.concatenate([np.arange(count), draws.integers(0, count, 50)])
        X = pl.DataFrame({"town": [f"t{each:02d}" for each in town]})
        y, limits = draws.integers(0, 2, len(town)), Limits(min_samples_leaf=5)
        problem = mt.SampleProblem(X, y, categories="subsets", limits=limits)
        offered = problem.offered(problem.root())
        assert len(offered) == (2 ** (count - 1) - 1 if exact else count - 1)


def test_sets_on_a_path_exclude_what_was_ruled_out_before():
    column = Column("c", 0, "category", None, ("a", "b", "d"))
    first = Test(0, "in", ("a",), "c in {a}", "c not in {a}")
    second = Test(0, "in", ("a", "b"), "c in {a, b}", "c not in {a, b}")
    (condition,) = merge([(column, first, False), (column, second, True)])
    assert condition.in_words() == "c in {b}"
    assert condition.in_sql() == "\"c\" IN ('b')"
    (condition,) = merge([(column, second, True), (column, first, False)])
    assert condition.in_python("value") == "value in ('b',)"
    (condition,) = merge([(column, first, False), (column, second, False)])
    assert condition.in_words() == "c not in {a, b}"
    with pytest.raises(ValueError, match="a path must leave some category; c has none left"):
        merge([(column, second, False), (column, first, True)])
