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

from .shared.base import KIND, Augmentation

__all__ = ["KIND", "Augmentation", "create", "get", "names"]

names, get, create = KIND.names, KIND.get, KIND.create
