"""The nearest rows of many, exactly: a scan of the rows in eight bits leaves few, whose distances are then computed.

A row in eight bits is off by a known length, so a product of two such rows bounds the true product from both sides. Rows
whose lower bound is above the K-th least upper bound are none of the K nearest. The order of the others is that of
``distances``, in double precision, and equally near rows stand in the order of their numbers. So what is found does not
depend on the codes, which only decide how soon.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

FEW = 4096  # rows of which every distance is computed, without codes
BLOCK = 4096  # rows whose distances are computed at once
CODED = 256  # rows that are put into eight bits at once, in the processor's cache
LISTED = 8192  # rows that may be near a query, for which there is room at first
TOGETHER = 256  # queries of one scan
CHUNK = 64  # rows whose bounds are one number
FARTHEST = 1e6  # of a query from the centre, in lengths of the farthest row: beyond, products in float32 are of no use
UP = 1 + 2.0**-20  # what float32 and the order of sums may take off a bound
Nearest = tuple[np.ndarray, np.ndarray]  # distances and numbers


class Codes(NamedTuple):
    """Rows in eight bits, ``CHUNK`` rows together and of each of them four numbers after another; ``step * (byte - 128)``
    is nearly a number of the row, which is centred and scaled so that the farthest row has length 1. ``bias`` is what a
    row adds to its distance from every query. Of each chunk, the largest: ``lost`` by rounding, ``length`` of what is
    left, ``size`` of the bias."""

    bytes: np.ndarray  # (chunks, groups of four numbers, CHUNK, 4) uint8
    step: np.ndarray  # (rows,) float32
    bias: np.ndarray
    lost: np.ndarray  # (chunks,) float32
    length: np.ndarray
    size: np.ndarray
    centre: np.ndarray  # (E,) float64
    factor: np.ndarray  # (1,) float64


class Asked(NamedTuple):
    """Queries in eight bits. ``rest`` bounds what float64 leaves open."""

    bytes: np.ndarray  # (Q, 4 * groups) int8
    offset: np.ndarray  # (Q,) int32: what the 128 that was added to every code is to be corrected by
    step: np.ndarray
    length: np.ndarray
    lost: np.ndarray
    rest: np.ndarray


class Listed(NamedTuple):
    """Rows that may be among the nearest of each query, with their lower bounds. ``highest`` is a heap of the K least upper
    bounds so far, the largest first; ``found`` is -1 of a query whose list is too short."""

    highest: np.ndarray  # (Q, K) float32
    near: np.ndarray  # (Q, room) int64
    lowest: np.ndarray  # (Q, room) float32
    found: np.ndarray  # (Q,) int64: how many


def encode(points: np.ndarray, kind: str) -> Codes | None:
    """The rows in eight bits; None where that is of no use: few rows, or numbers without a spread."""
    count, width = points.shape
    if count < FEW:
        return None
    centre = np.zeros(width)
    if kind != "hamming":  # bits stay whole numbers, which lose nothing
        centre = sum(as_seen(points[part], kind).sum(axis=0) for part in _parts(count)) / count
    farthest = max(_lengths(as_seen(points[part], kind) - centre).max() for part in _parts(count))
    if not 1e-30 < farthest < 1e38:
        return None
    factor = 1 / farthest
    chunks, groups = -(-count // CHUNK), -(-width // 4)
    codes = np.full((chunks, groups, CHUNK, 4), 128, np.uint8)
    step, lost, length, size = np.zeros((4, chunks * CHUNK), np.float32)
    bias = np.full(chunks * CHUNK, np.inf, np.float32)  # of rows that fill the last chunk: as far as can be
    for part in _parts(count, CODED):
        placed = (as_seen(points[part], kind) - centre) * factor
        level, step[part], lost[part] = _rounded(placed)
        length[part] = _lengths(level * step[part, None].astype(float)) * UP
        added = -(placed @ centre) * factor if kind == "cosine" else (placed**2).sum(axis=1) / 2
        bias[part], size[part] = added, abs(added) * UP
        whole = np.zeros((-(-len(level) // CHUNK) * CHUNK, 4 * groups), np.int8)
        whole[: len(level), :width] = level
        stored = codes[part.start // CHUNK : -(-part.stop // CHUNK)]
        stored += whole.reshape(-1, CHUNK, groups, 4).transpose(0, 2, 1, 3).view(np.uint8)
    lost, length, size = (each.reshape(chunks, CHUNK).max(axis=1) for each in (lost, length, size))
    made = Codes(codes, step, bias, lost, length, size, centre, np.array([factor]))
    for array in made:  # as those in files are: numba compiles every loop for each kind it meets
        array.flags.writeable = False
    return made


def _rounded(placed: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows as whole numbers from -127 to 127, the step between these, and the length that is lost by it."""
    step = (abs(placed).max(axis=1) / 127).astype(np.float32)
    steps = step[:, None].astype(float)
    level = np.clip(np.rint(placed / np.where(steps > 0, steps, 1)), -127, 127)
    return level, step, (_lengths(placed - level * steps) * UP).astype(np.float32)


