"""The nearest rows of many, exactly: a scan of the rows in eight bits leaves few, whose distances are then computed.

A row in eight bits is off by a known length, so a product of two such rows bounds the true product from both sides. Rows
whose lower bound is above the K-th least upper bound are none of the K nearest. The order of the others is that of
``distances``, in double precision, and equally near rows stand in the order of their numbers. So what is found does not
depend on the codes, which only decide how soon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from .distances import as_seen, distances

if TYPE_CHECKING:
    from .index_file import IndexFile

FEW = 4096  # rows of which every distance is computed, without codes
BLOCK = 4096  # rows whose distances are computed at once
LISTED = 8192  # rows that may be near a query, for which there is room at first
TOGETHER = 256  # queries of one scan
CHUNK = 64  # rows whose bounds are one number
FARTHEST = 1e6  # of a query from the centre, in lengths of the farthest row: beyond, products in float32 are of no use


class Frame(NamedTuple):
    """Coordinates of the codes: centred, and scaled so that the farthest row has length 1."""

    centre: np.ndarray
    factor: float
    products: bool  # whether the distance is by the product (cosine), or else by the squared difference


class Codes(NamedTuple):
    """Rows in eight bits, ``CHUNK`` rows together and of each of them four numbers after another; ``step * (byte - 128)``
    is nearly a number of the row. ``bias`` is what a row adds to its distance from every query. Of each chunk, the
    largest: ``lost`` by rounding, ``length`` of what is left, ``size`` of the bias."""

    bytes: np.ndarray  # (chunks, groups of four numbers, CHUNK, 4) uint8
    step: np.ndarray  # (rows,) float32
    bias: np.ndarray
    lost: np.ndarray  # (chunks,) float32
    length: np.ndarray
    size: np.ndarray
    centre: np.ndarray  # (E,) float64, of the frame
    factor: np.ndarray  # (1,) float64, of the frame

    def arrays(self) -> dict[str, np.ndarray]:
        """What an index's file keeps of them."""
        return {f"code {name}": array for name, array in self._asdict().items()}

    @classmethod
    def read(cls, stored: IndexFile) -> Optional[Codes]:
        """Those in this file, if there are any."""
        if "code bytes" not in stored:
            return None
        return cls(*(stored.array(f"code {name}") for name in cls._fields))


class Asked(NamedTuple):
    """Queries in eight bits. ``rest`` bounds what float64 leaves open."""

    bytes: np.ndarray  # (Q, 4 * groups) int8
    offset: np.ndarray  # (Q,) int32: what the 128 that was added to every code is to be corrected by
    step: np.ndarray
    length: np.ndarray
    lost: np.ndarray
    rest: np.ndarray


def encode(points: np.ndarray, kind: str) -> Optional[Codes]:
    """The rows in eight bits; None where that is of no use: few rows, or numbers without a spread."""
    count, width = points.shape
    if count < FEW:
        return None
    frame = _frame(points, kind)
    if frame is None:
        return None
    chunks, groups = -(-count // CHUNK), -(-width // 4)
    codes = Codes(
        np.full((chunks, groups, CHUNK, 4), 128, np.uint8),
        np.zeros(chunks * CHUNK, np.float32),
        np.full(chunks * CHUNK, np.inf, np.float32),  # of rows that fill the last chunk: as far as can be
        np.zeros(chunks, np.float32),
        np.zeros(chunks, np.float32),
        np.zeros(chunks, np.float32),
        frame.centre,
        np.array([frame.factor]),
    )
    from . import neighbours_in_numba as compiled  # here, as listings load this file

    for part in _parts(count):
        compiled.encode(as_seen(points[part], kind), part.start, frame, codes)
    for array in codes:
        array.flags.writeable = (
            False  # as those in files are: numba compiles every loop for each kind it meets
        )
    return codes


def _frame(points: np.ndarray, kind: str) -> Optional[Frame]:
    count, width = points.shape
    centre = np.zeros(width)
    if kind != "hamming":  # bits stay whole numbers, which lose nothing
        centre = sum(as_seen(points[part], kind).sum(axis=0) for part in _parts(count)) / count
    farthest = max(
        np.linalg.norm(as_seen(points[part], kind) - centre, axis=1).max() for part in _parts(count)
    )
    return Frame(centre, 1 / farthest, kind == "cosine") if 1e-30 < farthest < 1e38 else None


def _parts(count: int) -> list[slice]:
    return [slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK)]


