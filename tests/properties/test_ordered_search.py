"""The search over ordered columns against every tree, the 0/1 search, and its own finished runs."""

import signal
import sys
from itertools import pairwise
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import mictree as mt
from mictree._support.checks import TooLarge
from mictree._support.jit import one_core
from mictree._support.progress import TimeLimit
from mictree.optimal import frontier as certified
from mictree.optimal import questions, sweep_scan, sweep_search
from mictree.optimal.frontier import Frontier, Strategy
from mictree.optimal.ordered_rows import OrderedRows
from mictree.optimal.questions import OVERWRITTEN
from mictree.optimal.sweep_scan import LIVE, MASS, ONE, PLACE
from mictree.optimal.sweep_search import SweepEngine
from tests.clock import looked_at
from tests.reference.enumerate_samples import sample_least_errors
from tests.reference.ordered_samples import ordered_least_errors


def to_ranks(X):
    """The rank of each value in its column, a column a line."""
    return np.array([np.unique(column, return_inverse=True)[1] for column in np.asarray(X).T])


def problem_of(ranks, labels, weights=None):
    return mt.SampleProblem(np.asarray(ranks, dtype=float).T, np.asarray(labels), weights)


def find(ranks, labels, weights, max_size, max_depth=None, time_limit=None, memory_limit=2**30):
    """The frontier by sweeps, however few literals there are, and without a greedy tree."""
    return find_in(
        problem_of(ranks, labels, weights), max_size, max_depth, time_limit, memory_limit
    )


def find_in(problem, max_size, max_depth=None, time_limit=None, memory_limit=2**30):
    strategy = Strategy.on_numbers(problem, True)
    frontier = Frontier(strategy, max_size, max_depth, memory_limit)
    with TimeLimit(time_limit) as limit:
        frontier.run(limit)
    return frontier


def recount(tree, ranks, labels, weights):
    """The weight that a tree labels wrongly, row by row, by its exact thresholds."""
    wrong = 0
    names = np.unique(labels)
    for row, (label, weight) in enumerate(zip(labels, weights, strict=True)):
        node = 0
        while tree.tests[node] >= 0:
            column, threshold = tree.sources[tree.tests[node]]
            node = tree.high[node] if ranks[column][row] > threshold else tree.low[node]
        wrong += int(weight) * (names[tree.labels[node]] != label)
    return wrong


def check_trees(frontier, ranks, labels, weights, max_depth=None):
    unit = frontier.total / sum(weights)
    for size, tree in enumerate(frontier.trees):
        assert tree.size <= size
        assert max_depth is None or tree.depth <= max_depth
        if tree.sources:
            assert recount(tree, ranks, labels, weights) * unit == frontier.upper[size]


@st.composite
def tables(draw, most_rows=11, most_columns=3):
    """Columns of two ranks and of many, ties, duplicates, contradictions, weights, 2-5 classes."""
    count = draw(st.integers(1, most_rows))
    ranks = []
    for _ in range(draw(st.integers(1, most_columns))):
        most = draw(st.sampled_from([1, 1, 2, 4, 30]))
        ranks.append(draw(st.lists(st.integers(0, most), min_size=count, max_size=count)))
    classes = draw(st.integers(1, 5))
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=count, max_size=count))
    kind = draw(st.sampled_from([st.just(1), st.integers(1, 5), st.integers(1, 2**40)]))
    weights = draw(st.lists(kind, min_size=count, max_size=count))
    return ranks, labels, weights


@given(tables(), st.sampled_from([None, None, 0, 1, 2, 3]))
@settings(max_examples=150)
def test_every_tree_is_beaten_or_met(case, max_depth):
    ranks, labels, weights = case
    frontier = find(*case, 5, max_depth)
    assert frontier.upper == ordered_least_errors(ranks, labels, weights, 5, max_depth)
    assert frontier.lower == frontier.upper
    check_trees(frontier, ranks, labels, weights, max_depth)


