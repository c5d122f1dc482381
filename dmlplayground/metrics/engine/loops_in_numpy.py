"""The inner loops in NumPy, for machines without numba: the same functions and results as ``loops_in_numba``."""

from __future__ import annotations

import numpy as np

PAIRS = 2**18  # numbers gathered at a time for exact distances


def distances(x, x_length, y, y_length, columns, cosine):
    out = np.full(columns.shape, np.inf)
    row, column = np.nonzero(columns >= 0)
    out[row, column] = _pair_distances(x, x_length, y, y_length, row, columns[row, column], cosine)
    return out


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
    row, column = _candidates(tile, first, own, distance, alive, depth, shift, slack, gain)
    if exact:
        value = (tile[row, column] + shift[row]) / gain
    else:
        value = _pair_distances(x, x_length, y, y_length, row, column, cosine)
    place = _place(row, value, first + column, distance, index, alive)
    counted = place < alive[row]
    np.add.at(closer, (row[counted], place[counted]), 1)
    within = np.cumsum(closer, axis=1) < depth[:, None]
    within &= np.arange(closer.shape[1]) < alive[:, None]
    alive[:] = within.sum(axis=1)


def _candidates(tile, first, own, distance, alive, depth, shift, slack, gain):
    """Where the tile has references that may be closer than a positive that still matters.

    If there are very many, the nearest of them alone show which positives lie too deep, and ``alive`` sinks
    first.
    """
    enough = int(depth.max()) + 1  # one more than count, because the query itself may be among them
    many = np.count_nonzero(tile <= _limits(distance, alive, shift, slack, gain)) > 4 * enough * len(tile)
    if many and enough < tile.shape[1]:
        reached = (
            np.partition(tile, enough, axis=1)[:, enough] + slack + shift
        )  # so many are closer than this
        alive[:] = np.minimum(alive, np.count_nonzero(gain * distance <= reached[:, None], axis=1))
    row, column = np.nonzero(tile <= _limits(distance, alive, shift, slack, gain))
    others = first + column != own[row]
    return row[others], column[others]


def _limits(distance, alive, shift, slack, gain):
    last = np.where(alive > 0, distance[np.arange(len(alive)), alive - 1], -np.inf)
    return (gain * last - shift + slack)[:, None]


def _place(row, value, reference, distance, index, alive):
    """How many of its query's positives come before each candidate: a binary search in all of them at
    once."""
    low, high = np.zeros(len(row), np.int64), alive[row].astype(np.int64)
    while np.any(low < high):
        middle = np.minimum((low + high) // 2, distance.shape[1] - 1)
        there = distance[row, middle]
        before = (there < value) | ((there == value) & (index[row, middle] <= reference))
        searching = low < high
        low = np.where(searching & before, middle + 1, low)
        high = np.where(searching & ~before, middle, high)
    return low


def gains(tile, value):
    return np.maximum(value[:, None] - tile, np.float32(0)).sum(axis=0)


def nearest(tile, ids, label, value):
    place = tile.argmin(axis=1)
    least = tile[np.arange(len(tile)), place]
    lower = least < value
    value[lower], label[lower] = least[lower], ids[place[lower]]
