import numpy as np

from .shared import KIND, BatchSampler


@KIND.register(title="Images at random")
class Uniform(BatchSampler):
    """Images drawn uniformly, different ones within a batch."""

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        return rng.choice(self.size, self.batch_size, replace=self.batch_size > self.size)
