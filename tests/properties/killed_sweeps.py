"""Kills sweeps in forked processes; a program, as neither numba's nor polars' threads may run yet.

Prints, for each kind of kill, how many sweeps were killed and how many different sets of files
they left.
"""

import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

os.environ["NUMBA_THREADING_LAYER"] = "workqueue"  # survives fork

import polars as pl

import mictree as mt
from mictree._support import files as _files
from mictree._support import files as _partial
from mictree._support.files import code_version
from mictree.families import sweep

sweep.SECONDS = 0.0
sweep.BLOCK = 30
_partial.BLOCK_NUMBERS = 150
FAMILY = mt.families.grid(3, 2, (0.4, 0.5))
MAX_SIZE = 12
RULES = [mt.TopDown(), mt.BestFirst(ties="random", seed=3)]


def load_kernels() -> None:
    """Load all kernels of a sweep once, without polars, so that forked processes have them."""
    some = sweep.Blocks(range(1, 3), MAX_SIZE, _partial.Partial(None, None, {}), id)
    solved = sweep.SolvedFormulas(FAMILY, some, 2**30)
    for number, rule in enumerate(RULES):
        solved.compare(number, rule)
        solved.sizes(number, rule)
    sweep.member_terms(FAMILY, solved._built.terms)
    code_version()  # of all sources, which every sweep would read


def run(path: Path | None) -> pl.DataFrame:
    return mt.sweep(FAMILY, MAX_SIZE, RULES, out=path)


def forked(work: Callable[[], object]) -> int:
    """The id of a forked process that does some work."""
    child = os.fork()
    if not child:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            sys.stderr.write(f"{error!r}\n")
        finally:
            os._exit(1)
    return child


def do(work: Callable[[], object]) -> None:
    assert os.waitpid(forked(work), 0)[1] == 0


def kill_at(number: int) -> None:
    """Let this process kill itself at the given of all its steps that change files."""
    steps = iter(range(1, 10**9))

    def deadly(owner: object, name: str) -> None:
        function = getattr(owner, name)

        def step(*arguments, **named):
            if next(steps) == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **named)

        setattr(owner, name, step)

    for name in ("posix_fallocate", "fsync", "mkdir", "unlink", "rmdir", "replace"):
        deadly(os, name)
    deadly(shutil, "rmtree")
    deadly(_files, "_lock")


def left_by(path: Path) -> tuple[tuple[str, int], ...]:
    """The names, without what is random in them, and lengths of the files that a sweep left."""
    files = [each for each in path.parent.rglob("*") if each.is_file()]
    return tuple(sorted((each.name[:9], each.stat().st_size) for each in files))


def check_goes_on(path: Path, expected: Path) -> None:
    """A sweep after a killed one gives the frame, and nothing but its file is left."""
    frame = pl.read_parquet(expected)
    if path.exists():
        assert pl.read_parquet(path).equals(frame)
    assert run(path).equals(frame)
    assert pl.read_parquet(path).equals(frame)
    assert os.listdir(path.parent) == [path.name], left_by(path)


def at_every_step(folder: Path, expected: Path) -> int:
    """Kill a sweep at each of its steps, then let it go on; returns the number of steps."""
    states = set()
    for number in range(1, 10**6):
        path = folder / str(number) / "mic.parquet"
        path.parent.mkdir()
        if not killed_at(number, path):
            break
        states.add(left_by(path))
        do(lambda path=path: check_goes_on(path, expected))
    sys.stdout.write(f"steps {number - 1} {len(states)}\n")
    return number - 1


def killed_at(number: int, path: Path) -> bool:
    """Start a sweep that kills itself at a step; says whether it came that far."""
    status = os.waitpid(forked(lambda: (kill_at(number), run(path))), 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def in_a_row(folder: Path, expected: Path, steps: int, kills: int = 50) -> None:
    """Kill sweeps at steps drawn at random, often several in a row on the same file."""
    path = folder / "mic.parquet"
    chance, killed, states = random.Random(7), 0, set()
    while killed < kills:
        if killed_at(chance.randint(1, steps), path):
            killed += 1
            states.add(left_by(path))
        if path.exists() or chance.random() < 0.3:
            do(lambda: check_goes_on(path, expected))
            path.unlink()
    sys.stdout.write(f"rows {killed} {len(states)}\n")


if __name__ == "__main__":
    load_kernels()
    place = Path(sys.argv[1])
    reference = place / "reference.parquet"
    do(lambda: run(None).write_parquet(reference))
    (place / "steps").mkdir()
    (place / "rows").mkdir()
    in_a_row(place / "rows", reference, at_every_step(place / "steps", reference))
