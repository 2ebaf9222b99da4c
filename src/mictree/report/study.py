"""The study in one call: do better trees predict better, and does MIC tell? One page.

``study`` runs the part on known distributions and the part on real tables, each resumable from
checkpoints, and writes their numbers, figures and verdicts. The page has the protocol and no
times, so that runs with one seed write the same page, whatever the number of workers and however
often they were interrupted; how long a run took is in ``results/run.json``.

Each claim is judged by cases in numbers, names its range, and can fail. Real tables are judged only
if there are enough of them.
"""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from mictree._support.files import (
    code_version,
    library_versions,
    locked,
    remove_unfinished,
    write_whole,
)
from mictree._support.parallel import count_jobs
from mictree._support.progress import Report, ignore
from mictree.experiments import study_known, study_tables
from mictree.experiments.cache import Cache
from mictree.experiments.study_known import LOSSES, TARGETS, KnownStudy
from mictree.experiments.study_tables import (
    FEWEST,
    LEVEL,
    SURE,
    TOO_FEW,
    DataSet,
    Judged,
    Learners,
    LeftOut,
    TableStudy,
)
from mictree.plotting.comparison import draw_sets
from mictree.plotting.curves import draw_losses, draw_orders, draw_turning
from mictree.report.atlas.run import FOLDERS, Staged, draw, found, write_json, write_results
from mictree.report.claims import Claim, Clock, Stage, count_met, decide
from mictree.report.figures import Drawing
from mictree.report.page import Section, Table, fill

LOST, TURNED, ORDERED, EQUAL, CHOSEN, SETS = (
    "losses", "turning", "orders", "equal", "tuned", "tables",
)  # fmt: skip
TITLE = "Do better trees predict better?"
SUMMARY = (
    "An optimal tree makes the fewest errors on the training rows among trees of its size. Does it "
    "also err less on new rows than a greedy one? On known distributions the true error of every "
    "tree is exact, and splits into losses. On real tables, errors are measured on held-out rows. "
    "Size counts splits. MIC(t) is the mean, over sizes 1 to t, of a tree's error minus the least "
    "error of any tree of that size."
)
RULE = (
    "Each claim has several cases, given with their conditions under its verdict. It holds if all "
    "cases are met, holds in part if some are, and fails if none is. A claim is about its range "
    "and no more."
)


@dataclass(frozen=True)
class StudyPlan:
    """The protocol of both parts."""

    known: study_known.Plan
    tables: study_tables.Plan

    @classmethod
    def make(cls, quick: bool = False, seed: int = study_known.SEED) -> "StudyPlan":
        """The protocol of the command."""
        plans = (study_known.QUICK_PLAN, study_tables.QUICK_PLAN) if quick else (
            study_known.Plan(), study_tables.Plan()
        )  # fmt: skip
        return cls(replace(plans[0], seed=seed), replace(plans[1], seed=seed))


@dataclass(frozen=True)
class StudyResults(Staged):
    """The results of both parts."""

    known: KnownStudy
    tables: TableStudy


@dataclass(frozen=True)
class StudyRun:
    """The outcome of a run."""

    page: Path
    stages: tuple[Stage, ...]
    results: StudyResults


