"""Vector comparisons for the compiled loops: which of 64 neighbouring numbers matter, as the bits of one integer.

A loop over single numbers, or over a list of truth values, would take several times as long, since LLVM does not turn
such a loop into vector instructions.
"""

from __future__ import annotations

from typing import Any

import numba.extending
from llvmlite import ir
from numba import types
from numba.core import cgutils

LANES = 64
SUMS = 8
_INDEX, _DOUBLES = ir.IntType(32), ir.VectorType(ir.DoubleType(), SUMS)
intrinsic: Any = numba.extending.intrinsic  # checkers of types would ask callers for its argument "typing"


@intrinsic
def below(typing, numbers, start, limit):
    """Bit j: is ``numbers[start + j] < limit``?"""

    def generate(context, builder, signature, arguments):
        row = _load(context, builder, signature.args[0], arguments[0], arguments[1], LANES)
        return _compare(builder, "<", row, _repeat(builder, arguments[2], LANES))

    return types.uint64(numbers, types.intp, numbers.dtype), generate


@intrinsic
def at_most(typing, numbers, start, limit):
    """Bit j: is ``numbers[start + j] <= limit``?"""

    def generate(context, builder, signature, arguments):
        row = _load(context, builder, signature.args[0], arguments[0], arguments[1], LANES)
        return _compare(builder, "<=", row, _repeat(builder, arguments[2], LANES))

    return types.uint64(numbers, types.intp, numbers.dtype), generate


@intrinsic
def at_most_above(typing, numbers, start, others, limit):
    """Bit j: is ``numbers[start + j] - others[start + j] <= limit``?"""

    def generate(context, builder, signature, arguments):
        both = ((signature.args[which], arguments[which]) for which in (0, 2))
        row, other = (_load(context, builder, *each, arguments[1], LANES) for each in both)
        return _compare(builder, "<=", builder.fsub(row, other), _repeat(builder, arguments[3], LANES))

    return types.uint64(numbers, types.intp, others, types.float32), generate


@intrinsic
def first_bit(typing, bits):
    """The place of the lowest bit that is set."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def how_many(typing, bits):
    """How many bits are set."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def sum_of_squares(typing, x, i, y, j):
    """The sum of the squared differences of ``x[i]`` and ``y[j]``, in the order of ``_sum``."""

    def generate(context, builder, signature, arguments):
        def term(one, other):
            difference = builder.fsub(one, other)
            return builder.fmul(difference, difference)

        return _sum(context, builder, signature.args[::2], arguments, term)

    return types.float64(x, types.intp, y, types.intp), generate


@intrinsic
def sum_of_products(typing, x, i, y, j, x_length, y_length):
    """The inner product of ``x[i]`` and ``y[j]`` at unit length, in the order of ``_sum``."""

    def generate(context, builder, signature, arguments):
        def term(one, other):
            lengths = (_repeat(builder, length, one.type.count) for length in arguments[4:])
            one, other = (builder.fdiv(row, length) for row, length in zip((one, other), lengths))
            return builder.fmul(one, other)

        return _sum(context, builder, signature.args[:4:2], arguments, term)

    return types.float64(x, types.intp, y, types.intp, types.float64, types.float64), generate


def _sum(context, builder, kinds, arguments, term):
    """Eight interleaved sums of the terms of two rows, in float64, which are added in a fixed order."""
    arrays, rows = arguments[:4:2], arguments[1:4:2]
    width = builder.extract_value(context.make_array(kinds[0])(context, builder, arrays[0]).shape, 1)
    starts = [builder.mul(row, width) for row in rows]

    def terms(k, count):
        places = (builder.add(start, k) for start in starts)
        loaded = (_load(context, builder, *each, count) for each in zip(kinds, arrays, places))
        return term(*(_as_doubles(builder, numbers) for numbers in loaded))

    sums = cgutils.alloca_once_value(builder, ir.Constant(_DOUBLES, None))
    eight = width.type(SUMS)
    whole = builder.mul(builder.sdiv(width, eight), eight)
    with cgutils.for_range_slice(builder, width.type(0), whole, eight) as (k, _):
        builder.store(builder.fadd(builder.load(sums), terms(k, SUMS)), sums)
    with cgutils.for_range_slice(builder, whole, width, width.type(1)) as (k, _):
        lane, last = builder.trunc(builder.sub(k, whole), _INDEX), terms(k, 1)
        before = builder.load(sums)
        after = builder.fadd(builder.extract_element(before, lane), builder.extract_element(last, _INDEX(0)))
        builder.store(builder.insert_element(before, after, lane), sums)
    return _added(builder, builder.load(sums))


def _added(builder, sums):
    """(0 + 4) + (2 + 6) and (1 + 5) + (3 + 7), added."""
    while sums.type.count > 1:
        half = sums.type.count // 2
        low, high = (_part(builder, sums, range(first, first + half)) for first in (0, half))
        sums = builder.fadd(low, high)
    return builder.extract_element(sums, _INDEX(0))


def _part(builder, numbers, which):
    places = ir.Constant(ir.VectorType(_INDEX, len(which)), list(which))
    return builder.shuffle_vector(numbers, numbers, places)


def _load(context, builder, kind, array, start, count):
    """``count`` numbers of an array from ``start`` on."""
    data = context.make_array(kind)(context, builder, array).data
    lanes = ir.VectorType(context.get_value_type(kind.dtype), count)
    place = builder.bitcast(builder.gep(data, [start]), lanes.as_pointer())
    return builder.load(place, align=context.get_abi_sizeof(lanes.element))


def _as_doubles(builder, numbers):
    doubles = ir.VectorType(ir.DoubleType(), numbers.type.count)
    return numbers if numbers.type == doubles else builder.fpext(numbers, doubles)


def _repeat(builder, number, count):
    lanes = ir.VectorType(number.type, count)
    first = builder.insert_element(ir.Constant(lanes, ir.Undefined), number, _INDEX(0))
    return _part(builder, first, [0] * count)


def _compare(builder, operator, numbers, limits):
    return builder.bitcast(builder.fcmp_ordered(operator, numbers, limits), ir.IntType(LANES))
