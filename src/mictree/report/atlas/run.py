"""The whole atlas in one call: experiments, figures, result files, one page.

``atlas`` locks its folder and runs every experiment that is not in the cache, one stage after the
other (``STAGES``); an interrupted run continues. A stage has one name everywhere: in the plan, in
the results and in the names of the result files. No number depends on the number of jobs.
"""

import io
import json
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from mictree._support.files import (
    code_version,
    library_versions,
    locked,
    remove_unfinished,
    write_whole,
)
from mictree._support.parallel import count_jobs
from mictree._support.progress import EqualParts, Report, ignore
from mictree.experiments import (
    checked,
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
from mictree.experiments.cache import Cache
from mictree.report.atlas import formulas, functions
from mictree.report.claims import Clock, Stage
from mictree.report.figures import Picture, make
from mictree.report.page import Section, fill

# each stage's approximate share of the time of the whole run
SHARES = {
    "sizes": 0.02,
    "labels": 0.06,
    "counted": 0.03,
    "ranked": 0.61,
    "biased": 0.11,
    "two_terms": 0.04,
    "dependent": 0.04,
    "noisy": 0.02,
    "forests": 0.03,
    "stated": 0.01,
    "figures": 0.02,
    "page": 0.01,
}


@dataclass(frozen=True)
class AtlasPlan:
    """The numbers of every experiment; the defaults are those of the command."""

    sizes: function_sizes.Plan = field(default_factory=function_sizes.Plan)
    labels: relabellings.Plan = field(default_factory=relabellings.Plan)
    counted: good_counts.Plan = field(default_factory=good_counts.Plan)
    ranked: rankings.Plan = field(default_factory=rankings.Plan)
    biased: worst_over_biases.Plan = field(default_factory=worst_over_biases.Plan)
    two_terms: two_term_biases.Plan = field(default_factory=two_term_biases.Plan)
    dependent: dependence.Plan = field(default_factory=dependence.Plan)
    noisy: noise.Plan = field(default_factory=noise.Plan)
    forests: voting.Plan = field(default_factory=voting.Plan)
    stated: checked.Plan = field(default_factory=checked.Plan)


class Staged:
    """Results of several stages, each a field with a ``plan`` and frames."""

    def frames(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """All frames of the results, by the name of their file."""
        for stage in fields(self):  # type: ignore[arg-type]
            result = getattr(self, stage.name)
            for part in fields(result):
                value = getattr(result, part.name)
                if isinstance(value, pl.DataFrame):
                    name = stage.name if part.name == "frame" else f"{stage.name}-{part.name}"
                    yield name, value

    def plans(self) -> dict[str, Any]:
        """The parameters of all experiments."""
        return {stage.name: asdict(getattr(self, stage.name).plan) for stage in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class AtlasResults(Staged):
    """The results of all experiments of the atlas."""

    sizes: function_sizes.FunctionSizes
    labels: relabellings.Relabellings
    counted: good_counts.GoodCounts
    ranked: rankings.Rankings
    biased: worst_over_biases.WorstOverBiases
    two_terms: two_term_biases.TwoTermBiases
    dependent: dependence.Dependence
    noisy: noise.Noise
    forests: voting.Voting
    stated: checked.LaterStatements


def _on_all_cores(experiment: Callable[..., Any]) -> Callable[..., Any]:
    """An experiment whose kernels use all cores themselves."""
    return lambda plan, cache, report, n_jobs: experiment(plan, cache, report)


STAGES = {
    "sizes": _on_all_cores(function_sizes.function_sizes),
    "labels": _on_all_cores(relabellings.relabellings),
    "counted": _on_all_cores(good_counts.good_counts),
    "ranked": rankings.rankings,
    "biased": worst_over_biases.worst_over_biases,
    "two_terms": two_term_biases.two_term_biases,
    "dependent": dependence.dependence,
    "noisy": noise.noise,
    "forests": voting.voting,
    "stated": checked.later_statements,
}


def compute(plan: AtlasPlan, cache: Cache, clock: Clock, n_jobs: int | None = None) -> AtlasResults:
    """Run every experiment that is not in the cache, ``n_jobs`` parts of it at once."""
    found = {}
    for name, experiment in STAGES.items():
        with clock.stage(name) as report:
            found[name] = experiment(getattr(plan, name), cache, report, n_jobs)
    return AtlasResults(**found)


def write_frames(folder: Path, results: Staged) -> None:
    """All numbers as Parquet, and the parameters as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in results.frames():
        content = io.BytesIO()
        frame.write_parquet(content)
        write_whole(folder / f"{name}.parquet", content.getvalue())
    write_json(folder / "parameters.json", results.plans())


def write_json(path: Path, content: Any) -> None:
    """A value as JSON."""
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False).encode())


FOLDERS = ("cache", "figures", "results")
TITLE = "Where do greedy trees fail?"
SUMMARY = (
    "A greedy learner grows a decision tree one split at a time and takes none back. This page "
    "covers whole ranges instead of examples: all functions of few variables, all biases, "
    "dependent variables, noisy labels, other criteria and forests. Size counts splits. MIC(t) is "
    "the mean, over sizes 1 to t, of the greedy tree's error minus the least error of any tree of "
    "that size."
)
RULE = (
    "Each claim has several cases, given with their conditions under its verdict. It holds if all "
    "cases are met, holds in part if some are, and fails if none is. A claim is about its range "
    "and no more."
)


@dataclass(frozen=True)
class AtlasRun:
    """The outcome of a run."""

    page: Path
    stages: tuple[Stage, ...]


def atlas(
    out: Path,
    plan: AtlasPlan | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
) -> AtlasRun:
    """Compute everything and write it to a folder; continue an interrupted run.

    Parameters
    ----------
    out : folder for ``atlas.html``, ``figures/``, ``results/`` and ``cache/``; only one process may
        write to it at a time
    plan : the parameters of the experiments
    progress : called with the share of the run done so far and, in words, the current task
    n_jobs : parts of an experiment at once, by joblib; no number depends on it
    """
    count_jobs(n_jobs)  # refuses what is no number of jobs
    out.mkdir(parents=True, exist_ok=True)
    with locked(out / ".lock", out):
        for folder in (out, *(out / name for name in FOLDERS)):
            remove_unfinished(folder)
        return _atlas(out, plan or AtlasPlan(), progress or ignore, n_jobs)


def _atlas(out: Path, plan: AtlasPlan, progress: Report, n_jobs: int | None) -> AtlasRun:
    began = datetime.now(UTC).isoformat(timespec="seconds")
    cache = Cache(out / "cache")
    clock = Clock(cache, progress, shares=SHARES, what="the atlas")
    results = compute(plan, cache, clock, n_jobs)
    parts = sections(results)
    pictures = draw(parts, out, clock)
    with clock.stage("page"):
        write_results(out, results, parts)
        facts = _facts(clock.stages, began)
        write_whole(out / "atlas.html", render(parts, pictures, facts).encode())
    write_json(out / "results" / "run.json", facts | {"stages": [*map(asdict, clock.stages)]})
    return AtlasRun(out / "atlas.html", tuple(clock.stages))


def draw(parts: Sequence[Section], out: Path, clock: Clock) -> tuple[Picture, ...]:
    """All figures of a page, also as files."""
    with clock.stage("figures") as report:
        drawings = [drawing for part in parts for drawing in part.drawings]
        named = EqualParts("figures", len(drawings), report).each(drawings, lambda each: each.name)
        return tuple(make(drawing, out / "figures") for drawing in named)


def write_results(out: Path, results: Staged, parts: Sequence[Section]) -> None:
    """All numbers, parameters and claims as files."""
    write_frames(out / "results", results)
    claims = [asdict(claim) for part in parts for claim in part.claims]
    write_json(out / "results" / "claims.json", claims)


def sections(results: AtlasResults) -> tuple[Section, ...]:
    """The parts of the page, in order."""
    return (
        functions.sizes_section(results.sizes),
        functions.labels_section(results.labels),
        functions.counted_section(results.counted),
        functions.ranked_section(results.ranked),
        formulas.biased_section(results.biased),
        formulas.two_terms_section(results.two_terms),
        formulas.dependence_section(results.dependent),
        formulas.noise_section(results.noisy),
        formulas.voted_section(results.forests),
        functions.stated_section(results.stated),
    )


def render(parts: Sequence[Section], pictures: Sequence[Picture], facts: dict[str, str]) -> str:
    """The page as HTML text."""
    return fill(
        "atlas.html", title=TITLE, summary=SUMMARY, found=found(parts), rule=RULE,
        sections=parts, pictures=pictures, facts=facts,
    )  # fmt: skip


def found(parts: Sequence[Section]) -> str:
    """How many claims hold, in one sentence."""
    verdicts = Counter(claim.verdict for part in parts for claim in part.claims)
    words = {"holds": "hold", "holds in part": "hold in part", "fails": "fail"}
    others = {name: f"with the verdict: {name}" for name in verdicts if name not in words}
    counts = ", ".join(f"{verdicts[name]} {word}" for name, word in (words | others).items())
    return f"Found in this run: of {verdicts.total()} claims {counts}."


def _facts(stages: Sequence[Stage], began: str) -> dict[str, str]:
    libraries = ", ".join(f"{name} {number}" for name, number in library_versions().items())
    of_it = ", ".join(
        f"{stage.name.replace('_', ' ')} {stage.seconds:.1f} s"
        + (f" ({stage.reused} results from an earlier run)" if stage.reused else "")
        for stage in stages
    )
    return {
        "mictree": code_version(),
        "Python": f"{platform.python_version()}, {libraries}",
        "begun": began,
        "took": f"{sum(stage.seconds for stage in stages):.1f} s",
        "of it": of_it,
        "repeat": "mictree atlas --out DIR",
        "numbers": "results/*.parquet, results/claims.json; parameters and seeds in "
        "results/parameters.json",
    }
