"""The base of every schedule: the registry, the rising start, and when the rate moves."""

from __future__ import annotations

from typing import Any, Literal

from ..errors import UserError
from ..parts import Kind, Part

#: When the rate moves: before every epoch, or before every step of the optimizer.
Pace = Literal["epoch", "step"]


class Schedule:
    """What the learning rates are multiplied by. A subclass writes ``after``.

    moves: "epoch": the rate changes before every epoch; "step": before every step of the optimizer.
    rise: epochs in which the rate climbs in equal parts to its full height, from where the rest of the schedule
        counts; with moves "epoch" the first epoch of rise: 5 has a fifth of it, the fifth the whole.

    >>> dml.schedules.create("cosine", rise=2).rise
    2.0
    """

    def __init__(self, *, moves: Pace = "step", rise: float = 0.0):
        self.require(rise >= 0, f"rise is a number of epochs, not {rise}.")
        self.moves = moves
        self.rise = rise

    def scale(self, epoch: int, epochs: int, step: int = 0, steps: int = 1) -> float:
        """The multiplier before step ``step`` (from 0) of ``steps`` in epoch ``epoch`` (from 1) of ``epochs``."""
        unit = 1.0 if self.moves == "epoch" else 1 / steps
        passed = epoch - 1 + (step / steps if self.moves == "step" else 0.0)
        risen = min(1.0, (passed + unit) / self.rise) if self.rise else 1.0
        return risen * self.after(max(passed - self.rise, 0.0), max(epochs - self.rise, unit), epoch)

    def after(self, passed: float, length: float, epoch: int) -> float:
        """The multiplier when ``passed`` of the ``length`` epochs that follow the rise are over; ``epoch`` counts all."""
        raise NotImplementedError

    def require(self, condition: Any, message: str) -> None:
        if not condition:
            raise UserError(f"schedule {type(self).__module__.rpartition('.')[2]}: {message}")

    def require_share(self, **shares: float) -> None:
        for key, value in shares.items():
            self.require(0 <= value <= 1, f"{key} must be from 0 to 1, not {value}.")


KIND: Kind[Part] = Kind("schedule", "dmlplayground.schedules")
