"""The content of a cross-batch memory, on the device. This file needs MXNet."""

from collections.abc import Mapping

import numpy as np
from mxnet import autograd, nd

from .cross_batch_memory import Memory


class Ring:
    """The latest rows that a loss was given, with their labels; new rows replace the oldest.

    How many rows were written is counted on the host, so nothing is waited for.
    """

    def __init__(self, memory: Memory):
        self.memory = memory
        self.size = memory.size
        self.held = False  # nothing is written or counted
        self._batches = 0  # that came, whether or not they were written
        self._written = 0  # rows
        self._last = 0  # rows of the last batch written
        self._held: list[nd.NDArray] = []  # rows and labels, once there are any

    @property
    def in_use(self) -> bool:
        """Whether it holds anything."""
        return bool(self._held)

    def remember(self, embeddings: nd.NDArray, labels: nd.NDArray) -> None:
        """Take in a batch, once as many have passed as there are before the memory starts."""
        if self.held:
            return
        self._batches += 1
        if self._batches > self.memory.start:
            with autograd.pause():
                self._write(embeddings, labels)

    def _write(self, embeddings, labels):
        if not self._held:
            like = {"ctx": embeddings.context, "dtype": embeddings.dtype}
            self._held = [nd.zeros((self.size, embeddings.shape[1]), **like), nd.zeros((self.size,), **like)]
        rows, row_labels = self._on_device(embeddings)
        self._last = len(embeddings)
        self._written += self._last
        places = self._places(embeddings)
        rows = nd.contrib.index_copy(rows, places, embeddings.detach())
        self._held = [rows, nd.contrib.index_copy(row_labels, places, labels.astype(row_labels.dtype))]

    def read(self, like: nd.NDArray) -> tuple[nd.NDArray, ...]:
        """Rows, (M, E), and their labels, (M,); which of them hold something, (M,); and where the last batch stands, (B,)."""
        with autograd.pause():
            numbers = nd.arange(self.size, ctx=like.context, dtype=like.dtype)
            filled = numbers < min(self._written, self.size)
            return (*self._on_device(like), filled, self._places(like).astype(like.dtype))

    def _places(self, like: nd.NDArray) -> nd.NDArray:
        start = (self._written - self._last) % self.size
        return (nd.arange(start, start + self._last, ctx=like.context, dtype="int32")) % self.size

    def _on_device(self, like: nd.NDArray) -> list[nd.NDArray]:
        return [each.as_in_context(like.context).astype(like.dtype, copy=False) for each in self._held]

    def state(self) -> dict[str, np.ndarray]:
        held = {key: each.asnumpy() for key, each in zip(("rows", "labels"), self._held)}
        return {"counts": np.array([self._batches, self._written, self._last]), **held}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        self._batches, self._written, self._last = map(int, state["counts"])
        if "rows" in state:
            self._held = [nd.array(state[key], dtype=state[key].dtype) for key in ("rows", "labels")]
