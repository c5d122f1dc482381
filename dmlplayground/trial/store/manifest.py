"""The manifest of a store: which trials its sweep is to hold, so that a report can name those that are missing."""

import contextlib
from collections.abc import Container
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from ...base import files
from ...base.errors import UserError, warn
from . import checks

FILE = "experiment.json"


@dataclass(frozen=True)
class Manifest:
    """What a sweep was called and the trials it was to run, each with its ``id`` and ``config``."""

    title: str = ""
    about: str = ""
    file: str = ""
    trials: list[dict[str, Any]] = field(default_factory=list)
    search: bool = False  # whether its trials were proposed one by one, given the scores of earlier ones
    sealed: ClassVar[bool] = True  # whether the file that it was read from has a checksum


def read(store: str | Path) -> Manifest:
    """The store's manifest; an empty one if no sweep has left any."""
    path = Path(store) / FILE
    if not path.exists():
        return Manifest()
    try:
        return _manifest(files.read_json(path))
    except checks.Wrong as reason:
        problem = f"{path} is damaged: {reason}."
    except UserError as unreadable:
        problem = str(unreadable)
    advice = "Run the sweep again to have the file rewritten."
    warn(f"{problem} So it is unknown which trials are missing. {advice}")
    return Manifest()


def _write(store: Path, manifest: Manifest) -> None:
    content, path = vars(manifest), store / FILE
    with contextlib.suppress(UserError, checks.Wrong):
        known = files.read_json(path) if path.exists() else {}
        if isinstance(known, dict) and known == {**content, checks.CHECKSUM: known.get(checks.CHECKSUM)}:
            checks.seal(known)
            return  # the stamp of the file says when it changed
    files.write_json(path, checks.sealed(content))


def _manifest(content: Any) -> Manifest:
    listed = isinstance(content, dict) and isinstance(content.get("trials"), list)
    checks.need(listed, "it has no list of trials")
    for entry in content["trials"]:
        checks.need(isinstance(entry, dict) and isinstance(entry.get("id"), str), "a trial in it has no id")
        checks.configuration(entry.get("config"))
    checks.seal(content)
    known = {one.name: content[one.name] for one in fields(Manifest) if one.name in content}
    words = (known.get(key, "") for key in ("title", "about", "file"))
    checks.need(all(isinstance(each, str) for each in words), "its title is not a string")
    is_said = isinstance(known.get("search", False), bool)
    checks.need(is_said, "it does not say whether it belongs to a search")
    manifest = Manifest(**known)
    object.__setattr__(manifest, "sealed", checks.CHECKSUM in content)
    return manifest


def write(
    store: Path,
    title: str,
    about: str,
    file: str = "",
    trials: dict[str, Any] | None = None,
    part: bool = False,
) -> None:
    """Write down which ``trials`` (configurations by id) the store is to hold; without any it is a search's, whose trials are
    not known beforehand. ``part``: keep those listed before, since these are only a part of the sweep or an addition to it."""
    known = read(store).trials if part else []
    stated = {entry["id"]: entry for entry in known}
    stated.update({id: {"id": id, "config": config} for id, config in (trials or {}).items()})
    _write(store, Manifest(title, about, file, list(stated.values()), search=trials is None))


def keep(store: Path, target: Path, known: Container[str]) -> None:
    """Copy the manifest to another store, without the trials whose records are ``known``."""
    stated = read(store)
    trials = [entry for entry in stated.trials if entry["id"] not in known]
    _write(target, replace(stated, trials=trials))
