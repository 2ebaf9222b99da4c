"""Ctrl-C at a terminal, which sends it to the command and to its workers alike."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="looks for processes as Linux lists them"
)

# A command that says when its workers are at work.
COMMAND = """
import os, time
from unittest import mock
import joblib
from mictree import __main__ as entry, cli
from mictree._support.parallel import spread
from mictree.cli.options import on_workers

def command(**_):
    backend, workers = {backend!r}, {workers!r}
    with on_workers(None, workers), joblib.parallel_config(backend=backend):
        for _ in spread(time.sleep, [(0.1 * 600**number,) for number in (0, 0, 1, 1)], 2):
            print("at work", flush=True)  # one of two workers may still be starting

with mock.patch.object(cli, "app", command):
    entry.main()
"""


def alive(session: int) -> list[str]:
    """The processes of a session."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                state, *numbers = file.read().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(numbers[2]) == session and state != "Z":
            found.append(name)
    return found


@pytest.mark.parametrize(("backend", "workers"), [("dask", 2), ("loky", None)])
def test_ctrl_c_for_all_processes_is_one_line(backend, workers):
    code = COMMAND.format(backend=backend, workers=workers)
    command = subprocess.Popen(
        [sys.executable, "-c", code], text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert command.stdout is not None
        assert command.stdout.readline() == "at work\n"
        assert len(alive(command.pid)) >= 3
        os.killpg(command.pid, signal.SIGINT)
        _, said = command.communicate(timeout=60)
        assert (command.returncode, said) == (130, "mictree: interrupted\n")
        for _ in range(1000):
            if not alive(command.pid):
                break
            time.sleep(0.05)  # until workers see that it is gone
        assert not alive(command.pid)
    finally:
        for each in alive(command.pid):
            os.kill(int(each), signal.SIGKILL)
