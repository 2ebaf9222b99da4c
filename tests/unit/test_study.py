"""The study's numbers, recomputed by slow, separate code, and learners whose order is known."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import polars as pl
import pytest
import scipy.stats
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import mictree as mt
from mictree.experiments import study_known, study_tables
from mictree.experiments.cache import Cache
from mictree.experiments.study_known import (
    LEARNERS,
    OPTIMAL,
    RULES,
    TARGETS,
    KnownStudy,
    as_table,
    bootstrap,
    by_rule,
    deal,
    known_study,
    make_target,
    predict_growth,
)
from mictree.experiments.study_tables import (
    FAMILIES,
    TOO_FEW,
    BySize,
    Candidates,
    DataSet,
    Learners,
    bayes_signed_rank,
    choose,
    holm,
    judge,
    read_sets,
    signed_rank,
    table_study,
)
from mictree.optimal import frontier
from mictree.report import study as page
from tests import clock, reference
from tests.reference import study as twin
from tests.reference.enumerate_samples import sample_least_errors

TINY = study_known.Plan(targets=5, rows=(30, 60), repetitions=2, max_size=3, folds=2, draws=200)
SMALL = study_tables.Plan(
    max_rows=60, max_thresholds=4, max_size=3, folds=3, repeats=1, inner_folds=2, work=1e6,
    draws=500,
)  # fmt: skip


@cache
def tiny():
    """One small study of known distributions."""
    return known_study(TINY)


def table_of(problem):
    """A problem as the reference has it."""
    return reference.Table(
        problem.variables, tuple(problem.truth_table.tolist()), problem.probabilities
    )


def predictions_of(table, trees):
    """What reference trees predict for every input."""
    return [
        [reference.predict(tree, table.assignment(row)) for row in range(len(table.labels))]
        for tree in trees
    ]


def sample_of(number, rows, repetition):
    """A sample of the tiny study, and its seed."""
    seed = [TINY.seed, 1, number, rows, repetition]
    return make_target(number, TINY.seed).draw(rows, seed), seed


def test_forty_targets_differ_and_meet_every_kind_noise_and_distribution():
    targets = [make_target(number) for number in range(TARGETS)]
    assert len({target.name for target in targets}) == TARGETS
    for kind in study_known.KINDS:
        some = [target for target in targets if target.kind == kind]
        assert {target.noise for target in some} == {*study_known.NOISES}
        assert {target.distribution for target in some} == {*study_known.DISTRIBUTIONS}
    assert {len(target.problem.variables) for target in targets} == {6, 7, 8, 9, 10}


def test_targets_are_what_their_names_say():
    for number, formula in ((0, "a & b | c & d | e & f"), (34, "x1 ^ x2")):
        target = make_target(number)
        names = target.problem.variables
        wanted = mt.TableProblem.from_formula(formula)
        clean = [int(2 * rate > 1) for rate in target.problem.truth_table]
        expected = np.tile(wanted.truth_table, 2 ** (len(names) - len(wanted.variables)))
        assert clean == expected.tolist(), number
    staircase = make_target(3)
    for row, rate in enumerate(staircase.problem.truth_table):
        signs = [1 - 2 * (row >> place & 1) for place in range(3)]
        assert rate == (signs[0] + signs[0] * signs[1] + math.prod(signs) > 0)


def test_what_is_known_without_a_sample():
    found = tiny()
    for number in range(2):
        target = make_target(number, TINY.seed)
        table = table_of(target.problem)
        exact = found.exact.filter(target=target.name)
        least = reference.least_errors(table, 2)
        assert exact["optimal"][:3].to_list() == [float(each) for each in least]
        assert exact["floor"][0] == float(reference.bayes_error(table))
        for name, rule in RULES.items():
            mic = found.mics.filter(target=target.name, learner=name)["mic"].item()
            assert mic == pytest.approx(float(mt.mic(rule, target.problem, 3).mic), abs=1e-14)


@pytest.mark.parametrize("number", [1, 4])
def test_greedy_curves_and_chosen_sizes_by_separate_code(number):
    """True errors by enumeration, folds and the choice by loops."""
    drawn, seed = sample_of(number, 30, 1)
    table = table_of(drawn.target.problem)
    codes, labels = drawn.codes.tolist(), drawn.labels.tolist()

    def learn(rows):
        sample = table_of(as_table(drawn.take(np.array(rows))))
        trees = reference.grow(sample, reference.PRIORITIES["topdown"], TINY.max_size)
        return predictions_of(sample, trees)

    grown = learn(list(range(30)))
    errors = [float(twin.true_error(table.weights, table.labels, line)) for line in grown]
    found = tiny().frame.filter(target=drawn.target.name, rows=30, repetition=1, learner="TopDown")
    assert found["true_error"].to_list() == errors
    shares = [
        sum(line[code] != label for code, label in zip(codes, labels, strict=True)) / 30
        for line in grown
    ]
    assert found["train_error"].to_list() == pytest.approx(shares, abs=1e-15)
    order = np.random.default_rng([*seed, 2]).permutation(30).tolist()
    fold = twin.deal(labels, TINY.folds, order)
    assert fold == deal(drawn.labels, TINY.folds, [*seed, 2]).tolist()
    chosen = twin.choose_size(learn, codes, labels, fold)
    assert found.filter("chosen")["size"].to_list() == [chosen]


@pytest.mark.parametrize("number", range(5))
def test_best_trees_on_a_sample_by_enumeration(number):
    drawn, _ = sample_of(number, 30, 0)
    rows = [tuple(row) for row in drawn.target.inputs[drawn.codes].tolist()]
    least = sample_least_errors(rows, drawn.labels.tolist(), [1] * 30, 3)
    found = tiny().frame.filter(target=drawn.target.name, rows=30, repetition=0, learner=OPTIMAL)
    np.testing.assert_allclose(found["train_error"], [float(each) for each in least], atol=1e-15)
    top = tiny().frame.filter(target=drawn.target.name, rows=30, repetition=0, learner="top 3")
    assert (top["train_error"] >= found["train_error"] - 1e-15).all()


def test_losses_add_up_to_the_true_error():
    losses = tiny().losses
    total = losses["floor"] + losses["approximation"] + losses["estimation"]
    np.testing.assert_allclose(total + losses["optimisation"], losses["true_error"], atol=1e-14)
    assert losses["approximation"].min() >= -1e-15
    assert losses["estimation"].min() >= -1e-15
    assert (losses.filter(learner=OPTIMAL)["optimisation"] == 0).all()
    assert losses["optimisation"].min() < 0  # signed
    means = tiny().mean_losses(["rows", "learner"], chosen=True)
    one = losses.filter(pl.col("chosen"), rows=60, learner="ID3")
    assert means.filter(rows=60, learner="ID3")["estimation"].item() == pytest.approx(
        sum(one["estimation"]) / 10
    )


def test_a_sample_with_one_label():
    target = make_target(0)
    drawn = study_known.Drawn(target, np.array([3, 3, 9]), np.array([1, 1, 1]))
    for learner in LEARNERS.values():
        predictions = learner(drawn, 2)
        assert predictions.shape == (3, 64)
        assert (predictions[:, [3, 9]] == 1).all()


def test_growth_predictions_are_those_of_its_trees():
    drawn, _ = sample_of(2, 60, 0)
    inputs = drawn.target.inputs
    for rule in RULES.values():
        growth = rule.grow(drawn.target.problem, 4)
        columns = [step.position for step in growth.steps]
        found = predict_growth(growth, columns, inputs)
        for size in range(5):
            assert (found[size] == growth.tree(size).predict(inputs)).all()
        assert by_rule(rule)(drawn, 4).shape == (5, len(inputs))


def test_orders_and_intervals():
    found = tiny()
    means = found.mean_losses(["target", "rows", "learner"], chosen=False).filter(rows=60)
    names = found.learners[:-1]
    for target, tau in zip(
        found.exact["target"].unique(maintain_order=True), found.orders(60), strict=True
    ):
        mics = [found.mics.filter(target=target, learner=name)["mic"].item() for name in names]
        errors = [means.filter(target=target, learner=name)["true_error"].item() for name in names]
        one, other = ([round(each, 12) for each in values] for values in (mics, errors))
        if len({*one}) == 1 or len({*other}) == 1:
            assert math.isnan(tau)
        else:
            assert tau == pytest.approx(twin.tau_b(one, other))
    values = np.array([0.1, np.nan, 0.4, -0.2])
    mean, low, high = bootstrap(values, 4000, [1])
    assert mean == pytest.approx(0.1)
    assert (low, high) == pytest.approx((-0.2, 0.4))  # of 27 resamples, one has each extreme
    assert np.isnan(bootstrap(np.array([np.nan]), 10, [1])).all()


def knowing(rule, wrong):
    """A learner that knows the distribution; if ``wrong``, it says the opposite."""

    def learn(drawn, max_size):
        problem, inputs = drawn.target.problem, drawn.target.inputs
        if rule is None:
            solved = mt.optimal_trees(problem, max_size)
            found = np.array([solved.tree(size).predict(inputs) for size in range(max_size + 1)])
        else:
            growth = rule.grow(problem, max_size)
            found = predict_growth(growth, [step.position for step in growth.steps], inputs)
        return 1 - found if wrong else found

    return learn


@pytest.mark.parametrize("wrong", [False, True])
def test_learners_of_known_order_flip_every_verdict_on_known_distributions(wrong):
    plan = replace(TINY, rows=(30,), repetitions=1)
    learners = {name: knowing(rule, wrong) for name, rule in RULES.items()}
    learners |= {"top 3": knowing(RULES["TopDown"], wrong), OPTIMAL: knowing(None, wrong)}
    found = known_study(plan, learners=learners)
    orders = found.orders(30)
    # the order of the rules is that of their MICs, or the opposite; "top 3" is not itself
    verdict = page.mic_predicts(_without_top(found)).verdict
    assert verdict == ("fails" if wrong else "holds"), orders
    others = {name: knowing(rule, not wrong) for name, rule in RULES.items()}
    found = known_study(plan, learners=others | {OPTIMAL: knowing(None, wrong)})
    for chosen in (False, True):
        claim = page.known_claim(found, "TopDown", chosen)
        assert claim.verdict == ("fails" if wrong else "holds"), chosen
    assert page.never_overfits(found, "ID3").verdict == ("fails" if wrong else "holds")


def _without_top(found):
    return KnownStudy(
        found.plan, found.exact, found.mics.filter(pl.col("learner") != "top 3"), found.frame
    )


def test_results_do_not_depend_on_workers():
    import joblib

    with joblib.parallel_config(backend="threading"):
        again = known_study(TINY, n_jobs=3)
    for name in ("exact", "mics", "frame"):
        assert getattr(again, name).equals(getattr(tiny(), name))


def test_another_seed_draws_other_samples():
    other = known_study(replace(TINY, targets=1, seed=36))
    assert not other.frame.equals(tiny().frame.filter(target="01 read-once DNF"))


# real tables


def toy(name="toy", rows=60, seed=0, flips=0.15, plan=SMALL):
    """A table of 0/1 columns."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 2, (rows, 5))
    y = (X[:, 0] & X[:, 1] | X[:, 2] & X[:, 3]) ^ (random.random(rows) < flips)
    frame = pl.DataFrame(X, schema=[f"c{number}" for number in range(5)], orient="row")
    return DataSet.of(name, frame, np.where(y, "yes", "no"), plan)


