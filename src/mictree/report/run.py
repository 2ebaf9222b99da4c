"""The whole paper in one call: experiments, figures, result files, one page.

``reproduce`` locks its folder, computes what the cache does not have, and writes each file whole or
not at all, so that a run may be interrupted and continued at any time. All numbers on the page are
also in ``results/``, as Parquet and JSON.

Below stands what the page has beside claims and pictures. The tables have the numbers behind the
figures. The facts name what is needed to repeat the run: versions, seeds and times. The stepper on
the page shows a greedy tree grow split by split; its data are plain values for JSON.
"""

import io
import json
import platform
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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
from mictree._support.progress import Report, ignore
from mictree.experiments.cache import Cache
from mictree.experiments.examples import OPTIMAL, SteppedGrowth
from mictree.experiments.finite_samples import LEARNERS, FiniteSamples
from mictree.experiments.histograms import Spread
from mictree.experiments.sample_size import FOLLOWS, SampleSizes
from mictree.report.claims import NOT_JUDGED, Clock, Results, Stage, claims, compute
from mictree.report.explorer.render import render as render_explorer
from mictree.report.figures import Picture, pictures
from mictree.report.page import Page, Table, render
from mictree.statements import STATEMENTS
from mictree.statements.checks import sources_of
from mictree.tree import Tree

RULE_NAMES = {"topdown": "TopDown", "bestfirst": "BestFirst"}
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


def tables(results: Results) -> tuple[Table, ...]:
    """The numbers behind the figures."""
    return (
        *(_ties(spread) for spread in results.spreads),
        *_finite(results.finite),
        _following(results.sizes),
    )


def found(results: Results) -> str:
    """What the run found, in two sentences; a quick run says which claims it cannot judge."""
    spread = results.spreads[0]
    last = spread.summary.filter(ties="last")
    mean = {rule: f"{last.filter(rule=rule)['mean'][0]:.5f}" for rule in RULE_NAMES}
    verdicts = Counter(claim.verdict for claim in claims(results))
    plural = {"holds": "hold", "holds in part": "hold in part", "fails": "fail"}
    unjudged = verdicts.pop(NOT_JUDGED, 0)
    counts = [f"{count} {plural[name] if count > 1 else name}" for name, count in verdicts.items()]
    if unjudged:
        verb = "is" if unjudged == 1 else "are"
        counts.append(f"{unjudged} {verb} not judged, as a quick run has too few formulas and rows")
    return (
        f"Found in this run: over {spread.formulas:,} formulas ({spread.setting.title}, ties last) "
        f"TopDown's mean MIC({spread.max_size}) is {mean['topdown']}, BestFirst's "
        f"{mean['bestfirst']}. Of the paper's claims {', '.join(counts)}."
    )


def _ties(spread: Spread) -> Table:
    columns = ("rule", "ties", "mean MIC", "largest", "below 0.001", "below 0.01", "above 0.05")
    rows = tuple(
        (RULE_NAMES[row["rule"]], row["ties"], f"{row['mean']:.5f}", f"{row['max']:.4f}",
         f"{row['below_0.001']:.1%}", f"{row['below_0.01']:.1%}", f"{row['above_0.05']:.1%}")
        for row in spread.summary.iter_rows(named=True)
    )  # fmt: skip
    title = f"{spread.setting.title}: MIC({spread.max_size}) of {spread.formulas:,} formulas"
    return Table(title, columns, rows, "histograms")


def _finite(finite: FiniteSamples) -> Iterator[Table]:
    columns = ("rows", *(f"{name}, {kind}" for name in LEARNERS for kind in ("true", "test")))
    for setting in finite.settings:
        summary = setting.summary
        rows = []
        for count in finite.plan.rows:
            row = [f"{count:,}"]
            for learner in LEARNERS:
                part = summary.filter(learner=learner, rows=count).to_dicts()[0]
                row += [
                    f"{part[name]:.4f} ± {part[f'{name}_spread'] or 0:.4f}"
                    for name in ("exact_error", "test_error")
                ]
            rows.append(tuple(row))
        exact = setting.limit.exact_errors
        known = ", ".join(f"{name} {errors[-1]:.4f}" for name, errors in exact.items())
        least = setting.limit.optimal_errors
        optimal = (
            f"OPT(D, {finite.plan.max_size}) = {least[-1]:.4f}"
            if least is not None
            else f"no optimal error ({setting.limit.refusal})"
        )
        title = (
            f"{setting.title}: mean error ± standard deviation. With the distribution known: "
            f"{known}; {optimal}"
        )
        yield Table(title, columns, tuple(rows), "finite")


