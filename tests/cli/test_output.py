"""Standard output that is closed, full or not UTF-8 loses no file; several files are independent.

Most tests call ``main`` with standard output replaced by a pipe without a reader or by /dev/full;
some start processes.
"""

import errno
import os
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot
import polars
import pytest

import mictree as mt
from mictree.cli import main
from mictree.cli.output import guarded_output

EXAMPLE = "x1 & x2 | y1 & y2 & y3"
FULL = Path("/dev/full")
LOST = f"mictree: cannot write to standard output: {os.strerror(errno.ENOSPC)}"
TEST_OF_FIT = ["fit", "d.csv", "--target", "label", "--size", "2"]
COMMANDS = {
    "fit": [*TEST_OF_FIT, "--save", "m.json", "--draw", "t.svg", "--report", "p.html",
            "--time-limit", "0"],
    "fit as JSON": [*TEST_OF_FIT, "--json", "--save", "m.json"],
    "streamed": ["fit", "parts", "--target", "label", "--size", "2", "--save", "m.json"],
    "data": ["data", "d.csv", "--target", "label", "--max-size", "2", "--cv", "0", "--report",
             "p.html", "--plot", "e.svg"],
    "mic": ["mic", EXAMPLE, "--max-size", "3", "--draw", "c.svg"],
    "grow": ["grow", EXAMPLE, "--size", "3", "--draw", "t.svg"],
    "optimal": ["optimal", EXAMPLE, "--size", "3", "--draw", "t.svg"],
    "biases": ["biases", "a & b", "--max-size", "2", "--draw", "b.svg"],
    "sweep": ["sweep", "--variables", "4", "--max-size", "3", "--out", "s.parquet", "--plot",
              "s.svg"],
    "predict": ["predict", "model.json", "d.csv"],
}  # fmt: skip
FILES = (".json", ".svg", ".html", ".parquet")

needs_full = pytest.mark.skipif(not FULL.exists(), reason="a device that is always full")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a table, and a model of it."""
    rows = [(f"{number % 7}", "日本" if number % 3 else "x") for number in range(60)]
    frame = polars.DataFrame(
        {
            "größe": [int(one) for one, _ in rows],
            "kind": [other for _, other in rows],
            "label": ["né" if int(one) > 3 and other == "x" else "ja" for one, other in rows],
        }
    )
    frame.write_csv(tmp_path / "d.csv")
    (tmp_path / "parts").mkdir()
    frame.write_parquet(tmp_path / "parts" / "a.parquet")
    model = mt.TopDownClassifier(max_size=2).fit(frame.drop("label"), frame["label"].to_list())
    model.save(tmp_path / "model.json")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    matplotlib.pyplot.close("all")


def run_main(monkeypatch, words, output):
    """The status of a command that prints to a stream."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["mictree", *words])
        patch.setattr(sys, "stdout", output)
        with pytest.raises(SystemExit) as end:
            main()
    return end.value.code


def closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return open(writer, "w", encoding="utf-8")


def files_of(words):
    return [word for word in words[2:] if word.endswith(FILES)]


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_closed_pipe_loses_no_file(here, monkeypatch, capsys, words):
    with closed_pipe() as output:
        assert run_main(monkeypatch, words, output) == 0
    assert [name for name in files_of(words) if not Path(name).stat().st_size] == []
    assert "cannot write" not in capsys.readouterr().err


@needs_full
@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_full_disk_is_an_error_and_loses_no_other_file(here, monkeypatch, capsys, words):
    with FULL.open("w", encoding="utf-8") as output:
        assert run_main(monkeypatch, words, output) == 2
    assert [name for name in files_of(words) if not Path(name).stat().st_size] == []
    assert capsys.readouterr().err.splitlines()[-1] == LOST


