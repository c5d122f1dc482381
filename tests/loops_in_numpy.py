"""The inner loops of the evaluation in plain NumPy: what the compiled ones must agree with."""

import numpy as np

PAIRS = 2**18  # numbers gathered at a time for exact distances


def distances(x, x_length, rows, y, y_length, begin, index, cosine):
    return _pair_distances(x, x_length, y, y_length, rows[_queries(begin)], index, cosine)


def mutual_distances(x, length, begin, index, cosine):
    return _pair_distances(x, length, x, length, _queries(begin), index, cosine)


def _queries(begin):
    return np.repeat(np.arange(len(begin) - 1), np.diff(begin))


def _pair_distances(x, x_length, y, y_length, row, column, cosine):
    out = np.empty(len(row))
    step = max(1, PAIRS // x.shape[1])
    for start in range(0, len(row), step):
        i, j = row[start : start + step], column[start : start + step]
        one, other = x[i] / x_length[i, None], y[j] / y_length[j, None]
        terms = one * other if cosine else (one - other) ** 2
        terms = np.pad(terms, ((0, 0), (0, -terms.shape[1] % 8))).reshape(len(i), -1, 8)
        lanes = np.zeros((len(i), 8))
        for k in range(terms.shape[1]):
            lanes += terms[:, k]
        left = (lanes[:, 0] + lanes[:, 4]) + (lanes[:, 2] + lanes[:, 6])
        total = left + ((lanes[:, 1] + lanes[:, 5]) + (lanes[:, 3] + lanes[:, 7]))
        out[start : start + step] = 1.0 - total if cosine else total
    return out


def panels(rows):
    return rows


def count_closer(tile, tally):
    levels = _products(tile.x, tile.y, tile.bias) + tile.shift[:, None]

    def exactly(row, column):
        if tile.exact:
            return levels[row, column] / tile.gain
        x, y = (tile.exact_x, tile.x_length), (tile.exact_y, tile.y_length)
        return _pair_distances(*x, *y, row, column, tile.cosine)

    rows, columns = (tile.first_query, tile.row_class), (tile.first_reference, tile.column_class)
    _count_rows(levels, *rows, *columns, tally, tile.slack, exactly)
    if tile.mirrored:
        _count_rows(levels.T, *columns, *rows, tally, tile.slack, lambda column, row: exactly(row, column))


def _count_rows(levels, first_query, query_class, first_reference, reference_class, tally, blur, exactly):
    queries = slice(first_query, first_query + len(levels))
    row, column = _candidates(levels, tally, queries, blur)
    others = query_class[row] != reference_class[column]
    row, column = row[others], column[others]
    query = first_query + row
    place = _place(query, exactly(row, column), first_reference + column, tally)
    counted = place < tally.begin[query] + tally.alive[query]
    np.add.at(tally.closer, place[counted], 1)
    _forget(tally, queries)


def _candidates(levels, tally, queries, blur):
    """Where references may be closer than a positive that still matters.

    If there are very many, the nearest of them alone show which positives lie too deep, and these are forgotten first.
    """
    # One more than count, because the query itself may be among them.
    enough = int(tally.depth[queries].max()) + 1
    near = levels <= _bounds(tally.limit[queries], blur)
    if enough < levels.shape[1] and np.count_nonzero(near) > 4 * enough * len(levels):
        reached = np.partition(levels, enough, axis=1)[:, enough]  # so many are closer than this
        reached += blur + 2.0**-22 * abs(reached)
        for place, query in enumerate(range(queries.start, queries.stop)):
            first = tally.begin[query]
            values = tally.value[first : first + tally.alive[query]]
            tally.alive[query] = np.searchsorted(values, reached[place], side="right")
        _forget(tally, queries)
        near = levels <= _bounds(tally.limit[queries], blur)
    return np.nonzero(near)


def _bounds(limit, blur):
    return (limit + blur + 2.0**-22 * np.where(np.isfinite(limit), abs(limit), 0))[:, None]


def _place(query, exact, reference, tally):
    """The first positive that comes after each candidate: a binary search in all of them at once."""
    low, high = tally.begin[query], tally.begin[query] + tally.alive[query]
    while np.any(low < high):
        middle = np.minimum((low + high) // 2, len(tally.distance) - 1)
        distance, index = tally.distance[middle], tally.reference[middle]
        before = (distance < exact) | ((distance == exact) & (index < reference))
        searching = low < high
        low, high = (
            np.where(searching & before, middle + 1, low),
            np.where(searching & ~before, middle, high),
        )
    return low


def _forget(tally, queries):
    """Positives that more references are closer than to matter are alive no longer."""
    for query in range(queries.start, queries.stop):
        first, left = tally.begin[query], tally.alive[query]
        counts = np.cumsum(tally.closer[first : first + left])
        left = np.searchsorted(counts + np.arange(left), tally.depth[query])
        tally.alive[query], tally.found[query] = left, counts[left - 1] if left else 0
        tally.limit[query] = tally.value[first + left - 1] if left else -np.inf


def gains(x, y, bias, value, least):
    products = np.maximum(_products(x, y, bias), least[:, None])
    return np.maximum(value[:, None] - products, np.float32(0)).sum(axis=0)


def nearest(x, y, bias, ids, label, value):
    products = _products(x, y, bias)
    place = products.argmin(axis=1)
    least = products[np.arange(len(x)), place]
    lower = least < value
    value[lower], label[lower] = least[lower], ids[place[lower]]


def _products(x, y, bias):
    return bias.astype(np.float32) - x @ y.T
