"""--task and --costs of fit and data: what the target is, what a mistake costs, what is refused."""

import json
import re
import sys
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import get_scorer
from sklearn.tree import DecisionTreeRegressor
from typer.testing import CliRunner

import mictree as mt
from mictree._support.words import show_significant
from mictree.cli import app, main
from mictree.cli.fit import split_rows
from mictree.cli.output import tree_warnings
from mictree.cli.tasks import CLASSIFICATION, REGRESSION, TaskRequest, decide_task, read_costs

COSTS = "true,no,yes,ask\nno,0,1,0.5\nyes,10,0,2\n"


def run(command, *arguments):
    return CliRunner().invoke(app, [command, *map(str, arguments)])


def said(told):
    """The lines on standard error; the first run on a machine says that it compiles."""
    return [line for line in told.stderr.splitlines() if "compiling: " not in line]


def error(command, *arguments):
    return str(run(command, *arguments).exception)


def decided(values, asked=None):
    return decide_task(pl.Series("y", values), asked)


class TestOfTheTarget:
    @pytest.mark.parametrize(
        ("values", "why"),
        [
            ([*range(20)] * 3, None),
            ([*range(21)] * 3, "holds 21 different numbers"),
            ([1.0, 2.0, 3.0] * 9, None),
            ([1.0, 2.0, 3.5] * 9, "holds numbers with a fraction, such as 3.5"),
            ([float(n) for n in range(21)], "holds 21 different numbers"),
            ([f"{n}.5" for n in range(30)], None),  # of a file whose columns have types
            ([True, False], None),
            ([0.1 + 0.2, 0.5], "with a fraction, such as 0.3"),
        ],
    )
    def test_fractions_or_many_numbers_are_a_regression(self, values, why):
        found = decided(values)
        assert found.is_regression == (why is not None)
        assert (why or "") in found.line
        if why:
            assert found.line.endswith(
                "so this is a regression; --task classification makes each number a class"
            )

    @pytest.mark.parametrize("values", [[1.5, 2.5, 2.5], [*range(30)], [1, 2, 2]])
    def test_the_user_decides_and_no_line_is_printed(self, values):
        for asked in (CLASSIFICATION, REGRESSION):
            found = decided(values, asked)
            assert (found.task, found.line) == (asked, "")

    def test_numbers_with_a_fraction_become_names_of_classes(self):
        assert decided([1.5, 2.0, 2.0], CLASSIFICATION).labels.to_list() == ["1.5", "2.0", "2.0"]
        assert decided([1, 2, 2], CLASSIFICATION).labels.to_list() == [1, 2, 2]

    def test_whole_numbers_stay_whole(self):
        """So that optimal errors can be exact."""
        assert decided([*range(30)]).labels.dtype == pl.Int64
        decimals = decide_task(pl.Series("y", ["0.10", "0.25"]).cast(pl.Decimal(10, 2)))
        assert decimals.is_regression
        assert decimals.labels.to_list() == [0.1, 0.25]

    @pytest.mark.parametrize(
        ("values", "asked", "rule"),
        [
            (
                ["low", "high"],
                REGRESSION,
                "labels must be numbers with --task regression; y has 'l",
            ),
            (
                [True, False],
                REGRESSION,
                "labels must be numbers with --task regression; y has True",
            ),
            ([1.5, float("inf")], None, "labels must be finite; y has an infinite number"),
            ([1.0, float("inf")], CLASSIFICATION, "labels must be finite; y has an infinite"),
            ([date(2024, 1, 26)], None, "labels must be numbers, texts or booleans; y has Date"),
            ([date(2024, 1, 26)], REGRESSION, "labels must be numbers, texts or booleans; y has D"),
            ([[1], [2]], None, "labels must be numbers, texts or booleans; y has List(Int64)"),
            ([], None, "some row must have a label; y is missing in all rows"),
            ([1e300, 0.5], None, "have squares that a 64-bit float can hold; y has 1e+300"),
            ([-(2**62), 1], REGRESSION, None),
        ],
    )
    def test_what_no_label_can_be(self, values, asked, rule):
        if rule is None:
            decided(values, asked)
            return
        with pytest.raises(ValueError) as wrong:  # noqa: PT011
            decided(values, asked)
        assert rule in str(wrong.value)

    @pytest.mark.parametrize(
        ("request_", "rule"),
        [
            ({"task": "cluster"}, "--task must be one of classification, regression; got 'clust"),
            ({"task": REGRESSION, "costs": "x.csv"}, "--costs must not be given with --task regre"),
            ({"task": REGRESSION, "class_weight": "balanced"},
             "--class-weight must not be given with --task regression: it predicts numbers and has "
             "no classes"),
            ({"task": REGRESSION, "of_classes": (("--criterion", "because"),)},
             "--criterion must not be given with --task regression: because"),
        ],
    )  # fmt: skip
    def test_options_that_do_not_go_together(self, request_, rule):
        with pytest.raises(ValueError) as wrong:  # noqa: PT011
            TaskRequest(**request_)
        assert str(wrong.value).startswith(rule)

    def test_options_of_classes_beside_a_target_that_turns_out_to_be_numbers(self):
        request = TaskRequest(class_weight="balanced")
        with pytest.raises(ValueError, match=r"--class-weight must not .* --task classification"):
            request.decide(pl.Series("y", [0.5, 1.5]))
        assert not request.decide(pl.Series("y", [0, 1])).is_regression


