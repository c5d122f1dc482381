"""A data set: once loaded, the value that everything else reads; before that, the facts on how to load it."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ....base.errors import UserError
from ....base.options import Option, options_of
from ....base.registry import Kind, Part, split
from . import images as lazy
from .catalogue import own
from .releases import Release

LARGEST = 128  # the most pixels of an image on a contact sheet in either direction
GAP = 2  # between them


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """One split of a data set.

    ``images`` is an array, or looks like one, (N, H, W, 3) of uint8: in memory, memory-mapped or decoded when
    asked for, and never written to. Where heights or widths differ the shape has None for them. For a data set of
    features it is an array (N, width) of float32. ``labels`` is (N,) int32 and counts the classes of this split from 0;
    ``class_names[label]`` says which class that is, and ``parents[label]`` the class above it, if there are such.
    Two splits have no class in common: metric learning is tested on classes never seen in training.
    ``queries`` says which images search the others, which are the gallery; None: every image searches all.

    >>> dataset = dml.data.Dataset("mine", "train", np.zeros((4, 8, 8, 3), np.uint8), np.array([0, 0, 1, 1]), ("cat", "dog"))
    >>> len(dataset), dataset.subset([1]).class_names
    (4, ('dog',))
    """

    name: str
    split: str
    images: Any
    labels: np.ndarray
    class_names: tuple[str, ...]
    queries: np.ndarray | None = None
    parents: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Dataset({self.describe()})"

    def __getitem__(self, row: int) -> tuple[np.ndarray, int]:
        """An image and its label, as ``mxnet.gluon.data.DataLoader`` wants them."""
        return self.images[row], self.labels[row]

    @property
    def num_classes(self) -> int:
        return len(self.class_names)

    def subset(self, classes: Iterable[int]) -> "Dataset":
        """The images of these classes, renumbered from 0 in the order given. No image is copied."""
        chosen = [int(label) for label in classes]
        if not chosen or len(set(chosen)) < len(chosen):
            raise UserError(f"a subset of {self.name} needs at least one class, each once; got {chosen}.")
        if min(chosen) < 0 or max(chosen) >= self.num_classes:
            known = f"the classes 0 to {self.num_classes - 1}"
            raise UserError(f"{self.name} ({self.split}) has {known}; got {chosen}.")
        renumbered = np.full(self.num_classes, -1, np.int32)
        renumbered[chosen] = np.arange(len(chosen))
        labels = renumbered[self.labels]
        rows = np.flatnonzero(labels >= 0)
        return replace(
            self,
            images=lazy.select(self.images, rows),
            labels=labels[rows],
            class_names=tuple(self.class_names[label] for label in chosen),
            queries=None if self.queries is None else self.queries[rows],
            parents=None if self.parents is None else tuple(self.parents[label] for label in chosen),
        )

    @property
    def digest(self) -> str:
        """A digest of the images, of their classes, and of which are queries."""
        queries = b"" if self.queries is None else self.queries.tobytes()
        parts = [lazy.digest(self.images), np.asarray(self.labels, np.int64).tobytes(), queries]
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def describe(self) -> str:
        """A description in one line."""
        counts = np.bincount(self.labels, minlength=self.num_classes)
        searching = "" if self.queries is None else f", {int(self.queries.sum())} of them queries"
        shape = self.images.shape
        size = f"{shape[1]} features each" if len(shape) == 2 else f"{shape[2]} x {shape[1]} pixels"
        return (
            f"{self.name} ({self.split}): {len(self)} images of {self.num_classes} classes, {counts.min()} to "
            f"{counts.max()} in each, {'different sizes' if None in shape else size}{searching}"
        )


def contact_sheet(dataset: Dataset, classes: int, per_class: int) -> Any:
    """A PIL image with a row for each of the first ``classes`` classes, with its first images. Large images are shrunk."""
    from PIL import Image  # slow to load

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


@dataclass(frozen=True)
class DatasetPart(Part):
    """A data set to load: what a trial on it sets by default, and what its authors publish.

    >>> dml.data.get("glyphs").title
    'Printed characters in many typefaces'
    """

    settings: Mapping[str, Any] | Callable[..., Mapping[str, Any]] = field(default_factory=dict)
    release: Release | None = None
    yours: bool = False  # a user's own images
    training_classes: Callable[..., int | None] | None = None  # from its options, if those alone decide

    given = ("split",)
    shared_notes: ClassVar = {  # a data set describes one of them itself where there it means more
        "root": "the folder of data sets; empty: $DMLPLAYGROUND_DATA, else the user's data folder.",
        "partial": "accept an incomplete release.",
        "boxes": "crop images to their bounding boxes before anything else.",
        "train": "the classes for training, if the data do not say which: a share of them, the first by name (numbers count as "
        "numbers); a list of them; or a file with one on each line.",
        "test": "the classes for test, given in the same way, but a share is that of the last; nothing: all that are not for "
        "training.",
        "seed": "draws the classes of these shares at random, the same ones for the same seed; nothing: they are taken by name.",
        "division": "which classes are for training: 0 for the official half, 1, 2, 3, ... for halves drawn at random.",
        "cache": "where decoded images are kept: on disk; or none: they are decoded each time.",
    }

    def further(self) -> Mapping[str, Option]:
        if self.release:
            return options_of(Release.catalogue, skip=("self", "split", "divided"))
        return options_of(own, skip=("name", "split", "folder", "entries", "boxes")) if self.yours else {}

    def fill(self, options: Mapping[str, Any], kind: str) -> dict[str, Any]:
        """Besides, an option ``of`` names another data set, and has one form for one meaning."""
        filled = super().fill(options, kind)
        if "of" in filled:
            name, given = split(filled["of"])
            other = KIND.get(name)
            every = other.fill(given, kind).items()
            differing = {key: value for key, value in every if value != other.options[key].default}
            filled["of"] = {"name": name, **differing}
        return filled

    @property
    def configuration(self) -> Mapping[str, Any]:
        return {} if callable(self.settings) else self.settings

    def configured(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a trial on it sets by default, if that depends on the options (on a file that they name)."""
        return self.settings(**self.fill(options, "data set")) if callable(self.settings) else self.settings

    @property
    def facts(self) -> dict[str, str]:
        if self.release is None:
            return {}
        train, *test = self.release.counts.values()
        return {
            "images": f"{train.images:,} + {sum(count.images for count in test):,}",
            "classes": f"{train.classes:,} + {test[0].classes:,}",
        }


KIND: Kind[DatasetPart, Any] = Kind(
    "data set",
    "dmlplayground.parts.data",
    DatasetPart,
    setting="data",
    remark="images and classes: those for training + those for test.",
)
