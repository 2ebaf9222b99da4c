"""The whole atlas in one call: experiments, figures, result files, one page."""

import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from mictree._support.files import locked, remove_unfinished, write_whole
from mictree._support.parallel import count_jobs
from mictree._support.progress import EqualParts, Report, ignore
from mictree._support.versions import code_version, library_versions
from mictree.experiments.cache import Cache
from mictree.report.atlas import biased, disturbed, labels, ranked, sizes, stated, two_terms, voted
from mictree.report.atlas.results import (
    SHARES,
    AtlasPlan,
    AtlasResults,
    compute,
    write_frames,
    write_json,
)
from mictree.report.atlas.section import Section
from mictree.report.figures import Picture, make
from mictree.report.page import fill
from mictree.report.results import Clock, Stage

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
    with clock.stage("figures") as report:
        drawings = [drawing for part in parts for drawing in part.drawings]
        named = EqualParts("figures", len(drawings), report).each(drawings, lambda each: each.name)
        pictures = tuple(make(drawing, out / "figures") for drawing in named)
    with clock.stage("page"):
        write_frames(out / "results", results)
        claims = [asdict(claim) for part in parts for claim in part.claims]
        write_json(out / "results" / "claims.json", claims)
        facts = _facts(clock.stages, began)
        write_whole(out / "atlas.html", render(parts, pictures, facts).encode())
    write_json(out / "results" / "run.json", facts | {"stages": [*map(asdict, clock.stages)]})
    return AtlasRun(out / "atlas.html", tuple(clock.stages))


def sections(results: AtlasResults) -> tuple[Section, ...]:
    """The parts of the page, in order."""
    return (
        sizes.section(results.sizes),
        labels.section(results.labels),
        ranked.section(results.ranked),
        biased.section(results.biased),
        two_terms.section(results.two_terms),
        disturbed.dependence_section(results.dependent),
        disturbed.noise_section(results.noisy),
        voted.section(results.forests),
        stated.section(results.stated),
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
    counts = ", ".join(f"{verdicts[name]} {words[name]}" for name in words)
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
