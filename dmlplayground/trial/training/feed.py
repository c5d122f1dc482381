"""What learners are trained on: the batches of every step, drawn by a sampler that may look at the learners first."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from mxnet import nd

from ...parts import samplers
from ...parts.data import Dataset
from ...parts.data.shared import loader
from ..config import Trial
from . import models
from .learner import Batch, Learner, StepResult


class Feed:
    """The batches of learners that are trained side by side, and the view that their sampler has (``samplers.View``)."""

    def __init__(
        self, trial: Trial, dataset: Dataset, learners: list[Learner], transform: Any, seed: int, threads: int
    ):
        self.trial = trial
        self.dataset = dataset
        self.learners = learners
        self.transform = transform
        self.seed = seed
        self.threads = threads
        self.sampler = samplers.create(
            labels=dataset.labels,
            batch_size=trial.batch_size,
            iterations=trial.iterations and trial.iterations * trial.accumulate,
            seed=seed,
            **trial.sampler,
        )
        looks = "embeddings" in samplers.get(self.sampler.key).needs
        # Whether the last embedding that training gave of each image is remembered, (N, E) float32. Those of an epoch's steps
        # stay on the device until they are asked for. So no step waits for the host, and a sampler sees what was remembered
        # when the epoch began.
        self.remembers = looks and self.sampler.refresh == "steps"
        self._remembered: np.ndarray | None = None
        self._noted: list[tuple[np.ndarray, nd.NDArray]] = []

    def steps(self, epoch: int) -> int:
        """How many steps the epoch (counted from 1) has."""
        return -(-self.sampler.length(epoch - 1) // self.trial.accumulate)

    def batches(self, epoch: int) -> Iterator[list[Batch]]:
        """The batches of each of its steps."""
        how: dict[str, Any] = {"seed": self.seed, "epoch": epoch - 1, "threads": self.threads, "view": self}
        prepared = loader.training_batches(self.dataset, self.sampler, self.transform, **how)
        while step := list(islice(prepared, self.trial.accumulate)):
            self._rows = [rows for rows, _, _ in step]
            yield [(images, labels) for _, images, labels in step]

    def seen(self, steps: Sequence[StepResult]) -> None:
        """Note the embeddings that the learners computed for the batches of a step."""
        if self.remembers:
            for rows, *embeddings in zip(self._rows, *(step.embeddings for step in steps)):
                joined = nd.concat(*embeddings, dim=1) if len(embeddings) > 1 else embeddings[0]
                self._noted.append((rows, joined.detach()))

    def proxies(self) -> np.ndarray:
        """The first learner's proxies, (C, E)."""
        return self.learners[0].loss.proxies.data().asnumpy()

    def embeddings(self) -> np.ndarray:
        """The learners' embeddings of all training images, side by side: remembered ones, or computed now."""
        if (remembered := self._recalled()) is not None:
            return remembered
        found = models.embed(self.learners, self.dataset, self.transform, self.threads)
        if self.remembers:
            self._remembered, self._noted = found.astype(np.float32, copy=False), []
        return found

    def _recalled(self) -> np.ndarray | None:
        """What is remembered, with everything noted so far; None if nothing ever was."""
        if self._noted and self._remembered is not None:
            values = self._remembered.copy()  # a copy, so that what was handed out before does not change
            for rows, embeddings in self._noted:
                values[rows] = embeddings.asnumpy()
            self._remembered, self._noted = values, []
        return self._remembered

    def state(self) -> dict[str, np.ndarray]:
        """The state that a killed run could not compute again."""
        remembered = self._recalled()
        return {} if remembered is None else {"embeddings": remembered}

    def load_state(self, state: dict[str, np.ndarray]) -> None:
        self._remembered = state.get("embeddings")
