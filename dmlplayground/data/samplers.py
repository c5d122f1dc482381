"""Batch samplers: which images make up each batch of an epoch.

A sampler is a pure function of (seed, epoch): ``batches(epoch)`` yields the same index arrays in every
process, for any number of workers and after a resume, because nothing is carried from one call to the next.
The order of rows in a batch is the sampler's promise to the loss (class blocks, interleaved pairs, episodes).

A class with fewer images than a batch wants of it gives each of them once and then some again
(``Groups.draw``), so a block is always full and a label always belongs to its image.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Optional

import numpy as np

from .. import seeds
from ..errors import UserError, unknown
from ..options import fill_options, options_of


class Groups:
    """The images of each class, and draws of distinct images from many classes at once."""

    def __init__(self, labels: np.ndarray):
        labels = np.asarray(labels)
        self.order = np.argsort(labels, kind="stable")
        self.sizes = np.bincount(labels)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.count = len(self.sizes)

    def classes(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """``count`` different classes."""
        return rng.permutation(self.count)[:count]

    def draw(self, rng: np.random.Generator, classes: np.ndarray, count: int) -> np.ndarray:
        """(len(classes), count) image indices, distinct within a class as far as it has that many images."""
        sizes = self.sizes[classes][:, None]
        width = max(count, sizes.max())
        # Ranking random keys shuffles every class in one go; keys beyond a class's size sort last, and the
        # columns they would fill wrap around to the class's own images.
        keys = rng.random((len(classes), width))
        keys[np.arange(width) >= sizes] = 2.0
        shuffled = np.argsort(keys, axis=1)
        columns = np.arange(count) % np.minimum(sizes, width)
        picks = np.take_along_axis(shuffled, columns, axis=1)
        return self.order[self.starts[classes][:, None] + picks]


class BatchSampler:
    """Base: ``iterations`` batches an epoch; None means as many as make one pass over the images."""

    #: Whether ``batches`` must be given the loss's proxies (C, E), as they are when the epoch begins.
    needs_proxies = False

    def __init__(self, labels: np.ndarray, batch_size: int, iterations: Optional[int], seed: int):
        self.groups = Groups(labels)
        self.size = len(labels)
        self.batch_size = batch_size
        self.iterations = iterations
        self.seed = seed
        self.check(batch_size, self.groups.count, **self.options())

    def options(self) -> dict[str, Any]:
        """The sampler's own options, as its signature names them (attributes of the same names keep them)."""
        return {name: getattr(self, name) for name in sampler_options(type(self))}

    @staticmethod
    def check(batch_size: int, num_classes: Optional[int], **options: Any) -> None:
        """Raise UserError where no batch of this size can be made; ``num_classes`` None: not known yet."""

    def length(self, epoch: int) -> int:
        """How many batches the epoch has."""
        return self.iterations or max(1, self.size // self.batch_size)

    def batches(self, epoch: int, proxies: Optional[np.ndarray] = None) -> Iterator[np.ndarray]:
        """The rows of every batch of the epoch (counted from 0), the same wherever and whenever asked."""
        rng = seeds.generator(self.seed, "batches", epoch)
        for _ in range(self.length(epoch)):
            yield self.draw(rng)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        raise NotImplementedError


class Shuffled(BatchSampler):
    """Passes over all images, each in a new order.

    ``last``: what becomes of a pass's incomplete last batch: ``roll`` lets it run on into the next pass,
    ``drop`` leaves it out, ``keep`` gives a smaller batch. With ``iterations`` the passes follow each other
    without regard to epochs.
    """

    def __init__(
        self, labels, batch_size, iterations, seed, *, last: Literal["roll", "drop", "keep"] = "roll"
    ):
        self.last = last
        super().__init__(labels, batch_size, iterations, seed)
        if self.size < batch_size and last == "drop":
            raise UserError(
                f"a batch of {batch_size} cannot be made from {self.size} images with last: drop."
            )

    def length(self, epoch: int) -> int:
        if self.iterations:
            return self.iterations
        if self.last == "keep":
            return -(-self.size // self.batch_size)
        if self.last == "drop":
            return self.size // self.batch_size
        return self._rolled(epoch + 1) - self._rolled(epoch)

    def batches(self, epoch: int, proxies: Optional[np.ndarray] = None) -> Iterator[np.ndarray]:
        if self.last == "roll" or self.iterations:
            first = epoch * self.iterations if self.iterations else self._rolled(epoch)
            yield from self._stream(first * self.batch_size, self.length(epoch))
        else:
            order = self._pass(epoch)
            for i in range(self.length(epoch)):
                yield order[i * self.batch_size : (i + 1) * self.batch_size]

    def _rolled(self, epoch: int) -> int:
        return max(
            epoch, epoch * self.size // self.batch_size
        )  # a tiny data set still has one batch an epoch

    def _pass(self, number: int) -> np.ndarray:
        return seeds.generator(self.seed, "batches", number).permutation(self.size)

    def _stream(self, position: int, count: int) -> Iterator[np.ndarray]:
        """``count`` batches of the endless chain of passes, from ``position`` on."""
        number, offset = divmod(position, self.size)
        waiting = self._pass(number)[offset:]
        for _ in range(count):
            while len(waiting) < self.batch_size:
                number += 1
                waiting = np.concatenate([waiting, self._pass(number)])
            yield waiting[: self.batch_size]
            waiting = waiting[self.batch_size :]


class Uniform(BatchSampler):
    """Images drawn uniformly, different ones within a batch."""

    def draw(self, rng):
        return rng.choice(self.size, self.batch_size, replace=self.batch_size > self.size)


class Blocks(BatchSampler):
    """Class blocks: ``per_class`` images of one class, then of another; classes differ within a batch."""

    def __init__(self, labels, batch_size, iterations, seed, *, per_class: int = 5):
        self.per_class = per_class
        super().__init__(labels, batch_size, iterations, seed)

    @staticmethod
    def check(batch_size, num_classes, *, per_class: int) -> None:  # type: ignore[override]
        if per_class < 1:
            raise UserError(f"sampler.per_class must be at least 1, not {per_class}.")
        if batch_size % per_class:
            near = ", ".join(
                str(n)
                for n in (batch_size - batch_size % per_class, batch_size + -batch_size % per_class)
                if n
            )
            raise UserError(
                f"batch_size {batch_size} is not a whole number of class blocks of {per_class} "
                f"(sampler.per_class); the nearest sizes are {near}."
            )
        need_classes(
            batch_size // per_class, num_classes, f"batch_size {batch_size} in class blocks of {per_class}"
        )

    def draw(self, rng):
        classes = self.groups.classes(rng, self.batch_size // self.per_class)
        return self.groups.draw(rng, classes, self.per_class).ravel()


class NearProxies(Blocks):
    """Class blocks of classes that the method's proxies hold alike: the first class of a batch is drawn
    uniformly, the others with chances inversely proportional to the distance of their proxies from the first
    one's.

    Which classes are near is decided when an epoch begins. Proxies count by their direction.
    """

    needs_proxies = True

    def batches(self, epoch: int, proxies: Optional[np.ndarray] = None) -> Iterator[np.ndarray]:
        if proxies is None:
            raise UserError("the sampler near_proxies needs the proxies of a method that learns some.")
        proxies = np.asarray(proxies, np.float32)
        if proxies.ndim != 2 or len(proxies) != self.groups.count:
            raise UserError(
                f"the sampler near_proxies needs a proxy for each of {self.groups.count} classes; got "
                f"{proxies.shape}."
            )
        proxies = proxies / np.maximum(np.linalg.norm(proxies, axis=1, keepdims=True), 1e-12)
        rng = seeds.generator(self.seed, "batches", epoch)
        for _ in range(self.length(epoch)):
            classes = self._near(rng, proxies)
            yield self.groups.draw(rng, classes, self.per_class).ravel()

    def _near(self, rng: np.random.Generator, proxies: np.ndarray) -> np.ndarray:
        first = int(rng.integers(self.groups.count))
        distances = np.linalg.norm(proxies - proxies[first], axis=1)
        # Drawing one after another without replacement is taking the first to arrive, each at its own rate.
        arrivals = rng.exponential(size=self.groups.count) * np.maximum(distances, 1e-6)
        arrivals[first] = -1
        return np.argsort(arrivals, kind="stable")[: self.batch_size // self.per_class]


class Pairs(BatchSampler):
    """Interleaved pairs a0 p0 a1 p1 ..., each of another class.

    With the chance ``same_image`` a pair is one image twice (under two augmentations), otherwise two
    different images.
    """

    def __init__(self, labels, batch_size, iterations, seed, *, same_image: float = 0.0):
        self.same_image = same_image
        super().__init__(labels, batch_size, iterations, seed)

    @staticmethod
    def check(batch_size, num_classes, *, same_image: float) -> None:  # type: ignore[override]
        if not 0 <= same_image <= 1:
            raise UserError(f"sampler.same_image is a chance between 0 and 1, not {same_image}.")
        if batch_size % 2:
            raise UserError(f"batch_size {batch_size} is odd; the pairs sampler needs an even one.")
        need_classes(batch_size // 2, num_classes, f"batch_size {batch_size} as pairs")

    def draw(self, rng):
        classes = self.groups.classes(rng, self.batch_size // 2)
        pairs = self.groups.draw(rng, classes, 2)
        same = rng.random(len(pairs)) < self.same_image
        pairs[same, 1] = pairs[same, 0]
        return pairs.ravel()


class Episodes(BatchSampler):
    """Few-shot episodes: per class ``supports`` rows, class after class, then ``queries`` rows per class
    likewise."""

    def __init__(self, labels, batch_size, iterations, seed, *, supports: int = 5, queries: int = 5):
        self.supports = supports
        self.queries = queries
        super().__init__(labels, batch_size, iterations, seed)

    @staticmethod
    def check(batch_size, num_classes, *, supports: int, queries: int) -> None:  # type: ignore[override]
        if supports < 1 or queries < 1:
            raise UserError(
                f"episodes need supports and queries of at least 1, not {supports} and {queries}."
            )
        if batch_size % (supports + queries):
            raise UserError(
                f"batch_size {batch_size} is not a whole number of classes with {supports} supports and "
                f"{queries} queries each ({supports + queries} rows a class)."
            )
        need_classes(batch_size // (supports + queries), num_classes, f"an episode of {batch_size} rows")

    def draw(self, rng):
        classes = self.groups.classes(rng, self.batch_size // (self.supports + self.queries))
        images = self.groups.draw(rng, classes, self.supports + self.queries)
        return np.concatenate([images[:, : self.supports].ravel(), images[:, self.supports :].ravel()])


SAMPLERS: dict[str, type[BatchSampler]] = {
    "shuffled": Shuffled,
    "uniform": Uniform,
    "blocks": Blocks,
    "near_proxies": NearProxies,
    "pairs": Pairs,
    "episodes": Episodes,
}


def need_classes(wanted: int, available: Optional[int], what: str) -> None:
    if wanted < 2:
        raise UserError(f"{what} holds {wanted} class; metric learning needs at least 2 in a batch.")
    if available is not None and wanted > available:
        raise UserError(f"{what} needs {wanted} classes, but the training split has {available}.")


def names() -> list[str]:
    return sorted(SAMPLERS)


def get(name: str) -> type[BatchSampler]:
    if name not in SAMPLERS:
        raise unknown("sampler", name, SAMPLERS)
    return SAMPLERS[name]


def sampler_options(sampler: type[BatchSampler]):
    return options_of(sampler.__init__, skip=("self", "labels", "batch_size", "iterations", "seed"))


def create(
    name: str, labels, batch_size: int, *, iterations: Optional[int] = None, seed: int = 0, **options: Any
) -> BatchSampler:
    """A batch sampler by name: ``for rows in create("pairs", labels, 64, seed=1).batches(epoch=0): ...``"""
    sampler = get(name)
    options = fill_options(sampler_options(sampler), options, where=f"sampler {name}")
    return sampler(labels, batch_size, iterations, seed, **options)
