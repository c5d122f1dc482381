"""The base of every sampler: the registry, draws of classes and images, and the order of an epoch.

A sampler is a pure function of its seed, the number of the epoch and what it is shown (``View``): ``batches(epoch)``
yields the same rows in every process, for any number of workers and after a resume, because nothing is carried from
one call to the next. The order of the rows in a batch is the sampler's promise to the loss (class blocks, interleaved
pairs, episodes).

If a class has fewer images than a batch needs, each is used once and then some are used again (``Groups.draw``). So a
block is always full, and a label always belongs to its image.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ....base import seeds
from ....base.errors import UserError
from ....base.registry import Kind, Named, Part


@dataclass(frozen=True)
class Sampler(Part):
    """A way to draw batches.

    >>> dml.samplers.get("pairs").needs
    ()
    """

    # What it looks at when an epoch begins, of the View's "proxies", "embeddings".
    needs: tuple[str, ...] = ()

    @property
    def facts(self) -> dict[str, str]:
        return {"looks at": ", ".join(self.needs) or "labels"}


KIND: "Kind[Sampler, BatchSampler]" = Kind("sampler", "dmlplayground.parts.samplers", Sampler)


class View(Protocol):
    """What a sampler may look at, as it is when the epoch begins. Nothing is computed before it is asked for.

    >>> dml.samplers.get("greedy_coreset").needs  # what it asks of the view
    ('embeddings',)
    """

    def proxies(self) -> np.ndarray:
        """The loss's proxies, (C, E)."""

    def embeddings(self) -> np.ndarray:
        """The training images' embeddings as far as they are remembered, (N, E) float32."""


class Groups:
    """The images of each class, and ways to draw distinct images from many classes at once.

    >>> dml.samplers.Groups(np.array([3, 3, 8])).sizes
    array([2, 1])
    """

    def __init__(self, labels: np.ndarray):
        _, self.labels = np.unique(np.asarray(labels), return_inverse=True)  # counted from 0, without gaps
        self.order = np.argsort(self.labels, kind="stable")
        self.sizes = np.bincount(self.labels)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.count = len(self.sizes)
        self.places = np.empty(len(self.order), int)  # of each image within its class
        self.places[self.order] = np.arange(len(self.order)) - self.starts[self.labels[self.order]]

    def classes(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """``count`` different classes."""
        return rng.permutation(self.count)[:count]

    def draw(self, rng: np.random.Generator, classes: np.ndarray, count: int) -> np.ndarray:
        """(len(classes), count) image indices, distinct within a class as far as it has that many images."""
        return self._images(classes, self._shuffled(rng, classes, count), self.sizes[classes], count)

    def draw_freely(self, rng: np.random.Generator, classes: np.ndarray, count: int) -> np.ndarray:
        """(len(classes), count) image indices, each drawn from the whole of its class, whatever came before."""
        sizes = self.sizes[classes][:, None]
        return self.order[self.starts[classes][:, None] + rng.integers(0, sizes, (len(classes), count))]

    def classmates(self, rng: np.random.Generator, images: np.ndarray, count: int) -> np.ndarray:
        """(len(images), count) other images of each image's class; an image alone in its class gets itself."""
        classes = self.labels[images]
        shuffled = self._shuffled(rng, classes, count, last=self.places[images])
        return self._images(classes, shuffled, np.maximum(self.sizes[classes] - 1, 1), count)

    def _shuffled(
        self, rng: np.random.Generator, classes: np.ndarray, count: int, last: np.ndarray | None = None
    ) -> np.ndarray:
        """Each class's places in an order of its own, the place ``last`` behind the others."""
        sizes = self.sizes[classes][:, None]
        width = max(count, sizes.max())
        # Ranking random keys shuffles every class in one go; keys beyond a class's size sort last.
        keys = rng.random((len(classes), width))
        keys[np.arange(width) >= sizes] = 3.0
        if last is not None:
            keys[np.arange(len(classes)), last] = 2.0
        return np.argsort(keys, axis=1)

    def _images(self, classes: np.ndarray, shuffled: np.ndarray, among: np.ndarray, count: int) -> np.ndarray:
        """``count`` images of each class: the first ``among`` of its shuffled places, over and over."""
        picks = np.take_along_axis(shuffled, np.arange(count) % among[:, None], axis=1)
        return self.order[self.starts[classes][:, None] + picks]


class BatchSampler(Named):
    """Base: made from its options alone, and then put ``over`` the images of a training set.

    A subclass writes ``check``, and ``draw`` (one batch), or ``batches`` where an epoch is more than single batches.

    >>> sampler = dml.samplers.create("per_class", np.repeat(np.arange(4), 6), 8, n=4)
    >>> next(iter(sampler.batches(epoch=0))).shape
    (8,)
    """

    kind = "sampler"

    #: How the embeddings it looks at are kept: ``steps``, the last that training gave of each image, after all were
    #: embedded once; or ``epochs``, all embedded anew before every epoch.
    refresh = "steps"

    def over(self, labels: np.ndarray, batch_size: int, iterations: int | None, seed: int) -> "BatchSampler":
        """This sampler, ready to draw; ``iterations`` batches are an epoch, or (None) as many as make one pass."""
        self.groups = Groups(labels)
        self.size = len(labels)
        self.batch_size = batch_size
        self.iterations = iterations
        self.seed = seed
        self.check(batch_size, self.groups.count)
        return self

    def check(self, batch_size: int, num_classes: int | None) -> None:
        """Raise UserError if no batch of this size can be made; ``num_classes`` is None if not known yet."""

    def length(self, epoch: int) -> int:
        """How many batches the epoch has."""
        return self.iterations or max(1, self.size // self.batch_size)

    def batches(self, epoch: int, view: View | None = None) -> Iterator[np.ndarray]:
        """The rows of every batch of the epoch (counted from 0), the same in every process and at any time."""
        rng = seeds.generator(self.seed, "batches", epoch)
        for _ in range(self.length(epoch)):
            yield self.draw(rng)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        raise NotImplementedError

    def seen(self, view: View | None) -> View:
        """The view, which a sampler that ``needs`` one must be given."""
        if view is None:
            needs = " and ".join(KIND.get(self.key).needs)
            raise UserError(f"sampler {self.key} needs a view with {needs}: batches(epoch, view).")
        return view

    def check_rows(self, rows: np.ndarray, count: int, needed: str, name: str) -> None:
        """Raise UserError unless there are so many rows of finite numbers."""
        right = rows.ndim == 2 and len(rows) == count
        self.require(right, f"needs {needed.format(count)}; got {rows.shape}.")
        self.require(
            np.isfinite(rows).all(), f"the {name} hold a value that is not finite (NaN or infinity)."
        )


def need_blocks(batch_size: int, per_class: int) -> int:
    """How many blocks of ``per_class`` images of one class make the batch."""
    over = batch_size % per_class
    if over:
        near = [str(size) for size in (batch_size - over, batch_size - over + per_class) if size]
        raise UserError(
            f"batch_size {batch_size} is not a whole number of class blocks of {per_class}; "
            f"the nearest sizes are {', '.join(near)}."
        )
    return batch_size // per_class


def need_classes(wanted: int, available: int | None, what: str) -> None:
    if wanted < 2:
        raise UserError(f"{what} gives one class a batch; at least two are needed.")
    if available is not None and wanted > available:
        raise UserError(f"{what} needs {wanted} classes, but the training split has {available}.")
