"""Calls from kernels to a rule's two functions, by their addresses.

A kernel that takes addresses is compiled once for all functions, and integers are fast to pass.
"""

import ctypes
from typing import Any

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

# of self, which a compiled method must not use, reach, gain and born
PRIORITY = types.float64(types.int64, types.float64, types.float64, types.int64)
IMPURITY = types.float64(types.float64)
C_TYPES = {types.float64: ctypes.c_double, types.int64: ctypes.c_int64}


def c_function(signature: Any) -> Any:
    """The ctypes kind of functions of a signature."""
    return ctypes.CFUNCTYPE(C_TYPES[signature.return_type], *(C_TYPES[t] for t in signature.args))


def _call(context: Any, builder: Any, signature: Any, address: Any, arguments: Any) -> Any:
    kinds = [context.get_value_type(kind) for kind in signature.args]
    result = context.get_value_type(signature.return_type)
    pointer = builder.inttoptr(address, ir.FunctionType(result, kinds).as_pointer())
    return builder.call(pointer, arguments)


def _generate_priority(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    nobody = ir.Constant(ir.IntType(64), 0)
    return _call(context, builder, PRIORITY, arguments[0], [nobody, *arguments[1:]])


def _generate_impurity(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _call(context, builder, IMPURITY, arguments[0], arguments[1:])


def _call_priority(typing: Any, address: Any, reach: Any, gain: Any, born: Any) -> Any:
    """The priority of a leaf by the function at an address."""
    return types.float64(types.int64, *PRIORITY.args[1:]), _generate_priority


def _call_impurity(typing: Any, address: Any, rate: Any) -> Any:
    """The impurity of a positive rate by the function at an address."""
    return types.float64(types.int64, *IMPURITY.args), _generate_impurity


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    # coverage runs the kernels as plain Python, where an intrinsic cannot be called
    call_priority: Any = lambda address, *leaf: c_function(PRIORITY)(address)(0, *leaf)  # noqa: E731
    call_impurity: Any = lambda address, rate: c_function(IMPURITY)(address)(rate)  # noqa: E731
else:
    call_priority = intrinsic(_call_priority)
    call_impurity = intrinsic(_call_impurity)
