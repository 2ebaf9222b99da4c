"""Run the paper's experiments, and judge its claims by their results.

``compute`` runs every experiment, one stage after the other. A ``Clock`` times the stages and
reports the progress of the whole run; the cache lets an interrupted run continue.

``claims`` puts the paper's claims beside our measurements. A claim with a proof takes the verdict
of its statement's check. A claim from experiments has several cases, each with a condition in
numbers: it holds if all are met, holds in part if some are, and fails if none is. So every verdict
can fail. Words such as "the vast majority" are read as the shares that are named here. A quick run
judges no claim about whole families or samples, as it has too few of them.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from mictree._support.progress import Progress, Report
from mictree.excess import ROUNDING
from mictree.experiments import finite_samples, histograms, sample_size
from mictree.experiments.cache import Cache
from mictree.experiments.checked import check_all
from mictree.experiments.examples import (
    BEST_FIRST_SIZE,
    OPTIMAL,
    Examples,
    SteppedGrowth,
    examples,
    stepped_growths,
)
from mictree.experiments.finite_samples import FiniteSamples, FiniteSetting
from mictree.experiments.histograms import Spread
from mictree.growers.rules import TIES, BestFirst, TopDown
from mictree.optimal import optimal_errors
from mictree.problems import FormulaProblem
from mictree.problems.sample import SampleProblem
from mictree.statements import STATEMENTS
from mictree.statements.checks import Check, sentence

# each stage's approximate share of the time of the whole run
SHARES = {
    "compiling": 0.04,
    "theorems": 0.30,
    "example trees": 0.02,
    "histograms": 0.16,
    "finite samples": 0.33,
    "MIC from samples": 0.05,
    "figures": 0.09,
    "page": 0.01,
}


@dataclass(frozen=True)
class Stage:
    """The name and cost of one part of the run."""

    name: str
    seconds: float
    reused: int  # results from an earlier run


@dataclass
class Clock:
    """Times the stages and reports the progress of the whole run."""

    cache: Cache
    progress: Report
    stages: list[Stage] = field(default_factory=list)
    shares: Mapping[str, float] = field(default_factory=lambda: SHARES)
    what: str = "the paper"

    @contextmanager
    def stage(self, name: str) -> Iterator[Report]:
        """Time the block inside; yields a function that reports on this stage alone."""
        before = sum(self.shares[stage.name] for stage in self.stages)

        def report(part: Progress) -> None:
            share = before + self.shares[name] * min(1.0, part.share or 0.0)
            detail = f"{part.what}: {part.detail}" if part.detail else part.what
            self.progress(Progress(self.what, share, detail))

        reused, begin = self.cache.reused, time.perf_counter()
        report(Progress(name))
        yield report
        seconds = time.perf_counter() - begin
        self.stages.append(Stage(name, seconds, self.cache.reused - reused))


@dataclass(frozen=True)
class Results:
    """The results of all experiments of the paper."""

    quick: bool
    checks: tuple[Check, ...]
    examples: Examples
    stepped: tuple[SteppedGrowth, ...]
    spreads: tuple[histograms.Spread, ...]
    finite: finite_samples.FiniteSamples
    sizes: sample_size.SampleSizes


def compute(quick: bool, cache: Cache, clock: Clock, n_jobs: int | None = None) -> Results:
    """Run the experiments, some on several workers; reuse the results of an interrupted run."""
    with clock.stage("compiling"):
        warm_up()
    with clock.stage("theorems") as report:
        checks = check_all(STATEMENTS, quick, cache, report, n_jobs)
    with clock.stage("example trees"):
        shown, stepped = examples(), stepped_growths()
    with clock.stage("histograms") as report:
        settings = histograms.QUICK_SETTINGS if quick else histograms.SETTINGS
        spreads = []
        for number, setting in enumerate(settings):
            within = _part(report, number, len(settings))
            spreads.append(histograms.spread(setting, cache=cache, progress=within))
    with clock.stage("finite samples") as report:
        plan = finite_samples.QUICK_PLAN if quick else finite_samples.Plan()
        finite = finite_samples.finite_samples(plan, cache, report, n_jobs)
    with clock.stage("MIC from samples") as report:
        rows = sample_size.QUICK_PLAN if quick else sample_size.Plan()
        sizes = sample_size.sample_sizes(rows, cache, report, n_jobs)
    return Results(quick, checks, shown, stepped, tuple(spreads), finite, sizes)


def warm_up() -> None:
    """Compile the kernels on tiny problems, so that later times exclude compilation."""
    histograms.spread(histograms.Setting("tiny", 2, 2, (0.3, 0.7)), max_size=3)
    optimal_errors(FormulaProblem("a & b | c"), 3)
    X = np.arange(64, dtype=np.uint8)[:, None] >> np.arange(3, dtype=np.uint8) & 1
    for rule in (TopDown(), BestFirst()):
        rule.grow(SampleProblem(X, X[:, 0] & X[:, 1]), 3)


def _part(report: Report, number: int, parts: int) -> Report:
    return lambda stage: report(
        Progress("histograms", (number + (stage.share or 0.0)) / parts, stage.what)
    )


Verdict = Literal["holds", "holds in part", "fails"]
NOT_JUDGED = "not judged"  # only in quick runs, by their samples
VAST_MAJORITY = 0.95  # how we read "the vast majority" of formulas
TYPICAL = 0.5  # "far below 0.01": this share, and so the median, lies below a tenth of it
MANY = 0.01  # how we read "many" formulas
CASES_RULE = (
    "Statements with a proof hold if the range covered has no counterexample. Each claim from "
    "experiments has several cases, listed under its verdict with their conditions. It holds if "
    "all cases are met, holds in part if some are, and fails if none is."
)
QUICK_RULE = (
    "A quick run judges no claim about whole families or samples: it has too few formulas, rows "
    "and repetitions. The rule of a full run, with the numbers of this one:"
)
PROVED_RULE = "The range covered has no counterexample."
PROVED = (
    "Theorem 4.3 (reduction)",
    "Theorem 5.1",
    "Theorem 6.1",
    "Corollary 6.2",
    "Section 7.1",
    "Section 7.2 (Equation 4)",
)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and our finding."""

    source: str
    text: str
    measured: tuple[str, ...]  # one line each
    rule: str  # how the verdict follows from the measurements
    verdict: str