def slow_cart(X, y, size):
    """scikit-learn's tree, or a lone leaf."""
    if size == 0:
        values, counts = np.unique(y, return_counts=True)
        label = values[counts.argmax()]
        return lambda rows: np.full(len(rows), label)
    model = DecisionTreeClassifier(random_state=0, max_leaf_nodes=size + 1)
    return model.fit(X, y).predict


def test_held_out_errors_and_tuned_sizes_by_separate_code():
    data = toy()
    found = table_study(SMALL, [data])
    X, y = data.X.to_numpy().astype(float), data.codes
    order = np.random.default_rng([SMALL.seed, 5, 0]).permutation(60).tolist()
    outer = np.array(twin.deal(y.tolist(), 3, order))
    means, tuned = [], []
    for number in range(3):
        train, test = np.flatnonzero(outer != number), np.flatnonzero(outer == number)
        errors = [
            float(np.mean(slow_cart(X[train], y[train], size)(X[test]) != y[test]))
            for size in range(4)
        ]
        rows = found.frame.filter(fold=number, learner="CART", tuned=False)
        assert rows["error"].to_list() == pytest.approx(errors, abs=1e-15)
        means.append(sum(errors[1:]) / 3)
        order = np.random.default_rng([SMALL.seed, 6, number]).permutation(len(train)).tolist()
        inner = twin.deal(y[train].tolist(), 2, order)
        wrong = [
            sum(
                int(np.sum(slow_cart(X[train[a]], y[train[a]], size)(X[train[b]]) != y[train[b]]))
                for each in range(2)
                for a, b in [(np.array(inner) != each, np.array(inner) == each)]
            )
            for size in range(4)
        ]
        row = found.frame.filter(fold=number, learner="CART by size", tuned=True).row(0, named=True)
        assert row["size"] == wrong.index(min(wrong))
        tuned.append(errors[row["size"]])
    held = found.held_out("toy", "CART", False)
    assert held.errors[:, 0].tolist() == pytest.approx(means)
    best = found.held_out("toy", OPTIMAL, False).errors[:, 0]
    mean, spread = found.difference("toy", "CART", False)
    expected = twin.corrected((held.errors[:, 0] - best).tolist(), 1 / 2)
    assert (mean, spread) == pytest.approx(expected, abs=1e-11)
    assert found.held_out("toy", "CART by size", True).errors[:, 0].tolist() == tuned


