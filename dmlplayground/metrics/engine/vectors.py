"""Vector comparisons for the compiled loops: which of 64 neighbouring numbers matter, as the bits of one integer.

A loop over the numbers themselves, or over a list of truths, would take several times as long as this, and LLVM does not
find it in such a loop.
"""

from __future__ import annotations

from typing import Any

import numba.extending
from llvmlite import ir
from numba import types

LANES = 64
intrinsic: Any = numba.extending.intrinsic  # checkers of types would ask callers for its argument "typing"


@intrinsic
def at_most(typing, numbers, start, limit):
    """Bit j: is ``numbers[start + j] <= limit``?"""

    def generate(context, builder, signature, arguments):
        row = _load(context, builder, signature, arguments, 0)
        return _compare(builder, row, _repeat(builder, arguments[2]))

    return types.uint64(numbers, types.intp, types.float32), generate


@intrinsic
def at_most_above(typing, numbers, start, others, limit):
    """Bit j: is ``numbers[start + j] - others[start + j] <= limit``?"""

    def generate(context, builder, signature, arguments):
        row, other = (_load(context, builder, signature, arguments, which) for which in (0, 2))
        return _compare(builder, builder.fsub(row, other), _repeat(builder, arguments[3]))

    return types.uint64(numbers, types.intp, others, types.float32), generate


@intrinsic
def first_bit(typing, bits):
    """The place of the lowest bit that is set."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _load(context, builder, signature, arguments, which):
    kind = signature.args[which]
    data = context.make_array(kind)(context, builder, arguments[which]).data
    lanes = ir.VectorType(context.get_value_type(kind.dtype), LANES)
    place = builder.bitcast(builder.gep(data, [arguments[1]]), lanes.as_pointer())
    return builder.load(place, align=context.get_abi_sizeof(lanes.element))


def _repeat(builder, number):
    lanes = ir.VectorType(number.type, LANES)
    first = builder.insert_element(ir.Constant(lanes, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, first, everywhere)


def _compare(builder, numbers, limits):
    return builder.bitcast(builder.fcmp_ordered("<=", numbers, limits), ir.IntType(LANES))