def decide(met: Sequence[bool]) -> Verdict:
    """The verdict on a claim, given which of its cases meet it."""
    if not met:
        raise ValueError("a claim needs at least one case; there is none")
    if all(met):
        return "holds"
    return "holds in part" if any(met) else "fails"


def claims(results: Results) -> tuple[Claim, ...]:
    """The paper's main claims, in its order."""
    checked = {check.number: check for check in results.checks}
    proved = [_proved(checked[number]) for number in PROVED]
    return (*proved, *_empirical(results))


def _proved(check: Check) -> Claim:
    measured = tuple(sentence(part) for part in (check.range_covered, check.detail) if part)
    return Claim(check.number, check.statement, measured, PROVED_RULE, check.verdict)


def _empirical(results: Results) -> Iterator[Claim]:
    yield worse_tree(results.stepped[0])
    sampled = (
        near_optimal(results.spreads),
        far_from_optimal(results.spreads),
        outperforms(results.finite),
        predicts(results.finite),
    )
    yield from map(_unjudged, sampled) if results.quick else sampled


def _unjudged(claim: Claim) -> Claim:
    """A claim that the smaller ranges of a quick run can neither confirm nor refute."""
    return replace(claim, verdict=NOT_JUDGED, rule=f"{QUICK_RULE} {claim.rule}")


def count_met(met: Sequence[bool]) -> str:
    """How many cases are met, in words."""
    return f"Here {sum(met)} of {len(met)} cases are met."


def worse_tree(growth: SteppedGrowth, size: int = BEST_FIRST_SIZE) -> Claim:
    """Whether TopDown's tree is optimal and BestFirst's is not."""
    error = {
        name: trees[size].error(growth.problem, exact=True) for name, trees in growth.trees.items()
    }
    met = [error["TopDown"] == error[OPTIMAL], error["BestFirst"] > error[OPTIMAL]]
    return Claim(
        "Section 8.1, Supplement D",
        "For x1 & x2 | y1 & y2 & y3 TopDown's tree of size 5 is optimal; BestFirst can grow a "
        "worse one.",
        (
            f"Errors at size {size}: TopDown {error['TopDown']}, optimal {error[OPTIMAL]}, "
            f"BestFirst {error['BestFirst']}, with ties last.",
        ),
        "Two cases: TopDown's error equals the optimal one; BestFirst's is larger. "
        f"{count_met(met)}",
        decide(met),
    )


