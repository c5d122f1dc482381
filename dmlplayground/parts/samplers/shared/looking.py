"""What samplers share that choose every batch from a pool of images by their remembered embeddings."""

from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np

from ....base import seeds
from ....base.options import Count, at_least
from .base import BatchSampler, Groups, View, need_blocks, need_classes


class Looking(BatchSampler):
    """Base: an epoch's batches are chosen by the memory as it is when the epoch begins. A subclass writes ``batch``.

    refresh: where the embeddings are from. ``steps``: training, each image's latest. ``epochs``: all images are embedded
        again before every epoch.
    projection: how many dimensions a random projection, new for each batch, leaves of the embeddings.
    """

    per_class: Count = 2
    pool: Annotated[int, at_least(2)] = 512
    refresh: Literal["steps", "epochs"] = "steps"
    projection: Count | None = None

    def check(self, batch_size: int, num_classes: int | None) -> None:
        blocks = need_blocks(batch_size, self.per_class)
        need_classes(blocks, None, f"batch_size {batch_size}")
        need_classes(2, num_classes, "a batch")
        self.require(
            blocks <= self.pool, f"pool must be at least {blocks} (a batch's classes), not {self.pool}."
        )

    @property
    def blocks(self) -> int:
        return self.batch_size // self.per_class

    def batches(self, epoch: int, view: View | None = None) -> Iterator[np.ndarray]:
        memory = self.seen(view).embeddings()
        self.check_rows(memory, self.size, "an embedding of each of {} images", "embeddings")
        for number in range(self.length(epoch)):
            yield self.batch(memory, seeds.generator(self.seed, "batches", epoch, number))

    def batch(self, memory: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The rows of one batch."""
        raise NotImplementedError

    def look(self, memory: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """What the memory holds of these images, through a random linear projection of this batch if so set."""
        points = memory[rows].astype(np.float64)
        if self.projection is None:
            return points
        return points @ rng.normal(scale=self.projection**-0.5, size=(points.shape[1], self.projection))


class Coreset(Looking):
    """Base: some images of a uniform pool, each joined by random images of its class. A subclass writes ``choose``.

    per_class: how many images of each pick's class, the pick included.
    pool: how many images the picks are chosen from.
    """

    def over(self, labels: np.ndarray, batch_size: int, iterations: int | None, seed: int) -> BatchSampler:
        super().over(labels, batch_size, iterations, seed)
        self.require(self.blocks <= self.size, f"{self.size} images are too few to pick {self.blocks} from.")
        return self

    def batch(self, memory: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        pool = rng.choice(self.size, min(self.pool, self.size), replace=False)
        picks = pool[self.choose(self.look(memory, pool, rng), rng)]
        return np.column_stack([picks, self.groups.classmates(rng, picks, self.per_class - 1)]).ravel()

    def choose(self, points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The places of the picks in the pool, one for each class block of the batch."""
        raise NotImplementedError


class Matching(Looking):
    """Base: of several random batches from a pool, the one most like the pool. A subclass writes ``costs``.

    per_class: how many images of each class.
    pool: how many images a candidate is drawn from, fewer where classes have too few.
    candidates: how many batches are compared.
    """

    candidates: Count = 10

    def batch(self, memory: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        pool = self._pool(rng)
        drawn = self._candidates(rng, pool)
        return pool[drawn[np.argmin(self.costs(self.look(memory, pool, rng), drawn))]]

    def _pool(self, rng: np.random.Generator) -> np.ndarray:
        """Class blocks of different classes as far as there are enough of them; no image comes twice."""
        blocks = max(2, min(self.pool, self.size) // self.per_class)
        rounds, left = divmod(blocks, self.groups.count)
        order = self.groups.classes(rng, self.groups.count)[:blocks]
        images = self.groups.draw(rng, order, self.per_class * (rounds + (left > 0)))
        full = self.per_class * rounds
        pool = np.concatenate([images[:, :full].ravel(), images[:left, full:].ravel()])
        return pool[np.sort(np.unique(pool, return_index=True)[1])]

    def _candidates(self, rng: np.random.Generator, pool: np.ndarray) -> np.ndarray:
        """(candidates, batch size) places in the pool: classes of the pool with replacement, of each some of its
        images in the pool, different ones as far as it has that many there."""
        held = Groups(self.groups.labels[pool])
        classes = rng.integers(held.count, size=self.candidates * self.blocks)
        return held.draw(rng, classes, self.per_class).reshape(self.candidates, self.batch_size)

    def costs(self, points: np.ndarray, drawn: np.ndarray) -> list[float]:
        """How unlike the pool's ``points`` each of the drawn candidates is."""
        raise NotImplementedError
