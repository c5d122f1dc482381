"""The base of every regularizer: the regularizer as a plain object, and the registry."""

from __future__ import annotations

from typing import Any

from .. import parts
from ..errors import UserError


class Regularizer:
    """A term that is added to any loss, times ``weight``.

    A subclass writes ``hybrid_forward(self, F, embeddings, labels)``, which returns one number, (1,).

    >>> dml.regularizers.create("embedding_norm", weight=0.01, power=2).weight
    0.01
    """

    def __init__(self, weight: float):
        self.require(weight >= 0, f"weight must not be negative, not {weight}.")
        self.weight = weight
        self.dtype = "float32"

    @property
    def key(self) -> str:
        return type(self).__module__.rpartition(".")[2]

    def require(self, condition: Any, message: str) -> None:
        """Raise UserError with this message, which need not name the regularizer, unless the condition holds."""
        if not condition:
            raise UserError(f"{self.key}: {message}")

    def hybrid_forward(self, F, embeddings, labels):
        raise NotImplementedError


KIND: parts.Kind[parts.Part] = parts.Kind("regularizer", "dmlplayground.regularizers", setting="regularizers")
