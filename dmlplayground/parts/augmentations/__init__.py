"""Augmentations, one file each: what training images go through after their transform. Any transform takes them:

    transform: {name: paper, augment: [grey, {name: erasing, chance: 0.3}]}

>>> import numpy as np
>>> import dmlplayground as dml
>>> block = np.full((2, 8, 8, 3), 100, np.uint8)
>>> dml.augmentations.create("rotation", degrees=15)(block, np.random.default_rng(1))
>>> int(block.min()), int(block.max())
(100, 100)

A new file that registers an augmentation is all it takes to add one. See ``base`` for what an augmentation must
provide.
"""

from __future__ import annotations

from typing import Any

from ...base.registry import Part
from .shared.base import KIND, Augmentation

__all__ = ["KIND", "Augmentation", "create", "get", "names"]


def names() -> list[str]:
    """The keys of all augmentations, sorted.

    >>> "grey" in dml.augmentations.names()
    True
    """
    return KIND.names()


def get(name: str) -> Part:
    """The facts of an augmentation: its title, its options, its notes.

    >>> sorted(dml.augmentations.get("grey").options)
    ['chance']
    """
    return KIND.get(name)


def create(name: str, **options: Any) -> Augmentation:
    """An augmentation by name: ``create("grey", chance=0.5)(block, rng)``.

    >>> block = np.arange(12, dtype=np.uint8).reshape(1, 2, 2, 3)
    >>> dml.augmentations.create("grey", chance=1.0)(block, np.random.default_rng(0))  # in place
    >>> bool((block[..., 0] == block[..., 2]).all())
    True
    """
    augmentation: Augmentation = KIND.create(name, **options)
    return augmentation
