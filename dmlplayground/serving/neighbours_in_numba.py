"""The compiled loops of ``neighbours``: rows in eight bits, and the scan that leaves few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..parts.metrics.shared.engine import vectors
from ..parts.metrics.shared.engine.compiled_loops import _compile, _inline

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from .neighbours import Asked, Codes, Frame

CHUNK = vectors.LANES  # rows whose bounds are one number
TILE = 1 << 18  # bytes of codes that stay in the cache while all queries are compared with them
FEW = vectors.BLOCK  # queries that are compared at once
LARGEST = np.float32(3.0e38)


@_compile
def encode(rows: Array, first: int, frame: Frame, codes: Codes) -> None:
    """Write ``rows`` (float64, as the distance sees them) into the codes from row ``first`` on (``neighbours.Codes``)."""
    count, width = rows.shape
    numbers = np.empty(width)
    for i in range(count):
        row = first + i
        largest: Any = 0.0
        along = square = 0.0
        for j in range(width):
            numbers[j] = (rows[i, j] - frame.centre[j]) * frame.factor
            largest = max(largest, abs(numbers[j]))
            along += numbers[j] * frame.centre[j]
            square += numbers[j] * numbers[j]
        step = np.float32(largest / 127)
        length: Any = 0.0
        lost: Any = 0.0
        for j in range(width):
            level = round(numbers[j] / step) if step > 0 else 0.0
            level = min(max(level, -127.0), 127.0)
            codes.bytes[row // CHUNK, j // 4, row % CHUNK, j % 4] = np.uint8(level + 128)
            near = step * level
            lost += (numbers[j] - near) ** 2
            length += near * near
        bias = -along * frame.factor if frame.products else square / 2
        chunk = row // CHUNK
        codes.step[row], codes.bias[row] = step, bias
        codes.lost[chunk] = max(codes.lost[chunk], _up(np.sqrt(lost)))
        codes.length[chunk] = max(codes.length[chunk], _up(np.sqrt(length)))
        codes.size[chunk] = max(codes.size[chunk], _up(abs(bias)))


@_inline
def _up(number: Any) -> np.float32:
    return np.float32(number * (1 + 2.0**-20))


@_compile
def scan(codes: Codes, asked: Asked, highest: Array, near: Array, lowest: Array, count: Array) -> None:
    """For every query the rows that may be among its nearest.

    ``highest`` (Q, K) is a heap of the K least upper bounds so far, the largest first: a row whose lower bound is above
    that is none of the K nearest. The others are listed in ``near``, with their lower bounds; ``count`` is -1 of a query
    whose list is too short.
    """
    chunks, groups = codes.bytes.shape[:2]
    tile = max(1, TILE // (4 * groups * CHUNK))
    values = np.empty((FEW, CHUNK), np.float32)
    queries = len(count)
    for start in range(0, chunks, tile):
        stop = min(start + tile, chunks)
        first = 0
        while first < queries:
            few = FEW if first + FEW <= queries else 1
            for chunk in range(start, stop):
                given = first, asked.offset, asked.step, codes.step, codes.bias, values
                if few == FEW:
                    vectors.products_of_byte_rows(codes.bytes, chunk, asked.bytes, *given)
                else:
                    vectors.products_of_byte_row(codes.bytes, chunk, asked.bytes, *given)
                for i in range(few):
                    if count[first + i] >= 0:
                        _look(values[i], chunk, first + i, codes, asked, highest, near, lowest, count)
            first += few


@_inline
def _look(
    row: Array,
    chunk: int,
    query: int,
    codes: Codes,
    asked: Asked,
    highest: Array,
    near: Array,
    lowest: Array,
    count: Array,
) -> None:
    """List the rows of a chunk that may be near enough."""
    product = asked.length[query] * codes.length[chunk]
    slack = asked.length[query] * codes.lost[chunk] + asked.lost[query] * codes.length[chunk]
    slack = np.float32(1.0001) * (
        slack + asked.rest[query] + np.float32(2.0**-20) * (product + codes.size[chunk])
    )
    limit = min(highest[query, 0] + slack, LARGEST)
    if not vectors.any_at_most(row, 0, limit):
        return
    found = vectors.at_most(row, 0, limit)
    while found:
        lane = vectors.first_bit(found)
        found &= found - np.uint64(1)
        place = count[query]
        if place == near.shape[1]:
            place = _shorten(query, highest[query, 0], near, lowest, place)
            if place > near.shape[1] * 3 // 4:
                count[query] = -1
                return
        near[query, place], lowest[query, place] = chunk * CHUNK + lane, row[lane] - slack
        count[query] = place + 1
        if row[lane] + slack < highest[query, 0]:
            _replace_root(highest[query], row[lane] + slack)


@_inline
def _shorten(query: int, limit: float, near: Array, lowest: Array, count: int) -> int:
    """Drop what the limit has ruled out since it was listed."""
    kept = 0
    for place in range(count):
        if lowest[query, place] <= limit:
            near[query, kept], lowest[query, kept] = near[query, place], lowest[query, place]
            kept += 1
    return kept


@_inline
def _replace_root(heap: Array, number: float) -> None:
    place, size = 0, len(heap)
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= number:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = number
