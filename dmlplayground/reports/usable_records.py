"""The records, and the planned trials, that reports can use. The user is warned about the others, and they are left out."""

import gc
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from sys import intern
from typing import Any

from ..base import outside
from ..base.errors import UserError, warn
from ..parts import metrics
from ..trial import config
from ..trial.store import manifest, packed, records
from ..trial.store.manifest import Manifest
from ..trial.store.records import Record
from .grouping import Cell, arenas, canonical, score, seedless

SLACK = 1e-6  # how far rounding may take a fraction beyond 1


def load(store: str | Path, epochs: bool = True) -> list[Record]:
    """The records of a store or of a trial that a report can show; without their ``epochs`` they take much less memory."""
    collecting = gc.isenabled()
    gc.disable()  # nothing of what is read refers to itself, and to look for that takes a quarter of the time
    try:
        return records.load_store(store, Reader(Path(store), epochs).keep)
    finally:
        if collecting:
            gc.enable()


class Reader:
    """Looks at the records of a store one by one. What several of them have in common is held, and looked at, once."""

    def __init__(self, store: Path, epochs: bool):
        self.store, self.epochs = store, epochs
        self._common: dict[str, Any] = {}
        self._configs: dict[str, dict[str, Any]] = {}  # without their seeds
        self._cells: dict[str, Cell] = {}  # of these: those of which a table can be made

    def keep(self, record: Record) -> Record | None:
        for source in record.config.get("parts") or ():
            if source["sha256"] not in self._common:
                self._common[source["sha256"]] = source
                try:
                    outside.recall([source], self.store)
                except UserError as problem:  # most tables can do without it
                    warn(str(problem))
        settings = seedless(record.config)
        if reason := self._problem(record, settings):
            warn(f"the record of {record.id} cannot be used: {reason}. It is left out.")
            return None
        if settings not in self._configs:
            self._configs[settings] = {key: self._shared(value) for key, value in record.config.items()}
        record.config = {**self._configs[settings], "seed": record.seed}
        record.epochs = _interned(record.epochs) if self.epochs else []
        record.results = _interned(record.results)
        for part in ("versions", "machine", "data"):
            setattr(record, part, self._shared(getattr(record, part)))
        return record

    def _shared(self, value: Any) -> Any:
        return self._common.setdefault(canonical(value), value) if isinstance(value, (dict, list)) else value

    def _problem(self, record: Record, settings: str) -> str:
        if not record.sealed and not config.agrees(record.id, record.config):
            return "its configuration is not that of its id"
        try:
            for name, value in _measured(record):
                metric = metrics.get(name)
                if value is not None and metric.percent and not metric.least - SLACK <= value <= 1 + SLACK:
                    return f"{name} is {value:g}, and cannot be above 1 or below {metric.least:g}"
            self._try(record, settings)
        except UserError as unknown:  # a part of another version
            return str(unknown).rstrip(".")
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as reason:
            return f"no table can be made from it ({type(reason).__name__}: {reason})"
        return ""

    def _try(self, record: Record, settings: str) -> None:
        """Make what tables ask for."""
        if known := self._cells.get(settings):
            if record.status == "finished":
                known.records = [record]
                for which in (known.primary, known.secondary):
                    _ = known.metrics, score(record, which, known.headline)
            return
        for arena in arenas([record], []):
            for cell in arena.finished:
                self._cells[settings] = Cell(cell.config, headline=cell.headline) if cell.score else cell


def planned(store: str | Path, found: Iterable[Record] = ()) -> Manifest:
    """The manifest of a store, without the trials of which a record was found. In one without a checksum, a trial's
    configuration must be that of its id."""
    stated, known = manifest.read(store), {record.id for record in found}
    trials = [one for one in stated.trials if one["id"] not in known]
    wrong = {one["id"] for one in trials if not (stated.sealed or config.agrees(one["id"], one["config"]))}
    if wrong:
        warn(
            f"{Path(store) / manifest.FILE}: the configuration is not that of the id for {', '.join(sorted(wrong))}. "
            "What the file says of these trials is left out."
        )
    return replace(stated, trials=[one for one in trials if one["id"] not in wrong])


def _measured(record: Record) -> Iterator[tuple[str, Any]]:
    results = (one if isinstance(one, list) else [one] for one in record.results.values())
    for entry in [*record.epochs, *chain.from_iterable(results)]:
        yield from entry.get("metrics", {}).items()


def _interned(content: Any) -> Any:
    """The same content, with names that all records hold together."""
    if isinstance(content, dict):
        return {intern(key): _interned(value) for key, value in content.items()}
    return [_interned(one) for one in content] if isinstance(content, list) else content


def unchanged(store: Path, file: Path) -> bool:
    """Whether the file was made after every change of the store's records and of its manifest."""
    if not file.exists():
        return False
    made = file.stat().st_mtime_ns
    newer = (path for path in (store / manifest.FILE, store / packed.FILE) if path.exists())
    return all(path.stat().st_mtime_ns <= made for path in chain(newer, store.glob(f"*/{records.RECORD}")))