@given(tables(), st.sampled_from([None, 2, 3, 3, 4]), st.sampled_from([0, 0, 30, 100, 300, 3000]))
@settings(max_examples=100)
def test_sizes_that_take_more_work_are_answered_one_by_one(case, max_depth, cells):
    """Wherever the call that answers several sizes ends."""
    at_once = find(*case, 8, max_depth)
    with mock.patch.object(SweepEngine, "patience", (cells, 10**8)):
        frontier = find(*case, 8, max_depth)
    assert frontier.lower == frontier.upper == at_once.upper
    check_trees(frontier, *case, max_depth)


def test_neighbours_whose_weights_fill_62_bits():
    """A bound was too high where the rows of a test weighed more than 2**60."""
    weights = np.array([1.0, 2.0**60, 2.0**60, 2.0**60])
    engine = SweepEngine(OrderedRows.of(problem_of([[0, 1, 2, 3]], [0, 1, 0, 1], weights), True))
    engine.plan(3, 3, 2**20)
    frames = engine.make_frames()
    tests = np.arange(3)
    frames.start[0], frames.tests[0, LIVE, :3] = (0, 3), tests
    frames.cells[0, MASS, :3] = [1, 2**60, 3 * 2**60]
    frames.cells[0, ONE, :3] = frames.cells[0, ONE + 1, :3] = [0, 0, 3]
    getattr(sweep_scan.share_one, "py_func", sweep_scan.share_one)(0, 3, frames)
    assert frames.cells[0, ONE, :3].tolist() == [0, 0, 3]
    assert frames.cells[0, ONE + 1, :3].tolist() == [3, 3, 3]


@pytest.mark.parametrize("seed", [27, 28])
def test_weights_whose_sums_fill_62_bits(seed):
    """The first one had a wrong answer."""
    random = np.random.default_rng(seed)
    ranks = to_ranks(random.normal(size=(40, 4)).round(1))
    noise = random.integers(0, 6, 40)
    rule = np.where(random.random(40) < 0.6, ranks[0] % 3 + 3 * (ranks[1] > 6), noise) % 6
    labels, weights = np.unique(rule, return_inverse=True)[1], random.random(40)
    frontier = find(ranks, labels, weights, 5, 4)
    assert frontier.total > 2**60
    bits = np.array([column > rank for column in ranks for rank in range(column.max())])
    literals = mt.SampleProblem(bits.T.astype(np.uint8), labels, weights)
    expected = mt.optimal_errors(literals, 5, max_depth=4)
    assert np.array(frontier.upper) / frontier.total == pytest.approx(expected.upper, rel=1e-12)


CATEGORIES = ["low", "middle", "top"]


@st.composite
def mixed_tables(draw):
    """Numbers with ties, gaps and missing values, categories, ordered ones, bits; weights."""
    count = draw(st.integers(2, 9))

    def column(*values):
        return draw(st.lists(st.sampled_from(values), min_size=count, max_size=count))

    frame = pd.DataFrame({"number": column(-2.5, 0.25, 1.0, 1e6, np.nan)})
    if draw(st.booleans()):
        frame["kind"] = column("a", "b", "c", None)
    if draw(st.booleans()):
        levels = column(*CATEGORIES, None)
        frame["level"] = pd.Categorical(levels, categories=CATEGORIES, ordered=True)
    if draw(st.booleans()):
        frame["bit"] = column(0, 1)
    if draw(st.booleans()):
        frame["again"] = -frame["number"]
    labels = draw(st.lists(st.integers(0, draw(st.integers(1, 4))), min_size=count, max_size=count))
    weights = draw(st.lists(st.sampled_from([1, 2, 0.5, 3.25]), min_size=count, max_size=count))
    return frame, labels, weights


def bits_of(frame):
    """All tests of a frame on its rows, from their definition."""
    bits = []
    for name in frame:
        column = frame[name]
        if name == "kind":
            bits += [column == category for category in column.dropna().unique()]
        else:
            values = column.cat.codes.where(column.notna()) if name == "level" else column
            bits += [values > value for value in np.unique(values.dropna())[:-1]]
        if column.notna().any():
            bits.append(column.isna())
    return np.array(bits, dtype=int).T.reshape(len(frame), -1)


