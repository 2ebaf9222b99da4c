"""Vectors as values of kernels: LANES whole numbers that a processor adds and compares at once.

A vector that is a variable of a loop stays in registers. LLVM makes vector code of some loops over
arrays only, and an array goes through memory each time. Without compiling, a vector is an array of
NumPy.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model

LANES = 32


class Vector(types.Type):
    """LANES numbers of one kind."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(name=f"Vector({kind})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.IntType(kind.kind.bitwidth), LANES))


def _spread(builder: Any, number: Any) -> Any:
    """A vector with one number everywhere."""
    nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    first = builder.insert_element(nothing, number, ir.IntType(32)(0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
    return builder.shuffle_vector(first, nothing, everywhere)


def _generate_spread(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _spread(builder, arguments[0])


def _typed_spread(typing: Any, number: Any) -> Any:
    return Vector(number)(number), _generate_spread


def _generate_choose(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    bits, number = arguments
    chosen = builder.bitcast(bits, ir.VectorType(ir.IntType(1), LANES))
    everywhere = _spread(builder, number)
    return builder.select(chosen, everywhere, ir.Constant(everywhere.type, None))


def _typed_choose(typing: Any, bits: Any, number: Any) -> Any:
    return Vector(number)(types.uint32, number), _generate_choose


def _place(context: Any, builder: Any, kind: Any, array: Any, start: Any) -> Any:
    """The address of LANES numbers of an array."""
    first = builder.gep(context.make_array(kind)(context, builder, array).data, [start])
    vector = ir.VectorType(ir.IntType(kind.dtype.bitwidth), LANES)
    return builder.bitcast(first, vector.as_pointer())


def _generate_load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = signature.args[0]
    place = _place(context, builder, kind, *arguments)
    return builder.load(place, align=kind.dtype.bitwidth // 8)


def _typed_load(typing: Any, array: Any, start: Any) -> Any:
    return Vector(array.dtype)(array, types.intp), _generate_load


def _generate_store(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, (vector, array, start) = signature.args[1], arguments
    place = _place(context, builder, kind, array, start)
    builder.store(vector, place, align=kind.dtype.bitwidth // 8)
    return context.get_dummy_value()


def _typed_store(typing: Any, vector: Any, array: Any, start: Any) -> Any:
    return types.void(vector, array, types.intp), _generate_store


def _pairwise(generate: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """An operation on two vectors."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return generate(builder, *arguments)

    def typed(typing: Any, one: Any, other: Any) -> Any:
        return one(one, other), build

    return typed


def _add(builder: Any, one: Any, other: Any) -> Any:
    return builder.add(one, other)


def _subtract(builder: Any, one: Any, other: Any) -> Any:
    return builder.sub(one, other)


def _take_least(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed("<", one, other), one, other)


def _take_most(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed(">", one, other), one, other)


def _plain_spread(number: Any) -> Any:
    return np.full(LANES, number)


def _plain_choose(bits: Any, number: Any) -> Any:
    inside = int(bits) >> np.arange(LANES) & 1
    return np.where(inside == 1, number, number.dtype.type(0))


def _plain_load(array: Any, start: int) -> Any:
    return array[start : start + LANES].copy()


def _plain_store(vector: Any, array: Any, start: int) -> None:
    array[start : start + LANES] = vector


if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    # coverage runs the kernels as plain Python, where an intrinsic cannot be called
    spread: Any = _plain_spread
    choose: Any = _plain_choose
    load: Any = _plain_load
    store: Any = _plain_store
    add: Any = np.add
    subtract: Any = np.subtract
    least: Any = np.minimum
    most: Any = np.maximum
else:
    spread = intrinsic(_typed_spread)
    choose = intrinsic(_typed_choose)
    load = intrinsic(_typed_load)
    store = intrinsic(_typed_store)
    add = intrinsic(_pairwise(_add))
    subtract = intrinsic(_pairwise(_subtract))
    least = intrinsic(_pairwise(_take_least))
    most = intrinsic(_pairwise(_take_most))
