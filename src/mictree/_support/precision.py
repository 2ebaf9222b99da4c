"""The precision of python-flint's balls, for one thread at a time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_one_thread = threading.RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Within it, balls have so many bits.

    All threads of a process share python-flint's precision, so the others wait. They lose nothing:
    python-flint lets only one of them compute anyway.
    """
    from flint import ctx

    with _one_thread, ctx.workprec(bits):
        yield
