"""Vector instructions for the compiled loops: comparisons, exact sums, and blocks of matrix products.

A comparison tells which of 64 neighbouring numbers matter, as the bits of one integer. A loop over single numbers, or
over a list of truth values, would take several times as long, since LLVM does not turn such a loop into vector
instructions. Products keep all sums of a block in the registers, and so reach the limit of the processor.

What this buys: ranks among 60,502 rows take 1.3 s of a processor, and pytorch-metric-learning takes 12.5 s; a search among a
million rows takes a quarter of faiss's time (``benchmarks/results``).
"""

from typing import Any

import numba
import numba.extending
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils

LANES = 64
SUMS = 8
# Rows and columns of a block of products, whose sums the registers can hold.
BLOCK, WIDTH = 4, LANES if binding.get_host_cpu_features().get("avx512f") else 16
WORDS = 16  # 32-bit numbers that one instruction takes, each with the bytes of four products
# Whether one instruction adds four products of bytes; numba may have been asked for the code of another processor.
_ASKED: Any = numba.config
BYTE_PRODUCTS = bool(binding.get_host_cpu_features().get("avx512vnni")) and not (
    _ASKED.CPU_NAME or _ASKED.CPU_FEATURES
)
_INDEX, _DOUBLES = ir.IntType(32), ir.VectorType(ir.DoubleType(), SUMS)
intrinsic: Any = numba.extending.intrinsic  # checkers of types would ask callers for its argument "typing"


def _comparison(answer, kind):
    """An intrinsic with the answer for LANES ``numbers`` from ``start`` on and a ``limit``."""

    @intrinsic
    def compare(typing, numbers, start, limit):
        def generate(context, builder, signature, arguments):
            row = _load(context, builder, signature.args[0], arguments[0], arguments[1], LANES)
            return answer(builder, row, arguments[2])

        return kind(numbers, types.intp, numbers.dtype), generate

    return compare


def _comparison_above(answer, kind):
    """The same for what the numbers are above their own of the ``others``."""

    @intrinsic
    def compare(typing, numbers, start, others, limit):
        def generate(context, builder, signature, arguments):
            row, other = (
                _load(context, builder, signature.args[place], arguments[place], arguments[1], LANES)
                for place in (0, 2)
            )
            return answer(builder, builder.fsub(row, other), arguments[3])

        return kind(numbers, types.intp, others, types.float32), generate

    return compare


def _which(operator):
    def answer(builder, numbers, limit):
        near = builder.fcmp_ordered(operator, numbers, _repeat(builder, limit, LANES))
        return builder.bitcast(near, ir.IntType(LANES))

    return answer


def _any_at_most(builder, numbers, limit):
    while numbers.type.count > 16:
        low, high = _halves(builder, numbers)
        numbers = builder.select(builder.fcmp_ordered("<", low, high), low, high)
    near = builder.fcmp_ordered("<=", numbers, _repeat(builder, limit, numbers.type.count))
    bits = builder.bitcast(near, ir.IntType(numbers.type.count))
    return builder.icmp_unsigned("!=", bits, bits.type(0))


# Bit j: does number j compare?
below, at_most = (_comparison(_which(operator), types.uint64) for operator in ("<", "<="))
at_most_above = _comparison_above(_which("<="), types.uint64)
# Whether any number does; that takes less than telling which.
any_at_most = _comparison(_any_at_most, types.boolean)
any_at_most_above = _comparison_above(_any_at_most, types.boolean)


def _of_bits(operation):
    @intrinsic
    def compute(typing, bits):
        def generate(context, builder, signature, arguments):
            return operation(builder, arguments[0])

        return types.int64(types.uint64), generate

    return compute


#: The place of the lowest bit that is set, and how many are.
first_bit = _of_bits(lambda builder, bits: builder.cttz(bits, ir.Constant(ir.IntType(1), 1)))
how_many = _of_bits(lambda builder, bits: builder.ctpop(bits))


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


