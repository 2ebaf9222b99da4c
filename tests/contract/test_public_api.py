"""What a user types, as section 4 of DESIGN.md has it."""

import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import mictree as mt

FORMULA = "x1 & x2 | y1 & y2 & y3"
RULES = [mt.TopDown, mt.BestFirst, mt.ID3, mt.Lookahead]


@pytest.fixture(scope="module")
def problem():
    return mt.FormulaProblem(FORMULA, bias=0.5)


@pytest.mark.parametrize("name", mt.__all__)
def test_public_names_exist(name):
    assert getattr(mt, name) is not None


def test_star_import_gives_the_public_names():
    names: dict = {}
    exec("from mictree import *", names)
    assert {*mt.__all__} <= {*names}


def test_bias_is_a_scalar_a_sequence_or_a_mapping():
    scalar = mt.FormulaProblem(FORMULA, bias=0.5)
    for bias in ([0.5] * 5, (0.5,) * 5, np.full(5, 0.5), dict.fromkeys(scalar.variables, 0.5)):
        assert mt.FormulaProblem(FORMULA, bias=bias).biases == scalar.biases
    assert mt.FormulaProblem(FORMULA).biases == scalar.biases
    parsed = mt.ReadOnceDNF.parse(FORMULA)
    assert mt.FormulaProblem(parsed, bias=Fraction(1, 2)).biases == scalar.biases


def test_extra_names_are_irrelevant_variables():
    problem = mt.FormulaProblem("a & b", bias={"a": 0.2, "b": 0.3, "noise": 0.4})
    assert problem.variables == ("a", "b", "noise")
    assert mt.optimal_tree(problem, 5).size == 2


def test_table_problem():
    problem = mt.TableProblem([0, 1, 1, 0], probabilities=None)
    assert mt.optimal_errors(problem, 3).tolist() == [0.5, 0.5, 0.25, 0.0]
    weighted = mt.TableProblem(np.array([0, 1, 1, 0]), probabilities=[0.1, 0.2, 0.3, 0.4])
    assert weighted.positive_rate({}, exact=True) == Fraction(1, 2)
    named = mt.TableProblem([0, 1], variables=["rain"])
    assert named.variables == ("rain",)


@pytest.mark.parametrize("rule", RULES)
def test_growers(rule, problem):
    growth = rule(criterion="entropy", ties="last", seed=None).grow(problem, max_size=100)
    assert isinstance(growth, mt.Growth)
    assert isinstance(growth.errors, np.ndarray)
    assert growth.errors.shape == (101,)
    assert growth.errors.dtype == float
    for size in (0, 5, 100):
        tree = growth.tree(size)
        assert isinstance(tree, mt.Tree)
        assert tree.error(problem) == growth.errors[size]
    assert all(isinstance(step, mt.GrowthStep) for step in growth.steps)


@pytest.mark.parametrize("criterion", ["entropy", "gini", "root", "minority"])
@pytest.mark.parametrize("ties", ["last", "first", "random", "heaviest", "lightest"])
def test_every_criterion_and_ties(criterion, ties, problem):
    for rule in RULES:
        grower = rule(criterion=criterion, ties=ties, seed=7)
        assert grower.grow(problem, max_size=50).errors[-1] == 0
        assert grower == rule(ties=ties, seed=7, criterion=criterion)
        assert hash(grower) == hash(rule(ties=ties, seed=7, criterion=criterion))
        depth = "depth=2, " if rule is mt.Lookahead else ""
        settings = f"{depth}criterion={criterion!r}, ties={ties!r}, seed=7"
        assert repr(grower) == f"{rule.__name__}({settings})"


def test_growers_default_to_entropy_and_the_papers_ties():
    assert mt.TopDown() == mt.TopDown(criterion="entropy", ties="last", seed=None)
    assert mt.TopDown() != mt.BestFirst()


def test_optimal_errors_and_tree(problem):
    errors = mt.optimal_errors(problem, 8)
    assert isinstance(errors, np.ndarray)
    assert errors.shape == (9,)
    assert errors.dtype == float
    exact = mt.optimal_errors(problem, max_size=8, exact=True)
    assert all(isinstance(error, Fraction) for error in exact)
    for size in range(9):
        tree = mt.optimal_tree(problem, size)
        assert isinstance(tree, mt.Tree)
        assert tree.error(problem, exact=True) == exact[size]


def test_no_optimal_tree_beyond_the_largest_size(problem):
    with pytest.raises(ValueError, match="size must be at most max_size=3; got 4"):
        mt.optimal_trees(problem, 3).tree(4)


