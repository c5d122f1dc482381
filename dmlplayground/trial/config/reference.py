"""The configuration, key by key, as its documentation lists it."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...base.options import describe
from ...parts.layers import COMPONENTS
from . import part_keys
from .schema import NEEDED, Trial


class Key(NamedTuple):
    """One key of a configuration; ``neutral`` is its value in a trial that does not set it."""

    key: str
    type: str
    neutral: Any
    about: str


def reference() -> list[Key]:
    """Every key of a configuration in the order of the schema, nested ones dotted.

    >>> next(key for key in dml.config.reference() if key.key == "embed_dim")
    Key(key='embed_dim', type='a whole number', neutral=64, about='the length of an embedding')
    """
    return list(_keys(Trial, ""))


def _keys(cls: type, prefix: str) -> Iterator[Key]:
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        if dataclasses.is_dataclass(hints[field.name]):
            yield from _keys(hints[field.name], f"{prefix}{field.name}.")
            continue
        of_part = not prefix and field.name in COMPONENTS
        words = "a name, with options" if of_part and field.name in NEEDED else describe(hints[field.name])
        yield Key(prefix + field.name, words, _neutral(field), field.metadata["about"])


def _neutral(field: dataclasses.Field) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return part_keys.NEUTRAL.get(field.name) if field.default is dataclasses.MISSING else field.default
