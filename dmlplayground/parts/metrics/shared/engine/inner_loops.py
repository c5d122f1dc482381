"""The inner loops, compiled. The tests hold them to the same functions in NumPy (``tests/loops_in_numpy.py``).

Loops over products compute a few rows of them, compare 64 numbers at a time (``vectors``), and look only at those that
matter. The machine code is kept beside this file (or in numba's own folder) for the next process.
"""

import numba
import numpy as np

from . import vectors

CHUNK = vectors.LANES
STRIP = 32  # rows of products that are looked at while they are in the cache
LINE = 16  # numbers of a row that come into the cache together
FEW = 8  # references, which are counted one by one
STEPS = 12  # of comparing all references with a positive, for one of searching the place of a reference


def _compile(function, **options):
    options = {"nogil": True, "error_model": "numpy", **options}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to keep machine code in
        return numba.njit(**options)(function)


def _inline(function):
    """For functions that are called for single numbers or rows: handing many arrays over, and counting the references to
    each (``_nrt``, which only functions that allocate need), would take longer than what they do."""
    return _compile(function, forceinline=True, _nrt=False)


@_inline
def _distance(x, i, x_length, y, j, y_length, cosine):
    """The exact distance, which is the same everywhere."""
    if cosine:
        return 1.0 - vectors.sum_of_products(x, i, y, j, x_length[i], y_length[j])
    return vectors.sum_of_squares(x, i, y, j)


@_compile
def distances(x, x_length, rows, y, y_length, begin, index, cosine):
    """Exact distances of these rows of x to their own rows of y: those of the i-th stand from begin[i] to begin[i + 1]."""
    out = np.empty(len(index))
    for i in range(len(begin) - 1):
        for m in range(begin[i], begin[i + 1]):
            out[m] = _distance(x, rows[i], x_length, y, index[m], y_length, cosine)
    return out


@_compile
def mutual_distances(x, length, begin, index, cosine):
    """The same where every row's own rows are the others of its class, ascending: each distance serves both."""
    out = np.empty(len(index))
    for i in range(len(begin) - 1):
        before = 0
        for m in range(begin[i], begin[i + 1]):
            j = index[m]
            if j < i:
                before += 1
            else:
                out[m] = out[begin[j] + before] = _distance(x, i, length, x, j, length, cosine)
    return out


