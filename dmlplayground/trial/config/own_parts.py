"""Which parts from outside the package a trial uses, and from which files they are."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Optional

from ...base import registry
from ...base.files import digest
from ...base.outside import COMMAND
from .schema import plain


def used(values: Mapping[str, Any]) -> list[dict[str, str]]:
    """The files of the parts from outside that these values of a trial name, each with its SHA-256."""
    trainer = values.get("trainer")
    scripts = _scripts(trainer.command, values.get("parts", ())) if trainer else []
    kinds = [kind for kind in registry.Kind.known if kind.outside]
    if not kinds:
        return scripts
    named = set(_words({key: value for key, value in values.items() if key not in ("parts", "trainer")}))
    found = {
        (source.sha256, source.file): source._asdict()
        for kind in kinds
        for key, source in kind.outside.items()
        if any(word == key or kind.holds(word) == key for word in named)
    }
    return [*(found[name] for name in sorted(found)), *scripts]


def _scripts(command: Optional[str], given: Iterable[Any]) -> list[dict[str, str]]:
    """The files that a command runs. Those that are ``given`` already stay as they are."""
    known = {Path(source["file"]).name: source for source in given}
    found: list[dict[str, str]] = []
    try:
        words = shlex.split(command or "")
    except ValueError:  # which a check of the trial refuses
        return found
    for word in words:
        path = Path(word).absolute()
        if path.name in known and (word.endswith(".py") or "/" in word):
            found.append(known[path.name])
        elif word.endswith(".py") and path.is_file():
            found.append({"file": str(path), "sha256": digest(path), "role": COMMAND})
    return found


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
