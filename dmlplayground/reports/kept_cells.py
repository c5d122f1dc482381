"""What is compared of cells. A report keeps it beside its page, so that the records of a large store need not all be read to
compare it with another; it holds until a record changes."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import __version__
from ..base import files
from ..base.errors import UserError
from ..studies.published import flatten
from ..trial.store import checks, packed, records
from . import usable_records
from .grouping import Arena, Cell, Flat, arenas
from .statistics import Summary, summary

FOLDER, FILE = "report", "cells.json"


@dataclass(frozen=True)
class Compared:
    """A cell with all that was measured, by seed."""

    key: str
    label: str
    arena: str
    config: Mapping[str, Any]
    headline: str
    scores: Mapping[str, Summary]  # of the result that ranks, by metric
    seconds: Summary

    @cached_property
    def settings(self) -> Flat:
        return flatten(self.config)


def compared(cell: Cell, arena: str = "") -> Compared:
    scores = {name: cell.scores(cell.primary, name) for name in [cell.headline, *cell.metrics]}
    return Compared(cell.key, cell.label, arena, cell.config, cell.headline, scores, cell.seconds)


def of_store(store: str | Path) -> list[Compared]:
    """The cells of a store, in the order of its tables."""
    store = Path(store)
    if found := _kept(store):
        return found
    every = arenas(usable_records.load(store, epochs=False))
    found = [compared(cell, arena.title) for arena in every for cell in arena.cells]
    if not any(cell.scores[cell.headline] for cell in found):
        raise UserError(f"no trial in {store} has finished: there is nothing to compare.")
    return found


def keep(store: Path, found: Iterable[Arena], began: int) -> None:
    """Keep the cells of all records of a store, which were read since this time. What must be looked at each time is not kept:
    parts of one's own, and packed records."""
    cells = [(cell, arena.title) for arena in found for cell in arena.cells]
    strange = any(cell.config.get("parts") for cell, _ in cells) or (store / packed.FILE).exists()
    if strange or not any(cell.score for cell, _ in cells):
        return
    trials = [record.id for cell, _ in cells for record in cell.records]
    trials += [problem.id for cell, _ in cells for problem in cell.problems]
    contents = [asdict(compared(cell, title)) for cell, title in cells]
    for one in contents:
        one["seconds"] = _pairs(one["seconds"])
        one["scores"] = {name: _pairs(of_seeds) for name, of_seeds in one["scores"].items()}
    content = {"version": __version__, "trials": sorted(trials), "cells": contents}
    files.write_json(store / FOLDER / FILE, checks.sealed(content))
    os.utime(store / FOLDER / FILE, ns=(began, began))


def _pairs(of_seeds: Mapping[str, Mapping[int, float]]) -> list[tuple[int, float]]:
    """Seeds are numbers, which no key of JSON is."""
    return list(of_seeds["values"].items())


def _kept(store: Path) -> list[Compared]:
    """Those that a report has kept, if they are still those of all records."""
    file = store / FOLDER / FILE
    if not usable_records.unchanged(store, file):
        return []
    try:
        content = files.read_json(file)
        checks.seal(content)
    except (UserError, checks.Wrong):
        return []
    trials = sorted(path.parent.name for path in store.glob(f"*/{records.RECORD}"))
    if content.get("version") != __version__ or content.get("trials") != trials:
        return []
    for one in content["cells"]:
        one["seconds"] = summary(one["seconds"])
        one["scores"] = {name: summary(pairs) for name, pairs in one["scores"].items()}
    return [Compared(**one) for one in content["cells"]]