def study(
    out: Path,
    folder: Path | None = None,
    plan: StudyPlan | None = None,
    target: str | None = None,
    progress: Report | None = None,
    n_jobs: int | None = None,
    sets: Sequence[DataSet] | None = None,
    learners: Learners | None = None,
) -> StudyRun:
    """Compute everything and write it to a folder; continue an interrupted run.

    Parameters
    ----------
    out : folder for ``study.html``, ``figures/``, ``results/`` and ``cache/``; only one process may
        write to it at a time
    folder : tables to use beside those of scikit-learn
    plan : the protocol
    target : the column of labels, in files that have it
    progress : called with the share of the run done so far and, in words, the current task
    n_jobs : parts at once, by joblib; no number depends on it
    sets, learners : other tables than those of scikit-learn, and other learners on tables
    """
    count_jobs(n_jobs)  # refuses what is no number of jobs
    if folder is not None and not folder.is_dir():
        raise ValueError(f"the tables must lie in an existing folder; got {str(folder)!r}")
    out.mkdir(parents=True, exist_ok=True)
    with locked(out / ".lock", out):
        for each in (out, *(out / name for name in FOLDERS)):
            remove_unfinished(each)
        protocol = plan or StudyPlan.make()
        given = study_tables.bundled_sets(protocol.tables) if sets is None else list(sets)
        left: list[LeftOut] = []
        if folder is not None:
            more, left = study_tables.read_sets(folder, target, protocol.tables)
            given = _with_names_apart([*given, *more])
        clock = Clock(
            Cache(out / "cache"), progress or ignore, shares=_shares(protocol, len(given)),
            what="the study",
        )  # fmt: skip
        return _study(out, protocol, (given, left), clock, n_jobs, learners)


def _with_names_apart(sets: list[DataSet]) -> list[DataSet]:
    """The same sets; a name that came before gets a number."""
    names: list[str] = []
    for data in sets:
        number = names.count(data.name) + 1
        names.append(data.name)
        if number > 1:
            sets[len(names) - 1] = replace(data, name=f"{data.name} #{number}")
    return sets


KNOWN_SECONDS, TABLE_SECONDS = 0.06, 2.0  # of a sample with its folds, and of a fit of all learners
SLOW = 4e8  # the work of a search to which the latter belongs


def _shares(plan: StudyPlan, sets: int) -> dict[str, float]:
    """Each stage's approximate share of the time of the whole run, by the work in it."""
    known, tables = plan.known, plan.tables
    samples = known.targets * len(known.rows) * known.repetitions * (known.folds + 1)
    fits = sets * tables.folds * tables.repeats * (tables.inner_folds + 1)
    seconds = {
        "known": samples * KNOWN_SECONDS,
        "tables": fits * (0.1 + TABLE_SECONDS * tables.work / SLOW),
        "figures": 10.0,
        "page": 1.0,
    }
    return {name: each / sum(seconds.values()) for name, each in seconds.items()}


def _study(
    out: Path,
    plan: StudyPlan,
    given: tuple[Sequence[DataSet], Sequence[LeftOut]],
    clock: Clock,
    n_jobs: int | None,
    learners: Learners | None,
) -> StudyRun:
    began = datetime.now(UTC).isoformat(timespec="seconds")
    with clock.stage("known") as report:
        known = study_known.known_study(plan.known, clock.cache, report, n_jobs)
    with clock.stage("tables") as report:
        tables = study_tables.table_study(
            plan.tables, *given, clock.cache, report, n_jobs, learners
        )
    results = StudyResults(known, tables)
    parts = sections(results)
    pictures = draw(parts, out, clock)
    with clock.stage("page"):
        write_results(out, results, parts)
        page = fill(
            "atlas.html", title=TITLE, summary=SUMMARY, found=found(parts), rule=RULE,
            sections=parts, pictures=pictures, facts=_facts(plan),
        )  # fmt: skip
        write_whole(out / "study.html", page.encode())
    stages = [*map(asdict, clock.stages)]
    write_json(out / "results" / "run.json", {"begun": began, "stages": stages})
    return StudyRun(out / "study.html", tuple(clock.stages), results)


def _facts(plan: StudyPlan) -> dict[str, str]:
    libraries = ", ".join(f"{name} {number}" for name, number in library_versions().items())
    return {
        "mictree": code_version(),
        "Python": f"{platform.python_version()}, {libraries}",
        "seed": str(plan.known.seed),
        "repeat": "mictree study [FOLDER] --out DIR",
        "numbers": "results/*.parquet, results/claims.json; parameters and seeds in "
        "results/parameters.json; date and times in results/run.json",
    }


def sections(results: StudyResults) -> tuple[Section, ...]:
    """The parts of the page, in order."""
    known, tables = results.known, results.tables
    return (
        losses_section(known),
        turning_section(known),
        orders_section(known),
        judged_section(tables, tuned=False),
        judged_section(tables, tuned=True),
        sets_section(tables),
    )


