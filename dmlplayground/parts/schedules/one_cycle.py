import math

from ...base.options import Share
from .shared.base import KIND, Schedule


@KIND.register(title="Up and down once", also=("1cycle", "superconvergence"))
class OneCycle(Schedule):
    """Along a cosine from ``start`` of the rate up to the whole of it, then along another down to ``final``.

    Smith: Super-Convergence, 2018, with cosines in place of straight lines; the momentum does not change.

    peak: the share of training after which the rate is highest.
    start: the share of the rate to begin with.
    final: the share of the rate at the end.
    """

    peak: float = 0.3
    start: Share = 0.04
    final: Share = 4e-6

    def __post_init__(self) -> None:
        self.require(not self.rise, "it rises by itself: leave rise at 0 and set peak.")
        self.require(0 < self.peak < 1, f"peak must be between 0 and 1, not {self.peak}.")

    def after(self, passed: float, length: float, epoch: int) -> float:
        share = passed / length
        if share < self.peak:
            return _along_cosine(self.start, 1.0, share / self.peak)
        return _along_cosine(1.0, self.final, (share - self.peak) / (1 - self.peak))


def _along_cosine(begin: float, end: float, share: float) -> float:
    return end + (begin - end) * (1 + math.cos(math.pi * share)) / 2
