"""Break the source on purpose, one small mistake at a time, and see whether the tests notice.

``mutants.toml`` lists the mistakes (mutants), each with the tests that must fail (kill it). The
work tree is never edited: a copy in a temporary folder is. Run with ``make mutants``, which writes
the list with all verdicts into ``out/mutants.html``; docs/mutants.md tells about the method.
"""

import argparse
import html
import importlib
import itertools
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.toml")
COPIED = ("src", "tests", "docs", "pyproject.toml", "README.md", "CHANGELOG.md", "Makefile")
LEAST_KILLED = 0.95
TIMEOUT = 300  # seconds of a processor; a test that a mutant makes this slow has noticed it
# exit statuses of pytest; a mutant may break the import of a test, which interrupts the collection
PASSED, FAILED, INTERRUPTED, CRASHED = 0, 1, 2, 3
# kernels mean unsigned integers to overflow; NumPy warns where they run as plain Python
PLAIN_PYTHON = ("-W", "ignore:overflow encountered:RuntimeWarning")
KILLED, TIMED_OUT, SURVIVED, NOT_RUN = "killed", "killed (timeout)", "survived", "not run"
PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Mutants</title>
<style>body {{ font: 14px sans-serif }} table {{ border-collapse: collapse }}
td, th {{ border: 1px solid #ccc; padding: 4px; text-align: left; vertical-align: top }}
td:nth-child(3), td:nth-child(4) {{ font-family: monospace; white-space: pre-wrap }}</style>
<h1>Mutants</h1>
<p>Small mistakes, made on purpose in a copy of the source, and the tests that notice them.
Of {count}: {summary}.</p>
<table><tr><th>name<th>file<th>change<th>tests<th>verdict
{rows}
</table></html>
"""


@dataclass(frozen=True)
class Mutant:
    """One mistake.

    Attributes
    ----------
    name : unique; room first
    file : below src/mictree
    old, new : a piece of the file that occurs once, and what replaces it
    tests : pytest's ids; at least one of them must fail
    jit : whether kernels are compiled; off, they run as plain Python
    survives : why no test can kill it; empty for all others
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    jit: bool = False
    survives: str = ""

    @property
    def path(self) -> Path:
        """The file, in a copy of the work tree."""
        return Path("src", "mictree", self.file)

    def mutate(self, source: str) -> str:
        """The file's text with the mistake; refuses a piece that is not there exactly once."""
        count = source.count(self.old)
        if count != 1:
            raise ValueError(f"{self.name}: `old` must occur once in {self.file}; it does {count}x")
        return source.replace(self.old, self.new)


def read(path: Path = LIST) -> list[Mutant]:
    """The list, checked against the sources."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    mutants = [Mutant(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries]
    names = [mutant.name for mutant in mutants]
    for mutant in mutants:
        if names.count(mutant.name) > 1:
            raise ValueError(f"mutants must have different names; {mutant.name} is there twice")
        if not mutant.tests or mutant.old == mutant.new:
            raise ValueError(f"{mutant.name}: a mutant must change something and list its tests")
        mutant.mutate((ROOT / mutant.path).read_text(encoding="utf-8"))
    return mutants


def copy(folder: Path) -> Path:
    """A copy of all that tests need; compiled kernels come along, as times are kept."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy2(source, folder / name)
    return folder


def pytest(folder: Path, tests: Iterable[str], jit: bool, limit: int) -> int | None:
    """The exit status of pytest in a copy; None after so many seconds of a processor."""
    options = ["-x", "-q", "-p", "no:cacheprovider", *(() if jit else PLAIN_PYTHON), *tests]
    process = multiprocessing.get_context("fork").Process(
        target=_child, args=(folder, options, jit, limit)
    )
    process.start()
    process.join()
    return None if process.exitcode == -signal.SIGXCPU else process.exitcode


def _child(folder: Path, options: list[str], jit: bool, limit: int) -> None:
    """Run pytest in this fork, which need not import large libraries, or anew with jit."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
    os.chdir(folder)
    os.environ |= {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    log = os.open(folder / "log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    if jit:
        os.environ["NUMBA_DISABLE_JIT"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "pytest", *options])
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(folder / "src"), str(folder)]
    status = CRASHED
    try:
        status = int(importlib.import_module("pytest").main(options))
    finally:
        sys.stdout.flush()
        os._exit(status)


def preload() -> None:
    """Import what most tests need and no mutant changes."""
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    for name in ("pytest", "numba", "polars", "pandas", "sklearn.tree", "scipy.sparse"):
        importlib.import_module(name)


def run(folder: Path, mutant: Mutant) -> str:
    """What becomes of a mutant in a copy, which is as before afterwards."""
    path = folder / mutant.path
    source, times = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(mutant.mutate(source), encoding="utf-8")
    try:
        status = pytest(folder, mutant.tests, mutant.jit, TIMEOUT)
    finally:
        path.write_text(source, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    if status is None:
        return TIMED_OUT
    if status == PASSED:
        return SURVIVED
    if status in (FAILED, INTERRUPTED) or status < 0:  # a kernel that writes anywhere may crash
        return KILLED
    raise RuntimeError(f"{mutant.name}: pytest ended with {status}; see {folder / 'log'}")


def check_tests(folder: Path, mutants: Sequence[Mutant]) -> None:
    """Refuse a list whose tests fail without any mutant."""
    for jit in (False, True):
        tests = dict.fromkeys(test for each in mutants if each.jit == jit for test in each.tests)
        if tests:
            progress(f"{len(tests)} tests without a mutant, jit {'on' if jit else 'off'}")
            if pytest(folder, tests, jit, TIMEOUT * len(tests)) != PASSED:
                progress((folder / "log").read_text(encoding="utf-8")[-3000:])
                raise ValueError("the listed tests must pass without a mutant; they do not")


def run_all(
    mutants: Sequence[Mutant], jobs: int, checked: bool, keep: Callable[[str, str], None]
) -> None:
    """What becomes of each: ``keep`` takes its name and the outcome as soon as it is known."""
    done = itertools.count(1)
    with tempfile.TemporaryDirectory(prefix="mictree-mutants-") as temporary:
        free: SimpleQueue[Path] = SimpleQueue()
        first = copy(Path(temporary, "0"))
        if not checked:
            check_tests(first, mutants)
        free.put(first)
        for number in range(1, jobs):
            free.put(copy(Path(temporary, str(number))))

        def one(mutant: Mutant) -> None:
            folder = free.get()
            try:
                outcome = run(folder, mutant)
            finally:
                free.put(folder)
            keep(mutant.name, outcome)
            progress(f"{next(done)}/{len(mutants)} {mutant.name}: {outcome}")

        with ThreadPoolExecutor(jobs) as threads:
            list(threads.map(one, mutants))


def page(mutants: Sequence[Mutant], results: dict[str, str]) -> str:
    """The list and what became of it: one HTML table."""
    outcomes = {mutant.name: results.get(mutant.name, NOT_RUN) for mutant in mutants}
    counts = Counter(outcomes.values())
    summary = ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())
    rows = [_row(mutant, outcomes[mutant.name]) for mutant in mutants]
    return PAGE.format(count=len(mutants), summary=summary, rows="\n".join(rows))


def _row(mutant: Mutant, outcome: str) -> str:
    """Name, file, change, tests and verdict of one mutant."""
    change = [f"-{line}" for line in mutant.old.strip("\n").splitlines()]
    change += [f"+{line}" for line in mutant.new.strip("\n").splitlines()]
    texts = (
        mutant.name,
        mutant.file,
        "\n".join(change),
        "\n".join(test.removeprefix("tests/") for test in mutant.tests),
        f"{outcome}: {mutant.survives}" if mutant.survives else outcome,
    )
    return f"<tr>{''.join(f'<td>{html.escape(text)}' for text in texts)}"


def progress(text: str) -> None:
    """A line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    """Run the mutants; 0 if enough were killed and every survivor is explained."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    parser.add_argument("--only", action="append", help="names that contain this; repeatable")
    parser.add_argument("--checked", action="store_true", help="the tests are known to pass")
    parser.add_argument("--results", type=Path, help="JSON: keep results here, run only the others")
    parser.add_argument("--write", type=Path, help="write the list with its results as HTML")
    options = parser.parse_args()
    mutants = read()
    chosen = [
        mutant
        for mutant in mutants
        if not options.only or any(part in mutant.name for part in options.only)
    ]
    results: dict[str, str] = {}
    if options.results is not None and options.results.exists():
        results = json.loads(options.results.read_text(encoding="utf-8"))

    def keep(name: str, outcome: str) -> None:
        results[name] = outcome
        if options.results is not None:
            options.results.write_text(json.dumps(results, indent=1), encoding="utf-8")

    preload()
    waiting = [mutant for mutant in chosen if results.get(mutant.name) not in (KILLED, TIMED_OUT)]
    run_all(waiting, options.jobs, options.checked, keep)
    survivors = [each for each in chosen if results[each.name] == SURVIVED]
    for mutant in survivors:
        progress(f"survived: {mutant.name}: {mutant.survives or 'NOT EXPLAINED'}")
    killed = len(chosen) - len(survivors)
    progress(f"{killed} of {len(chosen)} killed")
    if options.write is not None:
        options.write.parent.mkdir(parents=True, exist_ok=True)
        options.write.write_text(page(chosen, results), encoding="utf-8")
    explained = all(mutant.survives for mutant in survivors)
    return 0 if chosen and explained and killed >= LEAST_KILLED * len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