def known_range(known: KnownStudy) -> str:
    """The protocol on known distributions, in words."""
    plan = known.plan
    rows = ", ".join(f"{each:,}" for each in plan.rows)
    return (
        f"{plan.targets} of {TARGETS} targets on 6 to 10 variables (read-once DNFs, random "
        "functions, thresholds, staircases, parities among idle variables), uniform, product or "
        f"Markov chain, label noise 0, 0.1 or 0.2; {rows} rows, {plan.repetitions} samples each; "
        f"sizes 1 to {plan.max_size}; sizes are chosen by {plan.folds} stratified folds. Entropy, "
        f"ties last. The target is the unit: intervals are 95% bootstrap intervals over targets "
        f"({plan.draws:,} draws, seed {plan.seed})."
    )


def losses_section(known: KnownStudy) -> Section:
    """Where the error of a learned tree comes from."""
    last = known.plan.rows[-1]
    means = known.mean_losses(["rows", "learner"], chosen=True)
    told = "; ".join(
        f"{row['learner']}: {row['true_error']:.4f}, of it optimisation {row['optimisation']:.4f}"
        for row in means.filter(rows=last).iter_rows(named=True)
    )
    drawing = Drawing(
        "study-losses",
        LOST,
        "Mean losses at the size that cross-validation chose, which add up to the true error. "
        f"{known_range(known)}",
        f"Stacked bars against training rows, one panel for each learner. At {last:,} rows: "
        f"{told}.",
        lambda figure: draw_losses(figure, known),
    )
    learners = known.learners[:-1]
    return Section(
        LOST,
        "Losses",
        "Where the error of a learned tree comes from",
        "The distribution is known, so the true error of every tree is exact. The noise floor is "
        "the least error of any predictor. Approximation is the loss of the best tree of the size "
        "above it; estimation the loss of the tree with the fewest errors on the sample; "
        "optimisation the loss of the learner's tree above that one. Optimisation may be negative: "
        "then fewer errors on the sample did harm. A sample on so few variables is a table, whose "
        "best trees of every size are computed and proved, so no tree here has a gap.",
        (drawing,),
        (
            *(known_claim(known, learner, chosen=False) for learner in learners),
            *(known_claim(known, learner, chosen=True) for learner in learners),
        ),
        (
            _losses_table(known, chosen=True),
            _losses_table(known, chosen=False),
            _kinds_table(known),
        ),
    )


def known_claim(known: KnownStudy, learner: str, chosen: bool) -> Claim:
    """Whether the sample's best trees have the smaller true error, by number of rows."""
    measured, met = [], []
    for rows in known.plan.rows:
        mean, low, high = known.interval(known.differences(learner, rows, chosen))
        met.append(low > 0)
        measured.append(f"{rows:,} rows: {_points(mean)} ({_points(low)} to {_points(high)})")
    where = "at the sizes that cross-validation chose" if chosen else "at equal size"
    return Claim(
        known_range(known),
        f"The trees with the fewest errors on the sample predict better than {learner}'s, {where}.",
        (f"{learner}'s true error above theirs, in points: {'; '.join(measured)}.",),
        f"Cases are the numbers of rows: the interval lies above 0. {count_met(met)}",
        decide(met),
    )


def _points(error: float) -> str:
    """A difference of errors in points, signed."""
    return f"{100 * error:+.2f}"


def _losses_table(known: KnownStudy, chosen: bool) -> Table:
    means = known.mean_losses(["rows", "learner"], chosen)
    rows = tuple(
        (f"{row['rows']:,}", row["learner"], f"{row['size']:.2f}", f"{row['floor']:.5f}",
         *(f"{row[loss]:.5f}" for loss in LOSSES), f"{row['true_error']:.5f}")
        for row in means.iter_rows(named=True)
    )  # fmt: skip
    columns = ("rows", "learner", "mean size", "floor", *LOSSES, "true error")
    where = "at the chosen sizes" if chosen else f"over sizes 1 to {known.plan.max_size}"
    return Table(f"Mean losses {where}", columns, rows, LOST)