@_compile
def panels(rows):
    """Rows as the columns of panels, CHUNK in each, as products read them; negative, as products are subtracted."""
    count, dim = rows.shape
    out = np.zeros(((count + CHUNK - 1) // CHUNK, dim, CHUNK), np.float32)
    for panel in range(len(out)):
        first = panel * CHUNK
        for start in range(0, dim, LINE):
            for column in range(min(CHUNK, count - first)):
                for k in range(start, min(start + LINE, dim)):
                    out[panel, k, column] = -rows[first + column, k]
    return out


@_compile
def _padded(numbers, length, filling):
    out = np.full(length, filling, np.float32)
    out[: len(numbers)] = numbers
    return out


@_inline
def _products(x, first, last, panels, bias, out):
    """Write ``bias - x . y`` into ``out``: of rows ``first`` to ``last`` of x, and all rows y of the panels."""
    whole = first + (last - first) // vectors.BLOCK * vectors.BLOCK
    for panel in range(len(panels)):
        for column in range(0, CHUNK, vectors.WIDTH):
            for i in range(first, whole, vectors.BLOCK):
                vectors.products_of_rows(x, i, panels, panel, column, bias, out, i - first)
            for i in range(whole, last):
                vectors.products_of_row(x, i, panels, panel, column, bias, out, i - first)


@_compile
def count_closer(tile, tally):
    """Count the references of a tile that lie between one positive of a query and the next (``rank_counting.Tally``).

    Products are computed a few rows at a time, and looked at while they are in the cache. Of most of them a comparison
    shows that a reference is farther than any positive that matters. A value that is more than ``slack`` from every
    positive decides by itself; for the others the exact distance is computed, unless the tile is ``exact``.
    """
    rows, columns, width = len(tile.x), len(tile.bias), len(tile.y) * CHUNK
    bias = _padded(tile.bias, width, np.inf)
    values = np.empty((STRIP, width), np.float32)
    near, level = np.empty(width, np.int64), np.empty(width + CHUNK, np.float32)
    own = slice(tile.first_reference, tile.first_reference + columns)
    farthest = max(tally.limit[own].max(), np.float32(0)) if tile.mirrored else np.float32(0)
    for first in range(0, rows, STRIP):
        last = min(first + STRIP, rows)
        _products(tile.x, first, last, tile.y, bias, values)
        for i in range(first, last):
            _count_for_row(values[i - first], i, near, level, tile, tally)
        if tile.mirrored:
            limits = _padded(tally.limit[own], width, -np.inf)
            for i in range(first, last):
                _count_for_each_column(values[i - first], i, limits, farthest, tile, tally)


@_inline
def _count_for_row(row, i, near, level, tile, tally):
    """The references that may be closer than a positive of this row's query, gathered and then counted together."""
    query, shift = tile.first_query + i, tile.shift[i]
    if tally.alive[query] == 0:
        return
    many = 2 * tally.depth[query] - tally.found[query]
    count = _gather(row, i, near, level, _bound(query, shift, tile, tally), many, tile)
    if count > many:
        _sink(row, query, shift, tile, tally)
        count = _gather(row, i, near, level, _bound(query, shift, tile, tally), len(row), tile)
    if count:
        _count(query, near, level, count, tile, tally)


@_inline
def _gather(row, i, near, level, bound, most, tile):
    """The references of other classes whose values are at most ``bound``, and how many they are, or more than ``most``."""
    count = 0
    for start in range(0, len(row), CHUNK):
        if not vectors.any_at_most(row, start, bound):
            continue
        if count > most:
            break
        found = vectors.at_most(row, start, bound)
        while found:
            j = start + vectors.first_bit(found)
            found &= found - np.uint64(1)
            near[count], level[count] = tile.first_reference + j, row[j] + tile.shift[i]
            count += tile.row_class[i] != tile.column_class[j]
    return count


@_inline
def _bound(query, shift, tile, tally):
    """Values above this belong to references that are farther than any positive of the query that is alive."""
    return _sum(tally.limit[query], tile.slack - shift)


@_inline
def _count_for_each_column(row, i, limits, farthest, tile, tally):
    """Where the row, as a reference, may be closer than a positive of a column's query."""
    shift = tile.shift[i]
    room = _sum(farthest, tile.slack - shift) - farthest
    for start in range(0, len(row), CHUNK):
        if not vectors.any_at_most_above(row, start, limits, room):
            continue
        found = vectors.at_most_above(row, start, limits, room)
        while found:
            j = start + vectors.first_bit(found)
            found &= found - np.uint64(1)
            if tile.row_class[i] != tile.column_class[j]:
                query = tile.first_reference + j
                _add(query, tile.first_query + i, np.float32(row[j] + shift), True, tile, tally)
                _forget(query, tally.alive[query], tally)


@_inline
def _count(query, near, level, count, tile, tally):
    """Count references ``near`` a query, at these levels, that are closer than its positives."""
    first, alive = tally.begin[query], tally.alive[query]
    chunks = (count + CHUNK - 1) // CHUNK
    if count <= FEW or alive * chunks > STEPS * count:
        for c in range(count):
            _add(query, near[c], level[c], False, tile, tally)
    else:
        for c in range(count, chunks * CHUNK):
            level[c] = np.inf
        before = 0
        for k in range(first, first + alive):
            closer = _closer(query, near, level, chunks, k, tile, tally)
            tally.closer[k] += closer - before
            before = closer
        tally.found[query] += before
    _forget(query, alive, tally)


@_inline
def _add(query, reference, level, turned, tile, tally):
    """Count a reference at the first of the query's positives that it is closer than; if ``turned``, a query is a column."""
    low, high = tally.begin[query], tally.begin[query] + tally.alive[query]
    end = high
    while low < high:
        middle = (low + high) // 2
        value = tally.value[middle]
        blur = _blur(value, tile)
        closer = level < value - blur
        if not closer and level <= value + blur:
            closer = _is_closer(query, reference, level, middle, turned, tile, tally)
        if closer:
            high = middle
        else:
            low = middle + 1
    if low < end:
        tally.closer[low] += 1
        tally.found[query] += 1


@_inline
def _closer(query, near, level, chunks, k, tile, tally):
    """How many of these references are closer than one positive."""
    value = tally.value[k]
    blur = _blur(value, tile)
    low, high = np.float32(value - blur), np.float32(value + blur)
    closer = 0
    for start in range(0, chunks * CHUNK, CHUNK):
        certain, possible = vectors.below(level, start, low), vectors.below(level, start, high)
        closer += vectors.how_many(certain)
        doubtful = possible & ~certain
        while doubtful:
            c = start + vectors.first_bit(doubtful)
            doubtful &= doubtful - np.uint64(1)
            closer += _is_closer(query, near[c], level[c], k, False, tile, tally)
    return closer


@_inline
def _blur(value, tile):
    """How far a level may be from what it would be without rounding, and a little more."""
    return tile.slack + 2.0**-21 * abs(value) + 1e-37


@_inline
def _is_closer(query, reference, level, k, turned, tile, tally):
    """Whether a reference comes before a positive by its exact distance, or by its index where these are equal."""
    distance = np.float64(level) / tile.gain
    if not tile.exact:
        row, column = (reference, query) if turned else (query, reference)
        i, j = row - tile.first_query, column - tile.first_reference
        distance = _distance(tile.exact_x, i, tile.x_length, tile.exact_y, j, tile.y_length, tile.cosine)
    return distance < tally.distance[k] or (distance == tally.distance[k] and reference < tally.reference[k])


@_inline
def _forget(query, left, tally):
    """Keep alive the first ``left`` positives at most, and of these those that are not below the depth."""
    first, alive, found = tally.begin[query], tally.alive[query], tally.found[query]
    while alive > 0 and (alive > left or found + alive > tally.depth[query]):
        alive -= 1
        found -= tally.closer[first + alive]
    tally.alive[query], tally.found[query] = alive, found
    tally.limit[query] = tally.value[first + alive - 1] if alive else -np.inf


@_inline
def _sink(row, query, shift, tile, tally):
    """Forget at once the positives that a row of a tile shows to lie below the depth. Counting one by one, where many
    references are closer than some positive, would take longer."""
    first, high, depth = tally.begin[query], tally.alive[query], tally.depth[query]
    low = 0  # positives before low matter, those from high on do not
    while low < high:
        middle = (low + high) // 2
        value = tally.value[first + middle]
        limit = -_sum(-value, _blur(value, tile) + shift)
        closer = 0
        for start in range(0, len(row), CHUNK):
            closer += vectors.how_many(vectors.at_most(row, start, limit))
        for k in range(first, first + middle + 1):
            closer += tally.closer[k]
        if closer <= depth:  # the query itself may be among them
            low = middle + 1
        else:
            high = middle
            if closer <= 2 * depth:
                break
    _forget(query, high, tally)


@_inline
def _sum(limit, room):
    """Their sum, rounded up to float32."""
    return np.float32(limit + room + 2.0**-22 * (abs(limit) + abs(room)) + 1e-37)


@_compile
def gains(x, y, bias, value, least):
    """For each row of y, with its own bias: the sum over the rows of x of what ``bias - x . y`` is below their value, where
    nothing counts that is below their ``least``."""
    y_panels = panels(y)
    bias = _padded(bias, len(y_panels) * CHUNK, np.inf)
    values, out = np.empty((STRIP, len(bias)), np.float32), np.zeros(len(bias), np.float32)
    for first in range(0, len(x), STRIP):
        last = min(first + STRIP, len(x))
        _products(x, first, last, y_panels, bias, values)
        for i in range(first, last):
            row = values[i - first]
            for j in range(len(row)):
                out[j] += max(value[i] - max(row[j], least[i]), np.float32(0))
    return out[: len(y)]


@_compile
def nearest(x, y, bias, ids, label, value):
    """Lower the ``value`` of each row of x to the least ``bias - x . y``, its ``label`` being the id of the first such y."""
    y_panels = panels(y)
    bias = _padded(bias, len(y_panels) * CHUNK, np.inf)
    values = np.empty((STRIP, len(bias)), np.float32)
    for first in range(0, len(x), STRIP):
        last = min(first + STRIP, len(x))
        _products(x, first, last, y_panels, bias, values)
        for i in range(first, last):
            row = values[i - first]
            for start in range(0, len(row), CHUNK):
                near = vectors.below(row, start, value[i])
                while near:
                    j = start + vectors.first_bit(near)
                    near &= near - np.uint64(1)
                    if row[j] < value[i]:
                        value[i], label[i] = row[j], ids[j]
