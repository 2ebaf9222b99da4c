"""--task and --costs of fit and data: what the target is, what a mistake costs, what is refused."""

import sys
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from mictree.cli import app, main
from mictree.cli.tasks import CLASSIFICATION, REGRESSION, TaskRequest, decide_task, read_costs

COSTS = "true,no,yes,ask\nno,0,1,0.5\nyes,10,0,2\n"


def run(command, *arguments):
    return CliRunner().invoke(app, [command, *map(str, arguments)])


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
