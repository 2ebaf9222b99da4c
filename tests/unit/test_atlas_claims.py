"""Claims of the atlas: every verdict follows from the data, and each can be reached."""

import polars as pl
import pytest

from mictree.experiments import (
    dependence,
    function_sizes,
    good_counts,
    noise,
    rankings,
    relabellings,
    two_term_biases,
    voting,
    worst_over_biases,
)
from mictree.report.atlas import formulas, functions

EACH = ("holds", "holds in part", "fails")


def made_sizes(*families):
    """Families in which triples of sizes (least, best, worst) occur so many times."""
    names = ("all", "monotone", "threshold")[: len(families)]
    rows = [
        {"family": name, "variables": 3, "perfect_size": least, "greedy_size_best": best,
         "greedy_size_worst": worst, "members": 1, "count": count}
        for name, triples in zip(names, families, strict=True)
        for (least, best, worst), count in triples.items()
    ]  # fmt: skip
    plan = function_sizes.Plan(tuple((name, 3) for name in names))
    return function_sizes.FunctionSizes(plan, pl.DataFrame(rows), pl.DataFrame())


GOOD, BAD = {(3, 3, 3): 51, (3, 4, 6): 49}, {(3, 3, 3): 50, (3, 7, 8): 50}
PERFECT = {(3, 3, 3): 5}


@pytest.mark.parametrize(
    ("families", "verdict"), list(zip(([GOOD, GOOD], [GOOD, BAD], [BAD, BAD]), EACH, strict=True))
)
def test_often_minimal(families, verdict):
    assert functions.often_minimal(made_sizes(*families)).verdict == verdict


@pytest.mark.parametrize(
    ("families", "verdict"),
    [
        ([PERFECT, PERFECT], "holds"),
        ([PERFECT, GOOD], "holds in part"),
        ([{(3, 3, 4): 1}], "holds in part"),  # minimal under the best ties only
        ([GOOD, BAD], "fails"),
    ],
)
def test_always_minimal(families, verdict):
    assert functions.always_minimal(made_sizes(*families)).verdict == verdict


@pytest.mark.parametrize(
    ("families", "verdict"),
    [
        ([GOOD], "holds"),
        ([{(3, 6, 7): 1}], "holds in part"),
        ([GOOD, BAD], "holds in part"),
        ([BAD], "fails"),
    ],
)
def test_at_most_twice(families, verdict):
    claim = functions.at_most_twice(made_sizes(*families))
    assert claim.verdict == verdict
    assert "at most 2" in claim.rule


def made_labels(**rules):
    """MIC of representatives, and a list of relabelled MIC for each of two draws."""
    representatives, relabelled = [], []
    for rule, (mic, draws) in rules.items():
        representatives.append({"rule": rule, "mic": mic, "members": 1, "count": 4})
        relabelled += [
            {"rule": rule, "draw": number, "representative_mic": mic, "mic": each}
            for number, mics in enumerate(draws)
            for each in mics
        ]
    return relabellings.Relabellings(
        relabellings.Plan(), pl.DataFrame(representatives), pl.DataFrame(relabelled)
    )


NARROW, WIDE = [[0.099, 0.1], [0.1, 0.101]], [[0.05, 0.15], [0.04, 0.16]]
NEAR, FAR = (0.1005, NARROW), (0.3, NARROW)
SPREAD = (0.1, WIDE)


@pytest.mark.parametrize(
    ("rules", "verdict"),
    list(zip(((NEAR, NEAR), (NEAR, FAR), (FAR, FAR)), EACH, strict=True)),
)
def test_representative(rules, verdict):
    found = made_labels(TopDown=rules[0], BestFirst=rules[1])
    claim = functions.representative(found)
    assert claim.verdict == verdict
    assert "seed 16" in claim.source


@pytest.mark.parametrize(
    ("rules", "verdict"),
    list(zip(((NEAR, NEAR), (NEAR, SPREAD), (SPREAD, SPREAD)), EACH, strict=True)),
)
def test_independent(rules, verdict):
    found = made_labels(TopDown=rules[0], BestFirst=rules[1])
    assert functions.independent(found).verdict == verdict


def made_counts(*sizes):
    """For each size, functions with one best tree and with nine; the mean chances of two rules."""
    rows = [
        {"table": number, "count": count, "size": size, "trees": trees, "topdown": one,
         "bestfirst": other}
        for size, (alone, several, one, other) in enumerate(sizes, start=1)
        for number, (count, trees) in enumerate(((alone, 1), (several, 9)))
    ]  # fmt: skip
    return good_counts.GoodCounts(good_counts.Plan(), pl.DataFrame(rows))


FEW_ALONE, MANY_ALONE = (2, 6, 0.9, 0.5), (6, 2, 0.5, 0.9)