def _lengths(rows: np.ndarray) -> np.ndarray:
    return np.linalg.norm(rows, axis=1)


def _parts(count: int, size: int = BLOCK) -> list[slice]:
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def nearest(queries: np.ndarray, points: Any, kind: str, k: int, codes: Codes | None = None) -> Nearest:
    """Distances (Q, k) and numbers (Q, k) of the k nearest points, nearest first; equally near ones by their numbers."""
    k = min(k, len(points))
    away, rows = np.empty((len(queries), k)), np.empty((len(queries), k), np.int64)
    for start in range(0, len(queries), TOGETHER):
        part = slice(start, start + TOGETHER)
        candidates = _candidates(queries[part], kind, k, codes, len(points)) if k else []
        for number, near in enumerate(candidates, start):
            away[number], rows[number] = _in_order(queries[number], near, points, kind, k)
    return away, rows


def _in_order(query: np.ndarray, near: np.ndarray, points: Any, kind: str, k: int) -> Nearest:
    away = np.concatenate([distances(query, points[near[part]], kind) for part in _parts(len(near))])
    if k < len(near):
        kept = away <= np.partition(away, k - 1)[k - 1]
        away, near = away[kept], near[kept]
    order = np.argsort(away, kind="stable")[:k]
    return away[order], near[order]


def _candidates(queries: np.ndarray, kind: str, k: int, codes: Codes | None, count: int) -> list[np.ndarray]:
    """For each query the numbers, ascending, of rows that hold the k nearest and all that are as near."""
    asked = None if codes is None or k > count // 8 else _asked(queries, codes, kind)
    if codes is None or asked is None:
        return [np.arange(count)] * len(queries)
    found = _scan(codes, asked, k, max(LISTED, 4 * k))
    for row, near in enumerate(found):
        if near is None:  # many rows are about as near: there is room for all of them
            found[row] = _scan(codes, Asked(*(field[row : row + 1] for field in asked)), k, 2 * count)[0]
    return found  # type: ignore[return-value]


def _scan(codes: Codes, asked: Asked, k: int, room: int) -> list[np.ndarray | None]:
    from . import neighbours_in_numba as compiled  # here, as listings load this file

    number = len(asked.step)
    near, lowest = np.empty((number, room), np.int64), np.empty((number, room), np.float32)
    highest, count = np.full((number, k), compiled.LARGEST, np.float32), np.zeros(number, np.int64)
    compiled.scan(codes, asked, Listed(highest, near, lowest, count))
    found = zip(near, lowest, highest, count)
    return [None if many < 0 else rows[:many][low[:many] <= top[0]] for rows, low, top, many in found]


def _asked(queries: np.ndarray, codes: Codes, kind: str) -> Asked | None:
    factor = float(codes.factor[0])
    placed = (as_seen(queries, kind) - codes.centre) * factor
    length = _lengths(placed)
    if not (length < FARTHEST).all():
        return None
    level, step, lost = _rounded(placed)
    width = placed.shape[1]
    levels = np.zeros((len(queries), 4 * codes.bytes.shape[1]), np.int8)
    levels[:, :width] = level
    reach = 1 + np.linalg.norm(codes.centre) * factor
    rest = 2.0**-47 * width * reach * (1 + length) * (reach + length)
    above = ((numbers * UP + 1e-37).astype(np.float32) for numbers in (length, lost, rest))
    return Asked(levels, (-128 * level.sum(axis=1)).astype(np.int32), step, *above)


# --- how far a query is from points, by each of the distances that a trial can be evaluated with ---------------------------


def distances(query: np.ndarray, points: np.ndarray, kind: str) -> np.ndarray:
    """(E,), (N, E) -> (N,), in double precision. Each depends on its own point alone, whichever stand beside it."""
    query, points = as_seen(np.stack([query]), kind)[0], as_seen(points, kind)
    if kind == "hamming":
        return np.abs(points - query).sum(axis=1)
    if kind == "cosine":
        return 1 - (points * query).sum(axis=1)
    return np.linalg.norm(points - query, axis=1)


def as_seen(points: np.ndarray, kind: str) -> np.ndarray:
    """Points as the distance sees them, in double precision: as they are, at unit length, or as bits."""
    if kind == "hamming":
        return (np.asarray(points) > 0).astype(np.float64)
    points = np.asarray(points, np.float64)
    return unit(points) if kind == "cosine" else points


def of_joined(parts: Sequence[float], kind: str) -> float:
    """The distance between embeddings that are several of unit length side by side, from the distances between those."""
    if kind == "hamming":
        return sum(parts)
    if kind == "cosine":
        return sum(parts) / len(parts)
    return math.hypot(*parts)


def unit(points: np.ndarray) -> np.ndarray:
    """At unit length."""
    return points / np.maximum(np.linalg.norm(points, axis=-1, keepdims=True), 1e-12)
