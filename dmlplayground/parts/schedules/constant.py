from __future__ import annotations

from .shared.base import KIND, Schedule


@KIND.register(title="A constant rate")
class Constant(Schedule):
    """The whole rate from the first step to the last, or from the end of the rise."""

    def after(self, passed, length, epoch):
        return 1.0
