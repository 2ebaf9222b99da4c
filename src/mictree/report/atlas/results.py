"""Run every experiment of the atlas, one stage after the other, and keep its numbers."""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import polars as pl

from mictree._support.files import write_whole
from mictree.experiments import (
    dependence,
    function_sizes,
    later_statements,
    noise,
    rankings,
    relabellings,
    two_term_biases,
    voting,
    worst_over_biases,
)
from mictree.experiments.cache import Cache
from mictree.report.results import Clock

# each stage's approximate share of the time of the whole run
SHARES = {
    "sizes": 0.02,
    "labels": 0.06,
    "ranked": 0.64,
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
    ranked: rankings.Plan = field(default_factory=rankings.Plan)
    biased: worst_over_biases.Plan = field(default_factory=worst_over_biases.Plan)
    two_terms: two_term_biases.Plan = field(default_factory=two_term_biases.Plan)
    dependent: dependence.Plan = field(default_factory=dependence.Plan)
    noisy: noise.Plan = field(default_factory=noise.Plan)
    forests: voting.Plan = field(default_factory=voting.Plan)
    stated: later_statements.Plan = field(default_factory=later_statements.Plan)


@dataclass(frozen=True)
class AtlasResults:
    """The results of all experiments of the atlas."""

    sizes: function_sizes.FunctionSizes
    labels: relabellings.Relabellings
    ranked: rankings.Rankings
    biased: worst_over_biases.WorstOverBiases
    two_terms: two_term_biases.TwoTermBiases
    dependent: dependence.Dependence
    noisy: noise.Noise
    forests: voting.Voting
    stated: later_statements.LaterStatements

    def frames(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """All frames of the results, by the name of their file."""
        for stage in fields(self):
            result = getattr(self, stage.name)
            for part in fields(result):
                value = getattr(result, part.name)
                if isinstance(value, pl.DataFrame):
                    name = stage.name if part.name == "frame" else f"{stage.name}-{part.name}"
                    yield name, value

    def plans(self) -> dict[str, Any]:
        """The parameters of all experiments."""
        return {stage.name: asdict(getattr(self, stage.name).plan) for stage in fields(self)}


def _on_all_cores(experiment: Callable[..., Any]) -> Callable[..., Any]:
    """An experiment whose kernels use all cores themselves."""
    return lambda plan, cache, report, n_jobs: experiment(plan, cache, report)


STAGES = {
    "sizes": _on_all_cores(function_sizes.function_sizes),
    "labels": _on_all_cores(relabellings.relabellings),
    "ranked": rankings.rankings,
    "biased": worst_over_biases.worst_over_biases,
    "two_terms": two_term_biases.two_term_biases,
    "dependent": dependence.dependence,
    "noisy": noise.noise,
    "forests": voting.voting,
    "stated": later_statements.later_statements,
}


def compute(plan: AtlasPlan, cache: Cache, clock: Clock, n_jobs: int | None = None) -> AtlasResults:
    """Run every experiment that is not in the cache, ``n_jobs`` parts of it at once."""
    found = {}
    for name, experiment in STAGES.items():
        with clock.stage(name) as report:
            found[name] = experiment(getattr(plan, name), cache, report, n_jobs)
    return AtlasResults(**found)


def write_frames(folder: Path, results: AtlasResults) -> None:
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