def test_optimal_trees_are_the_least_and_their_gaps_are_kept():
    data = toy()
    found = table_study(SMALL, [data])
    outer = deal(data.codes, 3, [SMALL.seed, 5, 0])
    for number in range(3):
        train = outer != number
        rows = [tuple(row) for row in data.X.to_numpy()[train].tolist()]
        least = sample_least_errors(rows, data.codes[train].tolist(), [1] * int(train.sum()), 3)
        best = found.frame.filter(fold=number, learner=OPTIMAL, tuned=False)
        assert best["train_error"].to_list() == pytest.approx([float(e) for e in least])
        assert (best["gap"] == 0).all()
    assert found.certified("toy") == 3
    hasty = table_study(replace(SMALL, work=0.0, max_size=6), [toy(rows=120, flips=0.3)])
    assert hasty.certified("toy") < 6
    assert hasty.gap("toy") > 0
    best = hasty.frame.filter(learner=OPTIMAL, tuned=False)
    assert (best["gap"] >= -1e-15).all()
    for _, fold in best.group_by("fold"):
        errors = fold.sort("size")["train_error"].to_numpy()
        assert (np.diff(errors) <= 1e-15).all()
    proved = table_study(replace(SMALL, work=1e12, max_size=6), [toy(rows=120, flips=0.3)])
    exact = proved.frame.filter(learner=OPTIMAL, tuned=False)["train_error"]
    assert (best["train_error"] - best["gap"] <= exact + 1e-12).all()
    assert (exact <= best["train_error"] + 1e-12).all()


