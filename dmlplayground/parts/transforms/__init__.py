"""Transforms, one file each: what happens to an image between its file and a batch. A new file that registers a transform
is all it takes to add one; ``shared/base.py`` says what it must provide."""

from typing import Any

from .. import augmentations
from .shared.base import KIND, Augmented, Transform
from .shared.stored import Stored

__all__ = ["KIND", "Stored", "Transform", "create", "get", "names"]

names, get = KIND.names, KIND.get


def create(name: str, **options: Any) -> Transform:
    """A transform by name: ``create("paper", crop=0.9).train(images, rows, rng)``.

    >>> images = np.zeros((3, 40, 40, 3), np.uint8)
    >>> dml.transforms.create("plain").train(images, np.array([0, 2]), np.random.default_rng(0)).shape
    (2, 40, 40, 3)
    """
    part = KIND.get(name)
    options = part.fill(options, KIND.name)
    steps = [augmentations.create(**given) for given in options.pop("augment", ())]
    transform: Transform = part.make(**options)
    return Augmented(transform, steps) if steps else transform
