"""Claims from experiments: every verdict follows from the data, and each can be reached."""

import dataclasses

import polars as pl
import pytest

from mictree.experiments import sample_size
from mictree.experiments.examples import WORKED_EXAMPLE, Examples, step_through
from mictree.experiments.finite_samples import FiniteSamples, FiniteSetting, Limit, Plan
from mictree.experiments.histograms import Setting, Spread
from mictree.experiments.sample_size import SampleSizes
from mictree.growers.rules import TIES
from mictree.report import claims
from mictree.report.claims import Results
from mictree.report.page import Page, render
from mictree.report.run import found
from mictree.statements.checks import Check, Finding

VERDICTS = ("holds", "holds in part", "fails")
PLAN = Plan(rows=(50, 500), repetitions=3)


def spread(topdown, bestfirst):
    """A setting in which the formulas have these MIC, whatever the tie rule."""
    rows = [
        {"rule": rule, "ties": ties, "mic": mic, "criterion": "entropy"}
        for rule, values in (("topdown", topdown), ("bestfirst", bestfirst))
        for ties in TIES
        for mic in values
    ]
    frame = pl.DataFrame(rows)
    return Spread(Setting("made up", 2, 2, (0.5,)), 100, 0, frame, 0.0)


GOOD, BAD = [0.0] * 96 + [0.02] * 4, [0.02] * 100
FAR, NEAR = [0.06] * 1 + [0.0] * 99, [0.05] * 100
TYPICAL = [0.005] * 100  # below 0.01, none below 0.001


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([GOOD, GOOD], "holds"),
        ([GOOD, BAD], "holds in part"),
        ([TYPICAL, TYPICAL], "holds in part"),
        ([[0.0] * 94 + [0.02] * 6] * 2, "holds in part"),  # 94% below 0.01, all of them far below
        ([BAD, BAD], "fails"),
    ],
)
def test_near_optimal(values, verdict):
    claim = claims.near_optimal(tuple(spread(topdown, FAR) for topdown in values))
    assert claim.verdict == verdict
    assert "95%" in claim.rule
    assert "50% below 0.001" in claim.rule


@pytest.mark.parametrize(
    ("values", "verdict"),
    [([FAR, FAR], "holds"), ([FAR, NEAR], "holds in part"), ([NEAR, NEAR], "fails")],
)
def test_far_from_optimal(values, verdict):
    claim = claims.far_from_optimal(tuple(spread(GOOD, bestfirst) for bestfirst in values))
    assert claim.verdict == verdict
    assert "1% of the formulas above 0.05" in claim.rule


def finite_setting(gaps, exact_gap):
    """BestFirst's error minus TopDown's for each number of rows; and with D known."""
    rows = [
        {"rows": count, "repetition": number, "learner": learner, "exact_error": error,
         "test_error": error, "size": 5, "seconds": 0.0}
        for count, gap in zip(PLAN.rows, gaps, strict=True)
        for number in range(PLAN.repetitions)
        for learner, error in (("TopDown", 0.2), ("BestFirst", 0.2 + gap))
    ]  # fmt: skip
    limit = Limit({"TopDown": [0.5, 0.2], "BestFirst": [0.5, 0.2 + exact_gap]}, None)
    return FiniteSetting("made up", pl.DataFrame(rows), limit, 0.0)


def finite(*settings):
    return FiniteSamples(PLAN, tuple(finite_setting(*setting) for setting in settings))


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        ([(0.1, 0.1), (0.0, 0.1)], "holds"),  # from 50 rows on, from 500 rows on
        ([(0.1, 0.1), (0.1, 0.0)], "holds in part"),
        ([(0.1, 0.1), (0.1, -0.1)], "holds in part"),
        ([(0.1, 0.0), (0.0, 0.0)], "fails"),
        ([(-0.1, -0.1), (0.1, -0.1)], "fails"),
    ],
)
def test_outperforms(gaps, verdict):
    claim = claims.outperforms(finite(*((gap, 0.1) for gap in gaps)))
    assert claim.verdict == verdict
    assert "in every one of 3 repetitions" in claim.rule