def near_optimal(spreads: tuple[Spread, ...]) -> Claim:
    """Whether nearly all formulas have a small MIC, and half of them a far smaller one."""
    parts, met = [], []
    for spread in spreads:
        below, far_below = (
            min(spread.share("topdown", ties, column) for ties in TIES)
            for column in ("below_0.01", "below_0.001")
        )
        largest = max(spread.share("topdown", ties, "max") for ties in TIES)
        met += [below >= VAST_MAJORITY, far_below >= TYPICAL]
        parts.append(
            f"{spread.setting.title}: {below:.1%} of {spread.formulas:,} formulas below 0.01, "
            f"{far_below:.1%} below 0.001, largest {largest:.3f}"
        )
    return Claim(
        "Section 8.2",
        "For the vast majority of formulas TopDown is near-optimal: MIC(100) far below 0.01.",
        (
            *map(sentence, parts),
            "These are the shares with the tie rule that is worst for TopDown.",
        ),
        f"Two cases for each of {len(spreads)} distributions, whatever the tie rule: at least "
        f"{VAST_MAJORITY:.0%} of the formulas lie below 0.01 ('the vast majority'), and at least "
        f"{TYPICAL:.0%} below 0.001 ('far below'). {count_met(met)}",
        decide(met),
    )


def far_from_optimal(spreads: tuple[Spread, ...]) -> Claim:
    """Whether BestFirst's MIC is large for many formulas, whatever the tie rule."""
    parts, met = [], []
    for spread in spreads:
        shares = {ties: spread.share("bestfirst", ties, "above_0.05") for ties in TIES}
        met += [share >= MANY for share in shares.values()]
        lowest, highest = (choose(shares, key=shares.__getitem__) for choose in (min, max))
        parts.append(
            f"{spread.setting.title}: {shares['last']:.1%} with ties last, from "
            f"{shares[lowest]:.1%} ({lowest}) to {shares[highest]:.1%} ({highest})"
        )
    return Claim(
        "Section 8.2",
        "For many formulas BestFirst is far from optimal: MIC(100) above 0.05.",
        (
            *map(sentence, parts),
            "These are the shares above 0.05, by tie rule. The paper's text names none; its "
            "pseudocode is ties last.",
        ),
        f"Cases are the {len(spreads)} distributions with each of {len(TIES)} tie rules: at least "
        f"{MANY:.0%} of the formulas above 0.05. {count_met(met)}",
        decide(met),
    )


def outperforms(finite: FiniteSamples) -> Claim:
    """Whether, given enough rows, TopDown's true error is smaller in every repetition."""
    parts, met = [], []
    rows, repetitions = finite.plan.rows, finite.plan.repetitions
    for setting in finite.settings:
        won = [_always_better(setting, count) for count in rows]
        start = next((i for i in range(len(rows)) if all(won[i:])), None)
        met.append(start is not None)
        gap = setting.mean_error("BestFirst", rows[-1]) - setting.mean_error("TopDown", rows[-1])
        since = "not at the end" if start is None else f"from {rows[start]:,} rows on"
        parts.append(f"{setting.title}: {since}, gap {gap:.3f} at {rows[-1]:,} rows")
    return Claim(
        "Section 8.3",
        "On finite samples TopDown's test error is significantly smaller than BestFirst's.",
        (
            *map(sentence, parts),
            "On fewer rows both rules split nearly every leaf that has "
            f"{finite.plan.min_samples_split} rows, so their trees are alike.",
        ),
        f"Cases are the {len(met)} distributions: from some number of rows on, up to "
        f"{rows[-1]:,}, TopDown's true error is the smaller one in every one of {repetitions} "
        f"repetitions (sign test, one-sided: p = {0.5**repetitions:.2g}). {count_met(met)}",
        decide(met),
    )


def _always_better(setting: FiniteSetting, rows: int) -> bool:
    errors = [
        setting.frame.filter(rows=rows, learner=learner).sort("repetition")["exact_error"]
        for learner in ("TopDown", "BestFirst")
    ]
    return bool((errors[0] < errors[1]).all())


def predicts(finite: FiniteSamples) -> Claim:
    """Whether the rule that does better with the distribution known does so on samples."""
    parts, met = [], []
    last = finite.plan.rows[-1]
    for setting in finite.settings:
        exact = setting.limit.exact_errors
        expected = exact["BestFirst"][-1] - exact["TopDown"][-1]
        seen = setting.mean_error("BestFirst", last) - setting.mean_error("TopDown", last)
        met.append(expected * seen > 0 and min(abs(expected), abs(seen)) > ROUNDING)
        parts.append(f"{setting.title}: {expected:.3f} exact, {seen:.3f} from {last:,} rows")
    return Claim(
        "Section 8.3",
        "The exact analysis predicts which rule does better on samples.",
        (
            *map(sentence, parts),
            f"These are BestFirst's error minus TopDown's at size {finite.plan.max_size}, exact "
            "with ties last. Samples break ties by chance, so the sizes of the gaps may differ.",
        ),
        f"Cases are the {len(met)} distributions: both gaps exceed {ROUNDING:g} and have the same "
        f"sign. {count_met(met)}",
        decide(met),
    )
