"""The inner loops, compiled. ``loops_in_numpy`` holds the same functions in NumPy, and a test holds the two together.

Loops over tiles compare 64 numbers at a time (``vectors``), and look only at those of them that matter. The machine
code is kept beside this file (or in numba's own folder) for the next process.
"""

from __future__ import annotations

import numba
import numpy as np

from . import vectors

CHUNK = vectors.LANES
SHORT = 128  # to this length, counting sorts a list faster


def _compile(function, **options):
    options = {"nogil": True, "error_model": "numpy", **options}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to keep machine code in
        return numba.njit(**options)(function)


def _inline(function):
    """For functions that are called for single numbers: handing many arrays over would cost more than what they do."""
    return _compile(function, forceinline=True)


@_compile
def _term(x, x_length, y, y_length, k, cosine):
    if cosine:
        return (x[k] / x_length) * (y[k] / y_length)
    difference = np.float64(x[k]) - np.float64(y[k])
    return difference * difference


@_compile
def _distance(x, x_length, y, y_length, cosine, lanes):
    """The exact distance: eight interleaved sums, added in a fixed order, are the same everywhere. They are named one by
    one, so that the compiler keeps them in a register."""
    a = b = c = d = e = f = g = h = 0.0
    whole = len(x) - len(x) % 8
    for k in range(0, whole, 8):
        a += _term(x, x_length, y, y_length, k, cosine)
        b += _term(x, x_length, y, y_length, k + 1, cosine)
        c += _term(x, x_length, y, y_length, k + 2, cosine)
        d += _term(x, x_length, y, y_length, k + 3, cosine)
        e += _term(x, x_length, y, y_length, k + 4, cosine)
        f += _term(x, x_length, y, y_length, k + 5, cosine)
        g += _term(x, x_length, y, y_length, k + 6, cosine)
        h += _term(x, x_length, y, y_length, k + 7, cosine)
    lanes[0], lanes[1], lanes[2], lanes[3] = a, b, c, d
    lanes[4], lanes[5], lanes[6], lanes[7] = e, f, g, h
    for k in range(whole, len(x)):
        lanes[k - whole] += _term(x, x_length, y, y_length, k, cosine)
    total = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
    return 1.0 - total if cosine else total


@_compile
def distances(x, x_length, y, y_length, begin, index, cosine):
    """Exact distances of every row of x to its own rows of y: those of row i stand from begin[i] to begin[i + 1]."""
    out, lanes = np.empty(len(index)), np.empty(8)
    for i in range(len(begin) - 1):
        for m in range(begin[i], begin[i + 1]):
            j = index[m]
            out[m] = _distance(x[i], x_length[i], y[j], y_length[j], cosine, lanes)
    return out


@_compile
def sort_lists(begin, distance, index):
    """Sort each list, which is in the order of its indices, by distance."""
    for i in range(len(begin) - 1):
        values, places = distance[begin[i] : begin[i + 1]].copy(), index[begin[i] : begin[i + 1]].copy()
        if len(values) > SHORT:
            order = np.argsort(values, kind="mergesort")
            distance[begin[i] : begin[i + 1]] = values[order]
            index[begin[i] : begin[i + 1]] = places[order]
            continue
        for m in range(len(values)):
            lower = ties = 0
            for k in range(len(values)):
                lower += values[k] < values[m]
                ties += values[k] == values[m]
            place = begin[i] + lower
            if ties > 1:
                place += np.sum(values[:m] == values[m])
            distance[place], index[place] = values[m], places[m]


@_inline
def _near(row, start, limit):
    """Which of the CHUNK numbers from ``start`` on are at most ``limit``: bits."""
    if start + CHUNK <= len(row):
        return vectors.at_most(row, start, limit)
    near = np.uint64(0)
    for j in range(start, len(row)):
        near |= np.uint64(row[j] <= limit) << np.uint64(j - start)
    return near


@_inline
def _near_each(row, start, limits, room):
    """Which of the CHUNK numbers from ``start`` on are at most ``room`` above their own of the ``limits``: bits."""
    if start + CHUNK <= len(row):
        return vectors.at_most_above(row, start, limits, room)
    near = np.uint64(0)
    for j in range(start, len(row)):
        near |= np.uint64(row[j] - limits[j] <= room) << np.uint64(j - start)
    return near


@_inline
def _at_most(numbers, limit):
    """How many numbers are at most ``limit``."""
    count = 0
    for j in range(len(numbers)):  # a loop over the numbers themselves would not be made vector instructions
        count += numbers[j] <= limit
    return count


@_compile
def count_closer(tile, hunt):
    """Count the references of a tile that lie between one positive of a query and the next (``rank_counting.Hunt``).

    Of most of the tile a comparison shows that it is farther than any positive that matters. A value that is more than
    ``slack`` from every positive decides by itself; for the others the exact distance is computed, unless the tile is
    ``exact``.
    """
    columns = tile.values.shape[1]
    near, level = np.empty(columns, np.int64), np.empty(columns)
    for i in range(len(tile.values)):
        _sink(tile.values[i], tile.first_query + i, tile.shift[i], tile.slack, hunt)
        _count_for_row(i, near, level, tile, hunt)
    if tile.mirrored:
        limits = hunt.limit[tile.first_reference : tile.first_reference + columns]
        farthest = max(limits.max(), np.float32(0))
        for i in range(len(tile.values)):
            _count_for_columns(i, limits, farthest, near, level, tile, hunt)