@given(mixed_tables(), st.sampled_from([None, None, 2]), st.booleans())
@settings(max_examples=100)
def test_mixed_columns_with_missing_values(case, max_depth, swept):
    """Every tree is tried; by sweeps and by pair counts."""
    frame, labels, weights = case
    problem = mt.SampleProblem(frame, labels, weights)
    with mock.patch.object(certified, "FEW_THRESHOLDS", 0 if swept else 256):
        solved = mt.optimal_trees(problem, 3, exact=True, max_depth=max_depth)
    bits = bits_of(frame)
    rows = [tuple(row) for row in bits.tolist()] if bits.size else [(0,)] * len(frame)
    assert list(solved.errors) == sample_least_errors(rows, labels, weights, 3, max_depth)
    assert solved.errors.proved.all()
    for size in range(4):
        tree = solved.tree(size)
        assert tree.size <= size
        assert max_depth is None or tree.depth <= max_depth
        assert tree.error(problem, exact=True) == solved.errors[size]


@pytest.mark.parametrize("patience", [SweepEngine.patience, ()])
def test_trees_that_test_what_is_missing(patience, monkeypatch):
    """Answered at once, and size by size."""
    monkeypatch.setattr(SweepEngine, "patience", patience)
    random = np.random.default_rng(0)
    X = random.integers(0, 9, (40, 3)).astype(float)
    X[random.random((40, 3)) < 0.3] = np.nan
    missing = np.isnan(X)
    problem = mt.SampleProblem(X, missing[:, 0] ^ (X[:, 1] > 4) ^ missing[:, 2])
    with mock.patch.object(certified, "FEW_THRESHOLDS", 0):
        swept = mt.optimal_trees(problem, 7, exact=True)
    with mock.patch.object(certified, "FEW_THRESHOLDS", 99):
        counted = mt.optimal_trees(problem, 7, exact=True)
    np.testing.assert_array_equal(swept.errors, counted.errors)
    assert swept.errors[7] == 0
    for size in range(8):
        assert swept.tree(size).error(problem, exact=True) == swept.errors[size]
    assert sum("missing" in name for name in swept.tree(7).variables) >= 2


def test_thresholds_lie_halfway_between_the_values_of_their_rows():
    X = [[0, 0], [1, 0], [2, 0], [5, 0], [6, 0], [10, 3], [3, 9], [1, 9], [7, 9]]
    problem = mt.SampleProblem(X, [0, 0, 0, 1, 1, 1, 2, 2, 2])
    with mock.patch.object(certified, "FEW_THRESHOLDS", 0):
        swept = mt.optimal_tree(problem, 2)
    with mock.patch.object(certified, "FEW_THRESHOLDS", 99):
        assert swept == mt.optimal_tree(problem, 2)
    assert set(swept.sources) == {(1, 6.0), (0, 3.5)}


def test_children_that_lack_rows_of_many_classes():
    """The bound of a child carries over to others less the weight that these lack, no less.

    With two classes a bound is at most half of the weight, and too small a lack is never wrong.
    """
    draw = np.random.default_rng(93)
    rows, classes, columns = (int(draw.integers(*ends)) for ends in ((12, 40), (4, 8), (2, 4)))
    X, labels = draw.normal(size=(rows, columns)), draw.integers(0, classes, rows)
    problem = mt.SampleProblem(X, labels, draw.integers(1, 6, rows))
    found = []
    for few in (0, 99):  # by sweeps, and as 0/1 literals
        with mock.patch.object(certified, "FEW_THRESHOLDS", few):
            found.append(mt.optimal_errors(problem, 5).tolist())
    assert found[0] == found[1]


def test_thresholds_inside_a_run_of_one_class_are_needed():
    ranks = [[7, 1, 4, 6, 2, 3, 0, 5], [7, 4, 6, 3, 0, 1, 2, 5]]
    assert find(ranks, [0, 1, 1, 1, 0, 1, 0, 0], [1] * 8, 3).upper[3] == 0