def test_no_clock_decides_which_optimal_trees_are_found(monkeypatch):
    """No search has a second round, however slow the machine is: each improves trees anew."""
    data = toy(rows=120, flips=0.3)
    training = study_tables._train(data.labels.classes, data.X, data.codes, SMALL)
    plan = replace(SMALL, work=1e12, max_size=5)
    before = FAMILIES[OPTIMAL](training, plan)
    searches, polish = [], frontier.Frontier._polish

    def noting(search):
        searches.append(search)
        polish(search)

    monkeypatch.setattr(frontier.Frontier, "_polish", noting)
    monkeypatch.setattr(frontier, "ROUND", 0.01)
    monkeypatch.setattr(clock, "TICK", 1.0)
    clock.looked_at(monkeypatch)
    after = FAMILIES[OPTIMAL](training, plan)
    assert searches
    assert len(searches) == len({id(search) for search in searches})
    assert [model.tree for model in after.models] == [model.tree for model in before.models]
    assert (after.costs == after.lower).all()


def test_pruned_cart_is_the_path_of_cost_complexity_pruning():
    data = toy(rows=60)
    training = study_tables._train(data.labels.classes, data.X, data.codes, SMALL)
    found = FAMILIES["CART pruned"](training, SMALL)
    X, y = training.learned_ranks, data.codes
    path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y)
    for size, model in enumerate(found.models):
        fitted = [
            DecisionTreeClassifier(random_state=0, ccp_alpha=max(alpha, 0)).fit(X, y)
            for alpha in path.ccp_alphas
        ]
        fits = [tree for tree in fitted if tree.get_n_leaves() - 1 <= size]
        largest = max(fits, key=lambda tree: tree.get_n_leaves())
        assert (model.codes(data.X) == largest.predict(X)).all()