@pytest.mark.parametrize("claim", [functions.several_best, functions.finds_best])
@pytest.mark.parametrize(
    ("sizes", "verdict"),
    list(
        zip(
            ((FEW_ALONE, FEW_ALONE), (FEW_ALONE, MANY_ALONE), (MANY_ALONE, MANY_ALONE)),
            EACH,
            strict=True,
        )
    ),
)
def test_best_trees(claim, sizes, verdict):
    found = claim(made_counts(*sizes))
    assert found.verdict == verdict
    assert "functions of 4 variables" in found.source


def made_rankings(*ranges):
    """One member for each range; a mean MIC for each contestant."""
    titles = [f"range {number}" for number in range(len(ranges))]
    rows = [
        {"range": title, "contestant": name, "mic": mic, "members": 1, "count": 2}
        for title, contestants in zip(titles, ranges, strict=True)
        for name, mic in contestants.items()
    ]
    plan = rankings.Plan(tuple(rankings.Range(title, 1, 1) for title in titles), depths=(1, 2, 3))
    return rankings.Rankings(plan, pl.DataFrame(rows))


FALLING = {
    "entropy": 0.2, "gini": 0.1, "root": 0.3, "minority": 0.4,
    "lookahead 1": 0.2, "lookahead 2": 0.1, "lookahead 3": 0.05, "top 1": 0.1, "top 2": 0.01,
}  # fmt: skip
RISING = {
    "entropy": 0.1, "gini": 0.1, "root": 0.3, "minority": 0.4,
    "lookahead 1": 0.1, "lookahead 2": 0.1, "lookahead 3": 0.2, "top 1": 0.1, "top 2": 0.05,
}  # fmt: skip


@pytest.mark.parametrize(
    "claim", [functions.best_criterion, functions.further_is_better, functions.two_are_enough]
)
@pytest.mark.parametrize(
    ("ranges", "verdict"),
    list(zip(([FALLING, FALLING], [FALLING, RISING], [RISING]), EACH, strict=True)),
)
def test_rankings(claim, ranges, verdict):
    assert claim(made_rankings(*ranges)).verdict == verdict


OPTIMAL = FALLING | {"top 1": 0.0}


@pytest.mark.parametrize(
    ("ranges", "verdict"),
    list(zip(([OPTIMAL, OPTIMAL], [OPTIMAL, FALLING], [RISING]), EACH, strict=True)),
)
def test_one_is_enough(ranges, verdict):
    assert functions.one_is_enough(made_rankings(*ranges)).verdict == verdict


def test_a_deeper_look_is_compared_step_by_step():
    mixed = FALLING | {"lookahead 3": 0.15}
    assert functions.further_is_better(made_rankings(mixed)).verdict == "holds in part"


def made_biases(points, uppers):
    """MIC at biases 0.3, 0.5 and 0.7 of each formula; upper ends of certificates."""
    rows = [
        {"formula": name, "rule": rule, "bias": bias, "mic": mic}
        for name, mics in points.items()
        for rule in ("TopDown", "BestFirst")
        for bias, mic in zip((0.3, 0.5, 0.7), mics, strict=True)
    ]
    suprema = [
        {"formula": name, "lower": upper / 2, "upper": upper, "worst": 0.4, "complete": True}
        for name, upper in uppers.items()
    ]
    return worst_over_biases.WorstOverBiases(
        worst_over_biases.Plan(), pl.DataFrame(rows), pl.DataFrame(), pl.DataFrame(suprema)
    )


PEAK, SLOPE = (0.1, 0.2, 0.1), (0.1, 0.2, 0.3)


@pytest.mark.parametrize(
    ("points", "uppers", "verdict"),
    [
        ({"2": PEAK, "3": PEAK}, {"2": 0.009, "3": 0.001}, "holds"),
        ({"2": PEAK, "3": SLOPE}, {"2": 0.009, "3": 0.01}, "holds in part"),
        ({"2": SLOPE, "3": SLOPE}, {"2": 0.02, "3": 0.01}, "fails"),
    ],
)
def test_biases(points, uppers, verdict):
    found = made_biases(points, uppers)
    assert formulas.worst_at_half(found).verdict == verdict
    assert formulas.near_optimal(found).verdict == verdict


def made_ends(**outcomes):
    """For terms of so many literals, what is certain below and above the bias 0.75."""
    rows = [
        {"shorter": int(pair[1]), "longer": int(pair[2]), "low": low, "high": high,
         "outcome": outcome, "boxes": 1}
        for pair, both in outcomes.items()
        for low, high, outcome in zip((0.01, 0.75), (0.75, 0.99), both, strict=True)
    ]  # fmt: skip
    plan = two_term_biases.Plan(max_literals=2)
    return two_term_biases.TwoTermBiases(plan, pl.DataFrame(rows), 0.0)


