"""The inner loops in NumPy, for machines without numba: the same functions and results as ``loops_in_numba``."""

from __future__ import annotations

import numpy as np

PAIRS = 2**18  # numbers gathered at a time for exact distances


def distances(x, x_length, y, y_length, begin, index, cosine):
    return _pair_distances(x, x_length, y, y_length, _queries(begin), index, cosine)


def _queries(begin):
    return np.repeat(np.arange(len(begin) - 1), np.diff(begin))


def sort_lists(begin, distance, index):
    order = np.lexsort((distance, _queries(begin)))
    distance[:], index[:] = distance[order], index[order]


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
    levels = tile + shift[:, None]

    def exactly(row, column):
        if exact:
            return levels[row, column] / gain
        return _pair_distances(x, x_length, y, y_length, row, column, cosine)

    hunt = (begin, distance, index, value, closer, depth, alive, found, limit)
    blur = 0.0 if exact else slack
    _count_rows(levels, first_query, first, own, hunt, blur, exactly)
    if mirrored:
        _count_rows(levels.T, first, own, first, hunt, blur, lambda column, row: exactly(row, column))


def _count_rows(levels, first_query, first, own, hunt, blur, exactly):
    """Each row is a query; it is reference ``own`` + row, and its columns are references from ``first`` on."""
    begin, distance, index, _, closer, _, alive, _, _ = hunt
    queries = slice(first_query, first_query + len(levels))
    row, column = _candidates(levels, hunt, queries, blur)
    others = first + column != own + row
    row, column = row[others], column[others]
    query = first_query + row
    place = _place(query, exactly(row, column), first + column, begin, distance, index, alive)
    counted = place < begin[query] + alive[query]
    np.add.at(closer, place[counted], 1)
    _forget(hunt, queries)


def _candidates(levels, hunt, queries, blur):
    """Where references may be closer than a positive that still matters.

    If there are very many, the nearest of them alone show which positives lie too deep, and these are forgotten first.
    """
    begin, _, _, value, _, depth, alive, _, limit = hunt
    enough = int(depth[queries].max()) + 1  # one more than count, because the query itself may be among them
    near = levels <= _bounds(limit[queries], blur)
    if enough < levels.shape[1] and np.count_nonzero(near) > 4 * enough * len(levels):
        reached = np.partition(levels, enough, axis=1)[:, enough]  # so many are closer than this
        reached += blur + 2.0**-22 * abs(reached)
        for place, query in enumerate(range(queries.start, queries.stop)):
            values = value[begin[query] : begin[query] + alive[query]]
            alive[query] = np.searchsorted(values, reached[place], side="right")
        _forget(hunt, queries)
        near = levels <= _bounds(limit[queries], blur)
    return np.nonzero(near)


def _bounds(limit, blur):
    return (limit + blur + 2.0**-22 * np.where(np.isfinite(limit), abs(limit), 0))[:, None]


def _place(query, exact, reference, begin, distance, index, alive):
    """The first positive that comes after each candidate: a binary search in all of them at once."""
    low, high = begin[query], begin[query] + alive[query]
    while np.any(low < high):
        middle = np.minimum((low + high) // 2, len(distance) - 1)
        before = (distance[middle] < exact) | ((distance[middle] == exact) & (index[middle] <= reference))
        searching = low < high
        low, high = (
            np.where(searching & before, middle + 1, low),
            np.where(searching & ~before, middle, high),
        )
    return low


def _forget(hunt, queries):
    """Positives that more references are closer than to matter are alive no longer."""
    begin, _, _, value, closer, depth, alive, found, limit = hunt
    for query in range(queries.start, queries.stop):
        first, left = begin[query], alive[query]
        counts = np.cumsum(closer[first : first + left])
        left = np.searchsorted(counts, depth[query])
        alive[query], found[query] = left, counts[left - 1] if left else 0
        limit[query] = value[first + left - 1] if left else -np.inf


def gains(tile, value):
    return np.maximum(value[:, None] - tile, np.float32(0)).sum(axis=0)


def nearest(tile, ids, label, value):
    place = tile.argmin(axis=1)
    least = tile[np.arange(len(tile)), place]
    lower = least < value
    value[lower], label[lower] = least[lower], ids[place[lower]]
