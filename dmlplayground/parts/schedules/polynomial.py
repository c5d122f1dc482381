from __future__ import annotations

from typing import Any

from .shared.base import KIND, Schedule


@KIND.register(title="A power of the training that is left", also=("linear decay", "poly"))
class Polynomial(Schedule):
    """From the whole rate down to ``final`` of it, as a power of the share of training that is left.

        final + (1 - final) (1 - t)^power,  t from 0 to 1 over the training

    power: 1 is a straight line down.
    final: the share of the rate at the end.
    """

    def __init__(self, *, power: float = 1.0, final: float = 0.0, **shared: Any):
        super().__init__(**shared)
        self.require(power > 0, f"power must be above 0, not {power}.")
        self.require_share(final=final)
        self.power = power
        self.final = final

    def after(self, passed, length, epoch):
        return self.final + (1 - self.final) * (1 - passed / length) ** self.power
