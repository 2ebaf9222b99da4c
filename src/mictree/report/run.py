"""The whole paper in one call: experiments, figures, result files, one page.

``reproduce`` locks its folder, computes what the cache does not have, and writes each file whole or
not at all, so that a run may be interrupted and continued at any time. All numbers on the page are
also in ``results/``, as Parquet and JSON.
"""

import io
import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from mictree._support.files import locked, remove_unfinished, write_whole
from mictree._support.progress import Report, ignore
from mictree.experiments.cache import Cache
from mictree.report.claims import Clock, Results, Stage, claims, compute
from mictree.report.explorer.render import render as render_explorer
from mictree.report.figures import Picture, pictures
from mictree.report.page import Page, render
from mictree.report.tables import count_verdicts, facts, found, stepper_data, tables
from mictree.statements import STATEMENTS
from mictree.statements.checks import sources_of

FOLDERS = ("cache", "figures", "results")
TITLE = "How far are greedy trees from the best ones?"
SUMMARY = (
    "A greedy learner grows a decision tree one split at a time. TopDown splits the leaf whose "
    "split lowers the tree's impurity most: the leaf's gain times its reach, the share of inputs "
    "that come there. BestFirst splits the leaf with the largest gain, however few inputs come "
    "there. Neither takes a split back. MIC(t) is what that costs: the mean, over sizes 1 to t, of "
    "the greedy tree's error minus the least error of any tree of that size; size counts splits."
)


@dataclass(frozen=True)
class Run:
    """The outcome of a run."""

    report: Path
    stages: tuple[Stage, ...]
    surprises: tuple[str, ...]  # statements whose verdict a correct program would not give


def reproduce(
    out: Path, quick: bool = False, progress: Report | None = None, n_jobs: int | None = None
) -> Run:
    """Compute everything and write it to a folder; continue an interrupted run.

    Parameters
    ----------
    out : folder for ``report.html``, ``explorer.html``, ``figures/``, ``results/`` and ``cache/``;
        only one process may write to it at a time
    quick : smaller ranges everywhere, for a first look; claims that they cannot judge are marked
    progress : called with the share of the run done so far and, in words, the current task
    n_jobs : statements, or experiments on samples, at once, by joblib
    """
    out.mkdir(parents=True, exist_ok=True)
    with locked(out / ".lock", out):
        for folder in (out, *(out / name for name in FOLDERS)):
            remove_unfinished(folder)
        return _reproduce(out, quick, progress or ignore, n_jobs)


def _reproduce(out: Path, quick: bool, progress: Report, n_jobs: int | None) -> Run:
    began = datetime.now(UTC).isoformat(timespec="seconds")
    cache = Cache(out / "cache")
    clock = Clock(cache, progress)
    results = compute(quick, cache, clock, n_jobs)
    with clock.stage("figures") as report:
        drawn = pictures(results, out / "figures", report)
    with clock.stage("page"):
        write_results(out / "results", results)
        made = make_page(results, drawn, clock.stages, began)
        write_whole(out / "report.html", render(made).encode())
        write_whole(out / "explorer.html", render_explorer().encode())
    _write_json(out / "results" / "run.json", {**made.facts, "stages": _plain(clock.stages)})
    surprises = tuple(check.number for check in results.checks if not check.as_expected)
    return Run(out / "report.html", tuple(clock.stages), surprises)


def make_page(
    results: Results, drawn: tuple[Picture, ...], stages: list[Stage], began: str
) -> Page:
    """The content of the page."""
    return Page(
        title=TITLE,
        summary=SUMMARY,
        claims=claims(results),
        pictures=drawn,
        tables=tables(results),
        statements=results.checks,
        stepper=stepper_data(results.stepped),
        facts=facts(results, stages, began) | {"statements": count_verdicts(results)},
        quick=results.quick,
        found=found(results),
        sources={each.number: sources_of(each) for each in STATEMENTS},
    )


def write_results(folder: Path, results: Results) -> None:
    """All numbers as Parquet and JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    frames: dict[str, pl.DataFrame] = {
        f"mic-{spread.setting.name.replace(' ', '-')}": spread.frame for spread in results.spreads
    }
    frames["finite-samples"] = _stack(
        [(setting.name, setting.frame) for setting in results.finite.settings], "setting"
    )
    frames["mic-from-samples"] = _stack(
        [(sampled.case.name, sampled.frame) for sampled in results.sizes.cases], "formula"
    )
    for name, frame in frames.items():
        content = io.BytesIO()
        frame.write_parquet(content)
        write_whole(folder / f"{name}.parquet", content.getvalue())
    _write_json(folder / "statements.json", [check.to_dict() for check in results.checks])
    _write_json(folder / "claims.json", _plain(claims(results)))
    limits = {setting.name: asdict(setting.limit) for setting in results.finite.settings}
    _write_json(folder / "optimal-errors.json", limits)
    trees = {each.title: json.loads(each.tree.to_json()) | {"error": str(each.error)}
             for each in results.examples.trees}  # fmt: skip
    _write_json(folder / "example-trees.json", trees)


def _stack(parts: list[tuple[str, pl.DataFrame]], column: str) -> pl.DataFrame:
    named = [frame.select(pl.lit(name).alias(column), pl.all()) for name, frame in parts]
    return pl.concat(named)


def _plain(values: Any) -> list[dict[str, Any]]:
    return [asdict(value) for value in values]


def _write_json(path: Path, content: Any) -> None:
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False).encode())
