"""Batch samplers, one file each: which images make up each batch of an epoch.

>>> import numpy as np
>>> import dmlplayground as dml
>>> sampler = dml.samplers.create("pairs", labels=np.repeat(np.arange(8), 5), batch_size=6, seed=1)
>>> [rows.shape for rows in sampler.batches(epoch=0)][:2]
[(6,), (6,)]
"""

from typing import Any

import numpy as np

from ...base.errors import UserError
from . import distance_matching, frechet_matching, greedy_coreset  # for their functions pick and cost
from .shared.base import KIND, BatchSampler, Groups, Sampler, View

__all__ = [
    "KIND", "BatchSampler", "Groups", "Sampler", "View", "create", "distance_matching", "frechet_matching", "get",
    "greedy_coreset", "names",
]  # fmt: skip

names, get = KIND.names, KIND.get


def create(
    name: str,
    labels: np.ndarray,
    batch_size: int,
    *,
    iterations: int | None = None,
    seed: int = 0,
    **options: Any,
) -> BatchSampler:
    """The sampler ``name`` of the images with these labels; ``iterations`` None: one pass over them is an epoch.

    >>> sampler = dml.samplers.create("pairs", [0, 0, 1, 1, 2, 2], 4, seed=1)
    >>> [len(batch) for batch in sampler.batches(epoch=0)]
    [4]
    """
    labels = np.asarray(labels)
    if labels.ndim != 1 or not labels.size:
        raise UserError(f"a sampler needs a label for each image, not an array of shape {labels.shape}.")
    for what, number in {"batch_size": batch_size, "iterations": iterations}.items():
        if number is not None and (number != int(number) or number < 1):
            raise UserError(f"{what} must be a whole number of at least 1, not {number!r}.")
    sampler: BatchSampler = KIND.create(name, **options)
    return sampler.over(labels, batch_size, iterations, seed)