def _following(sizes: SampleSizes) -> Table:
    rows = []
    for sampled in sizes.cases:
        for rule in sampled.exact:
            enough = sampled.rows_to_follow(rule, sizes.plan.rows)
            last = sizes.plan.rows[-1]
            rows.append(
                (sampled.case.name, rule, f"{sampled.exact_mic(rule):.5f}",
                 f"{sampled.sampled_mic(rule, last).mean():.5f}",
                 f"{enough:,}" if enough else f"more than {last:,}")
            )  # fmt: skip
    columns = ("formula", "rule", "exact MIC", f"MIC from {sizes.plan.rows[-1]:,} rows",
               f"rows until every size is within {FOLLOWS}")  # fmt: skip
    return Table("How many rows until samples show the exact curve", columns, tuple(rows), "sizes")


def facts(results: Results, stages: list[Stage], began: str) -> dict[str, str]:
    """Versions, seeds and times."""
    fits = ", ".join(f"{name} {time:.1f} s" for name, time in results.finite.fit_seconds.items())
    count = len(results.finite.settings) * len(results.finite.plan.rows)
    swept = ", ".join(f"{s.setting.name} {s.seconds:.1f} s" for s in results.spreads)
    solved = ", ".join(f"{s.name} {s.optimal_seconds:.1f} s" for s in results.finite.settings)
    libraries = ", ".join(f"{name} {number}" for name, number in library_versions().items())
    return {
        "mictree": code_version(),
        "Python": f"{platform.python_version()}, {libraries}",
        "begun": began,
        "took": f"{sum(stage.seconds for stage in stages):.1f} s",
        "of it": ", ".join(map(_stage, stages)),
        "sweeps": swept,
        "fits": f"{count} samples x {results.finite.plan.repetitions} repetitions: {fits}",
        "optimal trees": solved,
        "seeds": f"ties random {results.spreads[0].seed}, finite samples "
        f"{results.finite.plan.seed}, MIC from samples {results.sizes.plan.seed}",
    }


def _stage(stage: Stage) -> str:
    reused = f" ({stage.reused} from an earlier run)" if stage.reused else ""
    return f"{stage.name} {stage.seconds:.1f} s{reused}"


def count_verdicts(results: Results) -> str:
    """How many statements hold, in words."""
    counts = Counter(check.verdict for check in results.checks)
    return (
        f"{len(results.checks)} statements: {counts['holds']} hold, {counts['fails']} fail as "
        f"printed, {counts['unclear as printed']} are unclear as printed"
    )


def stepper_data(growths: tuple[SteppedGrowth, ...]) -> list[dict[str, Any]]:
    """One entry per problem: names, and by learner the trees and errors of every size."""
    return [_case(growth) for growth in growths]


def _case(growth: SteppedGrowth) -> dict[str, Any]:
    least = growth.errors[OPTIMAL]
    learners = [
        {
            "name": name,
            "errors": list(errors),
            "excess": [max(0.0, error - best) for error, best in zip(errors, least, strict=True)],
            "trees": [_tree(tree) for tree in growth.trees[name]],
        }
        for name, errors in growth.errors.items()
    ]
    return {
        "title": growth.title,
        "formula": str(growth.problem.formula),
        "biases": _biases(growth),
        "variables": list(growth.problem.variables),
        "terms": list(growth.problem.term_of),
        "maxSize": growth.max_size,
        "learners": learners,
    }


def _biases(growth: SteppedGrowth) -> str:
    """Every bias, or the one that all variables share."""
    biases = growth.problem.biases
    if len(set(biases.values())) == 1:
        return f"every bias {float(next(iter(biases.values()))):g}"
    return "biases: " + ", ".join(f"{name} {float(bias):g}" for name, bias in biases.items())


def _tree(tree: Tree) -> dict[str, Any]:
    return {
        "tests": list(tree.tests),
        "low": list(tree.low),
        "high": list(tree.high),
        "labels": list(tree.labels),
    }