def _products(rows):
    @intrinsic
    def products(typing, x, i, panels, number, column, bias, out, row):
        """Products of ``rows`` rows of x, from ``i`` on, with WIDTH columns of a panel, from ``column`` on, and then the
        bias of each column: written into ``out``, from ``row`` on."""

        def generate(context, builder, signature, arguments):
            _write_products(context, builder, signature.args, arguments, rows)
            return context.get_dummy_value()

        return types.void(x, types.intp, panels, types.intp, types.intp, bias, out, types.intp), generate

    return products


products_of_rows, products_of_row = _products(BLOCK), _products(1)


def _products_of_bytes(queries):
    @intrinsic
    def products(typing, codes, chunk, query, first, offset, factor, scale, bias, out):
        """``bias - factor * scale * (codes . query + offset)`` of the LANES rows of one chunk and ``queries`` queries from
        ``first`` on, each a row of ``out``. Codes are bytes from 0 to 255, four numbers of every row after another;
        queries are bytes from -128 to 127. Their products are whole numbers, and so exact."""

        def generate(context, builder, signature, arguments):
            _write_products_of_bytes(context, builder, signature.args, arguments, queries)
            return context.get_dummy_value()

        return types.void(codes, types.intp, query, types.intp, offset, factor, scale, bias, out), generate

    return products


products_of_byte_rows, products_of_byte_row = _products_of_bytes(BLOCK), _products_of_bytes(1)


def _write_products_of_bytes(context, builder, kinds, arguments, queries):
    chunk, first = arguments[1], arguments[3]
    codes, query, offset, factor, scale, bias, out = (
        context.make_array(kinds[place])(context, builder, arguments[place])
        for place in (0, 2, 4, 5, 6, 7, 8)
    )
    groups, parts = builder.extract_value(codes.shape, 1), LANES // WORDS
    whole, floats = ir.VectorType(_INDEX, WORDS), ir.VectorType(ir.FloatType(), WORDS)
    sums = [
        [cgutils.alloca_once_value(builder, ir.Constant(whole, None)) for _ in range(parts)]
        for _ in range(queries)
    ]
    rows = [builder.add(first, first.type(q)) for q in range(queries)]
    words = builder.bitcast(query.data, _INDEX.as_pointer())
    with cgutils.for_range(builder, groups) as (group, _):
        start = builder.mul(builder.add(builder.mul(chunk, groups), group), group.type(4 * LANES))
        loaded = [
            _load_at(builder, codes.data, builder.add(start, start.type(4 * WORDS * part)), whole, align=1)
            for part in range(parts)
        ]
        for row, totals in zip(rows, sums):
            place = builder.gep(words, [builder.add(builder.mul(row, groups), group)])
            factors = _repeat(builder, builder.load(place, align=1), WORDS)
            for bytes_of_rows, total in zip(loaded, totals):
                added = _add_products_of_bytes(builder, builder.load(total), bytes_of_rows, factors)
                builder.store(added, total)
    place = builder.mul(chunk, chunk.type(LANES))
    for q, (row, totals) in enumerate(zip(rows, sums)):
        shift, times = (builder.load(builder.gep(array.data, [row])) for array in (offset, factor))
        for part, total in enumerate(totals):
            lane = builder.add(place, place.type(WORDS * part))
            product = builder.sitofp(builder.add(builder.load(total), _repeat(builder, shift, WORDS)), floats)
            scales = builder.fmul(_load_at(builder, scale.data, lane, floats), _repeat(builder, times, WORDS))
            value = builder.fsub(_load_at(builder, bias.data, lane, floats), builder.fmul(product, scales))
            target = builder.gep(out.data, [ir.Constant(ir.IntType(64), q * LANES + WORDS * part)])
            builder.store(value, _as_vector(builder, target, floats), align=4)


