"""How far two orders of the same methods agree: Kendall's tau, with an interval for the noise of both; and the pairs that
stand in opposite order beyond that noise."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from .variance import Comparison

WIDE = 1.96  # standard errors that make a 95 % interval
LEAST = 3  # methods; with fewer there is no order to speak of


class Agreement(NamedTuple):
    methods: list[str]
    tau: float
    interval: tuple[float, float] | None
    # Pairs that both sides tell apart, in opposite order; as the first has them.
    reversed: list[tuple[str, str]]


def taus(a: Any, b: Any) -> Any:
    """Tau-b over the last axis of two arrays: pairs in the same order less pairs in opposite order, as a share of the
    pairs; not a number where one side has no order at all."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    first, second = np.triu_indices(a.shape[-1], 1)
    ours, theirs = (np.sign(side[..., first] - side[..., second]) for side in (a, b))
    known = np.sqrt((ours**2).sum(axis=-1) * (theirs**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (ours * theirs).sum(axis=-1) / known


def agreement(a: Comparison, b: Comparison) -> Agreement | None:
    """Of the methods that both have. None if they are too few.

    For the interval every mean on both sides is drawn anew with the error that it has. Noise pulls a tau towards zero, by as
    much as the orders drawn agree less than entirely with the one they were drawn from; so the interval holds both the tau
    that was measured and what it would be without that pull, with twice the standard error beyond either, within -1 and 1.
    """
    methods = [name for name in a.methods if name in b.methods]
    if len(methods) < LEAST:
        return None
    tau = float(taus([a.mean(name) for name in methods], [b.mean(name) for name in methods]))
    if np.isnan(tau):
        return None
    interval = None
    if a.repeated and b.repeated:
        ours, theirs = (
            np.stack([side.draws(name, 2 * place + own) for place, name in enumerate(methods)], axis=-1)
            for own, side in enumerate((a, b))
        )
        pull = float(np.mean([np.nanmean(taus(drawn, drawn.mean(axis=0))) for drawn in (ours, theirs)])) ** 2
        error = float(np.nanstd(taus(ours, theirs)))
        ends = sorted([tau, tau / pull])
        interval = max(-1.0, ends[0] - WIDE * error), min(1.0, ends[1] + WIDE * error)
    turned = [pair for pair in a.gaps if pair in a.apart and pair[::-1] in b.apart]
    return Agreement(methods, tau, interval, turned)


def by_search(found: Comparison) -> float | None:
    """The tau between the orders by one search and by another, mean over pairs: what a new search alone does to an order."""
    if found.searches < 2 or len(found.means) < LEAST:
        return None
    columns = np.array([cells.mean(axis=0) for cells in found.means.values()])
    pairs = combinations(range(found.searches), 2)
    return float(np.mean([taus(columns[:, one], columns[:, other]) for one, other in pairs]))
