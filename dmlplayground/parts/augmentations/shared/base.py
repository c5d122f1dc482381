"""The base of every augmentation. It changes a block (B, h, w, 3) of uint8 in place, image by image. All that is random
comes from the generator handed in, with the same number of draws for every image, so that others' do not depend on it."""

import numpy as np

from ....base.registry import Kind, Named, Part

KIND: "Kind[Part, Augmentation]" = Kind(
    "augmentation",
    "dmlplayground.parts.augmentations",
    setting="augment",
    remark="Any transform takes them, in their order: transform: {name: paper, augment: [grey, {name: erasing, chance: 0.3}]}",
)


class Augmentation(Named):
    """Base: called with a block of images and a generator.

    >>> dml.augmentations.create("grey").key
    'grey'
    """

    kind = "augmentation"

    def __call__(self, block: np.ndarray, rng: np.random.Generator) -> None:
        raise NotImplementedError