def test_a_price_is_chosen_by_the_inner_folds():
    """Prices in the middle of their ranges; of equally good ones the highest."""
    outer = Candidates([], np.array([0.5, 0.3, 0.2, 0.19]))
    inner = [(Candidates([], np.array([0.5, 0.3, 0.25, 0.1])), np.array([9, 5, 4, 4]))]
    # the ranges are cut at 0.2, 0.1 and 0.01: prices 0.4, sqrt(0.02), sqrt(0.001), 0
    # inner sizes of least cost: 0, 1, 3, 3; wrong: 9, 5, 4, 4
    assert choose("price", outer, inner) == 2
    assert choose("size", outer, inner) == 2
    inner = [(inner[0][0], np.array([9, 3, 4, 4]))]
    assert choose("price", outer, inner) == choose("size", outer, inner) == 1


def test_tests_over_sets_agree_with_separate_code():
    random = np.random.default_rng(3)
    for count in (6, 8):
        differences = random.normal(0.01, 0.02, count)
        assert signed_rank(differences) == pytest.approx(twin.signed_rank(differences.tolist()))
        assert signed_rank(differences) == scipy.stats.wilcoxon(differences).pvalue
        draws = np.random.default_rng([1, 2]).dirichlet([0.5] + [1] * count, 300)
        above, within, below = bayes_signed_rank(differences, 0.01, 300, [1, 2])
        expected = twin.bayes_counts(differences.tolist(), 0.01, draws.tolist())
        assert [round(300 * each) for each in (above, within, below)] == list(expected)
    tied = np.array([0.0, 0.0, 0.1, 0.1, -0.2, 0.3])
    assert signed_rank(tied) == scipy.stats.wilcoxon(tied, zero_method="zsplit").pvalue
    assert signed_rank(np.zeros(7)) == 1.0
    p_values = [0.04, 0.01, 0.02, 0.5]
    assert holm(p_values) == pytest.approx(twin.holm(p_values))
    assert holm(p_values) == pytest.approx([0.08, 0.04, 0.06, 0.5])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("shift", "count", "verdict"),
    [
        (0.05, 12, "better"),
        (-0.05, 12, "worse"),
        (0.0, 12, "practically equal"),
        (0.05, 5, TOO_FEW),
    ],
)
def test_verdicts_over_sets(shift, count, verdict):
    values = shift + np.linspace(-0.004, 0.004, count)
    [found] = judge(["other"], [values], SMALL)
    assert found.verdict == verdict
    assert found.better + found.same + found.worse == pytest.approx(1)


def test_undecided_is_a_verdict():
    [found] = judge(["other"], [np.array([0.1, -0.1, 0.11, -0.12, 0.05, -0.06])], SMALL)
    assert found.verdict == "undecided"


class Cheat:
    """A family that is right on a share of the rows, which it knows by a hidden column."""

    def __init__(self, right):
        self.right = right

    def __call__(self, training, plan):
        return Candidates([self] * (plan.max_size + 1), np.zeros(plan.max_size + 1))

    def codes(self, rows):
        truth = rows["truth"].to_numpy()
        return truth if self.right else 1 - truth


def cheating_sets(count):
    random = np.random.default_rng(5)
    sets = []
    for number in range(count):
        truth = random.integers(0, 2, 40)
        frame = pl.DataFrame({"truth": truth, "noise": random.random(40)})
        sets.append(DataSet.of(f"set {number}", frame, truth, SMALL))
    return sets


