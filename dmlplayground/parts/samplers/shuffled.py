from collections.abc import Iterator
from typing import Literal

import numpy as np

from ...base import seeds
from .shared import KIND, BatchSampler, View


@KIND.register(title="Passes over all images")
class Shuffled(BatchSampler):
    """Passes over all images, each in a new order.

    last: what becomes of a pass's incomplete last batch: ``roll`` fills it from the next pass, ``drop`` leaves it out,
        ``keep`` gives a smaller batch. If ``iterations`` is set, one pass follows the other without regard to epochs.
    """

    last: Literal["roll", "drop", "keep"] = "roll"

    def over(self, labels: np.ndarray, batch_size: int, iterations: int | None, seed: int) -> BatchSampler:
        self.require(
            len(labels) >= batch_size or self.last != "drop",
            f"a batch of {batch_size} cannot be made from {len(labels)} images with last: drop.",
        )
        return super().over(labels, batch_size, iterations, seed)

    def length(self, epoch: int) -> int:
        if self.iterations:
            return self.iterations
        if self.last == "keep":
            return -(-self.size // self.batch_size)
        if self.last == "drop":
            return self.size // self.batch_size
        return self._rolled(epoch + 1) - self._rolled(epoch)

    def batches(self, epoch: int, view: View | None = None) -> Iterator[np.ndarray]:
        if self.last == "roll" or self.iterations:
            first = epoch * self.iterations if self.iterations else self._rolled(epoch)
            yield from self._stream(first * self.batch_size, self.length(epoch))
        else:
            order = self._pass(epoch)
            for i in range(self.length(epoch)):
                yield order[i * self.batch_size : (i + 1) * self.batch_size]

    def _rolled(self, epoch: int) -> int:
        """How many batches come before this epoch; a tiny data set still has one batch an epoch."""
        return max(epoch, epoch * self.size // self.batch_size)

    def _pass(self, number: int) -> np.ndarray:
        return seeds.generator(self.seed, "batches", number).permutation(self.size)

    def _stream(self, position: int, count: int) -> Iterator[np.ndarray]:
        """``count`` batches of the endless chain of passes, from ``position`` on."""
        number, offset = divmod(position, self.size)
        waiting = self._pass(number)[offset:]
        for _ in range(count):
            while len(waiting) < self.batch_size:
                number += 1
                waiting = np.concatenate([waiting, self._pass(number)])
            yield waiting[: self.batch_size]
            waiting = waiting[self.batch_size :]