@pytest.mark.parametrize(
    ("shell", "status", "lines"),
    [
        ("{command} | true", 0, ["mictree: wrote m.json"]),
        ("{command} 2>&1 | true", 0, []),
        ("{command} >&-", 0, ["mictree: wrote m.json"]),
        ("{command} >&- 2>&-", 0, []),
        pytest.param("{command} > /dev/full", 2, ["mictree: wrote m.json", LOST], marks=needs_full),
        pytest.param("{command} > /dev/full 2>&1", 2, [], marks=needs_full),
        pytest.param("{command} 2> /dev/full | cat > /dev/null", 0, [], marks=needs_full),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_in_a_shell(here, shell, status, lines):
    command = f"{sys.executable} -m mictree {' '.join(TEST_OF_FIT)} --save m.json"
    done = subprocess.run(
        ["bash", "-c", shell.format(command=command) + "; exit ${PIPESTATUS[0]}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    shown = [line for line in done.stderr.splitlines() if "compiling" not in line]
    assert (done.returncode, shown[1:]) == (status, lines)
    assert mt.load("m.json").tree_.size == 2


@pytest.mark.skipif(not hasattr(os, "set_blocking"), reason="no pipes that do not block")
def test_a_pipe_that_does_not_block_gets_everything(here, monkeypatch):
    """As some programs pass on; it takes 64 kB, and then says that it is full."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    child = subprocess.Popen(["wc", "-c"], stdin=reader, stdout=subprocess.PIPE)
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as output, common_output(monkeypatch, output):
        sys.stdout.write("x" * 10**6)
    assert int(child.communicate()[0]) == 10**6


def common_output(monkeypatch, output):
    monkeypatch.setattr(sys, "stdout", output)
    return guarded_output()


class TestFilesThatCannotBeWritten:
    def test_the_others_are_written(self, here, monkeypatch, capsys):
        """The drawing fails; the model comes before it, the page behind it."""

        def fail(path, *parts):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

        monkeypatch.setattr("mictree.cli.output.write_whole", fail)  # of drawings
        assert run_main(monkeypatch, COMMANDS["fit"], sys.stdout) == 2
        assert sorted(path.name for path in here.iterdir() if path.name[1] == ".") == [
            "d.csv",
            "m.json",
            "p.html",
        ]
        assert capsys.readouterr().err.splitlines()[-1] == (
            "mictree: [Errno 28] No space left on device: 't.svg'"
        )

    def test_each_failure_has_its_line(self, here, monkeypatch, capsys):
        def fail(*_):
            raise OSError("no room")

        monkeypatch.setattr("mictree.cli.output.write_whole", fail)
        monkeypatch.setattr("mictree.cli.data.write_whole", fail)
        assert run_main(monkeypatch, COMMANDS["data"], sys.stdout) == 2
        assert capsys.readouterr().err.splitlines()[-2:] == ["mictree: no room"] * 2

    def test_an_error_names_the_file_and_leaves_none(self, here, monkeypatch, capsys):
        def fail(self, target):
            raise OSError(errno.EACCES, "Permission denied", str(self), None, str(target))

        monkeypatch.setattr(Path, "replace", fail)
        assert run_main(monkeypatch, COMMANDS["fit as JSON"], sys.stdout) == 2
        assert capsys.readouterr().err.splitlines()[-1] == (
            "mictree: [Errno 13] Permission denied: 'm.json'"
        )
        assert not [path for path in here.iterdir() if path.name.startswith((".", "m."))]

    def test_a_folder_without_permission_is_refused_before_any_work(
        self, here, monkeypatch, capsys
    ):
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
        assert run_main(monkeypatch, COMMANDS["fit as JSON"], sys.stdout) == 2
        assert capsys.readouterr().err == (
            "mictree: --save must be in a folder that you may write to; got 'm.json'\n"
        )


class TestOtherEncodings:
    @pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
    @pytest.mark.parametrize("command", ["fit", "grow", "optimal"])
    def test_drawings_and_names_are_spelled(self, here, monkeypatch, capsys, encoding, command):
        words = COMMANDS[command]
        with open("out.txt", "w", encoding=encoding) as output:  # its errors are strict
            assert run_main(monkeypatch, words, output) == 0
        shown = Path("out.txt").read_text(encoding=encoding)
        assert ("├─0─ " if encoding == "utf-8" else "|-0- ") in shown
        assert ("└─1─ " if encoding == "utf-8" else "`-1- ") in shown
        if command == "fit":
            assert (r"kind is \u65e5\u672c" in shown) == (encoding != "utf-8")
            assert (r"gr\xf6\xdfe >" in shown) == (encoding == "ascii")
        assert [name for name in files_of(words) if not Path(name).stat().st_size] == []

    def test_tables_are_as_wide_as_they_are_spelled(self, here, monkeypatch):
        words = ["fit", "d.csv", "--target", "label", "--cv", "2", "--max-size", "2"]
        with open("out.txt", "w", encoding="ascii") as output:
            assert run_main(monkeypatch, words, output) == 0
        table = [line for line in Path("out.txt").read_text().splitlines() if line[0] in "+|"][:5]
        assert len({len(line) for line in table}) == 1
        assert " +- " in table[3]

    def test_a_process(self, here):
        """With the environment of the report: the model was not saved."""
        done = subprocess.run(
            [sys.executable, "-m", "mictree", *TEST_OF_FIT, "--save", "m.json"],
            env={**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"},
            capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0
        assert "|-0- größe > 3.5?".encode("latin-1") in done.stdout
        assert Path("m.json").exists()

    def test_python_still_draws_in_unicode(self, here):
        assert "├─0─ " in mt.load("model.json").to_text()

    @pytest.mark.parametrize(("encoding", "warned"), [("ascii", True), ("latin-1", False)])
    def test_predictions_that_must_be_escaped_get_a_warning(
        self, here, monkeypatch, capsys, encoding, warned
    ):
        with open("out.txt", "w", encoding=encoding) as output:
            assert run_main(monkeypatch, COMMANDS["predict"], output) == 0
        shown = Path("out.txt").read_text(encoding=encoding)
        assert (r"n\xe9" if warned else "né") in shown.splitlines()
        assert ("which lacks characters of the predictions" in capsys.readouterr().err) == warned