@pytest.mark.parametrize(
    ("optimal", "other", "count", "verdict"),
    [
        (True, False, 7, "holds"),
        (False, True, 7, "fails"),
        (True, True, 7, "fails"),
        (True, False, 5, TOO_FEW),
    ],
)
def test_learners_of_known_order_flip_every_verdict_on_tables(optimal, other, count, verdict):
    learners = Learners.by_size({"other": Cheat(other), OPTIMAL: Cheat(optimal)})
    found = table_study(SMALL, cheating_sets(count), learners=learners)
    for tuned in (False, True):
        [judged] = found.judged(tuned)
        assert page.table_claim(found, judged, tuned).verdict == verdict
    difference = found.difference("set 0", "other", False)
    assert difference == (float(optimal) - float(other), 0.0)


def test_a_learner_that_fails_is_listed_and_the_rest_goes_on():
    def picky(X, y, size):
        if X.shape[0] == 40 and y[0] == 1:
            raise RuntimeError("singular\nmatrix")
        return DecisionTreeClassifier(max_leaf_nodes=size + 1, random_state=0).fit(X, y)

    families = {
        "picky": BySize(picky),
        "bad": BySize(LogisticRegression()),
        OPTIMAL: FAMILIES[OPTIMAL],
    }
    data = [toy(f"toy {seed}", seed=seed) for seed in range(3)]
    found = table_study(SMALL, data, learners=Learners.by_size(families))
    failed = dict(found.left_out.filter(pl.col("reason").str.contains("bad")).iter_rows())
    assert {*failed} == {"toy 0", "toy 1", "toy 2"}
    assert "ValueError: an estimator must have a parameter for its size" in failed["toy 0"]
    picky_ones = found.left_out.filter(pl.col("reason").str.contains("picky failed"))
    assert 0 < picky_ones.height < 3
    assert picky_ones["reason"][0] == "picky failed: RuntimeError: singular matrix"
    assert len(found.differences("picky", True)) == 3 - picky_ones.height
    assert found.differences("bad", False) == {}
    assert "failed" in [cell for row in page._errors_table(found, False).rows for cell in row]


def test_a_fold_that_no_learner_can_use_ends_nothing(monkeypatch):
    def refuse(*arguments):
        raise ValueError("no literals")

    monkeypatch.setattr(study_tables, "_split", refuse)
    found = table_study(SMALL, [toy()])
    assert found.frame.is_empty()
    assert found.left_out["reason"].to_list() == [
        f"{name} failed: ValueError: no literals" for name in FAMILIES
    ]
    assert found.judged(False) == []
    section = page.judged_section(found, tuned=True)
    assert (section.drawings, section.claims) == ((), ())


def test_without_optimal_trees_nothing_is_judged():
    def fail(training, plan):
        raise RuntimeError("no search")

    learners = Learners.by_size({"CART": FAMILIES["CART"], "TopDown": FAMILIES["TopDown"]})
    failing = Learners.by_size({**learners.families, OPTIMAL: fail})
    found = table_study(SMALL, [toy()], learners=failing)
    assert found.learners(False) == ["CART", "TopDown"]
    assert found.judged(False) == found.judged(True) == []
    assert found.certified("toy") == 0
    assert page.sets_section(found).tables[-1].rows == (
        ("toy", "optimal failed: RuntimeError: no search"),
    )


