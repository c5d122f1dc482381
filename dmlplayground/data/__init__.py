"""Data sets by name. One file in ``sets/`` defines one data set, and adding that file is all it takes:

    @register("glyphs", title="Printed characters")
    def load(split, *, classes=200, size=64):
        '''What the set is, and what its options mean.'''
        return Dataset("glyphs", split, images, labels, class_names)

The function's keyword-only parameters are the data set's options, with their types and defaults, and its
docstring is the description. A set of image files returns a ``Catalogue`` of them instead; they are decoded
here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Union

from ..errors import UserError, unknown
from ..options import fill_options
from ..registry import Registry
from ..transforms.stored import Stored
from . import decoded
from .catalogue import Catalogue
from .dataset import Dataset, DatasetRecord
from .images import Live
from .releases import Release

__all__ = ["SPLITS", "Dataset", "DatasetRecord", "Stored", "catalogue", "get", "load", "names", "register"]

SPLITS = ("train", "test")

Loader = Callable[..., Union[Dataset, Catalogue]]

_registry: Registry[DatasetRecord] = Registry("data set", "dmlplayground.data.sets")


def register(
    name: str, title: str, release: Release | None = None, **configuration: Any
) -> Callable[[Loader], Loader]:
    """Decorator: the function below loads a split of the data set called ``name``.

    ``release`` is what its authors publish, if it can be prepared from that. ``configuration`` is what a
    trial on this data set does differently: ``transform="plain"``, say.
    """

    def add(loader: Loader) -> Loader:
        description = inspect.getdoc(loader) or ""
        _registry.add(name, DatasetRecord(name, title, description, loader, configuration, release))
        return loader

    return add


def names() -> list[str]:
    """The data sets there are."""
    return _registry.names()


def get(name: str) -> DatasetRecord:
    """The record of one data set: title, description, options with their defaults, loader."""
    return _registry.get(name)


def load(name: str, split: str = "train", *, stored: Stored | None = None, **options: Any) -> Dataset:
    """One split of a data set, ``train`` or ``test``. Options that are not given have their defaults.

    ``stored`` says at what size image files are kept once they are decoded, which is a transform's to know
    (``transforms.create("paper").stored``); nothing: squashed to 256 x 256, as the study's text has it.
    """
    found = _listed(name, split, options)
    if isinstance(found, Dataset):
        return found
    stored = stored or Stored()
    images = decoded.images(found, stored) if found.cached else Live(found, stored)
    return Dataset(name, split, images, found.labels, found.class_names, found.queries)


def catalogue(name: str, split: str = "train", **options: Any) -> Catalogue:
    """The image files of a split, in the order of ``load(...).images``, before any is decoded."""
    found = _listed(name, split, options)
    if isinstance(found, Dataset):
        raise UserError(f"the data set {name} is not made of image files.")
    return found


def _listed(name: str, split: str, options: Mapping[str, Any]) -> Dataset | Catalogue:
    record = get(name)
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    return record.loader(split, **fill_options(record.options, options, where=f"data set {name}"))
