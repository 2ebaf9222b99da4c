"""The examples in docs/ print what the pages say, and the API page has every public name."""

import doctest
import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import mictree as mt
from mictree.cli import app

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(
    r"^```(?P<kind>python|sh)\n(?P<code>.*?)^```$"
    r"((?P<between>(?:(?!^```).)*)^```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
PROMPT = "$ mictree "
VARIES = "<!-- varies"  # above an output that is not compared
PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "```python" in page.read_text("utf-8")]
LOOSELY = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
API = (DOCS / "api.md").read_text("utf-8")


def examples(text: str) -> list[tuple[str, str | None]]:
    """Python, and commands after a $, with the output below them; None if there is none."""
    found = [
        each
        for each in BLOCK.finditer(text)
        if each["kind"] == "python" or each["code"].startswith(PROMPT)
    ]
    assert len(found) == text.count("```python") + text.count(f"```sh\n{PROMPT}")
    return [
        (each["code"], None if VARIES in (each["between"] or "") else each["output"])
        for each in found
    ]


def run(code: str, names: dict[str, Any]) -> str:
    if code.startswith(PROMPT):
        done = CliRunner().invoke(app, shlex.split(code)[2:])
        assert done.exit_code == 0, done.exception
        lines = done.stderr.splitlines(keepends=True)  # the first run on a machine says one more
        return "".join(line for line in lines if "compiling: " not in line) + done.stdout
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "example", "exec"), names)
    return printed.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_it_says(page, tmp_path, monkeypatch):
    """The blocks of a page run one after the other, as its reader would type them."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "example"}
    for code, expected in examples(page.read_text("utf-8")):
        printed = run(code, names)
        if expected is not None:
            assert doctest.OutputChecker().check_output(expected, printed, LOOSELY), printed


def test_the_api_page_has_every_public_name():
    named = re.findall(r"^\.\. auto\w+:: mictree\.(?:problems\.)?(\w+)", API, re.MULTILINE)
    assert set(mt.__all__) - set(named) == {"__version__"}


def test_a_wrong_output_is_noticed():
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    ((code, expected),) = examples(page)
    assert expected == "3\n"
    assert not doctest.OutputChecker().check_output(expected, run(code, {}), LOOSELY)
