"""The manifest of a store: which trials its sweep is to hold, so that a report can name those that are missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import files

FILE = "experiment.json"


@dataclass(frozen=True)
class Manifest:
    """What a sweep was called and the trials it was to run, each with its ``id`` and ``config``."""

    title: str = ""
    about: str = ""
    file: str = ""
    trials: list[dict[str, Any]] = field(default_factory=list)


def read(store: str | Path) -> Manifest:
    """The store's manifest; an empty one where no sweep has left any."""
    path = Path(store) / FILE
    if not path.exists():
        return Manifest()
    content = files.read_json(path)
    return Manifest(**{key: value for key, value in content.items() if key in Manifest.__dataclass_fields__})


def write(
    store: Path,
    title: str,
    about: str,
    file: str,
    trials: Mapping[str, Mapping[str, Any]],
    part: bool = False,
) -> None:
    """State which ``trials`` (configurations by id) the store is to hold.

    ``part``: these are a part of the sweep, or come on top of it, and what was stated before stays.
    """
    known = read(store).trials if part else []
    stated = {entry["id"]: entry for entry in known}
    stated.update({id: {"id": id, "config": dict(config)} for id, config in trials.items()})
    files.write_json(store / FILE, asdict(Manifest(title, about, file, list(stated.values()))))
