"""Pictures of a data set, for looking at it."""

from __future__ import annotations

import numpy as np
from PIL import Image

from .dataset import Dataset


def contact_sheet(dataset: Dataset, classes: int = 12, per_class: int = 12) -> Image.Image:
    """One row a class, with its first images, of the first ``classes`` classes."""
    gap = 2
    height, width = dataset.images.shape[1:3]
    classes = min(classes, dataset.num_classes)
    size = (per_class * (width + gap) + gap, classes * (height + gap) + gap)
    sheet = Image.new("RGB", size, "white")
    for label in range(classes):
        rows = np.flatnonzero(dataset.labels == label)[:per_class]
        for column, row in enumerate(rows):
            place = (gap + column * (width + gap), gap + label * (height + gap))
            sheet.paste(Image.fromarray(np.asarray(dataset.images[row])), place)
    return sheet
