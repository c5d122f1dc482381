"""A sheet of a data set's images, to look at."""

import numpy as np
from PIL import Image

from .dataset import Dataset

LARGEST = 128  # the most pixels of an image in either direction
GAP = 2


def contact_sheet(dataset: Dataset, classes: int = 12, per_class: int = 12) -> Image.Image:
    """One row for each of the first ``classes`` classes, with its first images. Large images are shrunk."""
    shown = range(min(classes, dataset.num_classes))
    rows = [np.flatnonzero(dataset.labels == label)[:per_class] for label in shown]
    per_class = max(map(len, rows))
    height, width = (min(length or LARGEST, LARGEST) for length in dataset.images.shape[1:3])
    sheet = Image.new("RGB", (per_class * (width + GAP) + GAP, len(rows) * (height + GAP) + GAP), "white")
    for line, images in enumerate(rows):
        for column, row in enumerate(images):
            picture = Image.fromarray(np.asarray(dataset.images[row]))
            picture.thumbnail((width, height), Image.Resampling.LANCZOS)
            sheet.paste(picture, (GAP + column * (width + GAP), GAP + line * (height + GAP)))
    return sheet
