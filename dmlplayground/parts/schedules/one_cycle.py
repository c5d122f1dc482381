from __future__ import annotations

import math
from typing import Any

from .shared.base import KIND, Schedule


@KIND.register(title="Up and down once", also=("1cycle", "superconvergence"))
class OneCycle(Schedule):
    """Along a cosine from ``start`` of the rate up to the whole of it, then along another down to ``final``.

    Smith: Super-Convergence, 2018, with cosines in place of straight lines; the momentum does not change.

    peak: the share of training after which the rate is highest.
    start: the share of the rate to begin with.
    final: the share of the rate at the end.
    """

    def __init__(self, *, peak: float = 0.3, start: float = 0.04, final: float = 4e-6, **shared: Any):
        super().__init__(**shared)
        self.require(not self.rise, "it rises by itself: leave rise at 0 and set peak.")
        self.require(0 < peak < 1, f"peak must be between 0 and 1, not {peak}.")
        self.require_share(start=start, final=final)
        self.peak = peak
        self.start = start
        self.final = final

    def after(self, passed, length, epoch):
        share = passed / length
        if share < self.peak:
            return _along_cosine(self.start, 1.0, share / self.peak)
        return _along_cosine(1.0, self.final, (share - self.peak) / (1 - self.peak))


def _along_cosine(begin: float, end: float, share: float) -> float:
    return end + (begin - end) * (1 + math.cos(math.pi * share)) / 2
