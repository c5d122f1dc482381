"""Data sets by name. One file in ``sets/`` defines one data set, and adding that file is all it takes:

    @register("glyphs", title="Printed characters")
    def load(split, *, classes=200, size=64):
        '''What the set is, and what its options mean.'''
        return Dataset("glyphs", split, images, labels, class_names)

The function's keyword-only parameters are the data set's options, with their types and defaults, and its
docstring is the description.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..errors import unknown
from ..registry import Registry
from ..typed import fill_options
from .dataset import Dataset, DatasetRecord

__all__ = ["SPLITS", "Dataset", "DatasetRecord", "get", "load", "names", "register"]

SPLITS = ("train", "test")

_registry: Registry[DatasetRecord] = Registry("data set", "dmlplayground.data.sets")


def register(
    name: str, title: str, **configuration: Any
) -> Callable[[Callable[..., Dataset]], Callable[..., Dataset]]:
    """Decorator: the function below loads a split of the data set called ``name``.

    ``configuration`` is what a trial on this data set does differently: ``transform="plain"``, say.
    """

    def add(loader: Callable[..., Dataset]) -> Callable[..., Dataset]:
        _registry.add(name, DatasetRecord(name, title, inspect.getdoc(loader) or "", loader, configuration))
        return loader

    return add


def names() -> list[str]:
    """The data sets there are."""
    return _registry.names()


def get(name: str) -> DatasetRecord:
    """The record of one data set: title, description, options with their defaults, loader."""
    return _registry.get(name)


def load(name: str, split: str = "train", **options: Any) -> Dataset:
    """One split of a data set, ``train`` or ``test``. Options that are not given have their defaults."""
    record = get(name)
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    return record.loader(split, **fill_options(record.options, options, where=f"data set {name}"))
