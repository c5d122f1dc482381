"""What a sampler may look at while a trial trains."""

from __future__ import annotations

import numpy as np

from .learner import Learner


class View:
    """The learners of a unit as samplers see them when an epoch begins."""

    def __init__(self, learners: list[Learner]):
        self.learners = learners

    def proxies(self) -> np.ndarray:
        """The first learner's proxies, (C, E)."""
        return self.learners[0].loss.proxies.data().asnumpy()

    def embeddings(self) -> np.ndarray:
        raise NotImplementedError
