"""What every method file builds on: the record, the decorator that registers it, and the call of a loss."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mxnet import gluon, nd

from ..errors import UserError
from ..options import Option, options_of
from ..registry import Registry


class Loss(gluon.HybridBlock):
    """A metric-learning loss: ``loss(embeddings, labels)`` is an NDArray of one element.

    ``embeddings`` is (B, E) and taken as the head gives it; ``labels`` is (B,), any integer type. Every loss
    is built with ``num_classes`` and ``embed_dim`` whether or not it has use for them, so that the trainer
    need not know.

    A subclass writes ``hybrid_forward(self, F, embeddings, labels, **its own parameters)`` and finds both in
    the loss's own type (float32, or what ``cast`` made of it): labels are class numbers, which that holds
    exactly. Labels and the like are to be added by ``F.broadcast_add``: where an input without gradient enters
    ``+`` itself, MXNet 1.9.1's static graphs give wrong gradients (apache/mxnet#20293).
    """

    def __init__(self, num_classes: int, embed_dim: int):
        super().__init__()
        self.num_classes = num_classes
        self.embed_dim = embed_dim
        self.dtype = "float32"

    @property
    def key(self) -> str:
        """The method's key: the name of the file that holds the loss."""
        return type(self).__module__.rpartition(".")[2]

    def require(self, condition: Any, message: str) -> None:
        if not condition:
            raise UserError(f"{self.key}: {message}")

    def check(self, rows: int, width: int) -> None:
        """Raise UserError for a batch of this shape that the loss cannot read."""

    def cast(self, dtype) -> None:
        self.dtype = np.dtype(dtype).name
        super().cast(dtype)

    def forward(self, embeddings, labels):
        return super().forward(*self.read(embeddings, labels))

    def read(self, embeddings, labels):
        """Embeddings and labels, checked, in the loss's own type."""
        if isinstance(
            embeddings, nd.NDArray
        ):  # a symbol, while a larger graph is traced, has no shape to check
            self.require(
                embeddings.ndim == 2 and labels.shape == embeddings.shape[:1],
                f"embeddings are (B, E) and labels (B,), not {embeddings.shape} and {labels.shape}.",
            )
            self.check(*embeddings.shape)
            embeddings = embeddings.astype(self.dtype, copy=False)
        return embeddings, labels.astype(self.dtype)


@dataclass(frozen=True)
class Method:
    """One method of the study: the facts a paper states, and the loss that computes it."""

    key: str
    title: str
    year: int
    paper: str
    loss: type[Loss]
    sampler: Mapping[str, Any]
    head: Mapping[str, Any]
    defaults: Mapping[str, Any]
    notes: str = field(repr=False)

    @property
    def options(self) -> dict[str, Option]:
        """The loss's own parameters with their types and published values."""
        return options_of(self.loss.__init__, skip=("self", "num_classes", "embed_dim"))

    def configuration(self) -> dict[str, Any]:
        """The method's trial as its authors or the study ran it: a layer of configuration for others to
        override.
        """
        return {**self.defaults, "sampler": dict(self.sampler), "head": dict(self.head)}


METHODS: Registry[Method] = Registry("method", "dmlplayground.methods")


def method(
    *,
    title: str,
    year: int,
    paper: str,
    sampler: Mapping[str, Any],
    head: Mapping[str, Any],
    defaults: Mapping[str, Any],
):
    """Register the decorated loss under the name of its file, with the facts its paper states.

    ``sampler`` and ``head`` name what the loss needs of its batch and of its embeddings; ``defaults`` is any
    other part of a trial's configuration (optimiser, groups, schedule, batch size, epochs). The docstring
    tells the rest.
    """

    def register(loss: type[Loss]) -> type[Loss]:
        key = loss.__module__.rpartition(".")[2]
        notes = inspect.cleandoc(loss.__doc__ or "")
        METHODS.add(key, Method(key, title, year, paper, loss, sampler, head, defaults, notes))
        return loss

    return register
