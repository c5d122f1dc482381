"""Match or no match: the distance up to which two images count as one class, and how often that is wrong."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..base.errors import UserError
from .neighbours import distances, of_joined

MOST = 3000  # images whose pairs are all used; with more, a regular selection is


class Threshold(NamedTuple):
    """Two images match if their distance is at most ``distance``."""

    distance: float
    false_accepts: float  # the share of pairs of different classes that match
    false_rejects: float  # the share of pairs of one class that do not
    pairs: int
    same: int  # of these pairs, those of one class
    measured_on: str

    def __str__(self) -> str:
        return (
            f"match up to a distance of {self.distance:.4f}: on {self.measured_on}, {self.pairs:,} pairs, "
            f"{100 * self.false_accepts:.2f} % of different classes are accepted and "
            f"{100 * self.false_rejects:.2f} % of one class rejected"
        )


def joined(parts: Sequence[Threshold], kind: str, measured_on: str) -> Threshold:
    """The threshold of networks side by side, from that of each: the distance of two images that are just near enough for
    every one of them.

    Images that match are then near enough for at least one network. So at worst the networks' shares of false accepts
    add up; in practice the share is below that of one network, and more pairs of one class are rejected. The rates are
    those of the networks alone, over all of their pairs: no class is new to all of them, so the rates of the joined
    networks cannot be measured on classes that are kept back.
    """
    different = [part.pairs - part.same for part in parts]
    return Threshold(
        of_joined([part.distance for part in parts], kind),
        float(np.average([part.false_accepts for part in parts], weights=different)),
        float(np.average([part.false_rejects for part in parts], weights=[part.same for part in parts])),
        sum(part.pairs for part in parts),
        sum(part.same for part in parts),
        measured_on,
    )


def check_share(false_accepts: float) -> None:
    if not 0 <= false_accepts < 1:
        raise UserError(f"false accepts must be at least 0 and below 1, not {false_accepts}.")


def calibrate(
    embeddings: np.ndarray, classes: ArrayLike, kind: str, false_accepts: float, measured_on: str
) -> Threshold:
    """The largest distance between two images met here at which at most this share of the pairs of different classes match."""
    check_share(false_accepts)
    rows = np.unique(np.linspace(0, len(embeddings) - 1, min(MOST, len(embeddings))).astype(int))
    points, labels = embeddings[rows], np.unique(np.asarray(classes), return_inverse=True)[1][rows]
    same, different = [], []
    for row in range(len(points) - 1):
        away = distances(points[row], points[row + 1 :], kind)
        alike = labels[row + 1 :] == labels[row]
        same.append(away[alike])
        different.append(away[~alike])
    positive, negative = (np.sort(np.concatenate([*each, np.zeros(0)])) for each in (same, different))
    if not len(positive) or not len(negative):
        raise UserError(
            f"a threshold needs pairs of one class and pairs of different ones; {measured_on} has none of "
            f"{'different classes' if len(positive) else 'one class'} (a folder for every class says which is which)."
        )
    # Just below the first negative that would be too many, which may equal those before it.
    limit = np.nextafter(negative[int(false_accepts * len(negative))], -np.inf)
    met = np.concatenate([each[each <= limit][-1:] for each in (positive, negative)])
    distance = float(met.max()) if len(met) else float(limit)
    accepted, kept = (np.searchsorted(each, distance, "right") for each in (negative, positive))
    rates = float(accepted / len(negative)), float(1 - kept / len(positive))
    return Threshold(distance, *rates, len(positive) + len(negative), len(positive), measured_on)