def test_optimal_trees_solve_once_and_tell_their_progress(problem):
    told: list[float] = []
    solved = mt.optimal_trees(problem, 8, progress=lambda progress: told.append(progress.share))
    assert isinstance(solved, mt.OptimalTrees)
    assert told == sorted(told)
    assert 0 <= told[0] <= told[-1] <= 1
    assert solved.errors.tolist() == mt.optimal_errors(problem, 8).tolist()
    with pytest.raises(ValueError, match="at most max_size=8; got 9"):
        solved.tree(9)


@pytest.mark.parametrize("max_size", [0, 10**6])
def test_the_smallest_and_a_huge_size(problem, max_size):
    optimal = mt.optimal_errors(problem, max_size)
    growth = mt.TopDown().grow(problem, max_size)
    assert len(optimal) == len(growth.errors) == max_size + 1
    assert optimal[0] == growth.errors[0] == 0.34375
    assert optimal[-1] == growth.errors[-1] == (0 if max_size else 0.34375)
    assert mt.optimal_tree(problem, max_size).size == growth.tree(max_size).size
    assert growth.tree(max_size).size == min(max_size, 8)


@pytest.mark.parametrize("max_size", [0, 10**6])
def test_the_smallest_and_a_huge_size_on_a_table(max_size):
    problem = mt.TableProblem([0, 1, 1, 0])
    optimal = mt.optimal_errors(problem, max_size)
    assert len(optimal) == max_size + 1
    assert optimal[-1] == (0 if max_size else 0.5)
    assert mt.optimal_tree(problem, max_size).size == min(max_size, 3)


def test_a_problem_of_ones_own_grows_but_has_no_optimum():
    class Mine(mt.TableProblem):
        pass

    assert mt.TopDown().grow(Mine([0, 1]), 1).errors[1] == 0
    with pytest.raises(TypeError, match="FormulaProblem"):
        mt.optimal_errors(object(), 1)


def test_importing_the_package_is_silent_and_light():
    command = "import sys, mictree; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    assert loaded.stderr == ""
    assert "matplotlib" not in loaded.stdout.split()


def test_dir_has_the_public_names_and_nothing_private():
    command = "import mictree; mictree.mic; print(*dir(mictree))"
    listed = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True).stdout
    names = [name for name in listed.split() if not name.startswith("__")]
    assert names == sorted(name for name in mt.__all__ if name != "__version__")


@pytest.mark.parametrize("room", ["distributions", "families", "impurity"])
def test_dir_of_a_room_has_its_public_names(room):
    module = getattr(mt, room)
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


def test_help_of_a_rule_lists_its_parameters():
    class Mine(mt.Grower):
        """Says little."""

        def priority(self, reach, gain, born):
            return gain

    for rule in (mt.TopDown, mt.BestFirst, mt.ID3, Mine):
        assert re.search(r"Parameters\n +-+\n +criterion : .*\n +seed : ", rule.__doc__, re.DOTALL)


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (
            lambda: mt.mic(mt.TopDown, mt.FormulaProblem("a")),
            r"got the class TopDown: write Top.*\(\)",
        ),
        (
            lambda: mt.sweep(mt.families.grid(2, 2), 3, [mt.ID3]),
            r"got the class ID3: write ID3\(\)",
        ),
        (lambda: mt.mic(mt.TopDown(), "a & b"), r"got str: write FormulaProblem\('a & b'\)"),
        (lambda: mt.TopDown().grow("a & b", 3), r"got str: write FormulaProblem\('a & b'\)"),
        (lambda: mt.optimal_tree(None, 3), "a problem must be a .*; got NoneType"),
        (
            lambda: type("Short", (mt.Grower,), {"priority": lambda self, reach: reach}),
            r"priority must take self, reach, gain and born; Short.priority takes \(self, reach\)",
        ),
    ],
)
def test_slips_are_named(call, rule):
    with pytest.raises(TypeError, match=rule):
        call()


def test_a_worst_case_is_one_line():
    case = mt.sweep.worst(mt.families.grid(3, 3), "bestfirst", max_size=8, count=1)[0]
    assert re.match(r"<WorstCase \d(\+\d)*: MIC\(8\) = 0\.\d+ by BestFirst", repr(case))
    assert len(repr(case)) < 100


def test_one_row_is_no_rows():
    shown = repr(mt.SampleProblem([[0]], [1]))
    assert shown == "SampleProblem(1 row, 0 literals, classes=(0, 1))"
