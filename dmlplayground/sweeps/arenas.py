"""Arenas: searches and finals that every method goes through alike, and the records of those that have.

An arena is a folder with ``search.yaml`` and ``finals.yaml``. An entry puts one more method through both, in a store of its own.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, Union

from ..base import outside, resources
from ..base.errors import UserError, unknown
from ..parts import methods
from ..trial import config
from ..trial.config.building import name_of_command
from ..trial.store.records import Record
from . import derived_files, executors, halving, search_files, tuned
from .chosen import choose
from .display import Display
from .search_space import Search

HOME, SEARCH, FINALS = "arenas", "search", "finals"
FILES = (f"{SEARCH}.yaml", f"{FINALS}.yaml")
#: The keys that a method brings; all else is the arena's.
BROUGHT = (
    *("method", "mining", "regularizers", "memory", "sampler", "batch_size", "head"),
    *("optimizer", "groups", "schedule", "trainer"),
)


@dataclass(frozen=True)
class Arena:
    """Its folder of files, and the one with the stores ``search`` and ``finals`` of the methods that have been there."""

    name: str
    files: Path
    kept: Path


def names() -> list[str]:
    """Those that come with the package."""
    return sorted(path.parent.name for path in (resources.experiments() / HOME).glob(f"*/{FILES[0]}"))


def find(given: Union[str, Path]) -> Arena:
    """An arena of ours by its name, or a folder with the same files, whose records are in it. It must have records."""
    folder, home = Path(given), resources.experiments()
    if given and all((folder / name).is_file() for name in FILES):
        found = Arena(folder.resolve().name, folder, folder)
    elif str(given) in names():
        found = Arena(str(given), home / HOME / given, home / resources.RESULTS / HOME / given)
    else:
        raise unknown("arena", str(given), names())
    if not (found.kept / FINALS).is_dir():
        ready = [name for name in names() if (home / resources.RESULTS / HOME / name / FINALS).is_dir()]
        raise UserError(
            f"the arena {found.name} has no records in {found.kept / FINALS}, so there is nothing to compare with. "
            f"With records: {', '.join(ready) or 'none'}."
        )
    return found


@dataclass(frozen=True)
class Entry:
    """A method that goes through an arena."""

    arena: Arena
    name: str
    trainer: Mapping[str, Any]  # of an external command; else empty
    searches: Mapping[str, Search]  # by their folders in the store
    store: Path

    def look(self, executor: str, address: Optional[str], log: Iterable[str], **how: Any) -> halving.Proposal:
        """The best of the shortest trainings of the first search. ``train`` goes on from these."""
        made = executors.create(executor, address, log)
        folder, search = next(iter(self.searches.items()))
        try:
            return halving.first_rung(search, self.store / SEARCH / folder, made, **how)
        finally:
            made.close([])

    def train(self, executor: str, address: Optional[str], log: Iterable[str], **how: Any) -> list[Record]:
        """The records of the finals, after the searches. The same call goes on where it was stopped."""
        made, display = executors.create(executor, address, log), Display(how.get("quiet", False))
        try:
            for folder, search in self.searches.items():
                display.say(f"{search.title}, search {search.number}: {search.trials} trials")
                tuned(search, self.store / SEARCH / folder, made, **how)
        finally:
            made.close([])
        chosen = choose(self._finals(), self.store / FINALS)
        display.say(f"{chosen.experiment.title}: {len(chosen.trials)} trials")
        chosen.run(executor=executor, address=address, log=log, retry_failed=True, **how)
        found = chosen.records()
        failed = [record.id for record in found if record.status != "finished"]
        if failed or len(found) < len(chosen.trials):
            raise UserError(
                f"{self.name} has no place, as not all of its finals finished: {', '.join(failed)}. "
                f"See {self.store / FINALS}; the same command runs them again."
            )
        return found

    def _finals(self) -> dict[str, Any]:
        content = derived_files.read(self.arena.files / FILES[1], resources.find_experiment)
        base = {**content.get("base", {}), "hyperparams": str(self.store / SEARCH)}
        return {
            **content,
            "title": f"{content['title']}: {self.name}",
            "base": {**base, "trainer": dict(self.trainer)} if self.trainer else base,
            "grid": {**content["grid"], "method": [self.name]},
        }


def enter(
    method: Union[str, Path],
    arena: Union[str, Path],
    command: Optional[str] = None,
    store: Optional[Union[str, Path]] = None,
    overrides: Union[Iterable[str], Mapping[str, Any]] = (),
) -> Entry:
    """A method by its key, by the file that has it, or by the ``command`` that trains it, for an arena. All that can be wrong
    without training is refused here."""
    found, changes = find(arena), derived_files.settings(overrides)
    for key in (key for text in changes for key in config.expand(config.override(text))):
        if key not in BROUGHT:
            raise UserError(f"{key} is the arena's, the same for all. A method brings: {', '.join(BROUGHT)}.")
    trainer = {"command": command} if command else {}
    name = (
        _of_command(method, command)
        if command
        else _of_file(Path(method))
        if _is_file(method)
        else str(method)
    )
    if not name:
        raise UserError("name a method, a file that has one, or a command that trains one.")
    name_of_command({"method": {"name": name}, "trainer": trainer})
    content = derived_files.read(found.files / FILES[0], resources.find_search)
    content = {**content, "methods": [name]}
    if trainer:
        content["config"] = config.merge(content["config"], {"trainer": trainer})
    searches = search_files.load_all(content, changes)
    for search in searches.values():
        if not search.rungs:
            raise UserError(f"the arena {found.name} needs rungs in its {FILES[0]}.")
        search.check()
    return Entry(found, name, trainer, searches, Path(store or Path("runs", "place", found.name, name)))


def _is_file(method: Union[str, Path]) -> bool:
    return Path(method).suffix == ".py"


def _of_file(path: Path) -> str:
    """The one method that a file of somebody's own has."""
    outside.load([path])
    keys = [key for kind, key in outside.registered(path) if kind == methods.KIND.name]
    if len(keys) != 1:
        raise UserError(f"{path} should have one method, and has {', '.join(keys) or 'none'}.")
    return keys[0]


def _of_command(method: Union[str, Path], command: str) -> str:
    """The name that its user gives it, or that of its script."""
    try:
        scripts = [Path(word).stem for word in shlex.split(command) if _is_file(word)]
    except ValueError as problem:
        raise UserError(f"the command cannot be read: {problem}.") from None
    return str(method) or (scripts[0] if scripts else "")