def _add_products_of_bytes(builder, total, codes, query):
    """To each 32-bit number of ``total`` the products of the four bytes at its place: one instruction where the processor
    has it, else products of 16-bit numbers."""
    if BYTE_PRODUCTS:
        whole = ir.FunctionType(total.type, [total.type] * 3)
        add = cgutils.get_or_insert_function(builder.module, whole, "llvm.x86.avx512.vpdpbusd.512")
        return builder.call(add, (total, codes, query))
    for shift in (0, 8, 16, 24):
        byte = builder.and_(builder.lshr(codes, total.type([shift] * WORDS)), total.type([255] * WORDS))
        left = builder.shl(query, query.type([24 - shift] * WORDS))
        factor = builder.ashr(left, query.type([24] * WORDS))
        total = builder.add(total, builder.mul(byte, factor))
    return total


def _write_products(context, builder, kinds, arguments, rows):
    x, i, panels, number, column, bias, out, row = arguments
    x, panels, bias, out = (
        context.make_array(kinds[place])(context, builder, array)
        for place, array in ((0, x), (2, panels), (5, bias), (6, out))
    )
    lanes, dim = ir.VectorType(ir.FloatType(), WIDTH), builder.extract_value(x.shape, 1)
    sums = [cgutils.alloca_once_value(builder, ir.Constant(lanes, None)) for _ in range(rows)]
    whole = ir.FunctionType(lanes, [lanes] * 3)
    multiply_add = cgutils.get_or_insert_function(builder.module, whole, f"llvm.fma.v{WIDTH}f32")

    def place(r, width, start, first):
        """Where row ``start + r`` stands, and in it the number ``first``."""
        return builder.add(builder.mul(builder.add(start, start.type(r)), width), first)

    with cgutils.for_range(builder, dim) as (k, _):
        panel_row = builder.add(builder.mul(number, dim), k)
        columns = _load_at(builder, panels.data, place(0, dim.type(LANES), panel_row, column), lanes)
        for r, total in enumerate(sums):
            number_of_row = builder.load(builder.gep(x.data, [place(r, dim, i, k)]))
            factors = _repeat(builder, number_of_row, WIDTH), columns
            builder.store(builder.call(multiply_add, (*factors, builder.load(total))), total)
    column = builder.add(builder.mul(number, number.type(LANES)), column)
    biases, length = _load_at(builder, bias.data, column, lanes), builder.extract_value(out.shape, 1)
    for r, total in enumerate(sums):
        pointer = builder.gep(out.data, [place(r, length, row, column)])
        builder.store(builder.fadd(builder.load(total), biases), _as_vector(builder, pointer, lanes), align=4)


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
    added = builder.load(sums)
    while added.type.count > 1:  # (0 + 4) + (2 + 6) and (1 + 5) + (3 + 7), added
        low, high = _halves(builder, added)
        added = builder.fadd(low, high)
    return builder.extract_element(added, _INDEX(0))


def _halves(builder, numbers):
    half = numbers.type.count // 2
    return (_part(builder, numbers, range(first, first + half)) for first in (0, half))


def _part(builder, numbers, which):
    places = ir.Constant(ir.VectorType(_INDEX, len(which)), list(which))
    return builder.shuffle_vector(numbers, numbers, places)


def _load(context, builder, kind, array, start, count):
    """``count`` numbers of an array from ``start`` on."""
    data = context.make_array(kind)(context, builder, array).data
    lanes = ir.VectorType(context.get_value_type(kind.dtype), count)
    return _load_at(builder, data, start, lanes, context.get_abi_sizeof(lanes.element))


def _load_at(builder, data, start, lanes, align=4):
    return builder.load(_as_vector(builder, builder.gep(data, [start]), lanes), align=align)


def _as_vector(builder, pointer, lanes):
    return builder.bitcast(pointer, lanes.as_pointer())


def _as_doubles(builder, numbers):
    doubles = ir.VectorType(ir.DoubleType(), numbers.type.count)
    return numbers if numbers.type == doubles else builder.fpext(numbers, doubles)


def _repeat(builder, number, count):
    lanes = ir.VectorType(number.type, count)
    first = builder.insert_element(ir.Constant(lanes, ir.Undefined), number, _INDEX(0))
    return _part(builder, first, [0] * count)
