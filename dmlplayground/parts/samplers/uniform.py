from __future__ import annotations

from .shared.base import KIND, BatchSampler


@KIND.register(title="Images at random")
class Uniform(BatchSampler):
    """Images drawn uniformly, different ones within a batch."""

    def draw(self, rng):
        return rng.choice(self.size, self.batch_size, replace=self.batch_size > self.size)
