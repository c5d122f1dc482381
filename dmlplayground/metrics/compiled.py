"""The inner loops, compiled. ``plain`` holds the same functions in NumPy, and a test holds the two together.

Loops over tiles look at 64 numbers at a time with one vectorised comparison; only where one of them matters is each
looked at by itself. The machine code is kept beside this file (or in numba's own folder) for the next process.
"""

from __future__ import annotations

import numba
import numpy as np

CHUNK = 64


def _compile(function):
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no folder to keep machine code in
        return numba.njit(nogil=True, error_model="numpy")(function)


@_compile
def _distance(x, x_length, y, y_length, cosine, lanes):
    """The exact distance: eight interleaved sums, added in a fixed order, are vectorised and the same everywhere."""
    lanes[:] = 0.0
    whole = len(x) - len(x) % 8
    if cosine:
        for k in range(0, whole, 8):
            for lane in range(8):
                lanes[lane] += (x[k + lane] / x_length) * (y[k + lane] / y_length)
        for k in range(whole, len(x)):
            lanes[k - whole] += (x[k] / x_length) * (y[k] / y_length)
    else:
        for k in range(0, whole, 8):
            for lane in range(8):
                difference = np.float64(x[k + lane]) - np.float64(y[k + lane])
                lanes[lane] += difference * difference
        for k in range(whole, len(x)):
            difference = np.float64(x[k]) - np.float64(y[k])
            lanes[k - whole] += difference * difference
    total = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
    return 1.0 - total if cosine else total


@_compile
def distances(x, x_length, y, y_length, columns, cosine):
    """Exact distances of every row of x to its own rows of y; a column of -1 is nobody, infinitely far away."""
    out = np.full(columns.shape, np.inf)
    lanes = np.empty(8)
    for i in range(columns.shape[0]):
        for m in range(columns.shape[1]):
            j = columns[i, m]
            if j >= 0:
                out[i, m] = _distance(x[i], x_length[i], y[j], y_length[j], cosine, lanes)
    return out


@_compile
def count_closer(
    tile,
    first,
    own,
    distance,
    index,
    alive,
    closer,
    depth,
    shift,
    slack,
    gain,
    exact,
    x,
    x_length,
    y,
    y_length,
    cosine,
):
    """Count, in ``closer[i, m]``, the references of a tile that lie between query i's positives m - 1 and m.

    Positives are sorted by (distance, index); ``alive[i]`` of them can still be within ``depth[i]``, and it sinks as
    closer references appear. A tile value that is further than ``slack`` from every positive decides by itself;
    otherwise the exact distance is computed, unless the tile is ``exact``.
    """
    lanes = np.empty(8)
    rows, columns = tile.shape
    for i in range(rows):
        found = closer[i, : alive[i]].sum()
        limit = _limit(distance[i], alive[i], shift[i], slack[i], gain)
        for start in range(0, columns, CHUNK):
            stop = min(start + CHUNK, columns)
            near = 0
            for j in range(start, stop):
                near += tile[i, j] <= limit
            if near == 0:
                continue
            for j in range(start, stop):
                if tile[i, j] > limit or first + j == own[i]:
                    continue
                low = (tile[i, j] - slack[i] + shift[i]) / gain
                high = (tile[i, j] + slack[i] + shift[i]) / gain
                m = np.searchsorted(distance[i, : alive[i]], low)
                if m < alive[i] and distance[i, m] <= high:
                    value = low if exact else _distance(x[i], x_length[i], y[j], y_length[j], cosine, lanes)
                    while m < alive[i] and (
                        distance[i, m] < value or (distance[i, m] == value and index[i, m] <= first + j)
                    ):
                        m += 1
                if m < alive[i]:
                    closer[i, m] += 1
                    found += 1
            while alive[i] > 0 and found >= depth[i]:
                alive[i] -= 1
                found -= closer[i, alive[i]]
            if alive[i] == 0:
                break
            limit = _limit(distance[i], alive[i], shift[i], slack[i], gain)


@_compile
def _limit(distance, alive, shift, slack, gain):
    """The largest tile value that can matter, rounded up to float32; minus infinity where nothing can."""
    if alive == 0:
        return np.float32(-np.inf)
    value = gain * distance[alive - 1] - shift + slack
    return np.float32(value + abs(value) * 2.0**-23 + 1e-37)


@_compile
def gains(tile, value):
    """For each column of a tile: the sum over rows of what it is below ``value``."""
    out = np.zeros(tile.shape[1], np.float32)
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            out[j] += max(value[i] - tile[i, j], np.float32(0))
    return out


@_compile
def nearest(tile, ids, label, value):
    """Lower each row's ``value`` to the least of its tile, and set ``label`` to the id of the first that has it."""
    rows, columns = tile.shape
    for i in range(rows):
        for start in range(0, columns, CHUNK):
            stop = min(start + CHUNK, columns)
            near = 0
            for j in range(start, stop):
                near += tile[i, j] < value[i]
            if near > 0:
                for j in range(start, stop):
                    if tile[i, j] < value[i]:
                        value[i], label[i] = tile[i, j], ids[j]
