from collections.abc import Iterator

import numpy as np

from ...base import seeds
from ...base.options import Count
from .shared import KIND, BatchSampler, View, need_classes


@KIND.register(title="Passes over all classes", also=("MPerClassSampler", "m per class lists"))
class ClassPasses(BatchSampler):
    """Long lists of images, cut into batches, as in A Metric Learning Reality Check: pass after pass over all classes,
    each in a new order, with some images of each class.

    per_class: how many images of each class in a pass: different ones, or drawn with replacement where the class has
        fewer.
    listed: how many images make a list. It holds as many whole passes as fit, one at least; what is left of it after
        the last whole batch is dropped, and the next list begins.

    Lists follow each other without regard to epochs. A batch that reaches into the next pass may hold a class twice.
    """

    per_class: Count = 4
    listed: Count = 100_000

    def over(self, labels: np.ndarray, batch_size: int, iterations: int | None, seed: int) -> BatchSampler:
        super().over(labels, batch_size, iterations, seed)
        one = self.per_class * self.groups.count
        self.passes = max(1, self.listed // one)
        self.per_list = self.passes * one // batch_size
        self.require(
            self.per_list,
            f"a list of {self.passes * one} images holds no batch of {batch_size}; raise listed.",
        )
        return self

    def check(self, batch_size: int, num_classes: int | None) -> None:
        need_classes(2, num_classes, "a batch")

    def batches(self, epoch: int, view: View | None = None) -> Iterator[np.ndarray]:
        made, rows = None, np.empty(0, int)
        first = epoch * self.length(epoch)
        for batch in range(first, first + self.length(epoch)):
            number, place = divmod(batch, self.per_list)
            if number != made:
                made, rows = number, self._list(number)
            yield rows[place * self.batch_size : (place + 1) * self.batch_size]

    def _list(self, number: int) -> np.ndarray:
        rng = seeds.generator(self.seed, "batches", number)
        return np.concatenate([self._pass(rng) for _ in range(self.passes)])

    def _pass(self, rng: np.random.Generator) -> np.ndarray:
        classes = self.groups.classes(rng, self.groups.count)
        images = self.groups.draw(rng, classes, self.per_class)
        small = self.groups.sizes[classes] < self.per_class
        images[small] = self.groups.draw_freely(rng, classes[small], self.per_class)
        return images.ravel()
