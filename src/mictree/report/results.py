"""Run every experiment of the paper, one stage after the other."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from mictree._support.progress import Progress, Report
from mictree.experiments import finite_samples, histograms, sample_size
from mictree.experiments.cache import Cache
from mictree.experiments.checked import check_all
from mictree.experiments.examples import Examples, SteppedGrowth, examples, stepped_growths
from mictree.growers.rules import BestFirst, TopDown
from mictree.optimal import optimal_errors
from mictree.problems import FormulaProblem
from mictree.problems.sample import SampleProblem
from mictree.statements.checks import Check
from mictree.statements.theorems import STATEMENTS

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
