"""Batches of an epoch, prepared ahead by threads, in order, the same for any number of workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, TypeVar

import numpy as np

from .. import seeds
from .dataset import Dataset
from .samplers import BatchSampler
from .transforms import Plain

Item = TypeVar("Item")
Result = TypeVar("Result")
Batch = tuple[np.ndarray, np.ndarray]


def training_batches(
    dataset: Dataset, sampler: BatchSampler, transform: Plain, *, seed: int, epoch: int, workers: int = 1
) -> Iterator[Batch]:
    """(images, labels) of every batch of the epoch, augmented from the stream of (seed, epoch, batch)."""

    def prepare(numbered: tuple[int, np.ndarray]) -> Batch:
        number, rows = numbered
        rng = seeds.generator(seed, "augmentation", epoch, number)
        return transform.train(dataset.images[rows], rng), dataset.labels[rows]

    return ahead(prepare, enumerate(sampler.batches(epoch)), workers)


def test_batches(dataset: Dataset, transform: Plain, *, batch_size: int, workers: int = 1) -> Iterator[np.ndarray]:
    """All images in their order, in blocks of ``batch_size`` (the last may be smaller)."""
    starts = range(0, len(dataset), batch_size)
    return ahead(lambda start: transform.test(dataset.images[start : start + batch_size]), starts, workers)


def ahead(prepare: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """``map(prepare, items)`` with the next few results being made by ``workers`` threads while this one is used."""
    if workers < 1:
        yield from map(prepare, items)
        return
    waiting: deque = deque()
    items = iter(items)
    with ThreadPoolExecutor(workers, thread_name_prefix="batches") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(prepare, item))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
