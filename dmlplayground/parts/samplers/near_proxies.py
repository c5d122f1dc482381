from collections.abc import Iterator

import numpy as np

from ...base import seeds
from .blocks import Blocks
from .shared import KIND, View


@KIND.register(title="Class blocks of classes with near proxies", needs=("proxies",))
class NearProxies(Blocks):
    """Class blocks of classes with similar proxies: the first class of a batch is drawn uniformly,
    the others with chances inversely proportional to the distance of their proxies from the first one's.

    per_class: how many images of each class.

    Which classes are near is decided when an epoch begins. Only the direction of a proxy counts.
    """

    def batches(self, epoch: int, view: View | None = None) -> Iterator[np.ndarray]:
        proxies = np.asarray(self.seen(view).proxies(), np.float32)
        self.check_rows(proxies, self.groups.count, "a proxy for each of {} classes", "proxies")
        proxies = proxies / np.maximum(np.linalg.norm(proxies, axis=1, keepdims=True), 1e-12)
        rng = seeds.generator(self.seed, "batches", epoch)
        for _ in range(self.length(epoch)):
            first = int(rng.integers(self.groups.count))
            distances = np.linalg.norm(proxies - proxies[first], axis=1)
            # Drawing one after another without replacement is taking the first to arrive, each at its own rate.
            arrivals = rng.exponential(size=self.groups.count) * np.maximum(distances, 1e-6)
            arrivals[first] = -1
            near = np.argsort(arrivals, kind="stable")[: self.batch_size // self.per_class]
            yield self.groups.draw(rng, near, self.per_class).ravel()
