"""Augmentations, one file each: what training images go through after their transform. Any transform takes them:

    transform: {name: paper, augment: [grey, {name: erasing, chance: 0.3}]}

A new file that registers an augmentation is all it takes to add one; ``shared/base.py`` says what it must provide.
"""

from .shared.base import KIND, Augmentation

__all__ = ["KIND", "Augmentation", "create", "get", "names"]

names, get, create = KIND.names, KIND.get, KIND.create