def nearest(
    queries: np.ndarray, points: Any, kind: str, k: int, codes: Optional[Codes] = None
) -> tuple[np.ndarray, np.ndarray]:
    """Distances (Q, k) and numbers (Q, k) of the k nearest points, nearest first; equally near ones by their numbers."""
    k = min(k, len(points))
    away, rows = np.empty((len(queries), k)), np.empty((len(queries), k), np.int64)
    for start in range(0, len(queries), TOGETHER):
        part = slice(start, start + TOGETHER)
        candidates = _candidates(queries[part], kind, k, codes, len(points)) if k else []
        for number, near in enumerate(candidates, start):
            away[number], rows[number] = _in_order(queries[number], near, points, kind, k)
    return away, rows


def _in_order(
    query: np.ndarray, near: np.ndarray, points: Any, kind: str, k: int
) -> tuple[np.ndarray, np.ndarray]:
    away = np.concatenate([distances(query, points[near[part]], kind) for part in _parts(len(near))])
    if k < len(near):
        edge = np.partition(away, k - 1)[k - 1]
        kept = away <= edge
        away, near = away[kept], near[kept]
    order = np.argsort(away, kind="stable")[:k]
    return away[order], near[order]


def _candidates(
    queries: np.ndarray, kind: str, k: int, codes: Optional[Codes], count: int
) -> list[np.ndarray]:
    """For each query the numbers, ascending, of rows that hold the k nearest and all that are as near."""
    everything = [np.arange(count)] * len(queries)
    if codes is None or k > count // 8:
        return everything
    asked = _asked(queries, codes, kind)
    if asked is None:
        return everything
    found = _scan(codes, asked, k, max(LISTED, 4 * k))
    for row, near in enumerate(found):
        if near is None:  # many rows are about as near: there is room for all of them
            alone = Asked(*(field[row : row + 1] for field in asked))
            found[row] = _scan(codes, alone, k, 2 * count)[0]
    return found  # type: ignore[return-value]


def _scan(codes: Codes, asked: Asked, k: int, room: int) -> list[Optional[np.ndarray]]:
    from . import neighbours_in_numba as compiled

    number = len(asked.step)
    highest = np.full((number, k), compiled.LARGEST, np.float32)
    near, lowest = np.empty((number, room), np.int64), np.empty((number, room), np.float32)
    count = np.zeros(number, np.int64)
    compiled.scan(codes, asked, highest, near, lowest, count)
    return [
        None if many < 0 else near[row, :many][lowest[row, :many] <= highest[row, 0]]
        for row, many in enumerate(count)
    ]


def _asked(queries: np.ndarray, codes: Codes, kind: str) -> Optional[Asked]:
    factor = float(codes.factor[0])
    seen = as_seen(queries, kind)
    placed = (seen - codes.centre) * factor
    length = np.linalg.norm(placed, axis=1)
    if not (length < FARTHEST).all():
        return None
    step = (abs(placed).max(axis=1) / 127).astype(np.float32)
    level = np.clip(np.rint(placed / np.where(step > 0, step, 1)[:, None].astype(float)), -127, 127)
    lost = np.linalg.norm(placed - level * step[:, None].astype(float), axis=1)
    width = placed.shape[1]
    levels = np.zeros((len(queries), 4 * codes.bytes.shape[1]), np.int8)
    levels[:, :width] = level
    reach = 1 + np.linalg.norm(codes.centre) * factor
    rest = 2.0**-47 * width * reach * (1 + length) * (reach + length)
    up = 1 + 2.0**-20
    return Asked(
        levels,
        (-128 * level.sum(axis=1)).astype(np.int32),
        step,
        *((numbers * up + 1e-37).astype(np.float32) for numbers in (length, lost, rest)),
    )