def _kinds_table(known: KnownStudy) -> Table:
    means = known.mean_losses(["kind", "learner"], chosen=True)
    names = known.learners[:-1]
    rows = []
    for kind in known.exact["kind"].unique(maintain_order=True):
        losses = [means.filter(kind=kind, learner=name)["optimisation"].item() for name in names]
        rows.append((kind, *map(_points, losses)))
    title = "Mean optimisation loss in points by kind of target, at the chosen sizes, all rows"
    return Table(title, ("kind", *names), tuple(rows), LOST)


def turning_section(known: KnownStudy) -> Section:
    """Where fewer errors on the sample do harm."""
    learners = known.learners[:-1]
    told = "; ".join(
        f"{name}: {sum(len(known.overfits(name, rows)) for rows in known.plan.rows)} of "
        f"{known.plan.max_size * len(known.plan.rows)}"
        for name in learners
    )
    drawing = Drawing(
        "study-turning",
        TURNED,
        "Mean optimisation loss at equal size, in points: how much more the learner's tree errs on "
        "new inputs than the tree with the fewest errors on the sample. Cells with a minus sign "
        f"are negative. {known_range(known)}",
        f"Maps by size and training rows. Cells below 0: {told}.",
        lambda figure: draw_turning(figure, known),
    )
    return Section(
        TURNED,
        "Overfitting",
        "Where optimisation on the sample turns into overfitting",
        "With few rows, a large tree with the fewest errors on the sample fits noise better than "
        "a greedy one. There the greedy tree of the same size errs less on new inputs.",
        (drawing,),
        tuple(never_overfits(known, learner) for learner in learners),
        (_turning_table(known),),
    )


def never_overfits(known: KnownStudy, learner: str) -> Claim:
    """Whether the sample's best trees predict at least as well at every size."""
    sizes = {rows: known.overfits(learner, rows) for rows in known.plan.rows}
    met = [not each for each in sizes.values()]
    measured = tuple(
        f"{rows:,} rows: {learner} errs less at {_sizes(each)}." for rows, each in sizes.items()
    )
    return Claim(
        known_range(known),
        f"At no size does {learner}'s tree predict better than the tree with the fewest errors on "
        "the sample.",
        measured,
        "Cases are the numbers of rows: the mean optimisation loss is at least 0 at every size. "
        f"{count_met(met)}",
        decide(met),
    )


def _sizes(sizes: Sequence[int]) -> str:
    if not sizes:
        return "no size"
    return f"size{'' if len(sizes) == 1 else 's'} {', '.join(map(str, sizes))}"


def _turning_table(known: KnownStudy) -> Table:
    rows = []
    for learner in known.learners[:-1]:
        losses = known.optimisation_map(learner)
        for number, line in zip(known.plan.rows, losses, strict=True):
            rows.append((learner, f"{number:,}", *(_points(each) for each in line)))
    columns = ("learner", "rows", *(f"size {size + 1}" for size in range(known.plan.max_size)))
    return Table("Mean optimisation loss in points", columns, tuple(rows), TURNED)


def orders_section(known: KnownStudy) -> Section:
    """Whether the exact MIC predicts the order of learners on samples."""
    told = "; ".join(
        f"{rows:,} rows: {known.interval(known.orders(rows))[0]:.2f}" for rows in known.plan.rows
    )
    drawing = Drawing(
        "study-orders",
        ORDERED,
        "Kendall's tau-b, by target, between the exact MICs of the greedy rules and their mean "
        f"true errors on samples, over sizes 1 to {known.plan.max_size}; mean over targets and its "
        f"95% interval. {known_range(known)}",
        f"Rank correlation against training rows. {told}.",
        lambda figure: _draw_orders(figure, known),
    )
    return Section(
        ORDERED,
        "MIC",
        "Does MIC tell which rule will do better on a sample?",
        "The paper claims that the MIC of a rule under the distribution predicts its error when "
        "the rule sees a sample only. For each target the rules are ordered by exact MIC and by "
        "mean true error on samples. Targets on which all rules have one MIC, or one mean error, "
        "have no order and are left out.",
        (drawing,),
        (mic_predicts(known),),
        (_mics_table(known),),
    )


