"""The inner loops, compiled. ``loops_in_numpy`` holds the same functions in NumPy, and a test holds the two together.

Loops over tiles look at 64 numbers at a time with one vectorised comparison; only where one of them matters
is each looked at by itself. The machine code is kept beside this file (or in numba's own folder) for the next
process.
"""

from __future__ import annotations

import numba
import numpy as np

CHUNK = 64
SHORT = 64  # so long a list is sorted by insertion


def _compile(function):
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # no folder to keep machine code in
        return numba.njit(nogil=True, error_model="numpy")(function)


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
        first, last = begin[i], begin[i + 1]
        if last - first > SHORT:
            order = np.argsort(distance[first:last], kind="mergesort")
            distance[first:last] = distance[first:last][order]
            index[first:last] = index[first:last][order]
            continue
        for m in range(first + 1, last):
            value, reference = distance[m], index[m]
            while m > first and distance[m - 1] > value:
                distance[m], index[m] = distance[m - 1], index[m - 1]
                m -= 1
            distance[m], index[m] = value, reference


@_compile
def _none_at_most(chunk, limit):
    """Whether all of a whole CHUNK of numbers are above ``limit``: counted without branches and over a length
    that the compiler knows, which makes it a few vector instructions."""
    near = 0
    for j in range(CHUNK):
        near += chunk[j] <= limit
    return near == 0


@_compile
def _none_near(chunk, limit, limits, room):
    """Whether all of a whole CHUNK are above ``limit``, and each more than ``room`` above its own of the ``limits``."""
    near = 0
    for j in range(CHUNK):
        near += (chunk[j] <= limit) | (chunk[j] - limits[j] <= room)
    return near == 0


@_compile
def _at_most(numbers, limit):
    """How many numbers are at most ``limit``."""
    count = 0
    whole = len(numbers) - len(numbers) % CHUNK
    for start in range(0, whole, CHUNK):
        chunk = numbers[start : start + CHUNK]
        near = 0
        for j in range(CHUNK):
            near += chunk[j] <= limit
        count += near
    for j in range(whole, len(numbers)):
        count += numbers[j] <= limit
    return count