@pytest.mark.parametrize("classes", [6, 9])
@pytest.mark.parametrize("max_depth", [None, 2, 3])
def test_many_classes(classes, max_depth):
    """More classes than are swept two by two."""
    random = np.random.default_rng(classes)
    for _ in range(20):
        ranks = [random.integers(0, top, 12).tolist() for top in (2, 5, 40)]
        labels = random.integers(0, classes, 12)
        labels[0] = classes - 1
        weights = random.integers(1, 4, 12).tolist()
        case = ranks, labels.tolist(), weights
        frontier = find(*case, 4, max_depth)
        assert frontier.lower == frontier.upper == ordered_least_errors(*case, 4, max_depth)
        check_trees(frontier, *case, max_depth)


@pytest.mark.parametrize("seed", range(6))
def test_more_tests_than_are_swept_at_once(seed):
    random = np.random.default_rng(seed)
    ranks = np.array([random.permutation(40), random.permutation(40)])
    labels = ((ranks[0] > 12) ^ (ranks[1] > 20) ^ (random.random(40) < 0.25)).astype(int)
    case = ranks.tolist(), labels.tolist(), random.integers(1, 4, 40).tolist()
    frontier = find(*case, 3)
    assert frontier.lower == frontier.upper == ordered_least_errors(*case, 3)


@pytest.mark.parametrize("seed", range(6))
def test_many_splits_on_noise(seed):
    """Few rows that need many splits, so that questions go several levels deep."""
    random = np.random.default_rng(seed)
    ranks = np.array([random.permutation(15), random.permutation(15)])
    labels = random.integers(0, 2 + seed % 2, 15)
    case = ranks.tolist(), labels.tolist(), random.integers(1, 4, 15).tolist()
    frontier = find(*case, 6)
    assert frontier.lower == frontier.upper == ordered_least_errors(*case, 6)
    check_trees(frontier, *case)


@pytest.mark.parametrize("seed", range(6))
def test_the_bounds_of_all_tests_hold(seed):
    """Whatever was learned of the children of all rows' tests is at most their least error."""
    random = np.random.default_rng(seed)
    ranks = np.array([random.permutation(16), random.permutation(16)])
    labels = random.integers(0, 2 + seed % 2, 16)
    found = find(ranks, labels, random.integers(1, 4, 16), 4)
    rows, frames, root = found.rows, found.workers.frames[0], found.workers.engine.root
    raised = 0
    for column, first in enumerate(frames.start[0, :-1]):
        for test in range(first, frames.start[0, column + 1]):
            order = frames.order[0, column] >> 1
            place = frames.tests[0, PLACE, test] + 1
            for side, child in enumerate((order[:place], order[place:])):
                columns = [rows.ranks[origin][child].tolist() for origin in rows.origins]
                parts = rows.codes[child].tolist(), rows.weights[child].tolist()
                least = ordered_least_errors(columns, *parts, 3)
                assert root[side, 2, test] <= least[2]
                assert root[side, 3, test] <= least[3]
                raised += root[side, 2, test] > 0
    assert raised


@pytest.mark.parametrize("seed", range(4))
def test_cuts_of_a_child_have_rows_on_both_sides(seed):
    """Every frame's cuts lie where the ranks of its own rows differ, so none behind the last."""
    random = np.random.default_rng(seed)
    ranks = np.array([random.permutation(16), random.integers(0, 5, 16)])
    found = find(to_ranks(ranks.T), random.integers(0, 2, 16), random.integers(1, 4, 16), 5)
    frames, checked = found.workers.frames[0], 0
    for level in range(1, len(frames.levels)):
        count = int(frames.levels[level].rows)
        for column, order in enumerate(frames.order[level, :, :count].tolist()):
            ranked = found.rows.ranks[found.rows.origins[column]]
            own = [int(ranked[entry >> 1]) for entry in order]
            cuts = [low < high for low, high in pairwise(own)] + [False] * (count > 0)
            assert [bool(entry & 1) for entry in order] == cuts
            checked += sum(cuts)
    assert checked


def literal_errors(ranks, labels, weights, max_size, max_depth):
    """The least errors by the 0/1 search, with every threshold as a literal."""
    bits = [column > rank for column in ranks for rank in range(column.max())]
    problem = mt.SampleProblem(np.array(bits).T.astype(np.uint8), labels, weights)
    errors = mt.optimal_errors(problem, max_size, exact=True, max_depth=max_depth)
    assert errors.proved.all()
    return [int(error * int(np.sum(weights))) for error in errors]


