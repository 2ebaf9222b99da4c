"""Ctrl-C, SIGTERM and closed pipes: one line and status 130 or 143, or nothing and status 0."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from typer.testing import CliRunner

from mictree.cli import app

LINE = "mictree: interrupted\n"
EXAMPLE = "x1 & x2 | y1 & y2 & y3"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="sends signals to forked processes")

# Forks a command at every so many calls of a function. Each child gets SIGINT right there; the
# parent goes on and checks what its children printed and how they ended.
FORKING = """
import faulthandler, os, signal, sys, threading
from mictree import __main__ as entry

folder, every = sys.argv[1], int(sys.argv[2])
sys.argv[1:3] = []
parent = os.getpid()
calls = forks = 0
wrong = []

def interrupt():
    global forks
    forks += 1
    path = os.path.join(folder, "stderr")
    late = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    child = os.fork()
    if child == 0:
        sys.setprofile(None)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        faulthandler.dump_traceback_later(100, exit=True)  # a child that waits for ever says where
        signal.raise_signal(signal.SIGINT)
        return
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(path) as file:
        found = status, file.read()
    if found != ((0, "") if late else (130, "mictree: interrupted\\n")):
        frame, stack = sys._getframe(1), []
        while frame is not None:
            stack.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
            frame = frame.f_back
        wrong.append((calls, found, stack[:8]))

def profile(frame, event, _):
    global calls
    if event in ("call", "c_call"):
        calls += 1
        # From the fifth call on main protects itself. Another thread, of which the child had only
        # the locks, does not run: no command starts one without a terminal.
        if calls % every == 5:
            assert threading.active_count() == 1
            interrupt()

sys.setprofile(profile)
try:
    entry.main()
except SystemExit as end:
    sys.setprofile(None)
    if os.getpid() != parent:
        raise
    assert not end.code, end.code
