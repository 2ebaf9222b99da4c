"""Python functions that kernels call by their addresses, compiled where numba can do so.

A function that numba cannot compile, or that computes something else once compiled, is called back
in Python instead.
"""

import ctypes
import dis
import hashlib
import inspect
import math
import sys
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numba
from numba.core.ccallback import CFunc
from numba.core.errors import NumbaError

from mictree._support.calls import c_function
from mictree._support.kernel_cache import make_cache


class NotCompiledError(Exception):
    """Why a function cannot be compiled."""


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


_compiled: dict[str | FunctionType, CFunc] = {}


def compile_function(
    function: Callable[..., Any], signature: Any, samples: Sequence[tuple[float, ...]]
) -> CFunc:
    """A function for kernels; refuses one that gives other numbers compiled than in Python.

    ``samples`` are arguments to compare both at.
    """
    if not isinstance(function, FunctionType):
        raise NotCompiledError(f"it is no plain function but {type(function).__name__}")
    # our own functions do not change while a process runs, and looking at them takes time
    key = function if function.__module__.startswith("mictree.") else fingerprint(function)
    if key is None or key not in _compiled:
        made = _compile(function, signature)
        _compare(function, made, samples)
        if key is None:
            return made
        _compiled[key] = made
    return _compiled[key]


def _compile(function: FunctionType, signature: Any) -> CFunc:
    if any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(function)):
        raise NotCompiledError("it may raise an error, which compiled code would lose")
    # no error can leave compiled code: a division by 0 gives inf or nan there
    options = {"nopython": True, "error_model": "numpy"}
    made: Any = CFunc(function, (signature.args, signature.return_type), {}, options)
    if function.__module__.startswith("mictree."):
        made._cache = make_cache(function)
    try:
        made.compile()
    except NumbaError as error:
        told = " ".join(str(error).split())
        raise NotCompiledError(f"numba cannot compile it: {told[:300]}") from error
    return made


def _compare(function: FunctionType, made: CFunc, samples: Sequence[tuple[float, ...]]) -> None:
    for sample in samples:
        try:
            plain = float(function(*sample))
        except Exception as error:
            raise NotCompiledError(f"it raises {error!r} at {sample}") from error
        compiled = made.ctypes(*sample)
        if not math.isclose(plain, compiled, rel_tol=1e-12) and plain == plain:
            raise NotCompiledError(f"compiled it gives {compiled} at {sample} instead of {plain}")


def fingerprint(function: Any) -> str | None:
    """A digest that changes with what a function computes; None where that cannot be told.

    It covers the code, its constants and defaults, and the numbers, texts, modules and functions
    that it finds outside.
    """
    try:
        told = repr((sys.version_info[:2], numba.__version__, _describe(function, ())))
    except _Unknown:
        return None
    return hashlib.sha256(told.encode()).hexdigest()


class _Unknown(Exception):
    """A value that may change without a trace."""


def _describe(value: Any, above: tuple[Any, ...]) -> Any:
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return type(value).__name__, repr(value)
    if isinstance(value, tuple | frozenset):
        return [_describe(part, above) for part in value]
    if isinstance(value, ModuleType):
        return value.__name__, getattr(value, "__version__", "")
    if isinstance(value, BuiltinFunctionType | type) and value.__module__ in ("builtins", "math"):
        return value.__module__, value.__qualname__
    if isinstance(value, CodeType):
        constants = [_describe(constant, above) for constant in value.co_consts]
        return value.co_code.hex(), constants, value.co_names, value.co_varnames
    if not isinstance(value, FunctionType):
        raise _Unknown
    if value in above:
        return "itself"
    above = (*above, value)
    outside = inspect.getclosurevars(value)
    found = {**outside.nonlocals, **outside.globals, **outside.builtins}
    parts = [(name, _describe(found[name], above)) for name in sorted(found)]
    return _describe(value.__code__, above), _describe(value.__defaults__ or (), above), parts
