"""The atlas: its files, its page, and its numbers recomputed from the files."""

import html
import json
import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import replace

import polars as pl
import pytest
from typer.testing import CliRunner

from mictree._support.files import locked
from mictree.cli import app
from mictree.experiments.cache import Cache
from mictree.experiments.checked import LaterStatements
from mictree.report.atlas import functions, run
from mictree.report.atlas.run import SHARES, STAGES, compute
from mictree.report.claims import Clock
from mictree.report.figures import Picture
from tests.quick_atlas import SMALL, quick_atlas
from tests.unit.test_report import Reader

FIGURES = {
    "greedy-sizes", "smallest-failures", "relabellings", "good-counts", "rankings",
    "worst-over-biases", "certified-biases", "two-term-ends", "dependence", "noise", "forests",
}  # fmt: skip


def page():
    return (quick_atlas() / "atlas.html").read_text("utf-8")


def tables():
    """The cells of each table of numbers on the page, by its heading."""
    found = {}
    for title, body in re.findall(r"<h3>(.*?)</h3>.*?<tbody>(.*?)</tbody>", page(), re.DOTALL):
        found[html.unescape(title)] = [
            [
                html.unescape(cell)
                for cell in re.findall(r"<td.*?>(?:<span.*?>)?(.*?)(?:</span>)?</td>", row)
            ]
            for row in re.findall(r"<tr>(.*?)</tr>", body)
        ]
    return found


def rows_of(name):
    """A result file, row by row."""
    return pl.read_parquet(quick_atlas() / "results" / f"{name}.parquet").to_dicts()


def mean(values):
    return sum(values) / len(values)


def test_writes_everything():
    out = quick_atlas()
    assert sorted(path.name for path in out.iterdir()) == [
        "atlas.html", "cache", "figures", "results",
    ]  # fmt: skip
    assert {path.stem for path in (out / "figures").iterdir()} == FIGURES
    for name in FIGURES:
        ET.parse(out / "figures" / f"{name}.svg")
    for path in (out / "results").glob("*.json"):
        json.loads(path.read_text("utf-8"))


def test_the_page_is_self_contained_and_runs_nothing():
    for tag, attributes in Reader(page()).elements:
        assert tag != "script"
        for name in ("src", "href", "srcset", "action", "data"):
            value = attributes.get(name) or "#"
            assert value.startswith(("data:", "#")), (tag, name, value[:80])
    assert "default-src 'none'" in html.unescape(page())


def test_every_figure_has_words_and_every_claim_its_range_and_rule():
    images = [attributes for tag, attributes in Reader(page()).elements if tag == "img"]
    assert len(images) == len(FIGURES)
    assert all(len(attributes["alt"]) > 60 for attributes in images)
    claims = json.loads((quick_atlas() / "results" / "claims.json").read_text("utf-8"))
    assert len(claims) == 23
    text = html.unescape(page())
    for claim in claims:
        assert claim["verdict"] in ("holds", "holds in part", "fails")
        assert re.search(r"[Tt]ies", claim["source"]), claim["source"]
        for part in (claim["source"], claim["text"], claim["rule"], *claim["measured"]):
            assert part in text
    verdicts = re.findall(r'class="verdict \w+">(.*?)<', page())
    functions = [row["verdict"] for row in rows_of("stated")]
    assert verdicts == [claim["verdict"] for claim in claims] + functions


def test_sizes_from_the_files():
    by_family = defaultdict(list)
    for row in rows_of("sizes"):
        by_family[row["family"]].append(row)
    shown = tables()["Sizes, entropy"]
    for (family, rows), cells in zip(by_family.items(), shown, strict=True):
        total = sum(row["count"] for row in rows)
        assert cells[0].startswith(family)
        names = ("perfect_size", "greedy_size_best", "greedy_size_worst")
        means = [sum(row[name] * row["count"] for row in rows) / total for name in names]
        minimal = [
            sum(row["count"] for row in rows if row[name] == row["perfect_size"])
            for name in names[1:]
        ]
        assert cells[1:7] == [
            f"{total:,}", *(f"{each:.4f}" for each in means), *(f"{n:,}" for n in minimal),
        ]  # fmt: skip
        for name, cell in zip(names[1:], cells[7:], strict=True):
            greedy, least = map(int, cell.split(" : "))
            most = max(row[name] / row["perfect_size"] for row in rows if row["perfect_size"])
            assert greedy / least == most
    smallest = tables()["The smallest functions on which no greedy tree is minimal"]
    files = rows_of("sizes-smallest")
    assert [cells[2] for cells in smallest[: len(files)]] == [
        f"0x{row['table']:x}" for row in files
    ]
    assert len(smallest) > len(files)
    assert all(cells[1].startswith("none up to") for cells in smallest[len(files) :])


