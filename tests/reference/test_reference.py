"""The reference modules agree with each other and with values worked out by hand."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from random import Random

import pytest

from tests.reference import (
    PRIORITIES,
    Table,
    all_trees,
    any_bias_optimal,
    branch_probability,
    entropy,
    formula_table,
    gini,
    grow,
    label_leaves,
    learner,
    least_errors,
    majority_label,
    minority,
    paper_best_first,
    paper_topdown,
    positive_rate,
    reach,
    root,
    staircase_tree,
    tree_depth,
    tree_error,
    tree_impurity,
    tree_size,
    two_bias_optimal,
    uniform_optimal,
)
from tests.reference.enumerate_samples import sample_least_errors
from tests.reference.literals import literals
from tests.reference.loops import id3, splits
from tests.reference.task_samples import (
    Actions,
    Matrix,
    Squares,
    enumerated,
    mean_cost,
    zero_one,
)
from tests.reference.task_samples import grow as task_growth
from tests.reference.task_samples import least_errors as least_task_errors
from tests.reference.task_samples import tree_error as task_error

HALF = Fraction(1, 2)
TIES = ("last", "first", "heaviest", "lightest")
SHORT, LONG = ("x1", "x2"), ("y1", "y2", "y3")


def conjunction(names):
    return tuple((name, True) for name in names)


def two_term_table(short_names, long_names):
    names = short_names + long_names
    formula = (conjunction(short_names), conjunction(long_names))
    return formula_table(formula, dict.fromkeys(names, HALF), names)


def random_table(seed):
    """Any labels, any joint distribution, some rows of weight zero."""
    random = Random(seed)
    counts = [random.randrange(5) for _ in range(16)]
    weights = tuple(Fraction(count, sum(counts)) for count in counts)
    labels = tuple(random.randrange(2) for _ in range(16))
    return Table(("a", "b", "c", "d"), labels, weights)


def errors(table, trees):
    return [tree_error(table, tree) for tree in trees]


@pytest.fixture(scope="module")
def paper_table():
    """x1 & x2 | y1 & y2 & y3 under the uniform distribution."""
    return two_term_table(SHORT, LONG)


def test_bit_i_of_the_row_is_variable_i():
    biases = {"a": Fraction(1, 3), "b": Fraction(1, 5)}
    table = formula_table(((("a", True), ("b", False)),), biases, ("a", "b"))
    assert table.labels == (0, 1, 0, 0)
    assert table.weights == tuple(Fraction(n, 15) for n in (8, 4, 2, 1))
    assert reach(table, {"b": 0}) == Fraction(4, 5)
    assert positive_rate(table, {"b": 0}) == Fraction(1, 3)
    assert branch_probability(table, {"b": 1}, "a") == Fraction(1, 3)
    tree = ("b", ("a", 0, 1), 0)
    assert (tree_error(table, tree), tree_size(tree), tree_depth(tree)) == (0, 2, 2)


def test_a_rate_of_one_half_is_labelled_1():
    table = formula_table((conjunction("a"),), {"a": HALF}, ("a",))
    assert majority_label(table, {}) == 1


def test_impurities_by_hand():
    with localcontext(Context(prec=60)):
        three_quarters_log_three = Decimal(3) / 4 * Decimal(3).ln() / Decimal(2).ln()
        assert abs(entropy(Fraction(1, 4)) - (2 - three_quarters_log_three)) < Decimal("1e-55")
    assert gini(Fraction(1, 4)) == Decimal("0.375")
    assert root(Fraction(1, 5)) == Decimal("0.8")
    assert minority(Fraction(3, 4)) == Decimal("0.25")
    for impurity in (entropy, gini, root, minority):
        assert impurity(Fraction(0)) == impurity(Fraction(1)) == 0


def test_tree_impurity_with_minority_is_the_error():
    table = random_table(3)
    for structure in all_trees(table.names, 2):
        tree = label_leaves(table, structure)
        impurity = tree_impurity(table, tree, "minority")
        assert abs(Fraction(impurity) - tree_error(table, tree)) < Fraction(1, 10**50)


def test_number_of_trees():
    # N(t, n) = n * sum over j of N(j, n - 1) N(t - 1 - j, n - 1)
    names = ("a", "b", "c", "d", "e")
    counts = []
    for size in range(5):
        trees = list(all_trees(names, size))
        assert len(set(trees)) == len(trees)
        counts.append(len(trees))
    assert counts == [1, 5, 40, 320, 2280]


def test_least_errors_is_the_least_tree_error():
    table = random_table(0)
    least = least_errors(table, 3)
    best = 1
    for size in range(4):
        trees = [label_leaves(table, structure) for structure in all_trees(table.names, size)]
        best = min([best, *errors(table, trees)])
        assert least[size] == best


def test_paper_example_errors_by_hand(paper_table):
    thirty_seconds = [11, 9, 3, 3, 3, 1, 1, 1, 0, 0, 0]
    expected = [Fraction(n, 32) for n in thirty_seconds]
    assert least_errors(paper_table, 5) == expected[:6]
    assert [uniform_optimal((2, 3), size) for size in range(11)] == expected
    for ties in TIES:
        assert (
            errors(paper_table, grow(paper_table, PRIORITIES["topdown"], 10, ties=ties)) == expected
        )


def test_paper_example_trees_at_size_5(paper_table):
    # >= takes the last of the tied variables, so the names of a term come in reverse order.
    y_path = ("y3", 0, ("y2", 0, ("y1", 0, 1)))
    assert paper_topdown(paper_table, 5) == ("x2", y_path, ("x1", 0, 1))
    assert paper_best_first(paper_table, 5) == ("x2", 0, ("x1", y_path, 1))
    # y1 & y2 & y3 goes unseen below x2 = 0
    assert tree_error(paper_table, paper_best_first(paper_table, 5)) == Fraction(1, 16)


def test_best_first_depends_on_ties(paper_table):
    at_five = {
        ties: tree_error(paper_table, grow(paper_table, PRIORITIES["bestfirst"], 5, ties=ties)[5])
        for ties in TIES
    }
    good, bad = Fraction(1, 32), Fraction(1, 16)
    assert at_five == {"last": bad, "lightest": bad, "first": good, "heaviest": good}


def test_id3_goes_depth_first(paper_table):
    trees = grow(paper_table, PRIORITIES["id3"], 5, ties="first")
    assert trees[3] == ("x1", ("y1", 0, ("y2", 0, 1)), 1)
    assert trees[5] == ("x1", ("y1", 0, ("y2", 0, ("y3", 0, 1))), ("x2", 0, 1))


@pytest.mark.parametrize(("short", "long"), [(1, 1), (1, 3), (2, 2), (2, 3), (2, 4), (3, 3)])
def test_topdown_grows_the_staircase(short, long):
    xs = tuple(f"x{i}" for i in range(short))
    ys = tuple(f"y{i}" for i in range(long))
    table = two_term_table(xs, ys)
    max_size = short + short * long + 2
    staircase = [staircase_tree(xs, ys, size) for size in range(max_size + 1)]
    assert grow(table, PRIORITIES["topdown"], max_size, ties="first") == staircase
    assert [tree_size(tree) for tree in staircase[-4:]] == [max_size - 3] + [max_size - 2] * 3


@pytest.mark.parametrize(("short", "long"), list(combinations_with_replacement((1, 2, 3, 4), 2)))
def test_staircase_is_optimal(short, long):
    xs = tuple(f"x{i}" for i in range(short))
    ys = tuple(f"y{i}" for i in range(long))
    table = two_term_table(xs, ys)
    for size in range(short + short * long + 2):
        error = tree_error(table, staircase_tree(xs, ys, size))
        assert error == uniform_optimal((short, long), size)


@pytest.mark.parametrize("rule", PRIORITIES)
def test_every_rule_is_optimal_for_conjunctions(rule):
    biases = dict(zip("abcd", (Fraction(n, 10) for n in (7, 2, 5, 9)), strict=True))
    table = formula_table((conjunction("abd"),), biases, tuple("abcd"))
    least = least_errors(table, 3)
    trees = grow(table, PRIORITIES[rule], 3)
    assert errors(table, trees) == least
    assert trees[3] == ("b", 0, ("a", 0, ("d", 0, 1)))  # ascending bias
    assert least[3] == 0


@pytest.mark.parametrize("term_sizes", [(4,), (1, 3), (2, 2), (1, 1, 2), (1, 1, 1, 1)])
def test_uniform_recurrence_against_enumeration(term_sizes):
    names = tuple("abcd")
    letters = iter(names)
    formula = tuple(conjunction([next(letters) for _ in range(size)]) for size in term_sizes)
    names = (*names, "irrelevant")
    table = formula_table(formula, dict.fromkeys(names, HALF), names)
    assert [uniform_optimal(term_sizes, size) for size in range(5)] == least_errors(table, 4)


def test_two_bias_recurrence_against_enumeration():
    bias1, bias2 = Fraction(3, 10), Fraction(7, 10)
    formula = (conjunction("ab"), conjunction("cde"))
    biases = dict(zip("abcde", (bias1, bias2, bias1, bias1, bias2), strict=True))
    table = formula_table(formula, biases, tuple("abcde"))
    terms = ((1, 1), (2, 1))
    computed = [two_bias_optimal(terms, bias1, bias2, size) for size in range(6)]
    assert computed == least_errors(table, 5)
    probabilities = ((bias1, bias2), (bias1, bias1, bias2))
    assert computed == [any_bias_optimal(probabilities, size) for size in range(6)]


def test_any_bias_recurrence_against_enumeration():
    biases = dict(zip("abcde", (Fraction(1, n) for n in (2, 3, 4, 5, 6)), strict=True))
    formula = ((("a", True), ("b", False)), (("c", False),), (("d", True), ("e", False)))
    table = formula_table(formula, biases, tuple("abcde"))
    terms = (
        (Fraction(1, 2), Fraction(2, 3)),
        (Fraction(3, 4),),
        (Fraction(1, 5), Fraction(5, 6)),
    )
    assert [any_bias_optimal(terms, size) for size in range(6)] == least_errors(table, 5)


def test_the_recurrences_agree_where_they_overlap():
    for size in range(15):
        uniform = uniform_optimal((2, 3, 3), size)
        assert uniform == two_bias_optimal(((1, 1), (0, 3), (2, 1)), HALF, HALF, size)
        assert uniform == any_bias_optimal(((HALF,) * 2, (HALF,) * 3, (HALF,) * 3), size)


@pytest.mark.parametrize("seed", range(4))
def test_the_loops_agree_on_any_table(seed):
    table = random_table(seed)
    for size in (1, 4, 9):
        assert paper_topdown(table, size) == grow(table, PRIORITIES["topdown"], size)[size]
        assert paper_best_first(table, size) == grow(table, PRIORITIES["bestfirst"], size)[size]
    for ties in TIES:
        expected = list(id3(table, (), "entropy", ties))
        assert list(splits(table, PRIORITIES["id3"], "entropy", ties)) == expected


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rule", PRIORITIES)
@pytest.mark.parametrize("criterion", ["entropy", "gini", "root", "minority"])
def test_greedy_trees_are_trees_of_their_size_and_never_beat_the_least_error(seed, rule, criterion):
    table = random_table(seed)
    least = least_errors(table, 4)
    trees = grow(table, PRIORITIES[rule], 16, criterion, "heaviest")
    greedy = errors(table, trees)
    assert all(low <= error for low, error in zip(least, greedy, strict=False))
    assert all(later <= earlier for earlier, later in pairwise(greedy))
    assert all(tree_size(tree) <= size for size, tree in enumerate(trees))
    assert trees[-1] == trees[-2]  # fifteen splits make every leaf a row
    assert greedy[-1] == 0


@pytest.mark.parametrize("rule", PRIORITIES)
def test_xor_is_split_at_zero_gain(rule):
    quarters = (Fraction(1, 4),) * 4
    table = Table(("a", "b"), (0, 1, 1, 0), quarters)
    trees = grow(table, PRIORITIES[rule], 4)
    assert errors(table, trees) == [HALF, HALF, Fraction(1, 4), 0, 0]
    assert trees[3] == ("b", ("a", 0, 1), ("a", 1, 0))


def test_a_constant_variable_and_a_pure_leaf_are_never_split():
    weights = tuple(Fraction(n, 2) for n in (1, 1, 0, 0))  # b is always 0
    table = Table(("a", "b"), (0, 1, 1, 1), weights)
    for rule in PRIORITIES:
        assert grow(table, PRIORITIES[rule], 3) == [1, ("a", 0, 1), ("a", 0, 1), ("a", 0, 1)]


CELLS = {
    "bit": (0, 1),
    "number": (0, 1, 2, 4),
    "gaps": (None, 0, 1, 3),
    "word": (None, "u", "v", "w"),
}


def random_rows(random, count, kinds):
    """Rows of mixed columns; many are equal."""
    return [[random.choice(CELLS[kind]) for kind in kinds] for _ in range(count)]


def random_tasks(random, count):
    """One of each kind, with the weights of all."""
    weights = [random.choice((1, 2, 0.5)) for _ in range(count)]
    labels = [random.randrange(3) for _ in range(count)]
    matrix = [[0, 1, 5], [2.5, 0.5, 1], [1, 3, 0]]
    costs = [[random.choice((-1, 0, 0.3, 2)) for _ in range(3)] for _ in range(count)]
    numbers = [random.choice((-1, 0, 0.1, 3)) for _ in range(count)]
    return [
        Matrix.of(labels, matrix, weights),
        Actions(costs, weights),
        Squares(numbers, weights),
    ]


def test_costs_of_leaves_by_hand():
    matrix = Matrix.of([0, 1, 1], [[0, 1], [10, 0.5]], [4, 1, 1])
    assert matrix.by_action((0, 1, 2)) == [20, 5]
    assert matrix.altered((0, 1, 2)) == [4, 19]
    assert (matrix.label((0,)), matrix.cost((0, 1))) == (0, Fraction(9, 2))
    assert (matrix.is_pure((1, 2)), matrix.is_pure((0, 1))) == (True, False)
    actions = Actions([[1, 0.1], [-1, 0.2]], [1, 0.5])
    assert actions.by_action((0, 1)) == [HALF, Fraction(1, 5)]
    assert (actions.cost((0, 1)), actions.is_pure((0, 1))) == (Fraction(1, 5), False)
    squares = Squares([1, 2, 0.5], [1, 2, 4])
    assert (squares.label((0, 1)), squares.cost((0, 1))) == (Fraction(5, 3), Fraction(2, 3))
    assert squares.gain((0,), (1,), "squared") == Fraction(2, 9)
    assert mean_cost(squares, [0, 0, 0]) == Fraction(10, 7)
    tree = ("b", 0, ("a", 1, 2))
    assert task_error(tree, {"a": [0, 1, 0], "b": [1, 1, 0]}, squares) == Fraction(1, 7)


@pytest.mark.parametrize("seed", range(6))
def test_the_recurrence_for_tasks_is_the_least_over_all_trees(seed):
    random = Random(seed)
    rows = random_rows(random, 6, random.choices(tuple(CELLS), k=2))
    for task in random_tasks(random, 6):
        for limits in ((3,), (3, 2), (3, None, 2)):
            assert least_task_errors(rows, task, *limits) == enumerated(rows, task, *limits)


@pytest.mark.parametrize("seed", range(4))
def test_costs_of_one_are_errors(seed):
    random = Random(seed)
    rows = random_rows(random, 9, ("bit", "bit", "bit"))
    weights = [random.randrange(1, 4) for _ in rows]
    labels = [0, 1, 2, *(random.randrange(3) for _ in rows[3:])]
    task = zero_one(labels, weights)
    assert least_task_errors(rows, task, 3) == sample_least_errors(rows, labels, weights, 3)
    costs = Actions([[int(a != label) for a in range(3)] for label in labels], weights)
    assert least_task_errors(rows, costs, 3) == least_task_errors(rows, task, 3)
    offered = lambda inside: literals(rows, ["x0", "x1", "x2"], inside)  # noqa: E731
    for rule, ahead in (("topdown", 1), ("bestfirst", 1), ("id3", 1), ("lookahead", 2)):
        for criterion in ("entropy", "minority"):
            settings = PRIORITIES[rule], criterion, "heaviest", 5
            plain = learner.grow(rows, labels, weights, offered, *settings, ahead=ahead)
            assert task_growth(rows, task, *settings, ahead=ahead).trees == plain


@pytest.mark.parametrize("seed", range(4))
def test_greedy_trees_for_tasks_cost_what_their_leaves_cost(seed):
    random = Random(seed)
    rows = random_rows(random, 8, ("bit", "bit", "bit"))
    answers = {f"x{number}": [row[number] for row in rows] for number in range(3)}
    for task in random_tasks(random, 8):
        criterion = "squared" if isinstance(task, Squares) else "minority"
        for rule, ahead in (("topdown", 1), ("bestfirst", 1), ("id3", 1), ("lookahead", 2)):
            grown = task_growth(rows, task, PRIORITIES[rule], criterion, "last", 4, ahead=ahead)
            assert grown.errors == [task_error(tree, answers, task) for tree in grown.trees]
            least = least_task_errors(rows, task, 4)
            assert all(low <= error for low, error in zip(least, grown.errors, strict=True))
            assert grown.errors[0] == least[0]


def test_squared_growth_is_growth_by_gini_for_two_labels():
    random = Random(5)
    rows = random_rows(random, 12, ("number", "gaps", "word"))
    labels = [random.randrange(2) for _ in rows]
    gini_growth = task_growth(
        rows, zero_one([*labels], [1] * 12), PRIORITIES["topdown"], "gini", "first", 6
    )
    squared = task_growth(
        rows, Squares(labels, [1] * 12), PRIORITIES["topdown"], "squared", "first", 6
    )
    assert squared.leaves == gini_growth.leaves

    def tests(tree):
        return (tree[0], *map(tests, tree[1:])) if isinstance(tree, tuple) else None

    assert [*map(tests, squared.trees)] == [*map(tests, gini_growth.trees)]