@pytest.mark.parametrize("seed", range(12))
def test_equal_to_the_search_over_literals(seed):
    random = np.random.default_rng(seed)
    count, classes = int(random.integers(40, 150)), int(random.integers(2, 5))
    tops = random.choice([1, 2, 5, 25], size=int(random.integers(2, 6)))
    ranks = to_ranks(random.integers(0, tops + 1, size=(count, len(tops))))
    rule = ranks[0] + 2 * (ranks[-1] > 2) + (random.random(count) < 0.2)
    labels = np.unique(rule % classes, return_inverse=True)[1]
    weights = random.integers(1, 4, count) if seed % 2 else np.ones(count, dtype=int)
    max_depth = [None, 3, 2, None][seed % 4]
    frontier = find(ranks, labels, weights, 5, max_depth)
    assert frontier.lower == frontier.upper
    assert frontier.upper == literal_errors(ranks, labels, weights, 5, max_depth)
    check_trees(frontier, ranks, labels, weights, max_depth)


@given(tables(most_rows=9))
@settings(max_examples=50)
def test_full_trees_of_depth_three(case):
    """They are asked for before trees with fewer splits."""
    frontier = find(*case, 8, 3)
    assert frontier.lower == frontier.upper == ordered_least_errors(*case, 8, 3)
    check_trees(frontier, *case, 3)


@pytest.mark.parametrize("seed", range(6))
def test_sizes_from_the_most_splits_down(seed):
    """Each is the same alone, and by both ways to enumerate tests."""
    ranks, labels = noisy(120, 4, 2 + seed % 3, seed, 0.3)
    ranks //= 1 + 12 * (seed % 2)  # ties
    weights = np.random.default_rng(seed).integers(1, 4, len(labels))
    frontier = find(ranks, labels, weights, 7, 3)
    assert frontier.lower == frontier.upper
    check_trees(frontier, ranks, labels, weights, 3)
    for size in (4, 5, 6):
        assert find(ranks, labels, weights, size, 3).upper == frontier.upper[: size + 1]
    if seed % 2:
        assert literal_errors(ranks, labels, weights, 7, 3) == frontier.upper


@pytest.mark.parametrize("seed", range(4))
def test_sizes_from_the_most_splits_down_one_by_one(seed):
    """The same where no size is answered in the call for several."""
    ranks, labels = noisy(120, 4, 2 + seed % 3, seed, 0.3)
    weights = np.ones(len(labels), dtype=int)
    at_once = find(ranks, labels, weights, 7, 3)
    with mock.patch.object(SweepEngine, "patience", (0, 10**8)):
        frontier = find(ranks, labels, weights, 7, 3)
    assert frontier.lower == frontier.upper == at_once.upper


def noisy(count=300, columns=5, classes=2, seed=0, noise=0.1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, columns)).round(2)
    labels = ((X[:, 0] > 0.2) & (X[:, 1] < 0.5) | (X[:, 2] > 1)).astype(int)
    labels += (X[:, 3] > 0.7) * (classes > 2)
    moved = random.random(count) < noise
    labels[moved] = random.integers(0, classes, moved.sum())
    return to_ranks(X), labels


@pytest.mark.parametrize(("classes", "max_depth"), [(2, None), (3, None), (3, 3)])
def test_intervals_hold_what_the_finished_run_finds(classes, max_depth):
    """Under limits of 0.05, 0.2 and 1 s by a clock that moves when it is looked at."""
    ranks, labels = noisy(250, classes=classes)
    weights = np.random.default_rng(1).integers(1, 4, len(labels))
    truth = np.array(find(ranks, labels, weights, 4, max_depth).upper)
    open_sizes = []
    for limit in (0.05, 0.2, 1):
        with pytest.MonkeyPatch.context() as patch:
            clock = looked_at(patch)
            patch.setattr(SweepEngine, "patience", (50_000, 200_000))  # cells until the next look
            frontier = find(ranks, labels, weights, 4, max_depth, limit)
            assert not clock.asked or clock.keeps(limit)
        lower, upper = np.array(frontier.lower), np.array(frontier.upper)
        assert np.all((lower <= truth) & (truth <= upper))
        open_sizes.append(int((lower < upper).sum()))
        check_trees(frontier, ranks, labels, weights, max_depth)
    assert open_sizes[0] > 0


