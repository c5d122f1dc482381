"""The compiled loops of ``neighbours``: the scan that leaves few rows."""

from typing import TYPE_CHECKING

import numpy as np

from ..parts.metrics.shared.engine import vectors
from ..parts.metrics.shared.engine.inner_loops import _compile, _inline

if TYPE_CHECKING:
    from numpy import ndarray as Array

    from .neighbours import Asked, Codes, Listed

CHUNK = vectors.LANES  # rows whose bounds are one number
TILE = 1 << 18  # bytes of codes that stay in the cache while all queries are compared with them
FEW = vectors.BLOCK  # queries that are compared at once
LARGEST = np.float32(3.0e38)


@_compile
def scan(codes: "Codes", asked: "Asked", listed: "Listed") -> None:
    """For every query the rows that may be among its nearest: none whose lower bound is above the K-th least upper bound."""
    chunks, groups = codes.bytes.shape[:2]
    tile = max(1, TILE // (4 * groups * CHUNK))
    values = np.empty((FEW, CHUNK), np.float32)
    queries = len(listed.found)
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
                    if listed.found[first + i] >= 0:
                        _look(values[i], chunk, first + i, codes, asked, listed)
            first += few


@_inline
def _look(row: "Array", chunk: int, query: int, codes: "Codes", asked: "Asked", listed: "Listed") -> None:
    """List the rows of a chunk that may be near enough."""
    highest, near, lowest, count = listed
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
def _shorten(query: int, limit: float, near: "Array", lowest: "Array", count: int) -> int:
    """Drop what the limit has ruled out since it was listed."""
    kept = 0
    for place in range(count):
        if lowest[query, place] <= limit:
            near[query, kept], lowest[query, kept] = near[query, place], lowest[query, place]
            kept += 1
    return kept


@_inline
def _replace_root(heap: "Array", number: float) -> None:
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
