"""The report: files, words, escaping, the command."""

import json
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from mictree._support.files import UNFINISHED, locked
from mictree._support.progress import ignore
from mictree.cli import app
from mictree.experiments.cache import Cache
from mictree.experiments.examples import step_through
from mictree.report.claims import Claim, Clock, compute
from mictree.report.figures import Picture
from mictree.report.page import Page, Table, render
from mictree.report.run import facts, reproduce, stepper_data
from mictree.statements import STATEMENTS
from mictree.statements.checks import Check, Finding
from tests.quick_report import quick_run

EVIL = "</script><img src=x onerror=alert(1)>"
FIGURES = {
    "example-trees", "mic-histograms", "mic-ties-uniform", "mic-ties-0.3-and-0.7",
    "mic-ties-0.4-and-0.6", "finite-samples", "excess-by-size", "mic-from-samples",
}  # fmt: skip


class Reader(HTMLParser):
    """Lists the elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))


def evil_page():
    """A page in which everything that can be named is named like markup."""
    data = stepper_data((step_through("case", "a & b | c", 2),))
    data[0]["variables"] = [EVIL, "<b>b</b>", "c"]
    data[0]["title"] = data[0]["formula"] = EVIL
    return Page(
        title=EVIL,
        summary=EVIL,
        claims=(Claim(EVIL, EVIL, (EVIL,), EVIL, EVIL),),
        pictures=(Picture("evil", "examples", EVIL, f'"{EVIL}', b"<svg/>"),),
        tables=(Table(EVIL, (EVIL,), ((EVIL,),), "finite"),),
        statements=(Check(EVIL, EVIL, (Finding(EVIL, EVIL, EVIL, EVIL, EVIL[::-1]),), EVIL, 0.0),),
        stepper=data,
        facts={EVIL: EVIL},
    )


def test_writes_everything():
    out = quick_run()
    for name in FIGURES:
        assert (out / "figures" / f"{name}.png").stat().st_size > 1000
        ET.parse(out / "figures" / f"{name}.svg")
    for path in (out / "results").glob("*.parquet"):
        assert pl.read_parquet(path).height
    for path in (out / "results").glob("*.json"):
        json.loads(path.read_text("utf-8"))
    assert len(list((out / "results").iterdir())) == 10


def test_the_page_is_self_contained():
    text = (quick_run() / "report.html").read_text("utf-8")
    for tag, attributes in Reader(text).elements:
        for name in ("src", "href", "srcset", "action", "data"):
            value = attributes.get(name) or "#"
            inside = value == "explorer.html" or value.startswith(("data:", "#"))
            assert inside, (tag, name, value[:80])
    assert not re.search(r"@import|url\(", text)
    for folder in (Path.cwd(), Path.home(), Path(tempfile.gettempdir())):  # nothing of this machine
        assert f"{folder}/" not in text


def test_figures_have_alt_texts_and_captions():
    text = (quick_run() / "report.html").read_text("utf-8")
    images = [attributes for tag, attributes in Reader(text).elements if tag == "img"]
    assert len(images) == len(FIGURES)
    assert all(len(attributes["alt"]) > 60 for attributes in images)
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", text, re.DOTALL)
    assert len(captions) == len(FIGURES)
    assert sum("ties" in caption or "tie rule" in caption for caption in captions) >= 7


def test_claims_have_verdicts():
    claims = json.loads((quick_run() / "results" / "claims.json").read_text("utf-8"))
    assert len(claims) >= 10
    sampled = [claim for claim in claims if claim["source"] in ("Section 8.2", "Section 8.3")]
    assert [claim["verdict"] for claim in sampled] == ["not judged"] * 4  # by a quick run
    assert all("too few formulas, rows and repetitions" in claim["rule"] for claim in sampled)
    for claim in claims:
        assert claim in sampled or claim["verdict"] in ("holds", "holds in part", "fails")
        assert all(claim[name] for name in ("source", "text", "measured", "rule"))


def test_the_first_line_of_a_quick_run_blames_no_claim_for_want_of_rows():
    (line,) = re.findall(
        r"Found in this run[^<]*", (quick_run() / "report.html").read_text("utf-8")
    )
    assert "fail" not in line
    assert line.endswith("7 hold, 4 are not judged, as a quick run has too few formulas and rows.")


def test_a_second_run_finds_everything_in_the_cache():
    cache = Cache(quick_run() / "cache")
    clock = Clock(cache, ignore)
    results = compute(True, cache, clock)
    assert cache.computed == 0 < cache.reused == sum(stage.reused for stage in clock.stages)
    assert "from an earlier run" in facts(results, clock.stages, "now")["of it"]


def test_nothing_is_taken_for_markup():
    reader = Reader(render(evil_page()))
    images = [attributes for tag, attributes in reader.elements if tag == "img"]
    assert [image["src"][:5] for image in images] == ["data:"]
    assert not any("onerror" in attributes for _, attributes in reader.elements)
    assert [tag for tag, _ in reader.elements].count("script") == 2


def test_the_stepper_s_data_survives_the_page():
    page = evil_page()
    found = re.search(r'id="stepper-data">(.*?)</script>', render(page), re.DOTALL)
    assert found is not None
    assert json.loads(found[1]) == page.stepper


def test_refuses_a_file_as_folder(tmp_path):
    path = tmp_path / "file"
    path.touch()
    result = CliRunner().invoke(app, ["reproduce", "--out", str(path)])
    assert isinstance(result.exception, ValueError)
    assert "--out must name a folder" in str(result.exception)


def test_the_second_run_in_a_folder_is_refused(tmp_path):
    command = [sys.executable, "-m", "mictree", "reproduce", "--quick", "--out", str(tmp_path)]
    with locked(tmp_path / ".lock", tmp_path):
        done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    message = f"only one process may write {tmp_path} at a time; another is writing it now"
    assert done.stderr.splitlines()[-1] == f"mictree: {message}"
    assert not list(tmp_path.iterdir())


def test_a_run_leaves_no_lock_and_no_unfinished_files(tmp_path):
    assert sorted(path.name for path in quick_run().iterdir()) == [
        "cache", "explorer.html", "figures", "report.html", "results",
    ]  # fmt: skip
    for name in ("", "cache", "figures", "results"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / f".x.0123abcd{UNFINISHED}").touch()

    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, True, stop)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


INTERRUPTED = """
import sys, time
from mictree.cli import main
from mictree.report import claims
claims.finite_samples.finite_samples = lambda *_: (print("ready", flush=True), time.sleep(3600))
sys.argv[1:] = ["reproduce", "--quick", "--out", sys.argv[1]]
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_an_interrupted_run_keeps_what_it_has(tmp_path):
    """Interrupted in the stage after the theorems and the histograms."""
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert len(list(tmp_path.glob("cache/*"))) == len(STATEMENTS) + 3
    assert not (tmp_path / "report.html").exists()
