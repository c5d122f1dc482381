"""The objective: a loss with its miner, its regularizers and what its memory holds, as one Gluon block. This file needs MXNet."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from mxnet import autograd, gluon, init, nd

from ....base.errors import UserError
from ... import miners, regularizers
from ...miners.shared.tuples import Listed, all_pairs, as_read
from .base import Loss
from .cross_batch_memory import Memory, memory_for

Component = str | Mapping[str, Any]


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


class Objective(gluon.HybridBlock):
    """``objective(embeddings, labels)`` is an NDArray of one element: the loss over what the miner keeps, plus the
    regularizers. With a memory every call is a batch that is remembered (but see ``memory_held``).

    Embeddings are (B, E) and taken as the head gives them; labels are (B,), any integers or whole floats. NumPy
    arrays are taken too. The loss's own weights are attributes: ``objective.proxies``, ``objective.beta``.
    """

    def __init__(
        self,
        loss: Loss,
        miner: Component | None = None,
        terms: Iterable[Component] = (),
        memory: Mapping[str, Any] | None = None,
    ):
        super().__init__()
        self.loss = loss
        self.miner = miners.miner_for(loss, miner)
        of_batches = memory_for(loss, self.miner, memory)
        self.ring = None if of_batches is None else Ring(of_batches)
        self.regularizers = [regularizers.of(each) for each in terms]
        with self.name_scope():
            for name, weight in loss.weights.items():
                grad = "write" if weight.learned else "null"
                made = self.params.get(name, shape=weight.shape, init=_Filled(weight.fill), grad_req=grad)
                setattr(self, name, made)

    @property
    def key(self) -> str:
        """The method's key."""
        return self.loss.key

    @property
    def dtype(self) -> str:
        return self.loss.dtype

    def cast(self, dtype) -> None:
        self.loss.dtype = np.dtype(dtype).name
        super().cast(dtype)

    def forward(self, embeddings, labels):
        embeddings, labels = self.read(embeddings, labels)
        if self.ring is not None:
            return super().forward(embeddings, labels, *self._remember(self.ring, embeddings, labels))
        if self.loss.host is None:
            return super().forward(embeddings, labels)
        self.loss.require(
            isinstance(embeddings, nd.NDArray),
            "its search needs values, so it cannot be used inside a larger graph.",
        )
        found = self.loss.host(embeddings.asnumpy(), labels.asnumpy())
        read = [self._on_device(each, embeddings) for each in found]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*input to HybridBlock is not used")  # the labels have served
            return super().forward(embeddings, labels, *read)

    def hybrid_forward(self, F, embeddings, labels, *found, **weights):
        # Within the graph, since a call of its own takes longer than many a loss as a whole.
        labels = F.cast(labels, self.dtype)

        def value_of(*read):
            return self.loss.hybrid_forward(F, embeddings, labels, *read, **weights)

        if self.miner is None:
            value = value_of(*found)
        elif found and self.ring is not None:
            value = self._with_memory(F, self.ring.memory, self.miner, value_of, embeddings, labels, *found)
        else:
            value = value_of(self._of_batch(F, self.miner, embeddings, labels))
        for regularizer in self.regularizers:
            value = value + regularizer.weight * regularizer.hybrid_forward(F, embeddings, labels)
        return value

    def _of_batch(self, F, miner: miners.Miner, embeddings, labels):
        """What the loss reads: row weights, pairs or triplets of the batch."""
        if self.loss.reads == "rows" and miner.keeps_all:
            return None
        return self._read_of(F, miner, all_pairs(F, embeddings, labels, self.dtype))

    def _read_of(self, F, miner: miners.Miner, pairs):
        return as_read(pairs, miner.kept(F, pairs), self.loss.reads)

    def _remember(self, ring: Ring, embeddings, labels) -> tuple:
        """Writes the batch into the memory; what the memory then holds, or nothing while it is not in use."""
        self.loss.require(
            isinstance(embeddings, nd.NDArray),
            "its memory lasts from call to call, so it cannot be used inside a larger graph.",
        )
        ring.memory.check(len(embeddings))
        before = ring.in_use
        ring.remember(embeddings, labels)
        if ring.in_use and not before:
            self._clear_cached_op()  # the graph until now was that of the batch alone
        return ring.read(embeddings) if ring.in_use else ()

    def _with_memory(self, F, memory: Memory, miner, value_of, embeddings, labels, *remembered):
        batch = value_of(self._of_batch(F, miner, embeddings, labels)) if memory.form == "authors" else None
        precision = float(np.finfo(self.dtype).eps)
        pairs = memory.pairs(F, embeddings, labels, precision, *remembered)
        filled = remembered[2]
        value = memory.scaled(F, self.loss, value_of(self._read_of(F, miner, pairs)), labels, filled)
        return value if batch is None else batch + value

    @contextmanager
    def memory_held(self) -> Iterator[None]:
        """Here batches are compared with the memory but not stored in it, so that the last one can be passed again."""
        if self.ring is None:
            yield
            return
        self.ring.held = True
        try:
            yield
        finally:
            self.ring.held = False

    def state(self) -> dict[str, np.ndarray]:
        """The content of the memory, as arrays; empty without a memory. The weights are not part of it."""
        return {} if self.ring is None else self.ring.state()

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        if self.ring is not None:
            self.ring.load_state(state)

    def on_pairs(self, embeddings, labels, a1, p, a2, n):
        """The loss of given pairs, positive (a1, p) and negative (a2, n), as row numbers; no miner is asked."""
        embeddings, labels, pairs = self._given("pairs", embeddings, labels)
        counts = np.zeros((2, len(embeddings), len(embeddings)), self.dtype)
        for matrix, ends in zip(counts, ((a1, p), (a2, n))):
            np.add.at(matrix, tuple(self._rows_of(len(embeddings), *ends)), 1)
        found = pairs.keep(*(self._on_device(matrix, embeddings) for matrix in counts))
        return self._value(embeddings, labels, found)

    def on_triplets(self, embeddings, labels, a, p, n):
        """The loss of given triplets, as row numbers; no miner is asked."""
        embeddings, labels, pairs = self._given("triplets", embeddings, labels)
        count = len(embeddings)
        anchors, positives, negatives = (each.reshape(-1, 1) for each in self._rows_of(count, a, p, n))
        near, far, anchors = (
            self._on_device(each, embeddings)
            for each in (anchors * count + positives, anchors * count + negatives, anchors)
        )
        weights = nd.ones(anchors.shape, ctx=embeddings.context, dtype=self.dtype)
        return self._value(embeddings, labels, Listed(pairs, near, far, weights, anchors))

    def mine(self, embeddings, labels):
        """What the miner keeps of a batch in a call, by the same random numbers: (a1, p, a2, n) or (a, p, n)."""
        if self.miner is None:
            raise UserError(f"{self.key} takes no miner.")
        embeddings, labels = self.read(embeddings, labels)
        return self.miner.mine(embeddings, labels, reads=self.loss.reads, dtype=self.dtype)

    def _given(self, what: str, embeddings, labels):
        """Embeddings and labels as a loss of tuples reads them, and all their pairs."""
        self.loss.require(self.loss.reads == what, f"it reads {self.loss.reads}, not {what}.")
        embeddings, labels = self.read(embeddings, labels)
        labels = labels.astype(self.dtype)
        return embeddings, labels, all_pairs(nd, embeddings, labels, self.dtype)

    def _value(self, embeddings, labels, read):
        weights = {name: getattr(self, name).data(embeddings.context) for name in self.loss.weights}
        return self.loss.hybrid_forward(nd, embeddings, labels, read, **weights)

    def _rows_of(self, count: int, *tuples) -> list[np.ndarray]:
        """Row numbers, one array for each place of a tuple."""
        found = [np.asarray(each).ravel() for each in tuples]
        self.loss.require(
            len({len(each) for each in found}) == 1, "the row numbers of tuples must be lists of one length."
        )
        for each in found:
            wrong = each[(each < 0) | (each >= count) | (each != np.floor(each))]
            self.loss.require(not len(wrong), f"rows are numbers from 0 to {count - 1}, not {wrong[:1]}.")
        return [each.astype(int) for each in found]

    def read(self, embeddings, labels):
        """Embeddings and labels, checked, the embeddings in the loss's own type."""
        if isinstance(embeddings, (np.ndarray, list, tuple)):
            embeddings = nd.array(self._numbers("embeddings", embeddings), dtype=self.dtype)
        if isinstance(labels, (np.ndarray, list, tuple)):
            labels = nd.array(self._numbers("labels", labels), ctx=embeddings.context, dtype=self.dtype)
        # A symbol, while a larger graph is traced, has no shape to check.
        if isinstance(embeddings, nd.NDArray):
            self._check(embeddings.shape, labels.shape)
            # While one records, nothing is waited for: the learner checks its labels.
            if not autograd.is_recording():
                self.loss.check_labels(labels.asnumpy())
            embeddings = embeddings.astype(self.dtype, copy=False)
        return embeddings, labels

    def _check(self, shape: tuple[int, ...], labels: tuple[int, ...]) -> None:
        self.loss.require(
            len(shape) == 2 and labels == shape[:1],
            f"embeddings are (B, E) and labels (B,), not {shape} and {labels}.",
        )
        rows, width = shape
        self.loss.check(rows, width)
        if self.miner is not None:
            self.miner.check(rows if self.ring is None else max(rows, self.ring.memory.size), width)

    def _numbers(self, what: str, values) -> np.ndarray:
        array = np.asarray(values)
        self.loss.require(array.dtype.kind in "biuf", f"{what} must be numbers, not {array.dtype}.")
        return array

    def _on_device(self, array, like):
        dtype = self.dtype if np.issubdtype(array.dtype, np.floating) else "int32"
        return nd.array(array, ctx=like.context, dtype=dtype)


class _Filled(init.Initializer):
    """A ``weights.Fill`` as MXNet wants it."""

    def __init__(self, fill):
        super().__init__()
        self.fill = fill

    def _init_weight(self, _, array):
        self.fill(nd, array)
