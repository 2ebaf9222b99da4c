"""Python functions that kernels call by their addresses.

The package's own functions are compiled. A user's function is called back in Python: compiled, it
could lose errors, wrap integers around, or keep numbers that have changed since.
"""

import ctypes
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

from numba.core.ccallback import CFunc

from mictree._support.calls import c_function
from mictree._support.kernel_cache import make_cache


class Callback:
    """A Python function that kernels call back; call ``settle`` when the kernel is done.

    What the function raises cannot pass through a kernel: it is kept, and the kernel gets nan.
    """

    def __init__(self, function: Callable[..., float], signature: Any) -> None:
        self._function = function
        self._error: BaseException | None = None
        self._pointer = c_function(signature)(self)

    def __call__(self, *arguments: float) -> float:
        if self._error is None:
            try:
                return self._function(*arguments)
            except BaseException as error:
                self._error = error
        return math.nan

    @property
    def address(self) -> int:
        """Where kernels find it."""
        address = ctypes.cast(self._pointer, ctypes.c_void_p).value
        assert address is not None
        return address

    def settle(self) -> None:
        """Raise what the function raised."""
        if self._error is not None:
            raise self._error


class Compiled:
    """One of the package's own functions, compiled once in a process and kept on disk."""

    _known: dict[FunctionType, CFunc] = {}  # noqa: RUF012

    def __init__(self, function: FunctionType, signature: Any) -> None:
        if function not in self._known:
            # no error can leave compiled code: a division by 0 gives inf or nan there
            options = {"nopython": True, "error_model": "numpy"}
            made: Any = CFunc(function, (signature.args, signature.return_type), {}, options)
            made._cache = make_cache(function)
            made.compile()
            self._known[function] = made
        self.address: int = int(self._known[function].address)  # type: ignore[arg-type]  # untyped

    def settle(self) -> None:
        """Nothing was raised."""


def is_own(function: Any) -> bool:
    """Whether a function is the package's own."""
    return isinstance(function, FunctionType) and function.__module__.startswith("mictree.")
