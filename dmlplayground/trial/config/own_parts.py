"""Which parts from outside the package a trial uses, and from which files they are."""

import contextlib
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ...base import registry
from ...base.files import digest
from ...base.outside import COMMAND


def used(values: Mapping[str, Any]) -> list[dict[str, str]]:
    """The files of the parts from outside that these values of a trial name, each with its SHA-256."""
    trainer = values.get("trainer")
    scripts = list(_scripts(trainer.command or "", values.get("parts", ()))) if trainer else []
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


def script(word: str, sources: Iterable[dict[str, str]]) -> dict[str, str] | None:
    """The one of these files that a word of a command names."""
    if word.endswith(".py") or "/" in word:
        return next((source for source in sources if Path(source["file"]).name == Path(word).name), None)
    return None


def _scripts(command: str, given: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    """The files that a command runs. Those that are ``given`` already stay as they are."""
    with contextlib.suppress(ValueError):  # which a check of the trial refuses
        for word in shlex.split(command):
            path = Path(word).absolute()
            if known := script(word, given):
                yield known
            elif word.endswith(".py") and path.is_file():
                yield {"file": str(path), "sha256": digest(path), "role": COMMAND}


def _words(value: Any) -> Iterator[str]:
    """Every text in the values, wherever a part may be named."""
    if isinstance(value, str):
        yield value
    elif hasattr(value, "__dataclass_fields__"):
        yield from _words(vars(value))
    elif isinstance(value, (Mapping, list, tuple)):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _words(each)
