"""Batches of an epoch, prepared ahead by threads, in order, the same for any number of threads."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ....base import seeds
from ....base.threads import ahead, beside
from ...samplers import BatchSampler, View
from ...transforms import Transform
from .dataset import Dataset


class Batch(NamedTuple):
    rows: np.ndarray  # which images of the data set
    images: np.ndarray
    labels: np.ndarray


def training_batches(
    dataset: Dataset,
    sampler: BatchSampler,
    transform: Transform,
    *,
    seed: int,
    epoch: int,
    threads: int = 1,
    view: View | None = None,
) -> Iterator[Batch]:
    """Every batch of the epoch, augmented from the stream of (seed, epoch, batch). ``view`` is for a sampler that looks."""

    def prepare(numbered: tuple[int, np.ndarray]) -> Batch:
        number, rows = numbered
        rng = seeds.generator(seed, "augmentation", epoch, number)
        return Batch(rows, transform.train(dataset.images, rows, rng), dataset.labels[rows])

    drawn = sampler.batches(epoch, view)
    return ahead(prepare, enumerate(beside(drawn) if threads else drawn), threads)


def test_batches(
    dataset: Dataset, transform: Transform, *, batch_size: int, threads: int = 1
) -> Iterator[np.ndarray]:
    """All images in their order, in blocks of ``batch_size`` (the last may be smaller)."""
    starts = range(0, len(dataset), batch_size)
    rows = (np.arange(start, min(start + batch_size, len(dataset))) for start in starts)
    return ahead(lambda block: transform.test(dataset.images, block), rows, threads)
