"""The configuration, key by key, as its documentation lists it."""

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...base.options import describe, options_of
from . import part_keys
from .schema import Trial


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


def _keys(cls: Any, prefix: str) -> Iterator[Key]:
    about = {field.name: field.metadata.get("about", "") for field in dataclasses.fields(cls)}
    for name, option in options_of(cls).items():
        if dataclasses.is_dataclass(option.type):
            yield from _keys(option.type, f"{prefix}{name}.")
            continue
        words = "a name, with options" if option.required else describe(option.type)
        neutral = part_keys.NEUTRAL.get(name) if option.required else option.default
        yield Key(prefix + name, words, neutral, about[name])
