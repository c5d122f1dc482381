"""Arenas: searches and finals that every method goes through alike, and the records of those that have.

An arena is a folder with ``search.yaml`` and ``finals.yaml``. An entry puts one more method through both, in a store of its own.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..base import outside, resources
from ..base.errors import UserError, unknown
from ..parts import methods
from ..trial import config
from ..trial.config.building import name_of_command
from ..trial.store.records import Record
from . import derived_files, search_files, sweep, tune
from .search_space import Search

HOME, SEARCH, FINALS = "arenas", "search", "finals"
#: What a method brings; all else is the arena's.
BROUGHT = (
    *("method", "mining", "regularizers", "memory", "sampler", "batch_size", "head"),
    *("optimizer", "groups", "schedule", "trainer"),
)


@dataclass(frozen=True)
class ArenaFolder:
    """Its folder of files, and the one with the stores ``search`` and ``finals`` of the methods that have been there."""

    name: str
    files: Path
    kept: Path


def find(given: str | Path) -> ArenaFolder:
    """An arena of ours by its name, or a folder with the same files, whose records are in it. It must have records."""
    home, folder = resources.experiments(), Path(given)
    names = sorted(path.parent.name for path in (home / HOME).glob(f"*/{SEARCH}.yaml"))
    if given and (folder / f"{SEARCH}.yaml").is_file():
        found = ArenaFolder(folder.resolve().name, folder, folder)
    elif str(given) in names:
        found = ArenaFolder(str(given), home / HOME / given, home / resources.RESULTS / HOME / given)
    else:
        raise unknown("arena", str(given), names)
    if not (found.kept / FINALS).is_dir():
        ready = [name for name in names if (home / resources.RESULTS / HOME / name / FINALS).is_dir()]
        raise UserError(
            f"the arena {found.name} has no records in {found.kept / FINALS}, so there is nothing to compare with. "
            f"With records: {', '.join(ready) or 'none'}."
        )
    return found


@dataclass(frozen=True)
class Entrant:
    """A method that goes through an arena: the contents of its files, with this method alone."""

    arena: ArenaFolder
    name: str
    search: Mapping[str, Any]
    finals: Mapping[str, Any]
    store: Path

    @property
    def searches(self) -> dict[str, Search]:
        """By their folders."""
        return search_files.load_all(self.search)

    def look(self, **how: Any) -> Path:
        """The folder of what the first search trains first, as a search of its own. ``train`` goes on from its trials."""
        rung, short = self.search["rungs"][0], {**self.search, "searches": 1}
        for key in {"images", "evaluations"}.intersection(short):
            short[key] = int(short[key] * Fraction(str(rung["length"])))
        tune({**short, "rungs": [{**rung, "length": 1}]}, self.store / SEARCH, **how)
        return self.store / SEARCH / next(iter(self.searches))

    def train(self, **how: Any) -> list[Record]:
        """The records of the finals, after the searches. The same call goes on where it was stopped."""
        tune(self.search, self.store / SEARCH, **how)
        found = sweep(self.finals, self.store / FINALS, retry_failed=True, **how)
        if failed := [record.id for record in found if record.status != "finished"]:
            raise UserError(
                f"{self.name} has no place, as not all of its finals finished: {', '.join(failed)}. "
                f"See {self.store / FINALS}; the same command runs them again."
            )
        return found


def enter(
    method: str | Path,
    arena: str | Path,
    command: str | None = None,
    store: str | Path | None = None,
    overrides: Iterable[str] | Mapping[str, Any] = (),
) -> Entrant:
    """A method by its key, by the file that has it, or by the ``command`` that trains it, for an arena. All that can be wrong
    without training is refused here."""
    found = find(arena)
    changes = map(config.override, derived_files.settings(overrides))
    brought = config.merge(*map(config.expand, changes))
    if wrong := next((key for key in brought if key not in BROUGHT), ""):
        raise UserError(f"{wrong} is the arena's, the same for all. A method brings: {', '.join(BROUGHT)}.")
    trainer = {"trainer": {"command": command}} if command else {}
    name = _name(method, command)
    name_of_command({"method": {"name": name}, **trainer})
    store = Path(store or Path("runs", "place", found.name, name))
    search = derived_files.read(found.files / f"{SEARCH}.yaml", resources.find_search)
    finals = derived_files.read(found.files / f"{FINALS}.yaml", resources.find_experiment)
    changed = config.merge(config.expand(search["config"]), brought, trainer)
    search = {**search, "methods": [name], "config": changed}
    base = config.merge(finals["base"], {"hyperparams": str(store / SEARCH)}, trainer)
    grid = {**finals["grid"], "method": [name]}
    finals = {**finals, "title": f"{finals['title']}: {name}", "base": base, "grid": grid}
    entry = Entrant(found, name, search, finals, store)
    for one in entry.searches.values():
        one.check()
    return entry


def _name(method: str | Path, command: str | None) -> str:
    """The key of a method, or of the one in a file; what a command's user calls it, or else its script."""
    path = Path(method)
    if command:
        try:
            scripts = [Path(word).stem for word in shlex.split(command) if word.endswith(".py")]
        except ValueError as problem:
            raise UserError(f"the command cannot be read: {problem}.") from None
        method = method or next(iter(scripts), "")
    elif path.suffix == ".py":
        outside.load([path])
        if not (keys := [key for kind, key in outside.registered(path) if kind == methods.KIND.name]):
            raise UserError(f"{path} has no method.")
        method = keys[0]
    if not method:
        raise UserError("name a method, a file that has one, or a command that trains one.")
    return str(method)
