"""Optimizers, one file each: how an array of weights moves along its gradient.

>>> import dmlplayground as dml
>>> dml.optimizers.create("adam", lr=1e-3).weight_decay
1e-05

A new file that registers an optimizer is all it takes to add one. See ``base`` for what an optimizer must provide.
"""

from __future__ import annotations

from typing import Any

from ...base.registry import Part
from .shared.base import HIGHEST, KIND, SHARED, Optimizer

__all__ = ["HIGHEST", "KIND", "SHARED", "Optimizer", "create", "get", "names"]


def names() -> list[str]:
    """The keys of all optimizers, sorted.

    >>> "adam" in dml.optimizers.names()
    True
    """
    return KIND.names()


def get(name: str) -> Part:
    """The facts of an optimizer: its title, its options, its notes.

    >>> "momentum" in dml.optimizers.get("sgd").options
    True
    """
    return KIND.get(name)


def create(name: str, **options: Any) -> Optimizer:
    """An optimizer by name; options that are not given have their defaults.

    >>> dml.optimizers.create("sgd", lr=0.1).lr
    0.1
    """
    optimizer: Optimizer = KIND.create(name, **options)
    return optimizer