@pytest.mark.parametrize(("classes", "max_depth"), [(2, None), (3, 3), (4, None)])
def test_workers_agree_with_one(classes, max_depth):
    """Eight workers from the start, and a table that is too small, against one with room."""
    ranks, labels = noisy(120, 4, classes, seed=classes)
    weights = np.random.default_rng(2).integers(1, 3, len(labels))
    with mock.patch.object(SweepEngine, "patience", (1, 1)):  # no question is short
        with one_core():
            alone = find(ranks, labels, weights, 4, max_depth)
        with mock.patch.multiple(questions, usable_cores=lambda: 8, ALONE=0.0, SMALLEST_TABLE=256):
            many = find(ranks, labels, weights, 4, max_depth, memory_limit=4 * 2**20)
    assert many.lower == alone.lower == alone.upper
    assert many.trees == alone.trees


def test_a_small_table_overwrites_and_finds_the_same():
    ranks, labels = noisy(150, 5, seed=5, noise=0.3)
    weights = np.ones(len(labels), dtype=int)
    roomy = find(ranks, labels, weights, 4)
    with mock.patch.object(questions, "SMALLEST_TABLE", 16):
        tight = find(ranks, labels, weights, 4, memory_limit=500_000)
    assert tight.workers.control[OVERWRITTEN] > 20 + roomy.workers.control[OVERWRITTEN]
    assert tight.lower == tight.upper == roomy.upper
    check_trees(tight, ranks, labels, weights)


def test_memory_is_planned():
    ranks, labels = noisy(500, 10)
    weights = np.ones(len(labels), dtype=int)
    with pytest.raises(TooLarge, match=r"memory_limit must be at least [0-9,]+ bytes for 500 rows"):
        find(ranks, labels, weights, 8, memory_limit=2**19)
    with mock.patch.object(questions, "SMALLEST_TABLE", 256):
        few = find(ranks, labels, weights, 20, memory_limit=2**23, time_limit=0.5)
    assert 2 <= few.budgets < 20
    kept = [array for frames in few.workers.frames for array in frames]
    assert sum(array.nbytes for array in [*kept, *few.workers.table]) < 2**23
    assert few.lower[:3] == few.upper[:3]


@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits, load_breast_cancer])
@pytest.mark.parametrize("max_depth", [1, 2, 3])
def test_equal_to_pycontree(load, max_depth):
    peer = pytest.importorskip("pycontree")
    X, labels = load(return_X_y=True)
    if load is load_digits:
        X, labels = X[:400, ::3], (labels[:400] == 8).astype(int)
    model = peer.ConTree(max_depth=max_depth).fit(X, labels)
    wrong = int((model.predict(X) != labels).sum())
    frontier = find(to_ranks(X), labels, np.ones(len(labels), dtype=int), 7, max_depth)
    assert frontier.lower[-1] == frontier.upper[-1] == wrong


@pytest.mark.parametrize("seed", range(200))
def test_equal_to_pycontree_on_random_tables(seed):
    peer = pytest.importorskip("pycontree")
    random = np.random.default_rng(seed)
    X = random.normal(size=(int(random.integers(20, 300)), int(random.integers(1, 7)))).round(1)
    labels = random.integers(0, 2 + seed % 3, len(X)) * (X[:, 0] > 0)
    labels = np.unique(labels, return_inverse=True)[1]
    max_depth = 1 + seed % 3
    model = peer.ConTree(max_depth=max_depth).fit(X, labels)
    wrong = int((model.predict(X) != labels).sum())
    size = 2**max_depth - 1
    frontier = find(to_ranks(X), labels, np.ones(len(labels), dtype=int), size, max_depth)
    assert frontier.lower[size] == frontier.upper[size] == wrong


