"""Experiments of the atlas against slow and obvious twins."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import pairwise, permutations

import numpy as np
import polars as pl
import pytest

import mictree as mt
from mictree.experiments import (
    dependence,
    function_sizes,
    noise,
    rankings,
    relabellings,
    voting,
    worst_over_biases,
)
from mictree.experiments.cache import Cache
from tests.reference import functions as reference
from tests.reference.splits import gain, is_tied

SIZES = ["perfect_size", "greedy_size_best", "greedy_size_worst"]


@cache
def once(experiment, plan):
    """The result of an experiment, computed for the first test that looks at it."""
    return experiment(plan)


def labels_of(table, variables):
    return tuple(table >> row & 1 for row in range(2**variables))


class TestFunctionSizes:
    PLAN = function_sizes.Plan((("all", 3), ("monotone", 3), ("threshold", 3)))

    @pytest.fixture
    def found(self):
        return once(function_sizes.function_sizes, self.PLAN)

    @pytest.mark.parametrize("family", ["all", "monotone", "threshold"])
    def test_every_function_is_counted_once(self, found, family):
        every = reference.all_functions(3)
        if family == "monotone":
            every = [each for each in every if reference.is_monotone(each)]
        if family == "threshold":
            every = list(reference.threshold_functions(3, 2))
        counted = Counter(map(reference.sizes, every))
        rows = found.of(family)
        assert dict(zip(rows[SIZES].iter_rows(), rows["count"], strict=True)) == counted
        assert found.functions(family) == len(every)
        least = sum(size[0] * number for size, number in counted.items()) / len(every)
        assert found.mean(family, "perfect_size") == pytest.approx(least)
        for place, name in enumerate(SIZES):
            minimal = sum(n for size, n in counted.items() if size[place] == size[0])
            assert found.minimal(family, name) == minimal
            ratio = max(Fraction(size[place], size[0]) for size in counted if size[0])
            assert Fraction(*found.largest_ratio(family, name)) == ratio

    def test_the_smallest_failure(self, found):
        """None of two variables; of three, those of least size are all images of one."""
        assert all(
            best == perfect for perfect, best, _ in map(reference.sizes, reference.all_functions(2))
        )
        three = reference.all_functions(3)
        failing = [each for each in three if reference.sizes(each)[1] > reference.sizes(each)[0]]
        least = min(reference.sizes(each)[0] for each in failing)
        smallest = {each for each in failing if reference.sizes(each)[0] == least}
        rows = found.smallest.filter(family="all")
        images = set().union(
            *(reference.images(labels_of(table, 3), True, True) for table in rows["table"])
        )
        assert images == smallest
        assert rows["count"].sum() == len(smallest)
        assert rows["variables"].to_list() == [3] * rows.height
        assert set(found.smallest["family"]) == {"all"}

    def test_a_witness_has_both_trees(self, found):
        (witness,) = found.witnesses()
        labels = labels_of(witness.table, witness.variables)
        perfect, best, _ = reference.sizes(labels)
        assert (witness.optimal.size, witness.greedy.size) == (perfect, best)
        for tree in (witness.optimal, witness.greedy):
            inputs = [[row >> i & 1 for i in range(3)] for row in range(8)]
            assert tree.predict(inputs).tolist() == list(labels)
        table = reference.product_table(labels, (Fraction(1, 2),) * 3)
        self.check_greedy(table, witness.greedy, 0, ())

    def check_greedy(self, table, tree, node, path):
        """Every test has the largest gain at its node."""
        if tree.tests[node] < 0:
            return
        free = [name for name in table.names if name not in dict(path)]
        gains = {name: gain(table, path, name, "entropy") for name in free}
        name = table.names[tree.tests[node]]
        assert is_tied(gains[name], max(gains.values()))
        for value, child in enumerate((tree.low[node], tree.high[node])):
            self.check_greedy(table, tree, child, (*path, (name, value)))


class TestRelabellings:
    def test_a_relabelling_is_an_image(self):
        draws = np.random.default_rng(1)
        tables = np.array([27, 0x96, 0x80], dtype=np.uint64)
        copies = relabellings.relabel(tables, 3, 40, draws)
        for table, row in zip(tables.tolist(), copies.tolist(), strict=True):
            images = reference.images(labels_of(table, 3), True, True)
            assert {labels_of(each, 3) for each in row} <= images
        assert len(set(copies[0].tolist())) > 12  # of 24: names, inputs and output all change

    def test_every_mic_is_that_of_its_table(self):
        plan = relabellings.Plan(variables=3, max_size=7, members=4, relabellings=5)
        found = relabellings.relabellings(plan)
        assert found.relabelled.height == 2 * 4 * 5
        for row in found.relabelled.iter_rows(named=True):
            for table, mic in (("table", "representative_mic"), ("relabelled_table", "mic")):
                problem = mt.TableProblem(labels_of(row[table], 3))
                rule = plan.rule(row["rule"])
                assert mt.mic(rule, problem, 7).mic == pytest.approx(row[mic], abs=1e-12)

    def test_means(self):
        plan = relabellings.Plan(variables=2, max_size=3, members=300, relabellings=20)
        found = relabellings.relabellings(plan)
        problems = [mt.TableProblem(each) for each in reference.all_functions(2)]
        true = np.mean([mt.mic(mt.TopDown(), each, 3).mic for each in problems])
        mean, error = found.estimate("TopDown")
        assert abs(mean - true) < 4 * error + 1e-12
        classes = reference.classes(reference.all_functions(2), True, True)
        weighted = sum(
            count * mt.mic(mt.TopDown(), mt.TableProblem(labels_of(table, 2)), 3).mic
            for table, count in classes.items()
        )
        assert found.weighted_mean("TopDown") == pytest.approx(weighted / 16)
        spread = found.spreads.filter(rule="TopDown")
        assert spread.height == 300
        assert (spread["least"] <= spread["mean"]).all()


class TestRankings:
    RANGES = (
        rankings.Range("formulas", 2, 3, (0.3, 0.7), max_size=9),
        rankings.Range("functions", variables=3, max_size=7),
    )
    PLAN = rankings.Plan(RANGES, depths=(1, 2), tops=(1, 2, 3))

    @pytest.fixture
    def found(self):
        return once(rankings.rankings, self.PLAN)

    @pytest.mark.parametrize("each", RANGES, ids=lambda each: each.title)
    def test_means_over_all_members(self, found, each):
        family = each.family
        weights = getattr(family, "counts", np.ones(len(family)))
        problems = [family.problem(member) for member in family.members]
        rules = {name: mt.TopDown(criterion=name) for name in mt.impurity.CRITERIA}
        rules |= {f"lookahead {depth}": mt.Lookahead(depth) for depth in (1, 2)}
        for name, rule in rules.items():
            mics = [mt.mic(rule, problem, each.max_size).mic for problem in problems]
            assert found.mean(each.title, name) == pytest.approx(np.average(mics, weights=weights))
        for top in (1, 2, 3):
            excess = [
                (
                    mt.optimal_errors(problem, each.max_size, top=top)
                    - mt.optimal_errors(problem, each.max_size)
                )[1:].mean()
                for problem in problems
            ]
            expected = np.average(excess, weights=weights)
            assert found.mean(each.title, f"top {top}") == pytest.approx(expected, abs=1e-12)
        totals = found.summary(each.title)["count"]
        assert set(totals) == {int(weights.sum())}

    def test_the_order_and_the_shares(self, found):
        summary = found.summary("functions")
        assert summary["mean"].is_sorted()
        for name, optimal in summary["contestant", "optimal"].iter_rows():
            rows = found.frame.filter(range="functions", contestant=name)
            zero = rows.filter(pl.col("mic") == 0)["count"].sum()
            assert optimal == pytest.approx(zero / 256)

    def test_blocks_change_nothing_and_are_kept(self, found, monkeypatch, tmp_path):
        monkeypatch.setattr(rankings, "BLOCK", 5)
        again = rankings.rankings(self.PLAN, Cache(tmp_path))
        order = ["range", "contestant", "mic"]
        assert again.frame.sort(order).equals(found.frame.sort(order))
        # the formulas, and 14 classes of functions
        assert len(list(tmp_path.glob("rankings-*"))) == 1 + 3
        cache = Cache(tmp_path)
        rankings.rankings(self.PLAN, cache)
        assert cache.computed == 0


class TestWorstOverBiases:
    PLAN = worst_over_biases.Plan(
        3, 3, 12, worst=2, biases=(0.3, 0.5, 0.7), certified_variables=4, certified=2,
        certified_size=6, between=(0.25, 0.75), gap=0.01,
    )  # fmt: skip

    @pytest.fixture
    def found(self):
        return once(worst_over_biases.worst_over_biases, self.PLAN)

    def test_points_are_those_of_the_worst_formulas(self, found):
        frame = mt.sweep(mt.families.grid(3, 3), 12, [mt.TopDown()]).sort("mic", descending=True)
        assert found.formulas == frame["formula"].head(2).to_list()
        for row in found.points.iter_rows(named=True):
            formula = mt.FormulaProblem.from_sizes(row["formula"]).formula
            problem = mt.FormulaProblem(formula, row["bias"])
            assert mt.mic(row["rule"].lower(), problem, 12).mic == pytest.approx(row["mic"])
        assert found.at_half(found.formulas[0]) == pytest.approx(frame["mic"][0])

    def test_certificates_hold_at_random_biases(self, found):
        draws = np.random.default_rng(3)
        assert found.suprema["complete"].all()
        for row in found.suprema.iter_rows(named=True):
            formula = mt.FormulaProblem.from_sizes(row["formula"]).formula
            boxes = found.boxes.filter(formula=row["formula"])
            for bias in draws.uniform(0.25, 0.75, 25).tolist():
                mic = mt.mic(mt.TopDown(), mt.FormulaProblem(formula, bias), 6).mic
                assert mic <= row["upper"] + 1e-12
                inside = boxes.filter((pl.col("low") <= bias) & (pl.col("high") >= bias))
                assert inside.height
                assert inside["mic_lower"].min() - 1e-12 <= mic <= inside["mic_upper"].max() + 1e-12

    def test_the_certified_formulas_are_the_worst_at_the_biases(self, found):
        largest = {}
        for member in mt.families.up_to(4).members:
            formula = mt.families.up_to(4).formula(member)
            largest["+".join(str(len(term)) for term in formula.terms)] = max(
                mt.mic(mt.TopDown(), mt.FormulaProblem(formula, bias), 6).mic
                for bias in (0.3, 0.5, 0.7)
            )
        chosen = found.suprema["formula"].to_list()
        others = [mic for sizes, mic in largest.items() if sizes not in chosen]
        assert min(largest[sizes] for sizes in chosen) >= max(others)


class TestDependence:
    def test_one_arrangement_of_each_kind(self):
        found = list(dependence.arrangements(3))
        every = {
            "".join(order)
            for first in range(1, 4)
            for second in range(1, 4)
            for order in permutations("1" * first + "2" * second)
        }

        def kind(text):
            swapped = text.translate(str.maketrans("12", "21"))
            return frozenset({text, text[::-1], swapped, swapped[::-1]})

        assert {kind(text) for text in found} == {kind(text) for text in every}
        assert len(found) == len({kind(text) for text in every})

    def test_mic_by_summing_over_paths_of_the_chain(self):
        plan = dependence.Plan(max_literals=2, correlations=(-0.4, 0.0), max_size=5)
        found = dependence.dependence(plan)
        for row in found.frame.iter_rows(named=True):
            text, stay = row["arrangement"], (1 + Fraction(str(row["correlation"]))) / 2
            chances, table = [], []
            for inputs in range(2 ** len(text)):
                bits = [inputs >> place & 1 for place in range(len(text))]
                chance = Fraction(1, 2)
                for before, after in pairwise(bits):
                    chance *= stay if before == after else 1 - stay
                chances.append(chance)
                terms = [[b for b, t in zip(bits, text, strict=True) if t == term] for term in "12"]
                table.append(int(any(all(term) for term in terms)))
            problem = mt.TableProblem(table, chances)
            mic = mt.mic(row["rule"].lower(), problem, 5, exact=True).mic
            assert row["mic"] == pytest.approx(float(mic), abs=1e-12)

    def test_summaries(self):
        rows = [
            {"arrangement": text, "correlation": 0.5, "rule": "TopDown", "mic": mic}
            for text, mic in (("12", 0.0), ("122", 0.3), ("212", 0.0))
        ]
        found = dependence.Dependence(dependence.Plan(), pl.DataFrame(rows))
        assert found.arrangements == 3
        assert found.spread("TopDown").row(0) == (0.5, 0.0, pytest.approx(0.1), 0.3, 2 / 3)
        assert found.worst("TopDown")["arrangement"] == "122"


class TestNoise:
    def test_mic_by_flipping_labels(self):
        found = noise.noise(noise.Plan(variables=4, noises=(0.0, 0.3), max_size=5))
        assert found.formulas == len(mt.families.up_to(4))
        for row in found.frame.iter_rows(named=True):
            formula = mt.FormulaProblem.from_sizes(row["formula"]).formula
            truth = mt.TableProblem.from_formula(str(formula)).truth_table
            noisy = [abs(label - Fraction(str(row["noise"]))) for label in truth.tolist()]
            mic = mt.mic(row["rule"].lower(), mt.TableProblem(noisy), 5).mic
            assert row["mic"] == pytest.approx(mic, abs=1e-12)
            assert row["scaled"] == pytest.approx(mic / (1 - 2 * row["noise"]), abs=1e-12)

    def test_counts_formulas_that_noise_changes(self):
        rows = [
            {"formula": name, "noise": chance, "rule": "TopDown", "mic": mic, "scaled": mic}
            for chance, mics in ((0.0, (0.1, 0.1, 0.1)), (0.2, (0.2, 0.0, 0.1)))
            for name, mic in zip(("1", "2", "3"), mics, strict=True)
        ]
        spread = noise.Noise(noise.Plan(), pl.DataFrame(rows)).spread("TopDown")
        assert spread["worse"].to_list() == [0, 1]
        assert spread["better"].to_list() == [0, 1]


class TestVoting:
    def test_targets(self):
        majority = voting.problem_of("majority of 3").truth_table.tolist()
        assert majority == [0, 0, 0, 1, 0, 1, 1, 1]
        assert voting.problem_of("parity of 2").truth_table.tolist() == [0, 1, 1, 0]
        assert len(voting.problem_of("formula 2+3").variables) == 5
        with pytest.raises(ValueError, match="got 'median of 3'"):
            voting.problem_of("median of 3")

    def test_errors_are_those_of_the_forests(self):
        plan = voting.Plan(("formula 2+2",), trees=(1, 3), max_size=3, repetitions=2, seed=5)
        found = voting.voting(plan)
        problem = voting.problem_of("formula 2+2")
        for row in found.frame.iter_rows(named=True):
            forest = mt.forest_errors(
                problem, mt.TopDown(ties="random"), row["trees"], 3, 2, 5 + row["repetition"]
            )
            assert row["error"] == float(forest.errors[row["size"]])
            assert row["optimal"] == mt.optimal_errors(problem, 3)[row["size"]]
            total = row["trees"] * row["size"]
            assert row["optimal_of_total"] == mt.optimal_errors(problem, total)[total]

    def test_passing_needs_more_than_half_of_the_forests(self):
        rows = [
            {"target": "t", "trees": trees, "repetition": number, "size": size, "error": error,
             "optimal": 0.2, "optimal_of_total": 0.1}
            for trees, size, errors in (
                (1, 1, (0.2, 0.2)), (3, 1, (0.1, 0.2)), (3, 2, (0.1, 0.1)), (5, 1, (0.1, 0.1)),
            )
            for number, error in enumerate(errors)
        ]  # fmt: skip
        found = voting.Voting(voting.Plan(), pl.DataFrame(rows))
        assert found.passes("t") == (3, 2)
        assert found.shares("t")["share"].to_list() == [0, 0.5, 1, 1]
        assert found.shares("t", "optimal_of_total")["share"].to_list() == [0, 0, 0, 0]