def test_one_lost_repetition_is_enough_not_to_outperform():
    setting = finite_setting((0.1, 0.1), 0.1)
    lost = (pl.col("rows") == 500) & (pl.col("repetition") == 2) & (pl.col("learner") == "TopDown")
    error = pl.when(lost).then(0.35).otherwise(pl.col("exact_error")).alias("exact_error")
    changed = dataclasses.replace(setting, frame=setting.frame.with_columns(error))
    assert claims.outperforms(FiniteSamples(PLAN, (changed,))).verdict == "fails"


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        ([(0.1, 0.05), (-0.1, -0.2)], "holds"),
        ([(0.1, 0.05), (0.1, -0.1)], "holds in part"),
        ([(0.1, 0.1), (0.0, 0.1)], "holds in part"),
        ([(0.1, -0.1), (-0.1, 0.1)], "fails"),
        ([(0.1, 0.0), (0.0, 0.0)], "fails"),
        ([(1e-15, 0.1), (0.1, 1e-15)], "fails"),  # rounding predicts nothing
    ],
)
def test_predicts(gaps, verdict):
    settings = [((0.0, seen), exact) for exact, seen in gaps]
    claim = claims.predicts(finite(*settings))
    assert claim.verdict == verdict
    assert "exceed 1e-12 and have the same sign" in claim.rule


def results(quick, spreads, samples):
    checks = tuple(
        Check(number, "", (Finding("", "x", "", ""),), "", 0.0) for number in claims.PROVED
    )
    growth = step_through("case", WORKED_EXAMPLE, 5)
    swapped = {**growth.trees, "TopDown": growth.trees["BestFirst"],
               "BestFirst": growth.trees["TopDown"]}  # fmt: skip
    stepped = (dataclasses.replace(growth, trees=swapped),)  # fails
    sizes = SampleSizes(sample_size.Plan(), ())
    return Results(quick, checks, Examples(growth.problem, ()), stepped, spreads, samples, sizes)


@pytest.mark.parametrize("gaps", [(0.0, -0.1), (0.1, 0.1)])
def test_quick_runs_judge_what_they_can_and_full_runs_everything(gaps):
    """A full run can fail every claim, whatever the sizes of its samples."""
    spreads = (spread(BAD, NEAR) if gaps[1] < 0 else spread(GOOD, FAR),)
    samples = finite((gaps, 0.1))
    quick, full = (results(quick, spreads, samples) for quick in (True, False))
    wanted = "fails" if gaps[1] < 0 else "holds"
    assert [claim.verdict for claim in claims.claims(full)[-5:]] == ["fails", *[wanted] * 4]
    judged = claims.claims(quick)
    assert [claim.verdict for claim in judged[-5:]] == ["fails", *["not judged"] * 4]
    assert [claim.measured for claim in judged] == [c.measured for c in claims.claims(full)]
    counted = found(full).partition("claims ")[2]
    assert counted == {"fails": "6 hold, 5 fail.", "holds": "10 hold, 1 fails."}[wanted]
    assert found(quick).endswith("6 hold, 1 fails, 4 are not judged, as a quick run has too few "
                                 "formulas and rows.")  # fmt: skip


@pytest.mark.parametrize(
    ("topdown", "bestfirst", "verdict"),
    [
        ("TopDown", "BestFirst", "holds"),
        ("TopDown", "TopDown", "holds in part"),
        ("BestFirst", "BestFirst", "holds in part"),
        ("BestFirst", "TopDown", "fails"),
    ],
)
def test_worse_tree(topdown, bestfirst, verdict):
    growth = step_through("case", WORKED_EXAMPLE, 5)
    trees = growth.trees
    swapped = {**trees, "TopDown": trees[topdown], "BestFirst": trees[bestfirst]}
    assert claims.worse_tree(dataclasses.replace(growth, trees=swapped)).verdict == verdict


def test_a_claim_without_a_case_has_no_verdict():
    with pytest.raises(ValueError, match="at least one case"):
        claims.near_optimal(())


def page_of(verdict):
    claim = claims.Claim("Section 0", "One is one.", ("1",), "Cases are all numbers.", verdict)
    return render(Page("title", "summary", (claim,), (), (), (), []))


@pytest.mark.parametrize(
    ("verdict", "kind"),
    [
        *zip(VERDICTS, ("good", "part", "bad"), strict=True),
        ("unclear as printed", "open"),
        ("not judged", "open"),
    ],
)
def test_the_page_shows_verdict_and_rule(verdict, kind):
    html = page_of(verdict)
    assert f'<span class="verdict {kind}">{verdict}</span>' in html
    assert "Cases are all numbers." in html
    assert claims.CASES_RULE in html
