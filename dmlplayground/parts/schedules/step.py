from dataclasses import field

from ...base.options import Count, Fraction
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

    factor: Fraction = 0.5
    steps: list[Count] = field(default_factory=list)
    every: Count | None = None
    moves: Pace = "epoch"

    def after(self, passed: float, length: float, epoch: int) -> float:
        count = epoch // self.every if self.every else sum(epoch >= step for step in self.steps)
        return self.factor**count
