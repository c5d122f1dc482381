"""The base of every schedule: the registry, the rising start, and when the rate moves."""

from typing import Literal

from ....base.options import NotNegative
from ....base.registry import Kind, Named, Part

#: When the rate moves: before every epoch, or before every step of the optimizer.
Pace = Literal["epoch", "step"]


class Schedule(Named):
    """What the learning rates are multiplied by. A subclass writes ``after``.

    moves: "epoch": the rate changes before every epoch; "step": before every step of the optimizer.
    rise: the number of epochs at the start in which the rate climbs evenly to its full height; the rest of the
        schedule counts from there. With moves "epoch" and rise: 5 epoch 1 has a fifth of the rate, epoch 5 all of it.

    >>> dml.schedules.create("cosine", rise=2).rise
    2.0
    """

    kind = "schedule"

    moves: Pace = "step"
    rise: NotNegative = 0.0

    def scale(self, epoch: int, epochs: int, step: int = 0, steps: int = 1) -> float:
        """The multiplier before step ``step`` (from 0) of ``steps`` in epoch ``epoch`` (from 1) of ``epochs``."""
        unit = 1.0 if self.moves == "epoch" else 1 / steps
        passed = epoch - 1 + (step / steps if self.moves == "step" else 0.0)
        risen = min(1.0, (passed + unit) / self.rise) if self.rise else 1.0
        return risen * self.after(max(passed - self.rise, 0.0), max(epochs - self.rise, unit), epoch)

    def after(self, passed: float, length: float, epoch: int) -> float:
        """The multiplier when ``passed`` of the ``length`` epochs that follow the rise are over; ``epoch`` counts all."""
        raise NotImplementedError


KIND: Kind[Part, Schedule] = Kind("schedule", "dmlplayground.parts.schedules")
