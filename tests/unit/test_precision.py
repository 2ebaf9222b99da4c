"""Threads that set python-flint's precision do not disturb each other."""

import threading

from flint import ctx

from mictree._support.numbers import precision


def test_a_thread_keeps_its_precision_while_another_works():
    """The second thread would change it, and its end would restore what the first one set."""
    found: list[int] = []
    begun = threading.Event()

    def work() -> None:
        begun.set()
        with precision(320):
            found.append(ctx.prec)

    other = threading.Thread(target=work)
    with precision(100):
        other.start()
        begun.wait()
        other.join(0.2)
        with precision(200):
            found.append(ctx.prec)
        found.append(ctx.prec)
    other.join()
    assert found == [200, 100, 320]
    assert ctx.prec == 53