@_inline
def _count_for_row(i, near, level, tile, hunt):
    """The references that may be closer than a positive of this row's query, gathered and then counted together."""
    row, query = tile.values[i], tile.first_query + i
    if hunt.alive[query] == 0:
        return
    bound = _bound(hunt.limit[query], tile.slack - tile.shift[i])
    count = 0
    for start in range(0, len(row), CHUNK):
        found = _near(row, start, bound)
        while found:
            j = start + vectors.first_bit(found)
            found &= found - np.uint64(1)
            near[count], level[count] = tile.first_reference + j, row[j] + tile.shift[i]
            count += tile.row_class[i] != tile.column_class[j]
    _count(query, near, level, count, False, tile, hunt)


@_inline
def _count_for_columns(i, limits, farthest, near, level, tile, hunt):
    """Where the row, as a reference, may be closer than a positive of a column's query."""
    row, room = tile.values[i], tile.slack - tile.shift[i]
    room = np.float32(room + 2.0**-22 * (abs(room) + farthest) + 1e-37)
    for start in range(0, len(row), CHUNK):
        found = _near_each(row, start, limits, room)
        while found:
            j = start + vectors.first_bit(found)
            found &= found - np.uint64(1)
            if tile.row_class[i] != tile.column_class[j]:
                near[0], level[0] = tile.first_query + i, row[j] + tile.shift[i]
                _count(tile.first_reference + j, near, level, 1, True, tile, hunt)


@_inline
def _count(query, near, level, count, turned, tile, hunt):
    """Count references ``near`` a query, at these levels, that are closer than its positives; where the tile is
    ``turned``, the query is a column."""
    before = 0
    for k in range(hunt.begin[query], hunt.begin[query] + hunt.alive[query]):
        value = hunt.value[k]
        blur = 0.0 if tile.exact else tile.slack + 2.0**-22 * abs(value)
        low, high = value - blur, value + blur
        closer = doubtful = 0
        for c in range(count):
            closer += level[c] < low
            doubtful += level[c] <= high
        if doubtful > closer:
            for c in range(count):
                if low <= level[c] <= high:
                    closer += _is_closer(query, near[c], level[c], k, turned, tile, hunt)
        hunt.closer[k] += closer - before
        before = closer
    hunt.found[query] += before
    _forget(query, hunt.alive[query], hunt)


@_compile
def _is_closer(query, reference, level, k, turned, tile, hunt):
    """Whether a reference comes before a positive by its exact distance, or by its index where these are equal."""
    distance = level / tile.gain
    if not tile.exact:
        row, column = (reference, query) if turned else (query, reference)
        i, j = row - tile.first_query, column - tile.first_reference
        distance = _distance(
            tile.x[i], tile.x_length[i], tile.y[j], tile.y_length[j], tile.cosine, np.empty(8)
        )
    return distance < hunt.distance[k] or (distance == hunt.distance[k] and reference < hunt.reference[k])


@_inline
def _forget(query, left, hunt):
    """Keep alive the first ``left`` positives at most, and of these those that are not below the depth."""
    first, alive, found = hunt.begin[query], hunt.alive[query], hunt.found[query]
    while alive > 0 and (alive > left or found + alive > hunt.depth[query]):
        alive -= 1
        found -= hunt.closer[first + alive]
    hunt.alive[query], hunt.found[query] = alive, found
    hunt.limit[query] = hunt.value[first + alive - 1] if alive else -np.inf


@_inline
def _sink(row, query, lift, slack, hunt):
    """Forget at once the positives that a row of a tile shows to lie below the depth, if it has many references that are
    closer than some positive: counting those one by one would take longer."""
    first, left, depth = hunt.begin[query], hunt.alive[query], hunt.depth[query]
    many = 2 * depth - hunt.found[query]
    if left == 0 or len(row) <= many or _at_most(row, _bound(hunt.limit[query], slack - lift)) <= many:
        return
    low, high = 0, left  # positives before low matter, those from high on do not
    while low < high:
        middle = (low + high) // 2
        level = hunt.value[first + middle]
        certain = level - lift - slack - 2.0**-22 * (abs(level) + abs(level - lift - slack)) - 1e-37
        closer = _at_most(row, np.float32(certain - 2.0**-23 * abs(certain)))
        for k in range(first, first + middle + 1):
            closer += hunt.closer[k]
        if closer <= depth:  # the query itself may be among them
            low = middle + 1
        else:
            high = middle
            if closer <= 2 * depth:
                break
    _forget(query, high, hunt)


@_inline
def _bound(limit, room):
    """The largest tile value that can matter, rounded up to float32; minus infinity where nothing can."""
    if limit == -np.inf:
        return limit
    value = limit + room
    return np.float32(value + 2.0**-22 * (abs(value) + abs(limit)) + 1e-37)


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
        row = tile[i]
        for start in range(0, len(row), CHUNK):
            near = _near(row, start, value[i])
            while near:
                j = start + vectors.first_bit(near)
                near &= near - np.uint64(1)
                if row[j] < value[i]:
                    value[i], label[i] = row[j], ids[j]
