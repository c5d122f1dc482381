from .shared.base import KIND, Schedule


@KIND.register(title="A constant rate")
class Constant(Schedule):
    """The whole rate from the first step to the last, or from the end of the rise."""

    def after(self, passed: float, length: float, epoch: int) -> float:
        return 1.0
