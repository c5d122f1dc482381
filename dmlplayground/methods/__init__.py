"""The metric-learning methods, one file each; the file's name is the method's key.

>>> import dmlplayground as dml
>>> loss = dml.methods.loss("npairs", num_classes=100, embed_dim=64, l2_reg=5e-4)   # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from ..options import fill_options
from .base import METHODS, Loss, Method

__all__ = ["Loss", "Method", "get", "loss", "names"]


def names() -> list[str]:
    """The keys of all methods, sorted."""
    return METHODS.names()


def get(key: str) -> Method:
    """The record of a method: title, year, paper, sampler, head, defaults, options, loss."""
    return METHODS.get(key)


def loss(key: str, *, num_classes: int, embed_dim: int, **options: Any) -> Loss:
    """The method's loss, ready to call: its own parameters are initialised (``initialize`` again moves or
    redraws them).
    """
    record = get(key)
    options = fill_options(record.options, options, where=f"method {key}")
    block = record.loss(num_classes, embed_dim, **options)
    block.initialize()
    return block
