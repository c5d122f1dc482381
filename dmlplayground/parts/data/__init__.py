"""Data sets by name: one file in this folder defines one, and adding that file is all it takes (``glyphs`` is an example).

Its key is the file's name; the function's keyword-only parameters are its options. ``settings`` are what a trial on it
sets by default. A set of image files returns a ``Catalogue`` of them instead of a ``Dataset``; they are decoded here.
"""

from collections.abc import Mapping
from typing import Any

from ...base.errors import UserError, unknown
from ..transforms.shared.stored import Stored
from .shared.catalogue import Catalogue
from .shared.dataset import KIND, Dataset, DatasetPart

__all__ = [
    "KIND", "SPLITS", "Dataset", "DatasetPart", "Stored", "catalogue", "get", "load", "names", "require",
]  # fmt: skip

SPLITS = ("train", "test")

names, get = KIND.names, KIND.get


def load(name: str, split: str = "train", *, stored: Stored | None = None, **options: Any) -> Dataset:
    """One split of a data set, ``train`` or ``test``. Options that are not given have their defaults.

    ``stored`` says at what size decoded images are kept, which the transform decides
    (``transforms.create("paper").stored``). By default they are squashed to 256 x 256, as
    the text of the first study says.

    >>> dml.data.load("glyphs", "train", classes=16, images_per_class=9, size=24).describe()
    'glyphs (train): 69 images of 8 classes, 7 to 11 in each, 24 x 24 pixels'
    """
    found = contents(name, split, options)
    if isinstance(found, Dataset):
        return found
    # Imported here, since listings load this file and Pillow is slow to load.
    from .shared import decoded_cache, decoding

    stored = stored or (Stored("none") if found.size else Stored())
    images = (decoded_cache.images if found.cached else decoding.Live)(found, stored)
    return Dataset(name, split, images, found.labels, found.class_names, found.queries, found.parents)


def catalogue(name: str, split: str = "train", **options: Any) -> Catalogue:
    """The image files of a split, in the order of ``load(...).images``, before any is decoded.

    >>> from PIL import Image
    >>> for name in ("ape/1.png", "ape/2.png", "bat/1.png", "cat/1.png"):
    ...     (store / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
    ...     Image.new("RGB", (8, 8)).save(store / "photos" / name)
    >>> dml.data.catalogue("folder", path=str(store / "photos"), train=["ape", "bat"]).files
    ('ape/1.png', 'ape/2.png', 'bat/1.png')
    """
    found = contents(name, split, options)
    if isinstance(found, Dataset):
        raise UserError(f"the data set {name} is not made of image files.")
    return found


def require(name: str, **options: Any) -> int | None:
    """A ``UserError`` if the data set's files are missing or not as they should be. No image is decoded. Returns the
    number of training classes, if it is known without drawing images.

    >>> dml.data.require("glyphs", classes=40)
    20
    """
    record = get(name)
    if record.training_classes is not None:
        return record.training_classes(**record.fill(options, "data set"))
    if record.release or "path" in record.options:
        return len(contents(name, "train", options).class_names)
    return None


def contents(name: str, split: str, options: Mapping[str, Any]) -> Dataset | Catalogue:
    """The image files of a split; of a data set that has none, such as one that is drawn, the images."""
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    found: Dataset | Catalogue = KIND.create(name, split, **options)
    return found