def write(folder, name, content):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def test_reads_a_folder_and_says_what_is_left_out(tmp_path):
    rows = "\n".join(f"{number % 7},{'ab'[number % 3 == 0]},{number % 2}" for number in range(30))
    write(tmp_path, "a.csv", "size,class,side\n" + rows + "\n")
    write(tmp_path, "b.csv", "size,kind,label\n" + rows + "\n")
    write(tmp_path, "c-one.csv", "x,label\n" + "1,a\n2,a\n" * 5)
    write(tmp_path, "d-none.csv", "x,y\n1,2\n3,4\n")
    write(tmp_path, "e-quantity.csv", "x,label\n" + "".join(f"{i},{i / 8}\n" for i in range(30)))
    write(tmp_path, "f-numbers.csv", "x,label\n" + "".join(f"{i % 4},{i}\n" for i in range(30)))
    write(tmp_path, "g-broken.parquet", b"PAR1 is not enough")
    write(tmp_path, "h-empty.csv", "")
    write(tmp_path, "i-lone.csv", "label\na\nb\n")
    write(tmp_path, "j-some.csv", "x,label\n" + "1,a\n2,b\n3,\n" * 4)
    write(tmp_path, "README.md", "# tables")
    (tmp_path / "more").mkdir()
    odd = pl.DataFrame({"x": [[1], [2, 3]] * 5, "label": ["a", "b"] * 5})
    odd.write_parquet(tmp_path / "k-lists.parquet")
    sets, left = read_sets(tmp_path, "kind", SMALL)
    assert [(each.name, each.labels.classes, each.X.columns) for each in sets] == [
        ("a", ("a", "b"), ["size", "side"]),
        ("b", ("a", "b"), ["size", "label"]),
        ("j-some", ("a", "b"), ["x"]),
    ]
    assert [name for name, _ in left] == [
        "README.md", "c-one.csv", "d-none.csv", "e-quantity.csv", "f-numbers.csv",
        "g-broken.parquet", "h-empty.csv", "i-lone.csv", "j-some.csv", "k-lists.parquet", "more",
    ]  # fmt: skip
    reasons = dict(left)
    assert all(reasons.values())
    assert "two classes" in reasons["c-one.csv"]
    assert "a column kind or label or target or class; there is none" in reasons["d-none.csv"]
    assert "a quantity" in reasons["e-quantity.csv"]
    assert "a quantity" in reasons["f-numbers.csv"]
    assert "cannot be read" in reasons["g-broken.parquet"]
    assert "beside the labels" in reasons["i-lone.csv"]
    assert reasons["j-some.csv"] == "4 rows without a label"
    without, _ = read_sets(tmp_path, None, SMALL)
    assert [each.X.columns for each in without][1] == ["size", "kind"]


def test_a_table_too_large_for_memory_is_left_out_before_it_is_read(tmp_path, monkeypatch):
    write(tmp_path, "a.csv", "x,label\n" + "1,a\n2,b\n" * 50)
    monkeypatch.setattr(study_tables, "MOST_BYTES", 1000)
    monkeypatch.setattr(study_tables, "read_file", None)
    sets, left = read_sets(tmp_path, None, SMALL)
    assert sets == []
    assert "GiB of memory" in left[0].reason


def test_large_tables_are_cut_with_classes_in_proportion():
    labels = np.array(["a"] * 300 + ["b"] * 100)
    frame = pl.DataFrame({"x": np.arange(400)})
    data = DataSet.of("large", frame, labels, SMALL)
    assert (data.X.height, data.given) == (60, 400)
    assert np.bincount(data.codes).tolist() == [45, 15]
    assert data.X["x"].is_sorted()
    assert (data.codes == (data.X["x"].to_numpy() >= 300)).all()
    assert DataSet.of("large", frame, labels, SMALL).digest == data.digest
    other = DataSet.of("large", frame, labels, replace(SMALL, seed=1))
    assert other.digest != data.digest


def test_scikit_learn_bundles_four_sets():
    sets = study_tables.bundled_sets(SMALL)
    assert [data.name for data in sets] == ["iris", "wine", "breast_cancer", "digits"]
    assert all(data.X.height == 60 for data in sets)


def test_tables_do_not_depend_on_workers_and_are_kept(tmp_path):
    import joblib

    data = [toy("one"), toy("two", seed=2)]
    alone = table_study(SMALL, data)
    cache_ = Cache(tmp_path)
    with joblib.parallel_config(backend="threading"):
        again = table_study(SMALL, data, cache=cache_, n_jobs=3)
    assert alone.frame.equals(again.frame)
    assert cache_.computed == 6
    kept = Cache(tmp_path)
    assert table_study(replace(SMALL, rope=0.5), data, cache=kept).frame.equals(alone.frame)
    assert (kept.computed, kept.reused) == (0, 6)
    table_study(SMALL, [toy("one", seed=9)], cache=kept)  # other content under the same name
    assert kept.computed == 3


def test_fractions_of_counted_labels_need_no_large_denominator():
    """A sample as a table: masses are counts."""
    drawn = make_target(15).draw(1000, [3])
    (mass, positive), denominator = as_table(drawn).scaled_rows
    assert 1000 % denominator == 0
    assert mass.dtype == np.int64
    ones = np.bincount(drawn.codes[drawn.labels == 1], minlength=len(mass))
    assert (positive * (1000 // denominator) == ones).all()
    assert Fraction(int(mass.sum()), denominator) == 1