@_compile
def count_closer(
    tile,
    first_query,
    first,
    own,
    mirrored,
    begin,
    distance,
    index,
    value,
    closer,
    depth,
    alive,
    found,
    limit,
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
    """Count the references of a tile that lie between one positive of a query and the next (``rank_counting.Hunt``).

    Row i is query ``first_query + i`` and, where queries are references too, reference ``own + i``; column j is reference
    ``first + j`` and, in a ``mirrored`` tile, a query as well. Of most of the tile a comparison shows that it is farther
    than any positive that matters. A value that is more than ``slack`` from every positive decides by itself; for
    the others the exact distance is computed, unless the tile is ``exact``.
    """
    lanes = np.empty(8)
    columns = tile.shape[1]
    limits = limit[first : first + columns] if mirrored else limit[:0]
    farthest = max(limits.max(), np.float32(0)) if mirrored else np.float32(0)
    for i in range(tile.shape[0]):
        query, reference, lift = first_query + i, own + i, shift[i]
        itself = first <= reference < first + columns
        _sink(query, tile[i], itself, lift, slack, begin, value, closer, depth, alive, found, limit)
        bound = _bound(limit[query], slack - lift)
        room = np.float32(slack - lift + 2.0**-22 * (abs(slack - lift) + farthest) + 1e-37)
        for start in range(0, columns, CHUNK):
            chunk = tile[i, start : start + CHUNK]
            if len(chunk) == CHUNK:
                if mirrored:
                    if _none_near(chunk, bound, limits[start : start + CHUNK], room):
                        continue
                elif _none_at_most(chunk, bound):
                    continue
            bound = _count_for_row(
                chunk,
                start,
                bound,
                i,
                query,
                first,
                reference,
                lift,
                slack,
                lanes,
                gain,
                exact,
                x,
                x_length,
                y,
                y_length,
                cosine,
                begin,
                distance,
                index,
                value,
                closer,
                depth,
                alive,
                found,
                limit,
            )
            if mirrored:
                near = limits[start : start + CHUNK]
                _count_for_columns(
                    chunk,
                    start,
                    near,
                    room,
                    i,
                    first,
                    reference,
                    lift,
                    slack,
                    lanes,
                    gain,
                    exact,
                    x,
                    x_length,
                    y,
                    y_length,
                    cosine,
                    begin,
                    distance,
                    index,
                    value,
                    closer,
                    depth,
                    alive,
                    found,
                    limit,
                )


@_compile
def _count_for_row(
    chunk,
    start,
    bound,
    i,
    query,
    first,
    reference,
    lift,
    slack,
    lanes,
    gain,
    exact,
    x,
    x_length,
    y,
    y_length,
    cosine,
    begin,
    distance,
    index,
    value,
    closer,
    depth,
    alive,
    found,
    limit,
):
    """The references of a chunk that are closer than a positive of its row's query; the bound on those, as it is now.

    What ``_meet`` does is written out here: where positives are many, the call would cost as much as the counting."""
    for j in range(len(chunk)):
        column = start + j
        if chunk[j] <= bound and first + column != reference:
            level = chunk[j] + lift
            blur = 0.0 if exact else slack + 2.0**-22 * abs(level)
            m = _before(query, level, blur, begin, value, closer, depth, alive, found, limit)
            if m >= 0:
                exactly = level / gain
                if not exact:
                    exactly = _distance(x[i], x_length[i], y[column], y_length[column], cosine, lanes)
                _insert(
                    query,
                    m,
                    exactly,
                    first + column,
                    begin,
                    distance,
                    index,
                    value,
                    closer,
                    depth,
                    alive,
                    found,
                    limit,
                )
            bound = _bound(limit[query], slack - lift)
    return bound


@_compile
def _count_for_columns(
    chunk,
    start,
    limits,
    room,
    i,
    first,
    reference,
    lift,
    slack,
    lanes,
    gain,
    exact,
    x,
    x_length,
    y,
    y_length,
    cosine,
    begin,
    distance,
    index,
    value,
    closer,
    depth,
    alive,
    found,
    limit,
):
    """Where the row's reference is closer than a positive of a column's query."""
    for j in range(len(chunk)):
        if chunk[j] - limits[j] <= room:
            _meet(
                first + start + j,
                reference,
                chunk[j] + lift,
                slack,
                i,
                start + j,
                lanes,
                gain,
                exact,
                x,
                x_length,
                y,
                y_length,
                cosine,
                begin,
                distance,
                index,
                value,
                closer,
                depth,
                alive,
                found,
                limit,
            )


@_compile
def _meet(
    query,
    reference,
    level,
    slack,
    i,
    column,
    lanes,
    gain,
    exact,
    x,
    x_length,
    y,
    y_length,
    cosine,
    begin,
    distance,
    index,
    value,
    closer,
    depth,
    alive,
    found,
    limit,
):
    """Count a reference at this level of row i and this column, by its exact distance where the level cannot decide."""
    blur = 0.0 if exact else slack + 2.0**-22 * abs(level)
    m = _before(query, level, blur, begin, value, closer, depth, alive, found, limit)
    if m >= 0:
        exactly = level / gain
        if not exact:
            exactly = _distance(x[i], x_length[i], y[column], y_length[column], cosine, lanes)
        _insert(
            query, m, exactly, reference, begin, distance, index, value, closer, depth, alive, found, limit
        )


@_compile
def _sink(query, row, itself, lift, slack, begin, value, closer, depth, alive, found, limit):
    """Forget at once the positives that a row of a tile shows to lie below the depth, if it has many references that are
    closer than some positive: counting those one by one would take longer."""
    first, left = begin[query], alive[query]
    many = 2 * depth[query] - found[query]
    if left == 0 or len(row) <= many or _at_most(row, _bound(limit[query], slack - lift)) <= many:
        return
    low, high = 0, left  # positives before low matter, those from high on do not
    while low < high:
        middle = (low + high) // 2
        level = value[first + middle]
        certain = level - lift - slack - 2.0**-22 * (abs(level) + abs(level - lift - slack)) - 1e-37
        closer_ones = _at_most(row, np.float32(certain - 2.0**-23 * abs(certain))) - itself
        for k in range(middle + 1):
            closer_ones += closer[first + k]
        if closer_ones < depth[query]:
            low = middle + 1
        else:
            high = middle
            if closer_ones <= 2 * depth[query]:
                break
    alive[query] = high
    found[query] = 0
    for k in range(high):
        found[query] += closer[first + k]
    limit[query] = value[first + high - 1] if high else -np.inf


@_compile
def _bound(limit, room):
    """The largest tile value that can matter, rounded up to float32; minus infinity where nothing can."""
    if limit == -np.inf:
        return limit
    value = limit + room
    return np.float32(value + 2.0**-22 * (abs(value) + abs(limit)) + 1e-37)


@_compile
def _before(query, level, blur, begin, value, closer, depth, alive, found, limit):
    """Count a reference at this level where its place among the positives is plain; where it is not, give the first
    positive that it may come before, and otherwise -1."""
    first, left = begin[query], alive[query]
    m = 0
    for k in range(left):
        m += value[first + k] < level - blur
    if m == left:
        return -1
    if value[first + m] <= level + blur:
        return m
    _count(query, m, begin, value, closer, depth, alive, found, limit)
    return -1


@_compile
def _insert(query, m, exactly, reference, begin, distance, index, value, closer, depth, alive, found, limit):
    """Count a reference whose exact distance is known; positives before m are nearer for certain."""
    first, left = begin[query], alive[query]
    while m < left and (
        distance[first + m] < exactly or (distance[first + m] == exactly and index[first + m] <= reference)
    ):
        m += 1
    if m < left:
        _count(query, m, begin, value, closer, depth, alive, found, limit)


@_compile
def _count(query, m, begin, value, closer, depth, alive, found, limit):
    """One more reference lies between positives m - 1 and m; those that it pushes below the depth are forgotten."""
    first, left = begin[query], alive[query]
    closer[first + m] += 1
    found[query] += 1
    if found[query] >= depth[query]:
        while left > 0 and found[query] >= depth[query]:
            left -= 1
            found[query] -= closer[first + left]
        alive[query] = left
        limit[query] = value[first + left - 1] if left else -np.inf


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