def test_relabellings_from_the_files():
    representatives, relabelled = rows_of("labels-representatives"), rows_of("labels-relabelled")
    for cells in tables()["MIC(7), entropy, ties last"]:
        own = [row for row in representatives if row["rule"] == cells[0]]
        total = sum(row["count"] for row in own)
        weighted = sum(row["mic"] * row["count"] for row in own) / total
        assert cells[1:3] == [f"{weighted:.6f}", f"{max(row['mic'] for row in own):.6f}"]
        draws = defaultdict(list)
        for row in relabelled:
            if row["rule"] == cells[0]:
                draws[row["draw"]].append(row["mic"])
        assert len(draws) == 20
        means = [mean(mics) for mics in draws.values()]
        error = (sum((each - mean(means)) ** 2 for each in means) / 19 / 20) ** 0.5
        widths = [max(mics) - min(mics) for mics in draws.values()]
        assert cells[3] == f"{mean(means):.6f} ± {error:.6f}"
        assert cells[4:6] == [f"{mean(widths):.6f}", f"{max(widths):.6f}"]
        assert cells[6] == f"{mean([width < 1e-12 for width in widths]):.2%}"


def test_best_trees_from_the_files():
    files = rows_of("counted")
    for cells in tables()["Best trees by size, entropy, ties at random"]:
        rows = [row for row in files if row["size"] == int(cells[0])]
        total = sum(row["count"] for row in rows)
        alone = sum(row["count"] for row in rows if row["trees"] == 1)
        assert cells[1:3] == [f"{total:,}", f"{alone / total:.2%}"]
        every = sorted(trees for row in rows for trees in [row["trees"]] * row["count"])
        assert cells[3:5] == [f"{every[(len(every) - 1) // 2]:,}", f"{every[-1]:,}"]
        for place, rule in enumerate(("topdown", "bestfirst")):
            chance = sum(row[rule] * row["count"] for row in rows) / total
            assert cells[5 + place] == f"{chance:.4f}"


def test_rankings_from_the_files():
    shown = tables()
    files = rows_of("ranked")
    for each in SMALL.ranked.ranges:
        rows = [row for row in files if row["range"] == each.title]
        (title,) = (title for title in shown if title.startswith(f"{each.title}: "))
        means = []
        for cells in shown[title]:
            own = [row for row in rows if row["contestant"] == cells[0]]
            total = sum(row["count"] for row in own)
            means.append(sum(row["mic"] * row["count"] for row in own) / total)
            zero = sum(row["count"] for row in own if row["mic"] < 1e-12) / total
            largest = max(row["mic"] for row in own)
            assert cells[1:] == [f"{means[-1]:.7f}", f"{largest:.6f}", f"{zero:.2%}"]
            assert title.endswith(f"over {total:,}")
        assert means == pytest.approx(sorted(means))
        assert {cells[0] for cells in shown[title]} == {row["contestant"] for row in rows}


def test_biases_from_the_files():
    for cells in tables()["MIC(12) at 3 biases"]:
        rows = [
            row for row in rows_of("biased-points") if [row["formula"], row["rule"]] == cells[:2]
        ]
        (half,) = (row["mic"] for row in rows if row["bias"] == 0.5)
        worst = max(rows, key=lambda row: row["mic"])
        assert cells[2:] == [f"{half:.6f}", f"{worst['mic']:.6f}", f"{worst['bias']:g}"]
    (title,) = (title for title in tables() if "certified" in title)
    boxes = rows_of("biased-boxes")
    for cells, row in zip(tables()[title], rows_of("biased-suprema"), strict=True):
        own = [box for box in boxes if box["formula"] == row["formula"]]
        assert cells[0] == row["formula"]
        assert cells[2] == f"{max(box['mic_upper'] for box in own):.6f}"
        assert cells[1] == f"{row['lower']:.6f}"
        assert row["lower"] <= row["upper"]
        assert cells[4] == f"{len(own):,}"


def test_two_terms_from_the_files():
    rows = [
        [f"{row['shorter']} and {row['longer']}", f"{row['low']:.6f}", f"{row['high']:.6f}",
         row["outcome"]]
        for row in rows_of("two_terms")
    ]  # fmt: skip
    assert tables()["Certified outcomes"] == rows
    assert {row[0] for row in rows} == {"1 and 1", "1 and 2", "2 and 2"}