@pytest.mark.parametrize("labels", [[0, 1, 1, 0], [1, 1, 1, 1]])
def test_trees_without_a_split(labels):
    frontier = find([[0, 1, 2, 3]], labels, None, 0)
    assert frontier.lower == frontier.upper == [min(labels.count(0), labels.count(1))]
    assert [tree.size for tree in frontier.trees] == [0]


def test_weights_of_many_digits_and_four_classes(monkeypatch):
    """Bounds shared between budgets once missed the tree of five splits; found by enumeration."""
    monkeypatch.setattr("mictree.optimal.frontier.FEW_THRESHOLDS", 0)
    kinds = ["c", "b", "b", "a", "b", "a", "c", "c", "c", "a", "c", "b", "c", "c"]
    numbers = [1e18, 3, 8, 0.1, 0.3, 7, 7, 6, 8, 0, -4, -8, 0.2, -8]
    labels = [2, 0, 3, 2, 3, 1, 0, 1, 0, 1, 2, 3, 2, 0]
    weights = [
        0.9414631052246171, 0.7144927270505657, 0.4466053816548309, 0.9805135982985017,
        0.6671030177417023, 0.07901756683661254, 0.4182121009956937, 0.006161943902451172,
        0.9897730938286222, 0.07329727637564831, 0.9375116853468586, 0.6115581311455248,
        0.5235371018850572, 0.6646022746190001,
    ]  # fmt: skip
    X = pd.DataFrame({"kind": kinds, "number": numbers})
    errors = mt.optimal_errors(mt.SampleProblem(X, labels, weights), 5)
    assert errors[4:].tolist() == pytest.approx([0.07512956455987452, 0.06531840882694706])


def pressing(work, calls, late):
    """A function that gets SIGINT before or after its first call."""

    def pressed(*arguments):
        calls.append(arguments)
        if len(calls) == 1 and not late:
            signal.raise_signal(signal.SIGINT)
        found = work(*arguments)
        if len(calls) == 1 and late:
            signal.raise_signal(signal.SIGINT)
        return found

    return pressed


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("late", [False, True])
def test_ctrl_c_during_the_first_question(monkeypatch, late):
    """Python answers a signal that comes during a compiled call right after it."""
    random, calls, handler = np.random.default_rng(0), [], signal.getsignal(signal.SIGINT)
    problem = mt.SampleProblem(random.random((300, 6)), random.integers(0, 2, 300))
    least = mt.optimal_trees(problem, 6, max_depth=3).errors
    monkeypatch.setattr(sweep_search, "QUICK", 300)  # so that the table is a large one
    monkeypatch.setattr(SweepEngine, "ask", pressing(SweepEngine.ask, calls, late))
    solved = mt.optimal_trees(problem, 6, max_depth=3)
    errors = solved.errors
    assert calls
    assert solved.interrupted
    assert signal.getsignal(signal.SIGINT) is handler
    assert errors.proved[0]
    assert not errors.proved[6]
    assert np.all(errors.lower <= least.upper)
    assert np.all(least.upper <= errors.upper)
    for size in range(7):
        assert solved.tree(size).size <= size
        assert solved.tree(size).error(problem) == pytest.approx(errors.upper[size])


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("late", [False, True])
def test_ctrl_c_during_the_quick_answers_of_a_small_table(monkeypatch, late):
    """They take next to no time, so nothing is certified yet; the next search is as any other."""
    random, calls, handler = np.random.default_rng(0), [], signal.getsignal(signal.SIGINT)
    problem = mt.SampleProblem(random.random((300, 6)), random.integers(0, 2, 300))
    pressed = pressing(SweepEngine.solve_sizes, calls, late)
    monkeypatch.setattr(SweepEngine, "solve_sizes", pressed)
    with pytest.raises(KeyboardInterrupt):
        mt.optimal_trees(problem, 4, max_depth=3)
    assert signal.getsignal(signal.SIGINT) is handler
    assert len(calls) == 1
    assert mt.optimal_trees(problem, 4, max_depth=3).errors.proved.all()
