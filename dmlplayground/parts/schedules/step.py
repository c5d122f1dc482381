from __future__ import annotations

from typing import Any, Optional

from .shared.base import KIND, Pace, Schedule


@KIND.register(title="By a factor at chosen epochs", also=("multistep", "step decay", "piecewise constant"))
class Step(Schedule):
    """``factor``, once for each of ``steps`` that has been reached; epochs are counted from 1.

    With ``steps: [3, 5]`` epochs 1 and 2 have the whole rate, 3 and 4 the rate times factor, and so on. Without any
    steps, as by default, the rate stays.

    factor: what the rate is multiplied by at each step.
    steps: the epochs at whose start the rate is multiplied.
    every: multiply every so many epochs, instead of at steps.
    moves: when a rise changes the rate: before every "epoch", or before every "step" of the optimizer.
    """

    def __init__(
        self,
        *,
        factor: float = 0.5,
        steps: list[int] = [],  # noqa: B006 (read, never changed)
        every: Optional[int] = None,
        moves: Pace = "epoch",
        **shared: Any,
    ):
        super().__init__(moves=moves, **shared)
        self.require(0 < factor <= 1, f"factor must be above 0 and at most 1, not {factor}.")
        self.require(all(step >= 1 for step in steps), f"steps are epochs from 1, not {steps}.")
        self.require(every is None or every >= 1, f"every must be at least 1, not {every}.")
        self.factor = factor
        self.steps = steps
        self.every = every

    def after(self, passed, length, epoch):
        count = epoch // self.every if self.every else sum(epoch >= step for step in self.steps)
        return self.factor**count