assert not wrong, (len(wrong), wrong[:3])
print("forks", forks)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "every"),
    [
        (["grow", EXAMPLE, "--size", "3"], 4001),
        (["optimal", EXAMPLE, "--size", "3", "--json"], 20011),
        (["--help"], 8009),
    ],
)
def test_ctrl_c_at_many_moments(tmp_path, words, every):
    assert CliRunner().invoke(app, words).exit_code == 0
    # now kernels are compiled and kept on disk, which would print a line of its own
    done = subprocess.run(
        [sys.executable, "-c", FORKING, str(tmp_path), str(every), *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split("forks ")[1]) >= 20


def run(code: str, *words: str) -> tuple[int, str, str]:
    """The command line, with its commands replaced by some code."""
    script = f"""
import os, signal, sys
from unittest import mock
from mictree import __main__ as entry, cli

def press():
    signal.raise_signal(signal.SIGINT)

def terminate():
    signal.raise_signal(signal.SIGTERM)

def command():
{textwrap.indent(textwrap.dedent(code), "    ")}

with mock.patch.object(cli, "app", lambda **_: command()):
    entry.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "press()",
        # C code that calls Python and cannot pass an exception on
        "import ctypes\nctypes.CFUNCTYPE(None)(press)()",
        "type('Dying', (), {'__del__': lambda self: press()})()\nprint('done')",
        # whoever catches it
        "try:\n    press()\nexcept KeyboardInterrupt:\n    raise ImportError('numpy') from None",
        "try:\n    press()\nexcept KeyboardInterrupt:\n    pass",
        # a second one while the first is being answered
        "try:\n    press()\nfinally:\n    press()\n    print('cleaned up', flush=True)",
        # with threads at work
        "import threading, time\nthreading.Thread(target=press).start()\n"
        "for _ in range(6000):\n    time.sleep(0.01)  # the thread's signal does not end a sleep",
    ],
)
def test_ctrl_c_is_one_line(code):
    assert run(code) == (130, "", LINE)


def test_the_first_ctrl_c_lets_commands_clean_up():
    code = "try:\n    press()\nfinally:\n    print('cleaned up', flush=True)"
    assert run(code) == (130, "cleaned up\n", LINE)


def test_ctrl_c_while_text_is_written_repeats_none_of_it():
    code = """
    def after_a_write(frame, event, function):
        if event == "c_return" and function.__name__ in ("write", "flush"):
            sys.setprofile(None)
            press()
    sys.stdout.write("once\\n")
    sys.setprofile(after_a_write)
    sys.stdout.flush()
    """
    assert run(code) == (130, "once\n", LINE)


def test_ctrl_c_after_the_last_output_is_too_late():
    code = "import atexit\natexit.register(press)\nprint('all')"
    assert run(code) == (0, "all\n", "")


def test_other_errors_in_callbacks_are_shown():
    status, _, shown = run("import ctypes\nctypes.CFUNCTYPE(None)(lambda: 1 / 0)()")
    assert status == 0
    assert "ZeroDivisionError" in shown


def test_ignored_ctrl_c_stays_ignored():
    """As under nohup."""
    script = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    script += "from mictree import __main__, cli; "
    script += "cli.app = lambda **_: signal.raise_signal(signal.SIGINT); __main__.main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "code",
    [
        "terminate()",
        "import ctypes\nctypes.CFUNCTYPE(None)(terminate)()",
        "try:\n    terminate()\nexcept KeyboardInterrupt:\n    pass",
        "try:\n    terminate()\nfinally:\n    terminate()\n    print('cleaned up', flush=True)",
        # Ctrl-C is ignored, or somebody who raises nothing answers it, as a search does
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\nterminate()",
        "signal.signal(signal.SIGINT, lambda *_: None)\nterminate()",
    ],
)
def test_sigterm_is_one_line(code):
    assert run(code) == (143, "", LINE)


def test_sigterm_after_the_last_output_is_too_late():
    code = "import atexit\natexit.register(terminate)\nprint('all')"
    assert run(code) == (0, "all\n", "")


def test_ignored_sigterm_stays_ignored():
    script = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    script += "from mictree import __main__, cli; "
    script += "cli.app = lambda **_: signal.raise_signal(signal.SIGTERM); __main__.main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


# The command waits where it would rename the file that it has written.
WRITING = """
import os, time
from pathlib import Path
from mictree import __main__ as entry

replace = Path.replace

def wait(path, target):
    if Path(target).name != "t.svg":
        return replace(path, target)
    os.write(1, b"written\\n")
    time.sleep(300)

Path.replace = wait
entry.main()
"""


def test_sigterm_during_a_write_leaves_no_file(tmp_path):
    words = ["biases", "a & b", "--gap", "0.1", "--max-size", "2", "--draw", "t.svg"]
    with subprocess.Popen(
        [sys.executable, "-c", WRITING, *words], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as child:  # fmt: skip
        assert any(line == "written\n" for line in child.stdout)
        assert [path.suffix for path in tmp_path.iterdir()] == [".unfinished"]
        child.send_signal(signal.SIGTERM)
        _, shown = child.communicate(timeout=100)
    assert (child.returncode, shown.splitlines()[-1]) == (143, LINE.strip())
    assert [*tmp_path.iterdir()] == []


def test_importing_the_package_imports_nothing_else():
    """What it imported would come before the command line can answer Ctrl-C."""
    code = "import sys; before = {*sys.modules}; import mictree; print({*sys.modules} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "{'mictree'}\n"


@pytest.mark.parametrize(
    ("words", "both"),
    [
        (["--help"], False),
        (["--help"], True),
        (["--version"], False),
        (["grow", EXAMPLE], False),
        (["grow", EXAMPLE], True),
        (["grow", EXAMPLE, "--json"], True),
        (["mic", EXAMPLE, "--max-size", "8"], False),
        (["optimal", EXAMPLE, "--size", "5"], True),
        (["sweep", "--variables", "6"], False),
        (["sweep", "--variables", "6"], True),
    ],
)
def test_a_closed_pipe_is_no_error(words, both):
    """As in ``mictree grow ... | head`` and ``mictree grow ... 2>&1 | head``."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "mictree", *words], stdout=writer, text=True, check=False,
        stderr=writer if both else subprocess.PIPE,
    )  # fmt: skip
    os.close(writer)
    assert done.returncode == 0
    shown = (done.stderr or "").splitlines()
    assert [line for line in shown if not line.startswith("mictree: compiling: ")] == []
