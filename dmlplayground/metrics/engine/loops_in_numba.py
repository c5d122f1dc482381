"""The inner loops, compiled. ``loops_in_numpy`` holds the same functions in NumPy, and a test holds the two together.

Loops over tiles look at 64 numbers at a time with one vectorised comparison; only where one of them matters
is each looked at by itself. The machine code is kept beside this file (or in numba's own folder) for the next
process.
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
    """The exact distance: eight interleaved sums, added in a fixed order, are the same everywhere."""
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
    """Exact distances of every row of x to its own rows of y; a column of -1 is infinitely far."""
    out = np.full(columns.shape, np.inf)
    lanes = np.empty(8)
    for i in range(columns.shape[0]):
        for m in range(columns.shape[1]):
            j = columns[i, m]
            if j >= 0:
                out[i, m] = _distance(x[i], x_length[i], y[j], y_length[j], cosine, lanes)
    return out


@_compile
def _none_at_most(chunk, limit):
    """Whether all of a whole CHUNK of numbers are above ``limit``: counted without branches and over a length
    that the compiler knows, which makes it a few vector instructions."""
    near = 0
    for j in range(CHUNK):
        near += chunk[j] <= limit
    return near == 0


@_compile
def _at_most(chunk, limit, places):
    """How many numbers are at most ``limit``, and where, in ``places``; without branches too."""
    count = 0
    for j in range(len(chunk)):
        places[count] = j
        count += chunk[j] <= limit
    return count


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

    Positives are sorted by (distance, index); ``alive[i]`` of them can still be within ``depth[i]``, and it
    sinks as closer references appear. A tile value that is further than ``slack`` from every positive decides
    by itself; otherwise the exact distance is computed, unless the tile is ``exact``.
    """
    lanes, places, scale = np.empty(8), np.empty(CHUNK, np.int64), 1.0 / gain
    for i in range(tile.shape[0]):
        left, found, counts = alive[i], closer[i, : alive[i]].sum(), closer[i]
        limit = _limit(distance[i], left, shift[i], slack[i], gain)
        for start in range(0, tile.shape[1], CHUNK):
            chunk = tile[i, start : start + CHUNK]
            if len(chunk) == CHUNK and _none_at_most(chunk, limit):
                continue
            near = _at_most(chunk, limit, places)
            for j in places[:near]:
                reference = first + start + j
                if reference == own[i]:
                    continue
                low = (chunk[j] - slack[i] + shift[i]) * scale
                high = (chunk[j] + slack[i] + shift[i]) * scale
                m = np.searchsorted(distance[i, :left], low)
                if m < left and distance[i, m] <= high:
                    value = low
                    if not exact:
                        value = _distance(x[i], x_length[i], y[start + j], y_length[start + j], cosine, lanes)
                    m = _place(distance[i], index[i], m, left, value, reference)
                if m < left:
                    counts[m] += 1
                    found += 1
            while left > 0 and found >= depth[i]:
                left -= 1
                found -= counts[left]
            limit = _limit(distance[i], left, shift[i], slack[i], gain)
        alive[i] = left


@_compile
def _place(distance, index, m, left, value, reference):
    """The first positive from m on that comes after a reference at this exact distance."""
    while m < left and (distance[m] < value or (distance[m] == value and index[m] <= reference)):
        m += 1
    return m


@_compile
def _limit(distance, left, shift, slack, gain):
    """The largest tile value that can matter, rounded up to float32; minus infinity where nothing can."""
    if left == 0:
        return np.float32(-np.inf)
    value = gain * distance[left - 1] - shift + slack
    return np.float32(value + abs(value) * 2.0**-23 + 1e-37)


@_compile
def gains(tile, value):
    """For each column of a tile: the sum over rows of what it is below ``value``."""
    out = np.zeros(tile.shape[1], np.float32)
    for i in range(tile.shape[0]):
        row = tile[i]
        for j in range(len(row)):
            out[j] += max(value[i] - row[j], np.float32(0))
    return out


@_compile
def nearest(tile, ids, label, value):
    """Lower each row's ``value`` to the least of its tile, and set ``label`` to the id of the first such."""
    for i in range(tile.shape[0]):
        for start in range(0, tile.shape[1], CHUNK):
            chunk = tile[i, start : start + CHUNK]
            if len(chunk) == CHUNK and _none_at_most(chunk, value[i]):
                continue
            for j in range(len(chunk)):
                if chunk[j] < value[i]:
                    value[i], label[i] = chunk[j], ids[start + j]