def _draw_orders(figure: Any, known: KnownStudy) -> Any:
    figure.set_size_inches(6.4, 4.0)
    draw_orders(figure.add_subplot(), known)
    return figure


def mic_predicts(known: KnownStudy) -> Claim:
    """Whether the rank correlation is surely positive, by number of rows."""
    measured, met = [], []
    for rows in known.plan.rows:
        orders = known.orders(rows)
        mean, low, high = known.interval(orders)
        met.append(bool(low > 0))
        measured.append(
            f"{rows:,} rows: {mean:.2f} ({low:.2f} to {high:.2f}), "
            f"{np.count_nonzero(~np.isnan(orders))} targets."
        )
    return Claim(
        known_range(known),
        "The exact MIC of a rule predicts its order among rules on samples.",
        tuple(measured),
        "Cases are the numbers of rows: the 95% interval of the mean rank correlation lies above "
        f"0. {count_met(met)}",
        decide(met),
    )


def _mics_table(known: KnownStudy) -> Table:
    names = known.mics["learner"].unique(maintain_order=True).to_list()
    rows = []
    for target in known.exact["target"].unique(maintain_order=True):
        about = known.exact.filter(target=target).row(0, named=True)
        mics = known.mics.filter(target=target)["mic"]
        rows.append((target, about["distribution"], f"{about['noise']:g}", str(about["variables"]),
                     *(f"{mic:.5f}" for mic in mics)))  # fmt: skip
    columns = ("target", "distribution", "noise", "variables", *names)
    return Table(f"Exact MIC({known.plan.max_size})", columns, tuple(rows), ORDERED)


def tables_range(tables: TableStudy) -> str:
    """The protocol on real tables, in words."""
    plan = tables.plan
    return (
        f"{tables.sets.height} tables of at most {plan.max_rows:,} rows (larger ones are cut, "
        f"classes in proportion); {plan.repeats} times {plan.folds} stratified folds, the same for "
        f"all learners; all choose among the same literals, at most {plan.max_thresholds} "
        f"thresholds per ordered column, made from the training rows; at most {plan.max_size} "
        "splits; CART uses Gini, the other greedy rules entropy; each tunes at most "
        f"{plan.max_size + 1} candidates by the same {plan.inner_folds} inner folds. "
        f"Seed {plan.seed}."
    )


JUDGING = (
    "Differences over folds are averaged, and the table is the unit. Within a table the variance "
    "is corrected for folds that share rows (Nadeau and Bengio 2003). Over tables: Wilcoxon's "
    "signed ranks with Holm's correction (Demsar 2006), and the chances by the Bayesian "
    "signed-rank test that the optimal trees are better, practically equal or worse (Benavoli and "
    f"others 2017). Below {FEWEST} tables the verdict is: {TOO_FEW}."
)


def judged_section(tables: TableStudy, tuned: bool) -> Section:
    """Optimal trees against each learner over all tables."""
    name, short = (CHOSEN, "After tuning") if tuned else (EQUAL, "Equal size")
    judged = tables.judged(tuned)
    told = "; ".join(f"{each.learner}: mean {_points(each.mean)}" for each in judged)
    where = (
        "each tuned by the same inner folds; optimal trees by size"
        if tuned
        else f"mean over sizes 1 to {tables.plan.max_size}"
    )
    drawing = Drawing(
        f"study-{name}",
        name,
        f"Held-out error above that of the optimal trees, {where}, with two corrected standard "
        f"errors; the band is {100 * tables.plan.rope:g} point on each side. Hollow: not certified "
        f"at all sizes. {tables_range(tables)}",
        f"Differences by table, one panel for each learner. {told}.",
        lambda figure: draw_sets(figure, tables, tuned),
    )
    title = "Real tables, after equal tuning" if tuned else "Real tables, at equal size"
    return Section(
        name,
        short,
        title,
        JUDGING,
        (drawing,) if judged else (),
        tuple(table_claim(tables, each, tuned) for each in judged),
        (_judged_table(tables, judged, name),),
    )


