"""Data sets by name. One file in ``sets/`` defines one data set, and adding that file is all it takes to add it:

    @register("glyphs", title="Printed characters")
    def load(split, *, classes=200, size=64):
        '''What the set is; shown by `dmlplayground data`.'''
        return Dataset("glyphs", split, images, labels, class_names)

The function's keyword-only parameters are the data set's options, and their defaults are the options' defaults.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..errors import UserError, unknown
from ..registry import Registry
from .dataset import Dataset, DatasetRecord

__all__ = ["SPLITS", "Dataset", "DatasetRecord", "get", "load", "names", "register"]

SPLITS = ("train", "test")

_registry: Registry[DatasetRecord] = Registry("data set", "dmlplayground.data.sets")


def register(name: str, title: str) -> Callable[[Callable[..., Dataset]], Callable[..., Dataset]]:
    """Decorator: the function below loads a split of the data set called ``name``."""

    def add(loader: Callable[..., Dataset]) -> Callable[..., Dataset]:
        parameters = inspect.signature(loader).parameters.values()
        options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        _registry.add(name, DatasetRecord(name, title, inspect.getdoc(loader) or "", options, loader))
        return loader

    return add


def names() -> list[str]:
    """The data sets there are."""
    return _registry.names()


def get(name: str) -> DatasetRecord:
    """The record of one data set: title, description, options with their defaults, loader."""
    return _registry.get(name)


def load(name: str, split: str = "train", **options: Any) -> Dataset:
    """One split of a data set, ``train`` or ``test``, with its options changed from their defaults as given."""
    record = get(name)
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    for option, value in options.items():
        if option not in record.options:
            raise unknown(f"option of the data set {name!r}:", option, record.options)
        _check_type(name, option, value, record.options[option])
    return record.loader(split, **{**record.options, **options})


def _check_type(name: str, option: str, value: Any, default: Any) -> None:
    """An option has the type of its default; a default of None accepts anything, and a float accepts whole numbers."""
    if default is None:
        return
    wanted = (int, float) if isinstance(default, float) else type(default)
    if not isinstance(value, wanted) or isinstance(value, bool) != isinstance(default, bool):
        kind = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}[type(default)]
        raise UserError(f"data set {name!r}: {option} must be {kind}, not {value!r}.")
