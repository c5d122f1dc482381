"""What a data set is, once loaded: images, labels and names of classes. Everything else reads this value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import UserError
from ..typed import Option, options_of


@dataclass(frozen=True, eq=False)
class Dataset:
    """One split of a data set.

    ``images`` is (N, H, W, 3) uint8, in memory or memory-mapped, and never written to. ``labels`` is (N,)
    int32 and counts the classes of this split from 0; ``class_names[label]`` says which class that is. Two
    splits have no class in common: metric learning is tested on classes never seen in training.
    """

    name: str
    split: str
    images: np.ndarray
    labels: np.ndarray
    class_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def num_classes(self) -> int:
        return len(self.class_names)

    def subset(self, classes: Iterable[int]) -> Dataset:
        """The images of these classes, renumbered from 0 in the order given; a single run is not copied."""
        chosen = [int(label) for label in classes]
        if not chosen or len(set(chosen)) < len(chosen):
            raise UserError(f"a subset of {self.name} needs one class or more, each once; got {chosen}.")
        if min(chosen) < 0 or max(chosen) >= self.num_classes:
            raise UserError(
                f"{self.name} ({self.split}) has the classes 0 to {self.num_classes - 1}; got {chosen}."
            )
        renumbered = np.full(self.num_classes, -1, np.int32)
        renumbered[chosen] = np.arange(len(chosen))
        labels = renumbered[self.labels]
        rows = np.flatnonzero(labels >= 0)
        contiguous = rows.size and rows[-1] - rows[0] + 1 == rows.size
        picked = slice(rows[0], rows[-1] + 1) if contiguous else rows
        names = tuple(self.class_names[label] for label in chosen)
        return replace(self, images=self.images[picked], labels=labels[picked], class_names=names)

    def describe(self) -> str:
        """One line for people: how much there is of what."""
        counts = np.bincount(self.labels, minlength=self.num_classes)
        height, width = self.images.shape[1:3]
        return (
            f"{self.name} ({self.split}): {len(self)} images of {self.num_classes} classes, "
            f"{counts.min()} to {counts.max()} a class, {width} x {height} pixels"
        )


@dataclass(frozen=True)
class DatasetRecord:
    """A data set to load: what it is, how to load a split, and what a trial on it changes by default."""

    name: str
    title: str
    description: str
    loader: Callable[..., Dataset]
    configuration: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Option]:
        return options_of(self.loader, skip=("split",))
