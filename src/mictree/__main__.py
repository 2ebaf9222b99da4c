"""The start and the end of the command line, where it answers Ctrl-C and SIGTERM.

Whenever Ctrl-C is pressed, the answer is one line and exit status 130. Python would raise
KeyboardInterrupt wherever it is, but not all places can pass it on: C code that imports a module
prints a traceback or drops it, and so does C code that calls Python back. There the process ends at
once. Elsewhere the first Ctrl-C is raised, so that files are cleaned up, and then the process ends
without Python's own last steps: they would free a second time what LLVM was freeing when Ctrl-C
came. A second Ctrl-C ends it at once. Before this module runs, Python itself starts and answers
with a traceback; after the last output is written, Ctrl-C comes too late and does nothing. SIGTERM
is answered in the same way, with exit status 143.
"""

import os
import sys

# Python has loaded these two already. Whatever else is needed is imported under protection.

INTERRUPTED, TERMINATED = 130, 143  # the shell's status for Ctrl-C and for SIGTERM
_pressed = False
_status = INTERRUPTED


def main() -> None:
    """Run the command line."""
    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not with nohup
            signal.signal(signal.SIGINT, _interrupt)
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _terminate)
        sys.unraisablehook = _report
        _silence_cleaners()
        from mictree import cli

        try:
            cli.main()
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            if signal.getsignal(signal.SIGTERM) is _terminate:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except BaseException as end:
        if _pressed or _status == TERMINATED or isinstance(end, KeyboardInterrupt):
            try:
                _end_workers()
            finally:
                _leave()
        raise


def _interrupt(_number: int, frame: object) -> None:
    """Answer Ctrl-C."""
    global _pressed
    if _pressed or _imports(frame):
        _leave()
    _pressed = True
    _silence_threads()
    raise KeyboardInterrupt


def _terminate(number: int, frame: object) -> None:
    """Answer SIGTERM as whoever answers Ctrl-C now, which may be a search."""
    global _status
    import signal

    _status = TERMINATED
    answer = signal.getsignal(signal.SIGINT)
    (answer if callable(answer) else _interrupt)(number, frame)  # type: ignore[arg-type]


def _imports(frame: object) -> bool:
    """Whether a module is being imported."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):  # type: ignore[attr-defined]
            return True
        frame = frame.f_back  # type: ignore[attr-defined]
    return False


def _report(error: "sys.UnraisableHookArgs") -> None:
    """Answer a Ctrl-C that C code cannot pass on; print other errors as usual."""
    if error.exc_type is KeyboardInterrupt:
        _leave()
    if not _pressed:  # objects that Ctrl-C left half made fail again when they are deleted
        sys.__unraisablehook__(error)


def _silence_threads() -> None:
    """Let joblib's threads, which see their workers end, neither warn nor print tracebacks."""
    for name, report in (("warnings", "showwarning"), ("threading", "excepthook")):
        module = sys.modules.get(name)
        if module is not None:
            setattr(module, report, lambda *_args, **_more: None)


def _silence_cleaners() -> None:
    """Let joblib's process that cleans up behind a killed command do so without a warning."""
    others = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = (others + "," if others else "") + "ignore:resource_tracker"


def _end_workers() -> None:
    """End joblib's workers, which would wait on, and free what they shared with this process."""
    loky = sys.modules.get("joblib.externals.loky.reusable_executor")
    workers = getattr(loky, "_executor", None)
    if workers is not None:
        workers.terminate(kill_workers=True)
    shared = sys.modules.get("multiprocessing.util")
    if shared is not None:
        shared._run_finalizers(0)


def _leave() -> None:
    """End the process, whatever it is doing."""
    try:
        if os.isatty(2):
            os.write(2, b"\x1b[?25h\n")  # a progress display hides the cursor
        os.write(2, b"mictree: interrupted\n")
    finally:
        os._exit(_status)


if __name__ == "__main__":
    main()