ALWAYS, UP_TO, UNKNOWN = ("optimal",) * 2, ("optimal", "excess"), ("optimal", "undecided")


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ((ALWAYS, ALWAYS, ALWAYS), "holds"),
        ((ALWAYS, ALWAYS, UP_TO), "holds in part"),
        ((UP_TO, UNKNOWN, UP_TO), "fails"),
    ],
)
def test_every_bias(ends, verdict):
    found = made_ends(t11=ends[0], t12=ends[1], t22=ends[2])
    assert formulas.at_every_bias(found).verdict == verdict


def test_conjectures_can_fail_on_the_page():
    """The third names 1/2 as the end of two terms of two literals, the first none."""
    claims = formulas.two_terms_section(made_ends(t11=ALWAYS, t12=UP_TO, t22=UP_TO)).claims
    assert [claim.verdict for claim in claims] == ["holds in part", "fails", "holds", "fails"]


def made_dependence(topdown, bestfirst):
    """A MIC for each correlation, and an arrangement on which every rule is optimal."""
    rows = [
        {"arrangement": text, "correlation": number / 10, "rule": rule, "mic": share * mic}
        for rule, mics in (("TopDown", topdown), ("BestFirst", bestfirst))
        for number, mic in enumerate(mics)
        for text, share in (("12", 1), ("122", 0))
    ]
    return dependence.Dependence(dependence.Plan(), pl.DataFrame(rows))


@pytest.mark.parametrize(
    ("topdown", "bestfirst", "optimal", "better"),
    [
        ((0.0, 0.0), (0.1, 0.1), "holds", "holds"),
        ((0.0, 0.1), (0.1, 0.1), "holds in part", "holds in part"),
        ((0.1, 0.1), (0.1, 0.0), "fails", "fails"),
    ],
)
def test_dependence(topdown, bestfirst, optimal, better):
    found = made_dependence(topdown, bestfirst)
    assert formulas.optimal_when_dependent(found).verdict == optimal
    assert formulas.topdown_is_better(found).verdict == better


def made_noise(topdown, bestfirst):
    """One formula; its scaled MIC for each noise, the first without."""
    rows = [
        {"formula": "2+2", "noise": number / 10, "rule": rule, "mic": mic, "scaled": mic}
        for rule, mics in (("TopDown", topdown), ("BestFirst", bestfirst))
        for number, mic in enumerate(mics)
    ]
    return noise.Noise(noise.Plan(), pl.DataFrame(rows))


SAME, LESS, MORE = (0.1, 0.1), (0.1, 0.05), (0.1, 0.2)


@pytest.mark.parametrize(
    ("rules", "keeps", "never"),
    [
        ((SAME, SAME), "holds", "holds"),
        ((SAME, LESS), "holds in part", "holds"),
        ((SAME, MORE), "holds in part", "holds in part"),
        ((MORE, MORE), "fails", "fails"),
    ],
)
def test_noise(rules, keeps, never):
    found = made_noise(*rules)
    assert formulas.noise_keeps(found).verdict == keeps
    assert formulas.noise_never_hurts(found).verdict == never


def made_votes(**targets):
    """The errors of two forests of three trees, beside least errors of 0.2 and, in total, 0.1."""
    rows = [
        {"target": target, "trees": trees, "repetition": number, "size": 1, "error": error,
         "optimal": 0.2, "optimal_of_total": 0.2 if trees == 1 else 0.1}
        for target, errors in targets.items()
        for trees, votes in ((1, (0.3, 0.3)), (3, errors))
        for number, error in enumerate(votes)
    ]  # fmt: skip
    return voting.Voting(voting.Plan(targets=tuple(targets), trees=(1, 3)), pl.DataFrame(rows))


@pytest.mark.parametrize(
    ("targets", "size", "total"),
    [
        ({"a": (0.05, 0.05), "b": (0.05, 0.05)}, "holds", "holds"),
        ({"a": (0.15, 0.15), "b": (0.05, 0.05)}, "holds", "holds in part"),
        ({"a": (0.15, 0.15), "b": (0.15, 0.25)}, "holds in part", "fails"),
        ({"a": (0.2, 0.2), "b": (0.3, 0.1)}, "fails", "fails"),
    ],
)
def test_forests(targets, size, total):
    found = made_votes(**targets)
    assert formulas.passes_same_size(found).verdict == size
    assert formulas.passes_same_total(found).verdict == total


def test_a_single_tree_is_no_forest():
    """A wrong least error, below which even one tree lies, is not a forest's success."""
    found = made_votes(a=(0.3, 0.3))
    low = found.frame.with_columns(
        pl.when(pl.col("trees") == 1).then(0.1).otherwise(0.3).alias("error")
    )
    claim = formulas.passes_same_total(voting.Voting(found.plan, low))
    assert claim.verdict == "fails"