def table_claim(tables: TableStudy, judged: Judged, tuned: bool) -> Claim:
    """Whether optimal trees predict better than those of a learner."""
    where = "after equal tuning" if tuned else "at equal size"
    verdict = judged.verdict
    return Claim(
        tables_range(tables),
        f"Optimal trees predict better than {judged.learner}, {where}.",
        (
            f"{judged.sets} tables: mean difference {_points(judged.mean)} points, median "
            f"{_points(judged.median)}.",
            f"Signed ranks: p = {judged.p_value:.4f}, with Holm's correction "
            f"{judged.adjusted:.4f}.",
            f"Chances: better {judged.better:.3f}, practically equal {judged.same:.3f}, worse "
            f"{judged.worse:.3f}.",
            f"Found: {verdict}.",
        ),
        f"It holds if the corrected p is below {LEVEL:g}, in favour of the optimal trees, and the "
        f"chance of practical equality is at most {SURE:g}.",
        {"better": "holds", TOO_FEW: TOO_FEW}.get(verdict, "fails"),
    )


def _judged_table(tables: TableStudy, judged: Sequence[Judged], section: str) -> Table:
    rows = tuple(
        (each.learner, str(each.sets), _points(each.mean), _points(each.median),
         f"{each.p_value:.4f}", f"{each.adjusted:.4f}", f"{each.better:.3f}", f"{each.same:.3f}",
         f"{each.worse:.3f}", each.verdict)
        for each in judged
    )  # fmt: skip
    columns = ("optimal trees against", "tables", "mean (points)", "median", "p", "p by Holm",
               "better", "equal", "worse", "found")  # fmt: skip
    return Table("Over all tables", columns, rows, section)


def sets_section(tables: TableStudy) -> Section:
    """The tables one by one, and what is left out."""
    left = tuple(tables.left_out.iter_rows())
    about = tuple(
        (row["table"], f"{row['given']:,}", f"{row['rows']:,}", str(row["columns"]),
         str(row["classes"]), str(tables.certified(row["table"])),
         f"{tables.gap(row['table']):.4f}")
        for row in tables.sets.iter_rows(named=True)
    )  # fmt: skip
    columns = ("table", "rows", "rows used", "columns", "classes", "certified up to size",
               "largest gap")  # fmt: skip
    return Section(
        SETS,
        "Tables",
        "The tables",
        f"{tables_range(tables)} Optimal trees are proved size by size, until the next size is "
        f"expected to read more than {tables.plan.work:.2g} cells of the table; the expectation "
        "depends on counts, not on a clock. Larger trees extend the last proved one at its leaves. "
        "The gap is the distance between the bounds of the least training error, at most over "
        "folds and sizes. Tables with a gap stay in all figures and tests.",
        (),
        (),
        (
            Table("All tables", columns, about, SETS),
            *(_errors_table(tables, tuned) for tuned in (False, True)),
            Table("Left out", ("what", "why"), left or (("nothing", ""),), SETS),
        ),
    )


def _errors_table(tables: TableStudy, tuned: bool) -> Table:
    names = tables.learners(tuned)
    rows = []
    for table in tables.sets["table"]:
        cells = [table]
        for name in names:
            errors = tables.held_out(table, name, tuned)
            cells.append("failed" if errors is None else f"{errors.mean[0]:.4f}")
        rows.append(tuple(cells))
    what = "after tuning" if tuned else f"mean over sizes 1 to {tables.plan.max_size}"
    return Table(f"Held-out error, {what}", ("table", *names), tuple(rows), SETS)
