"""The explorer's twin in Chromium: one answer, from the request to all trees of all sizes."""

import random
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.measure import report
from mictree.report.explorer.render import render
from tests.browser.conftest import OPTIONS, find_browser

SOLVE = """request => {
  const times = [];
  for (let run = 0; run < 6; run++) {
    const begin = performance.now();
    answer(request);
    times.push(performance.now() - begin);
  }
  return times;
}"""


def main() -> None:
    path = find_browser()
    if path is None:
        report("the explorer", "no chromium")
        return
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=list(OPTIONS))
        file = Path(folder) / "explorer.html"
        file.write_text(render(), encoding="utf-8")
        page = browser.new_page()
        page.goto(file.as_uri())
        for variables, bias, wanted in ((8, "1/2", "< 0.1 s"), (10, "1/2", "< 0.5 s"),
                                        (10, "0.37", "< 0.5 s")):  # fmt: skip
            times = page.evaluate(SOLVE, _request(variables, bias))
            title = f"explorer, random table of {variables} variables, size 20, bias {bias}"
            report(title, f"{min(times) / 1000:.3f} s", wanted)
            report("  the first time", f"{times[0] / 1000:.3f} s", wanted)
        browser.close()


def _request(variables: int, bias: str) -> dict[str, object]:
    draw = random.Random(variables)
    return {
        "kind": "table",
        "names": [f"x{number}" for number in range(variables)],
        "table": "".join(draw.choices("01", k=2**variables)),
        "bias": bias,
        "biases": {},
        "rule": "topdown",
        "criterion": "entropy",
        "ties": "last",
        "seed": 0,
        "maxSize": 20,
    }
