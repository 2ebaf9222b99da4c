"""Run every experiment of the paper, one stage after the other."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

import numpy as np

from mictree.experiments import finite_samples, histograms, sample_size
from mictree.experiments.cache import Cache
from mictree.statements.checks import Check
from mictree.experiments.examples import Examples, SteppedGrowth, examples, stepped_growths
from mictree.statements.theorems import STATEMENTS, verify
from mictree.growers.rules import BestFirst, TopDown
from mictree.optimal import optimal_errors
from mictree.problems import FormulaProblem
from mictree.problems.sample import SampleProblem

Progress = Callable[[str, float], None]  # what is being done, and the share of the run that is done

# how long each stage takes, roughly, of the whole run
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
    """What one part of the run took."""

    name: str
    seconds: float
    reused: int  # results that an earlier run had left


@dataclass
class Clock:
    """Times the stages and tells how far the whole run has come."""

    cache: Cache
    progress: Progress
    stages: list[Stage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[Progress]:
        """Time what happens inside; yields a progress function for the stage alone."""
        before = sum(SHARES[stage.name] for stage in self.stages)

        def report(what: str, share: float) -> None:
            self.progress(what, before + SHARES[name] * min(1.0, share))

        reused, begin = self.cache.reused, time.perf_counter()
        report(name, 0.0)
        yield report
        seconds = time.perf_counter() - begin
        self.stages.append(Stage(name, seconds, self.cache.reused - reused))


@dataclass(frozen=True)
class Results:
    """All that the paper's experiments gave."""

    quick: bool
    checks: tuple[Check, ...]
    examples: Examples
    stepped: tuple[SteppedGrowth, ...]
    spreads: tuple[histograms.Spread, ...]
    finite: finite_samples.FiniteSamples
    sizes: sample_size.SampleSizes


def compute(quick: bool, cache: Cache, clock: Clock) -> Results:
    """Run the experiments; what an interrupted run left in the cache is not computed again."""
    with clock.stage("compiling"):
        warm_up()
    with clock.stage("theorems") as report:
        checks = _checks(quick, cache, report)
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
        finite = finite_samples.finite_samples(plan, cache, report)
    with clock.stage("MIC from samples") as report:
        rows = sample_size.QUICK_PLAN if quick else sample_size.Plan()
        sizes = sample_size.sample_sizes(rows, cache, report)
    return Results(quick, checks, shown, stepped, tuple(spreads), finite, sizes)


def warm_up() -> None:
    """Compile the kernels on tiny problems, so that later times are those of the work itself."""
    histograms.spread(histograms.Setting("tiny", 2, 2, (0.3, 0.7)), max_size=3)
    optimal_errors(FormulaProblem("a & b | c"), 3)
    X = np.arange(64, dtype=np.uint8)[:, None] >> np.arange(3, dtype=np.uint8) & 1
    for rule in (TopDown(), BestFirst()):
        rule.grow(SampleProblem(X, X[:, 0] & X[:, 1]), 3)


def _checks(quick: bool, cache: Cache, report: Progress) -> tuple[Check, ...]:
    """The paper's statements one by one, so that each is kept as soon as it is checked."""
    checks = []
    for done, statement in enumerate(STATEMENTS):
        report(f"theorems: {statement.number}", done / len(STATEMENTS))
        found = cache.values(
            "statement",
            [statement.number, quick],
            lambda statement=statement: asdict(verify(quick, statements=[statement])[0]),
        )
        checks.append(Check(**found.value))
    return tuple(checks)


def _part(report: Progress, number: int, parts: int) -> Progress:
    return lambda what, share: report(f"histograms, {what}", (number + share) / parts)