@pytest.mark.parametrize(
    ("name", "start", "column", "width"),
    [
        ("dependent", "MIC(5) over 6 arr", "correlation", 3),
        ("noisy", "MIC(5) over 11 for", "noise", 4),
    ],
)
def test_disturbances_from_the_files(name, start, column, width):
    (shown,) = (rows for title, rows in tables().items() if title.startswith(start))
    files = rows_of(name)
    for cells in shown:
        for place, rule in enumerate(("TopDown", "BestFirst")):
            rows = [r for r in files if r["rule"] == rule and f"{r[column]:g}" == cells[0]]
            own = cells[1 + place * width :][:width]
            mics = [row["mic"] for row in rows]
            assert own[0] == f"{mean(mics):.6f}"
            if name == "dependent":
                zero = mean([mic < 1e-12 for mic in mics])
                assert own[1:] == [f"{max(mics):.6f}", f"{zero:.1%}"]
                continue
            clean = {
                r["formula"]: r["scaled"] for r in files if r["rule"] == rule and not r["noise"]
            }
            rises = [row["scaled"] - clean[row["formula"]] for row in rows]
            changed = [sum(rise > 1e-9 for rise in rises), sum(rise < -1e-9 for rise in rises)]
            assert own[1:] == [f"{mean([r['scaled'] for r in rows]):.6f}", *map(str, changed)]


def test_forests_from_the_files():
    files = rows_of("forests")
    for cells in tables()["Errors at size 3 of each tree"]:
        rows = [
            row
            for row in files
            if [row["target"], str(row["trees"]), row["size"]] == [*cells[:2], 3]
        ]
        assert len(rows) == SMALL.forests.repetitions
        assert cells[2] == f"{mean([row['error'] for row in rows]):.6f}"
        assert cells[3:] == [f"{rows[0][key]:.6f}" for key in ("optimal", "optimal_of_total")]


def test_statements_from_the_files():
    files = rows_of("stated")
    shown = tables()["Statements"]
    assert [[*cells[:2], cells[3]] for cells in shown] == [
        [row["number"], row["statement"], row["verdict"]] for row in files
    ]
    assert {row["verdict"] for row in files} >= {"holds", "fails"}
    assert all(row["verdict"] == row["expected"] for row in files)


def test_a_statement_with_another_verdict_is_shown_with_it():
    frame = pl.read_parquet(quick_atlas() / "results" / "stated.parquet")
    wrong = LaterStatements(SMALL.stated, frame.with_columns(verdict=pl.lit("fails")))
    part = functions.stated_section(wrong)
    assert f": {frame.height} fail." in part.text
    assert {row[3] for row in part.tables[0].rows} == {"fails"}


def test_a_second_run_finds_everything_in_the_cache():
    cache = Cache(quick_atlas() / "cache")
    reports = []
    clock = Clock(cache, reports.append, shares=SHARES, what="the atlas")
    compute(SMALL, cache, clock)
    assert cache.computed == 0 < cache.reused == sum(stage.reused for stage in clock.stages)
    shares = [report.share for report in reports]
    assert shares == sorted(shares)
    assert {report.what for report in reports} == {"the atlas"}
    assert sum(SHARES.values()) == pytest.approx(1)


@pytest.fixture
def undrawn(monkeypatch):
    """Empty pictures: the drawn ones, of the run that all tests share, take most of its time."""

    def make(drawing, _):
        return Picture(drawing.name, drawing.section, drawing.caption, drawing.alt, b"<svg/>")

    monkeypatch.setattr(run, "make", make)


def test_an_interrupted_run_goes_on(tmp_path, undrawn):
    plan = replace(SMALL, forests=replace(SMALL.forests, targets=("majority of 3",)))

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(STAGES, "noisy", stop)
        with pytest.raises(KeyboardInterrupt):
            run.atlas(tmp_path, plan)
    kept = {path.name for path in (tmp_path / "cache").iterdir()}
    assert kept
    assert not (tmp_path / "atlas.html").exists()
    made = run.atlas(tmp_path, plan)
    assert sum(stage.reused for stage in made.stages) == len(kept)
    assert made.page.exists()


def test_the_command(tmp_path, monkeypatch, undrawn):
    monkeypatch.setattr(run, "AtlasPlan", lambda: SMALL)
    result = CliRunner().invoke(app, ["atlas", "--out", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == f"wrote {tmp_path / 'new' / 'atlas.html'}"
    assert [line.split()[0] for line in result.stdout.splitlines()[:-2]] == list(SHARES)


def test_refuses_a_file_as_folder_and_a_second_writer(tmp_path):
    path = tmp_path / "file"
    path.touch()
    result = CliRunner().invoke(app, ["atlas", "--out", str(path)])
    assert "--out must name a folder" in str(result.exception)
    with locked(tmp_path / ".lock", tmp_path), pytest.raises(ValueError, match="only one process"):
        run.atlas(tmp_path, SMALL)