class TestOfAFileOfCosts:
    def test_names_and_numbers(self, save):
        table = read_costs(save("costs.csv", COSTS))
        assert table.actions == ("no", "yes", "ask")
        assert table.matrix(["no", "yes"]) == {
            "no": {"no": 0.0, "yes": 1.0, "ask": 0.5}, "yes": {"no": 10.0, "yes": 0.0, "ask": 2.0},
        }  # fmt: skip

    @pytest.mark.parametrize(
        "text",
        ["true;0;1;ask\n0;0;1;0,5\n1;10;0;2\n", "\ufeff\t0\t1\task\n\n1\t10\t0\t2\n0\t0\t1\t0,5\n",
         'x|"0"|1|ask \n0|0|1|.5\n1|1e1|0|2\n'],
    )  # fmt: skip
    def test_as_spreadsheets_write_them(self, save, text):
        found = read_costs(save("costs.csv", text)).matrix([0, 1])
        assert found[0] == {0: 0.0, 1: 1.0, "ask": 0.5}
        assert found[1] == {0: 10.0, 1: 0.0, "ask": 2.0}

    def test_classes_that_are_no_texts(self, save):
        matrix = read_costs(save("costs.csv", ",false,true\nfalse,0,1\ntrue,2,0\n"))
        assert matrix.matrix([False, True]) == {
            False: {False: 0, True: 1},
            True: {False: 2, True: 0},
        }
        numbers = read_costs(save("costs.csv", ",1,2\n1,0,1\n2,2,0\n"))
        assert numbers.matrix([1.0, 2.0]) == {1.0: {1.0: 0, 2.0: 1}, 2.0: {1.0: 2, 2.0: 0}}

    @pytest.mark.parametrize(
        ("text", "rules"),
        [
            ("", ["must be a CSV file with the names of actions in its first line and a line for"]),
            ("true,no,yes\n", ["has 1 line and 3 columns"]),
            ("true\nno\nyes\n", ["has 3 lines and 1 column"]),
            (",no,yes\nno,0,1\nyes,1\n", ["must have a cost for each of the 2 actions in every "
                                           "line; that of 'yes' in "]),
            (",no,yes\nno,0,1,2\nyes,1,0\n", ["that of 'no' in "]),
            (",no,yes\nno,0,-1\nyes,few,0\n",
             ["at least 0; the cost of 'yes' for class 'no' is '-1'",
              "at least 0; the cost of 'no' for class 'yes' is 'few'"]),
            (",no,yes\nno,0,inf\nyes,,nan\n",
             ["of 'yes' for class 'no' is 'inf'", "of 'no' for class 'yes' is ''",
              "of 'yes' for class 'yes' is 'nan'"]),
            (",no,no\nno,0,1\nno,1,0\n", ["must have one line for 'no'", "must have one column"]),
            (",no,\nno,0,1\nyes,1,0\n", ["must name every column; one in "]),
        ],
    )  # fmt: skip
    def test_what_is_wrong_with_it_comes_together(self, save, text, rules):
        file = save("costs.csv", text)
        errors = TaskRequest(costs=file).complain()
        assert len(errors) == len(rules)
        for found, rule in zip(errors, rules, strict=True):
            assert str(found).startswith("--costs must ")
            assert rule in str(found)

    def test_classes_of_the_target(self, save):
        table = read_costs(save("costs.csv", ",no,ask\nno,0,1\nperhaps,3,1\n"))
        with pytest.raises(ValueError) as wrong:  # noqa: PT011
            table.matrix(["no", "yes"])
        unknown, missing = map(str, wrong.value.args)
        assert unknown == (
            "--costs must name a class of the target on the left; 'perhaps' is none of 'no', 'yes'"
        )
        assert missing.startswith("--costs must have a line for each class of the target; 'yes' ha")

    def test_many_classes_without_a_line_are_one_complaint(self, save):
        table = read_costs(save("costs.csv", ",no,ask\nno,0,1\n"))
        with pytest.raises(ValueError) as wrong:  # noqa: PT011
            table.matrix([float(number) for number in range(200)])
        lines = [str(error) for error in wrong.value.args]
        assert len(lines) == 2
        assert lines[0].endswith("is none of '0.0', '1.0', '2.0', '3.0', '4.0' and 195 others")
        assert "'4.0' and 195 others have none in" in lines[1]

    def test_a_file_that_is_not_there(self):
        (found,) = TaskRequest(costs=Path("no.csv")).complain()
        assert str(found) == "--costs must name a CSV file; there is no file 'no.csv'"


