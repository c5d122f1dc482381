from ...base.options import Positive, Share
from .shared.base import KIND, Schedule


@KIND.register(title="A power of the training that is left", also=("linear decay", "poly"))
class Polynomial(Schedule):
    """From the whole rate down to ``final`` of it, as a power of the share of training that is left.

        final + (1 - final) (1 - t)^power,  t from 0 to 1 over the training

    power: 1 is a straight line down.
    final: the share of the rate at the end.
    """

    power: Positive = 1.0
    final: Share = 0.0

    def after(self, passed: float, length: float, epoch: int) -> float:
        return self.final + (1 - self.final) * (1 - passed / length) ** self.power
