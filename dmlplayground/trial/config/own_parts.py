"""Which parts from outside the package a trial uses, and from which files they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...base import registry
from .schema import plain

__all__ = ["used"]


def used(values: Mapping[str, Any]) -> list[dict[str, str]]:
    """The files of the parts from outside that these values of a trial name, each with its SHA-256."""
    kinds = [kind for kind in registry.Kind.known if kind.outside]
    if not kinds:
        return []
    named = set(_words({key: value for key, value in values.items() if key != "parts"}))
    found = {
        (source.sha256, source.file): source._asdict()
        for kind in kinds
        for key, source in kind.outside.items()
        if any(word == key or kind.holds(word) == key for word in named)
    }
    return [found[name] for name in sorted(found)]


def _words(value: Any) -> Iterator[str]:
    """Every text in the values, wherever a part may be named."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _words(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _words(each)
    elif hasattr(value, "__dataclass_fields__"):
        yield from _words(plain(value))