@pytest.fixture
def complain(monkeypatch, capsys):
    """The complaints of a command, one line each; its exit status is 2."""

    def complaints(*words):
        monkeypatch.setattr(sys, "argv", ["mictree", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        lines = [line for line in capsys.readouterr().err.splitlines() if "compiling" not in line]
        return [line.removeprefix("mictree: ") for line in lines]

    return complaints


@pytest.mark.parametrize("command", ["fit", "data"])
class TestOfComplaints:
    def test_costs_come_with_the_others(self, save, complain, command):
        file = save("a.csv", "a,y\n" + "inf,yes\n2,no\n" * 9)
        costs = save("costs.csv", ",no,yes\nno,0,-1\nmaybe,1,x\n")
        found = complain(command, file, "--target", "y", "--costs", costs, "--drop", "b")
        rules = [
            "the file must have a column 'b'",
            "--costs must hold finite numbers, at least 0; ",
            "--costs must hold finite numbers, at least 0; ",
            "numbers must be finite",
        ]
        assert [any(line.startswith(rule) for line in found) for rule in rules] == [True] * 4
        assert len(found) == 4
        costs = save("costs.csv", ",no,yes\nno,0,1\nmaybe,1,0\n")
        found = complain(command, file, "--target", "y", "--costs", costs, "--class-weight", "q=2")
        assert [line.partition(";")[0] for line in found[1:]] == [
            "--costs must name a class of the target on the left",
            "--costs must have a line for each class of the target",
            "--class-weight must name classes",
            "numbers must be finite, at most 1.8e+308",
        ]

    def test_without_the_target_the_file_of_costs_is_checked(self, save, complain, command):
        file = save("a.csv", "a,y\n" + "1,yes\n2,no\n" * 9)
        found = complain(command, file, "--target", "z", "--costs", save("costs.csv", ",no\n"))
        assert len(found) == 2
        assert "'z'" in found[0]
        assert found[1].startswith("--costs must be a CSV file with")

    @pytest.mark.parametrize(
        ("options", "rule"),
        [
            (("--task", "regresion"), "--task must be one of classification, regression; got 'reg"),
            (("--task", "regression", "--costs", "c.csv"), "--costs must not be given with --task"),
            (("--costs", "c.csv", "--scoring", "accuracy"),
             "--scoring must not be given with --costs: accuracy counts mistakes, and mean costs"),
            (("--task", "regression", "--class-weight", "balanced"),
             "--class-weight must not be given with --task regression: it predicts numbers and"),
        ],
    )  # fmt: skip
    def test_before_the_file_is_read(self, command, complain, options, rule):
        (found,) = complain(command, "nowhere.csv", "--target", "y", *options)
        assert found.startswith(rule)

    def test_class_weights_beside_measured_numbers(self, save, command):
        file = save("a.csv", "a,price\n1,2.5\n2,3.75\n")
        assert error(command, file, "--target", "price", "--class-weight", "balanced") == (
            "--class-weight must not be given with a regression: it predicts numbers and has no "
            "classes; price holds numbers with a fraction, such as 2.5, so this is a regression; "
            "--task classification makes each number a class"
        )
        assert "y has 'no'" in error(
            command, save("b.csv", "a,y\n1,no\n2,yes\n"), "--target", "y", "--task", "regression"
        )


def test_rules_and_criteria_of_classes(save):
    file = save("a.csv", "a,price\n1,2.5\n2,3.75\n")
    assert error("fit", file, "--target", "price", "--criterion", "gini").startswith(
        "--criterion must not be given with a regression: its gain is the drop in squared error; p"
    )
    assert error("fit", file, "--target", "price", "--rule", "id3").startswith(
        "--rule id3 must not be given with a regression: its rules are topdown, bestfirst, optimal;"
    )
    assert error("fit", "no.csv", "--target", "y", "--task", "regression", "--rule", "id3") == (
        "--rule id3 must not be given with --task regression: its rules are topdown, bestfirst, "
        "optimal"
    )


@pytest.fixture
def houses(tmp_path):
    """Prices that two columns explain; one column is a category with gaps."""
    draw = np.random.default_rng(5)
    size, rooms = draw.integers(30, 200, 320), draw.integers(1, 8, 320)
    town = np.where(draw.random(320) < 0.1, None, draw.choice(["A", "B", "C"], 320))
    price = 2.5 * size + 40 * (town == "A") + draw.normal(0, 20, 320).round(1)
    weight = draw.integers(1, 4, 320)
    table = {"size": size, "rooms": rooms, "town": town, "n": weight, "price": price}
    file = tmp_path / "houses.csv"
    pl.DataFrame(table).write_csv(file)
    return file


def split_houses(file, *left_out):
    frame = pl.read_csv(file)
    y = frame["price"].to_numpy()
    train, test = split_rows(y, 0.25, 0, stratify=False)
    return frame, frame.drop("price", *left_out), y, train, test


LINE = (
    "mictree: price holds numbers with a fraction, such as {0:g}, so this is a regression; "
    "--task classification makes each number a class"
)


class TestOfARegression:
    def test_errors_are_those_of_scikit_learn(self, houses):
        """TopDown is its growth by max_leaf_nodes; the category is left out, as it cannot."""
        options = ("--target", "price", "--drop", "town", "--drop", "n", "--json", "--max-size", 6)
        answer = json.loads(run("fit", houses, *options).stdout)
        _, X, y, train, test = split_houses(houses, "town", "n")
        for size, error in enumerate(answer["train_errors"]):
            if size:
                peer = DecisionTreeRegressor(max_leaf_nodes=size + 1).fit(X[train], y[train])
                assert error == pytest.approx(np.mean((peer.predict(X[train]) - y[train]) ** 2))
        assert answer["train_errors"][0] == pytest.approx(y[train].var())
        peer = DecisionTreeRegressor(max_leaf_nodes=answer["size"] + 1).fit(X[train], y[train])
        predicted = peer.predict(X[test])
        assert answer["held_out_error"] == pytest.approx(np.mean((predicted - y[test]) ** 2))
        assert answer["held_out_r2"] == pytest.approx(peer.score(X[test], y[test]))
        assert answer["held_out_root"] == pytest.approx(answer["held_out_error"] ** 0.5)
        assert (answer["task"], answer["measure"]) == ("regression", "mean squared error")
        assert not {"classes", "criterion", "confusion"} & answer.keys()
        leaves = {each["prediction"]: each for each in answer["leaf_results"]}
        for value in np.unique(predicted):
            here = y[test][predicted == value]
            (found,) = (leaf for number, leaf in leaves.items() if abs(number - value) < 1e-6)
            assert found["rows"] == len(here)
            assert found["mean"] == pytest.approx(here.mean())

    def test_one_line_names_the_option_that_overrides(self, houses):
        options = ("--target", "price", "--size", 1, "--max-size", 1)
        told = run("fit", houses, *options)
        first = pl.read_csv(houses)["price"]
        first = first.filter(first != first.round())[0]
        assert said(told)[1:] == [LINE.format(first)]
        for asked in ("regression", "classification"):
            assert "regression" not in run("fit", houses, *options, "--task", asked).stderr

    def test_what_is_printed(self, houses):
        told = run("fit", houses, "--target", "price", "--max-size", 4, "--details").stdout
        assert re.search(
            r"┃ training mean squared error ┃ its root ┃ cross-validated mean sq", told
        )
        assert re.search(r"│ 0 +│ +│ \d{5} +│ 1\d\d\.\d +│ \d{5} ± \d+ ", told)
        assert re.search(
            r"\nsize 4, training mean squared error [\d.]+ \(root [\d.]+\), held-out mean squared "
            r"error [\d.]+ \(root [\d.]+\), held-out R\^2 0\.\d+\n", told
        )  # fmt: skip
        assert "value " in told
        assert "held-out rows by what is predicted:\nprediction  rows " in told
        assert "class" not in told

    @pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error"])
    def test_scorings_of_regressions_choose_the_size(self, houses, scoring):
        options = ("--target", "price", "--max-size", 4, "--scoring", scoring, "--drop", "n")
        answer = json.loads(run("fit", houses, *options, "--json").stdout)
        _, X, y, train, test = split_houses(houses, "n")
        choice = mt.select_size(mt.TopDownRegressor(4), X[train], y[train], scoring=scoring)
        assert answer["size"] == choice.size
        assert answer["cross_validated_scores"] == pytest.approx(choice.means)
        model = mt.TopDownRegressor(choice.size).fit(X[train], y[train])
        score = get_scorer(scoring)(model, X[test], y[test])
        assert answer["held_out_score"] == pytest.approx(score)
        assert f"held-out {scoring} {score:.6g}" in run("fit", houses, *options).stdout

    @pytest.mark.parametrize("command", ["fit", "data"])
    def test_scorings_of_classes_do_not_suit_numbers(self, houses, command):
        found = error(command, houses, "--target", "price", "--scoring", "balanced_accuracy")
        assert "scoring must suit the labels; balanced_accuracy says:" in found

    def test_the_last_rows_are_held_out(self, houses):
        frame = pl.read_csv(houses).with_row_index("day")
        frame.sample(fraction=1, shuffle=True, seed=1).write_csv(houses)
        options = ("--target", "price", "--after", "day", "--size", 2, "--json", "--drop", "n")
        answer = json.loads(run("fit", houses, *options).stdout)
        X, y = frame.drop("day", "n", "price"), frame["price"].to_numpy()
        model = mt.TopDownRegressor(2).fit(X[:240], y[:240])
        assert answer["train_errors"][:3] == pytest.approx(model.growth_.errors)
        assert answer["held_out_r2"] == pytest.approx(model.score(X[240:], y[240:]))
        chosen = run("fit", houses, *options[:4], "--max-size", 2)
        assert chosen.exit_code == 0, chosen.exception

    def test_few_whole_numbers_are_a_regression_on_demand(self, houses):
        options = ("--target", "rooms", "--size", 2, "--json")
        assert json.loads(run("fit", houses, *options).stdout)["task"] == "classification"
        answer = json.loads(run("fit", houses, *options, "--task", "regression").stdout)
        rooms = pl.read_csv(houses)["rooms"].to_numpy()
        train, _ = split_rows(rooms, 0.25, 0, stratify=False)
        assert answer["train_errors"][0] == pytest.approx(rooms[train].var())

    def test_numbers_as_names_of_classes(self, save):
        file = save("a.csv", "a,y\n" + "".join(f"{n % 9},{n % 2 + 0.5}\n" for n in range(60)))
        answer = json.loads(
            run(
                "fit", file, "--target", "y", "--task", "classification", "--size", 2, "--json"
            ).stdout
        )
        assert answer["classes"] == ["0.5", "1.5"]

    def test_gaps_in_the_target(self, save):
        file = save("a.csv", "a,y\n" + "".join(f"{n % 9},{n}.5\n{n},\n" for n in range(60)))
        told = said(run("fit", file, "--target", "y", "--size", 2))
        assert told[1].startswith("mictree: left out 60 rows without a label: y is missing")
        assert told[2].startswith("mictree: y holds numbers with a fraction, such as 0.5, so")
        assert len(told) == 3

    @pytest.mark.parametrize("rule", ["topdown", "bestfirst"])
    def test_weights_and_a_saved_model(self, houses, tmp_path, rule):
        model, picture = tmp_path / "model.json", tmp_path / "tree.svg"
        options = ("--target", "price", "--weights", "n", "--rule", rule, "--size", 3, "--json")
        answer = json.loads(run("fit", houses, *options, "--save", model, "--draw", picture).stdout)
        frame, X, y, train, test = split_houses(houses, "n")
        weights = frame["n"].to_numpy()
        kinds = {"topdown": mt.TopDownRegressor, "bestfirst": mt.BestFirstRegressor}
        own = kinds[rule](3).fit(X[train], y[train], weights[train])
        assert answer["train_errors"][:4] == pytest.approx(own.growth_.errors)
        guess = own.predict(X[test])
        error = np.average((guess - y[test]) ** 2, weights=weights[test])
        assert answer["held_out_error"] == pytest.approx(error)
        assert "n > " not in json.dumps(answer["tree"])
        predicted = run("predict", model, houses).stdout.split()
        assert predicted[0] == "prediction"
        assert np.array(predicted[1:], dtype=float) == pytest.approx(own.predict(X))
        assert "±" in picture.read_text()
        assert error_of_proba(model, houses) == (
            f"--proba must be given with a model of classes; {str(model)!r} predicts numbers"
        )

    def test_the_page(self, houses, tmp_path):
        page = tmp_path / "houses.html"
        options = ("--target", "price", "--size", 3, "--time-limit", 0, "--report", page)
        answer = json.loads(run("fit", houses, *options, "--json").stdout)
        html = page.read_text()
        assert re.search(
            r"Use 3 splits: expect a mean squared error of about [\d.]+ on new rows: predictions "
            r"are off by about [\d.]+, its root; R\^2 0\.\d+\.", html
        )  # fmt: skip
        assert (
            f"Held-out mean squared error {show_significant(answer['held_out_error'])} (ro" in html
        )
        assert "<h3>Held-out rows by what is predicted</h3>" in html
        assert html.count("data:image/svg+xml;base64,") == 3
        assert '<th scope="col">spread</th>' in html
        assert "share of a column in the drop of squared error" in html
        assert "<dt>task</dt><dd>regression</dd>" in html
        assert "<dt>measure on held-out rows</dt><dd>mean squared error</dd>" in html
        assert "<dt>criterion</dt>" not in html
        assert "class" not in re.sub(r'class="[^"]*"|<style>.*?</style>', "", html, flags=re.S)

    def test_a_useless_tree_says_so(self):
        X = [[0, 0], [0, 1], [1, 0], [1, 1]]
        model = mt.TopDownRegressor(1).fit(X, [0, 0.5, 0.5, 0])
        assert tree_warnings(model, None, advise_scoring=True) == [
            "no split lowers the mean squared error: the tree of 1 split predicts 0.25 everywhere, "
            "as a lone leaf does"
        ]
        assert tree_warnings(model.at_size(0), None, advise_scoring=True) == []
        helpful = mt.TopDownRegressor(1).fit(X, [0, 0.5e-8, 0.5e-8, 1e-8])
        assert tree_warnings(helpful, None, advise_scoring=True) == []

    def test_every_label_may_be_different(self, save):
        file = save("a.csv", "a,y\n" + "".join(f"{n * n % 17},{n}.5\n" for n in range(40)))
        told = run("fit", file, "--target", "y", "--max-size", 2)
        assert told.exit_code == 0, told.exception
        assert "warning" not in told.stderr

    def test_too_few_rows(self, save):
        file = save("a.csv", "a,y\n1,2.5\n2,3.5\n")
        assert error("fit", file, "--target", "y", "--held-out", 0.5).startswith(
            "folds can choose a size if there are 2 rows to grow on; there is 1 row to grow on, of "
        )
        file = save("a.csv", "a,y\n1,2.5\n2,3.5\n3,4\n4,4\n")
        assert error("fit", file, "--target", "y").startswith(
            "--cv must be at most the number of rows to grow on (3 rows to grow on, of 4 in all); g"
        )


def error_of_proba(model, file):
    return error("predict", model, file, "--proba")


@pytest.fixture
def patients(tmp_path):
    """Ill is rare and expensive to miss; asking is never right and never very wrong."""
    draw = np.random.default_rng(7)
    heat, age = draw.integers(360, 420, 400), draw.integers(1, 90, 400)
    ill = draw.random(400) < np.where(heat > 395, 0.7, 0.05)
    table = {"heat": heat, "age": age, "y": np.where(ill, "ill", "well")}
    file = tmp_path / "patients.csv"
    pl.DataFrame(table).write_csv(file)
    costs = tmp_path / "costs.csv"
    costs.write_text("true,well,ill,ask\nwell,0,4,1\nill,30,0,2\n")
    return file, costs


BILL = {("well", "well"): 0, ("well", "ill"): 4, ("well", "ask"): 1,
        ("ill", "well"): 30, ("ill", "ill"): 0, ("ill", "ask"): 2}  # fmt: skip


class TestOfCosts:
    def test_leaves_take_actions_and_errors_are_mean_costs(self, patients, tmp_path):
        file, costs = patients
        model = tmp_path / "model.json"
        options = ("--target", "y", "--costs", costs, "--size", 2, "--json", "--save", model)
        answer = json.loads(run("fit", file, *options).stdout)
        frame = pl.read_csv(file)
        y = frame["y"].to_numpy()
        train, test = split_rows(y, 0.25, 0)
        predicted = run("predict", model, file).stdout.split()[1:]
        bill = np.array([BILL[pair] for pair in zip(y, predicted, strict=True)], dtype=float)
        assert {"ask", "ill"} <= set(predicted)
        assert answer["held_out_error"] == pytest.approx(bill[test].mean())
        assert answer["train_errors"][2] == pytest.approx(bill[train].mean())
        assert answer["measure"] == "mean cost"
        assert answer["classes"] == ["ill", "well"]
        assert answer["actions"] == ["ill", "well", "ask"]
        taken = [[sum((y[test] == label) & (np.array(predicted)[test] == action))
                  for action in answer["actions"]] for label in answer["classes"]]  # fmt: skip
        found = {each["class"]: each for each in answer["class_results"]}
        assert found["ill"]["rows"] == (y[test] == "ill").sum()
        assert found["ill"]["mean_cost"] == pytest.approx(bill[test][y[test] == "ill"].mean())
        assert answer["actions_taken"] == taken

    def test_class_weights_multiply_costs(self, patients):
        file, costs = patients
        options = ("--target", "y", "--size", 2, "--json", "--costs", costs)
        answer = json.loads(run("fit", file, *options, "--class-weight", "ill=3").stdout)
        frame = pl.read_csv(file)
        X, y = frame.drop("y"), frame["y"].to_numpy()
        train, test = split_rows(y, 0.25, 0)
        matrix = {"well": {"well": 0, "ill": 4, "ask": 1}, "ill": {"well": 30, "ill": 0, "ask": 2}}
        model = mt.TopDownClassifier(2, cost_matrix=matrix, class_weight={"ill": 3.0})
        model.fit(X[train], y[train])
        assert answer["train_errors"][:3] == pytest.approx(model.growth_.errors)
        bill = [BILL[pair] for pair in zip(y[test], model.predict(X[test]), strict=True)]
        weights = np.where(y[test] == "ill", 3, 1)
        assert answer["held_out_error"] == pytest.approx(np.average(bill, weights=weights))
        told = run("fit", file, *options[:4], "--costs", costs, "--class-weight", "ill=3").stdout
        assert "\ncosts are weighted by class\n" in told

    def test_what_is_printed_and_the_page(self, patients, tmp_path):
        file, costs = patients
        page = tmp_path / "patients.html"
        options = ("--target", "y", "--costs", costs, "--size", 2, "--details", "--time-limit", 0)
        told = run("fit", file, *options, "--report", page)
        assert told.exit_code == 0, told.exception
        assert "┃ training mean cost ┃" in told.stdout
        assert re.search(
            r"\nsize 2, training mean cost [\d.]+, held-out mean cost [\d.]+\n", told.stdout
        )
        assert re.search(
            r"held-out rows by class:\nclass +rows +mean cost +ill +well +ask\n", told.stdout
        )
        assert "never predicts" not in told.stdout
        html = page.read_text()
        assert re.search(r"Use 2 splits: expect a mean cost of about [\d.]+ on new rows\.", html)
        assert "<dt>measure on held-out rows</dt><dd>mean cost</dd>" in html
        assert f"<dt>costs</dt><dd>{costs}</dd>" in html
        assert "and the mean cost of the cheapest action." in html
        assert ", 2 classes, 3 actions<" in html

    def test_a_class_that_only_held_out_rows_have(self, save):
        labels = ["a"] * 18 + ["b"] + ["c"] * 21
        assert 18 in split_rows(np.array(labels), 0.25, 0)[1]
        file = save("a.csv", "x,y\n" + "".join(f"{n % 7},{y}\n" for n, y in enumerate(labels)))
        costs = save("costs.csv", ",a,b,c\na,0,1,1\nb,50,0,50\nc,1,1,0\n")
        options = ("--target", "y", "--costs", costs, "--size", 1, "--json")
        answer = json.loads(run("fit", file, *options).stdout)
        assert answer["held_out_error"] >= 50 / 10
        assert answer["class_results"][1] == {"class": "b", "rows": 1, "mean_cost": 50.0}

    def test_classes_that_are_numbers_beside_an_action_that_is_none(self, patients, save, tmp_path):
        frame = pl.read_csv(patients[0])
        file, model = tmp_path / "a.csv", tmp_path / "model.json"
        frame.with_columns(y=(pl.col("y") == "ill").cast(int)).write_csv(file)
        frame.write_parquet(tmp_path / "a.parquet")
        costs = save("costs.csv", "true,0,1,ask\n0,0,4,1\n1,30,0,2\n")
        out, page = tmp_path / "out.parquet", tmp_path / "a.html"
        done = run("fit", file, "--target", "y", "--costs", costs, "--size", 2, "--save", model,
                   "--details", "--report", page, "--time-limit", 0)  # fmt: skip
        assert done.exit_code == 0, done.exception
        assert "label ask" in done.stdout
        predicted = run("predict", model, file).stdout.split()[1:]
        assert set(predicted) >= {"1", "ask"}
        pattern = f"{tmp_path}/*.parquet"
        assert run("predict", model, pattern, "--out", out).exit_code == 0
        assert pl.read_parquet(out)["prediction"].to_list() == predicted
        saved = mt.load(model)
        assert "THEN '1'" in saved.to_rules().to_sql() or "ELSE '1'" in saved.to_rules().to_sql()
        assert saved.to_rules().frame["label"].dtype == pl.String

    def test_equal_costs_are_errors(self, patients, save):
        file, _ = patients
        costs = save("equal.csv", ",ill,well\nill,0,1\nwell,1,0\n")
        options = ("--target", "y", "--max-size", 5, "--size", 5, "--json")
        plain = json.loads(run("fit", file, *options).stdout)
        costly = json.loads(run("fit", file, *options, "--costs", costs).stdout)
        assert costly["train_errors"] == pytest.approx(plain["train_errors"])
        assert costly["tree"] == plain["tree"]
        assert costly["held_out_error"] == pytest.approx(plain["held_out_error"])

    def test_a_tree_that_always_does_the_same(self, save):
        file = save("a.csv", "x,y\n" + "0,ill\n1,well\n" * 30)
        costs = save("costs.csv", ",ill,well,ask\nill,9,9,0\nwell,9,9,0\n")
        told = run("fit", file, "--target", "y", "--costs", costs, "--size", 1, "--keep", "x",
                   "--criterion", "minority")  # fmt: skip
        assert told.exit_code == 0, told.exception
        assert "warning" not in told.stdout


@pytest.fixture
def small(tmp_path):
    """Few different values, so that optimal trees are proved at once; greedy growth is fooled."""
    draw = np.random.default_rng(1)
    a, b = draw.integers(0, 2, (2, 240))
    c, n = draw.integers(0, 4, 240), draw.integers(1, 4, 240)
    tempting = np.where(draw.random(240) < 0.7, a ^ b, 1 - (a ^ b))
    price = 10.5 * (a ^ b) + draw.integers(0, 7, 240) / 2
    label = np.where(a ^ b, "ill", "well")
    table = {"a": a, "b": b, "c": c, "tempting": tempting, "visit": np.arange(240) // 4, "n": n,
             "label": label, "price": price}  # fmt: skip
    file = tmp_path / "small.csv"
    pl.DataFrame(table).write_csv(file)
    return file


class TestOfOptimalTrees:
    OPTIONS = ("--target", "price", "--drop", "label", "--drop", "visit")

    def test_of_numbers_are_proved(self, small, tmp_path):
        options = (*self.OPTIONS, "--weights", "n", "--rule", "optimal", "--max-size", 3)
        model = tmp_path / "model.json"
        answer = json.loads(run("fit", small, *options, "--json", "--save", model).stdout)
        frame = pl.read_csv(small)
        X, y = frame.drop("price", "label", "visit", "n"), frame["price"].to_numpy()
        weights, (train, test) = frame["n"].to_numpy(), split_rows(y, 0.25, 0, stratify=False)
        best = mt.OptimalTreeRegressor(3).fit(X[train], y[train], weights[train])
        assert answer["train_errors"] == pytest.approx(best.frontier_.tolist())
        assert answer["proved"] == [True] * 4
        assert answer["rule"] == "optimal"
        assert answer["size"] == 3
        predicted = np.array(run("predict", model, small).stdout.split()[1:], dtype=float)
        left = (predicted - y) ** 2
        assert np.average(left[train], weights=weights[train]) == pytest.approx(
            answer["train_errors"][3]
        )
        assert answer["held_out_error"] == pytest.approx(
            np.average(left[test], weights=weights[test])
        )
        told = run("fit", small, *options).stdout
        assert re.search(r"\(root [\d.]+\), proved to be the least, held-out mean squared", told)
        assert "split on" not in told

    def test_of_costs_are_proved(self, small, save):
        costs = save("costs.csv", ",ill,well,ask\nill,0,9,1.5\nwell,4,0,1\n")
        options = ("--target", "label", "--drop", "price", "--drop", "visit", "--drop", "n")
        options = (*options, "--costs", costs, "--rule", "optimal", "--size", 3, "--json")
        answer = json.loads(run("fit", small, *options).stdout)
        assert answer["proved"] == [True] * 4
        assert answer["train_errors"][3] == pytest.approx(0)
        labels = pl.read_csv(small)["label"].to_numpy()
        grown = labels[split_rows(labels, 0.25, 0)[0]]
        ask = np.where(grown == "ill", 1.5, 1).mean()
        assert answer["train_errors"][0] == pytest.approx(ask)

    def test_the_page_has_the_command_that_writes_the_better_tree(self, small, tmp_path):
        page = tmp_path / "small.html"
        options = (*self.OPTIONS, "--size", 3, "--report", page)
        assert run("fit", small, *options).exit_code == 0
        html = page.read_text()
        assert "<h2>Optimal tree of at most 3 splits</h2>" in html
        assert re.search(
            r"The optimal tree of this size has a mean squared error of [\d.]+ \(root [\d.]+\) on "
            r"training rows, topdown&#39;s tree [\d.]+ \(root [\d.]+\); on held-out rows it ", html
        )  # fmt: skip
        assert "--rule optimal --size 3 " in html


class TestOfData:
    OPTIONS = ("--max-size", 3, "--cv", 3, "--repeats", 1)

    def test_numbers(self, small, tmp_path):
        page, picture, model = (tmp_path / name for name in ("a.html", "a.svg", "a.json"))
        options = ("--target", "price", "--drop", "label", "--groups", "visit", "--weights", "n")
        done = run("data", small, *options, *self.OPTIONS, "--json", "--report", page, "--plot",
                   picture, "--save", model, "--size", 3, "--learner", "topdown", "--learner",
                   "sklearn")  # fmt: skip
        assert done.exit_code == 0, done.exception
        answer = json.loads(done.stdout)
        assert (answer["task"], answer["measure"]) == ("regression", "mean squared error")
        assert answer["proved"] == [True] * 4
        assert not {"classes", "confusion"} & answer.keys()
        frame = pl.read_csv(small)
        X, y = frame.drop("price", "label", "visit", "n"), frame["price"].to_numpy()
        best = mt.OptimalTreeRegressor(3).fit(X, y, frame["n"].to_numpy())
        found = [row["training_error"] for row in answer["results"] if row["learner"] == "optimal"]
        assert found == pytest.approx(best.frontier_.tolist())
        ahead = {
            row["learner"]: row["excess_most"] for row in answer["results"] if row["size"] == 2
        }
        assert ahead["topdown"] == pytest.approx(ahead["sklearn"])
        assert ahead["topdown"] > 0
        assert "so this is a regression; --task classification" in done.stderr
        predicted = np.array(run("predict", model, small).stdout.split()[1:], dtype=float)
        assert predicted == pytest.approx(best.predict(X))
        html = page.read_text()
        assert "Mean squared errors against size, the number of splits." in html
        assert "its training mean squared error minus the optimal one" in html
        assert "Weighted training mean squared error" in html
        assert "<dt>task</dt><dd>regression</dd>" in html
        assert "weights of classes" not in html

    def test_costs(self, small, save, tmp_path):
        costs, page = (
            save("costs.csv", ",ill,well,ask\nill,0,9,1.5\nwell,4,0,1\n"),
            tmp_path / "a.html",
        )
        options = ("--target", "label", "--drop", "price", "--drop", "visit", "--drop", "n")
        options = (*options, *self.OPTIONS, "--costs", costs, "--size", 1)
        done = run("data", small, *options, "--details", "--report", page)
        assert done.exit_code == 0, done.exception
        assert "2 classes, mean costs; held-out mean cost by 3-fold" in done.stdout
        assert re.search(
            r"its held-out rows by class:\nclass +rows +mean cost +ill +well +ask\n", done.stdout
        )
        assert "never predicts" not in done.stdout
        answer = json.loads(run("data", small, *options, "--json").stdout)
        assert answer["measure"] == "mean cost"
        assert answer["actions"] == ["ill", "well", "ask"]
        table = np.array(answer["actions_taken"])
        assert table.sum() == 240
        (row,) = [
            row for row in answer["results"] if (row["learner"], row["size"]) == ("optimal", 1)
        ]
        bill = (table * [[0, 9, 1.5], [4, 0, 1]]).sum() / 240
        assert row["held_out_error"] == pytest.approx(bill)
        html = page.read_text()
        assert '<th scope="col">ask</th>' in html
        assert f"<dt>costs</dt><dd>{costs}</dd>" in html

    def test_details_are_those_of_classes(self, small):
        found = error("data", small, "--target", "price", "--task", "regression", "--details")
        assert found.startswith("--details must not be given with --task regression: it has no")


def test_explore_takes_classes_only(save, tmp_path):
    file = save("a.csv", "a,y\n" + "".join(f"{n % 5},{n % 40}\n" for n in range(120)))
    told = run("explore", "--data", file, "--target", "y", "--out", tmp_path / "x.html")
    assert (
        "warning: the target y has 40 different numbers, each of which is a class; " in told.stderr
    )
    file = save("b.csv", "a,y\n" + "1,0.5\n2,0.75\n" * 9)
    assert error("explore", "--data", file, "--target", "y") == (
        "labels must be classes; y holds measured numbers such as 0.5"
    )


@pytest.mark.parametrize("asked", [None, "classification"])
def test_few_whole_numbers_beyond_integers_are_classes(asked):
    found = decide_task(pl.Series("y", [0.0, 1e19, 1e300]), asked)
    assert found.task == "classification"
    assert found.labels.to_list() == ["0.0", "1e+19", "1e+300"]
