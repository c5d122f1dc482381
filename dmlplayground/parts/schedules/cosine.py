import math

from ...base.options import Share
from .shared.base import KIND, Schedule


@KIND.register(title="Half a cosine down", also=("cosine annealing",))
class Cosine(Schedule):
    """From the whole rate down to ``final`` of it along half a cosine: slowly, then fast, then slowly.

        final + (1 - final) (1 + cos(pi t)) / 2,  t from 0 to 1 over the training

    final: the share of the rate at the end.
    """

    final: Share = 0.0

    def after(self, passed: float, length: float, epoch: int) -> float:
        return self.final + (1 - self.final) * (1 + math.cos(math.pi * passed / length)) / 2
