"""What the findings read: the stores of the equal comparison, any of which may be missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...base import files
from ...base.errors import UserError
from ...parts import metrics
from ...parts.protocols import VALIDATION
from ...trial.store import records
from ...trial.store.records import Record
from .. import optimism, transfer, usable_records
from ..grouping import Arena, Cell, arenas, ranked_by, shown
from ..statistics import Summary
from .ranking import Ranking

#: The stores in which all methods are compared on one network, and where the searches for their settings are.
COMPARED = {"glyphs": "search/tune_glyphs", "glyphs_pretrained": "search/tune_glyphs_pretrained"}
BACKBONES = "backbones_glyphs"
TRIED = "search.json"


@dataclass(frozen=True)
class Tuning:
    """The search for the settings of a method: all that was tried, and its trials."""

    method: str
    tried: list[Mapping[str, Any]]
    records: list[Record]

    @property
    def complete(self) -> list[Mapping[str, Any]]:
        return [one for one in self.tried if one.get("value") is not None and one["state"] == "complete"]

    @property
    def criterion(self) -> metrics.Metric:
        """What its trials were judged by."""
        named = (record.config["protocol"].get("criterion") for record in self.records)
        return metrics.get(next(filter(None, named), metrics.CRITERION))

    @property
    def winner(self) -> Mapping[str, Any] | None:
        sign = 1 if self.criterion.higher_is_better else -1
        return max(self.complete, key=lambda one: sign * one["value"], default=None)

    @property
    def winning(self) -> Record | None:
        """The winner's record, where it was kept."""
        wanted = self.winner and self.winner.get("id")
        return next((record for record in self.records if record.id == wanted), None)

    @property
    def searched(self) -> list[str]:
        """The keys of the configuration that it chose."""
        return list(dict.fromkeys(key for one in self.tried for key in one["values"]))


@dataclass(frozen=True)
class Network:
    """All methods on one network, under every protocol that was run, and how they were tuned."""

    store: str
    all_arenas: list[Arena]
    tunings: list[Tuning] = field(default_factory=list)

    @cached_property
    def arena(self) -> Arena:
        """The largest of those whose trials are scored on test classes after every epoch."""
        watched = [arena for arena in self.all_arenas if arena.protocol.watches == "test"]
        return led_by_criterion(max(watched, key=lambda arena: len(arena.finished)))

    @property
    def cells(self) -> list[Cell]:
        return self.arena.finished

    @property
    def name(self) -> str:
        """Of the network, as the page calls it."""
        return network_name(self.cells[0])

    @property
    def metrics(self) -> list[str]:
        """The two that the page is about: that of the ranking first."""
        asked = [self.arena.headline, *metrics.leading(self.arena.metrics)]
        measured = [name for name in dict.fromkeys(asked) if name in self.arena.metrics]
        return [name for name in measured if metrics.get(name).needs == "ranks"][:2] or [self.arena.headline]

    @property
    def best(self) -> str:
        """The name of the result whose epoch the test classes chose."""
        return self.arena.protocol.leading

    @property
    def chooser(self) -> str:
        """The metric by which test classes chose the best epoch."""
        recorded = self.cells[0].config
        return recorded["protocol"].get("criterion") or metrics.headline(recorded["evaluation"]).key

    @property
    def last(self) -> str:
        """That of the one which nothing has chosen."""
        return self.arena.protocol.beside

    @cached_property
    def outcomes(self) -> dict[str, dict[str, Cell]]:
        """Every result by name: the cell that has it, by method. Those of the validated protocol are of the same settings."""
        pairs = optimism.of_arena(self.arena, self.all_arenas)
        found: dict[str, dict[str, Cell]] = {}
        for pair in pairs:
            for cell in (pair.cell, pair.twin):
                if cell is not None:
                    for which in (cell.protocol.leading, cell.protocol.beside):
                        found.setdefault(which, {})[pair.cell.label] = cell
        return {which: found[which] for which in sorted(found, key=self._order)}

    def _order(self, which: str) -> bool:
        return which not in (self.best, self.last)

    def scores(self, which: str, metric: str) -> dict[str, Summary]:
        """A result of every method that has it, in percent."""
        cells = self.outcomes.get(which, {})
        measured = {label: cell.scores(which, metric) for label, cell in cells.items()}
        return {label: score for label, score in measured.items() if score}

    def ranking(self, which: str, metric: str) -> Ranking:
        """The methods by a result."""
        if (which, metric) not in self._rankings:
            higher = metrics.get(metric).higher_is_better
            self._rankings[which, metric] = Ranking.of(self.scores(which, metric), higher)
        return self._rankings[which, metric]

    @cached_property
    def predictors(self) -> list[transfer.Predictor]:
        """What was measured at the end of training, beside the score of the same epoch; the strongest first."""
        return transfer.predictors(self.arena, self.last)

    @cached_property
    def _rankings(self) -> dict[tuple[str, str], Ranking]:
        """Those that were asked for: many sections ask for the same."""
        return {}


def led_by_criterion(arena: Arena) -> Arena:
    """Ranked by the metric that all methods were tuned by, if it was measured."""
    return ranked_by(arena, metrics.CRITERION) if metrics.CRITERION in arena.metrics else arena


def network_name(cell: Cell) -> str:
    """A backbone, and its weights if it came with any."""
    backbone = cell.config["backbone"]
    weights = backbone.get("pretrained") or "none"
    return backbone["name"] if weights == "none" else f"{backbone['name']} ({shown(weights)} weights)"


@dataclass(frozen=True)
class Sources:
    networks: list[Network]
    backbones: list[Arena]
    stores: dict[str, list[Record]]  # all records, by the name of the store
    missing: list[str]  # stores that are not there
    tunings: dict[str, list[Tuning]] = field(default_factory=dict)  # by the name of their store

    @property
    def validated(self) -> Network | None:
        """The first network on which folds chose the epochs too."""
        return next((one for one in self.networks if len(one.outcomes) > 2), None)


def read(results: Path) -> Sources:
    """Everything below a folder of results."""
    if not results.is_dir():
        raise UserError(f"there is no folder {results}.")
    stores = {name: _records(results / name) for name in (*COMPARED, BACKBONES)}
    tunings = {search: _tunings(results / search) for search in COMPARED.values()}
    networks = []
    for name, search in COMPARED.items():
        found = arenas(stores[name])
        if any(arena.protocol.watches != VALIDATION and arena.finished for arena in found):
            networks.append(Network(name, found, tunings[search]))
    every = stores | {
        search: [record for tuning in found for record in tuning.records] for search, found in tunings.items()
    }
    return Sources(
        networks,
        [led_by_criterion(arena) for arena in arenas(stores[BACKBONES]) if arena.finished],
        {name: found for name, found in every.items() if found},
        [name for name, found in every.items() if not found],
        {search: found for search, found in tunings.items() if found},
    )


def _records(store: Path) -> list[Record]:
    return usable_records.load(store) if store.is_dir() else []


def _tunings(folder: Path) -> list[Tuning]:
    """Those of all methods, by name."""
    found = []
    for path in sorted(folder.glob(f"*/{TRIED}")):
        content = files.read_json(path)
        if not isinstance(content, dict) or not isinstance(content.get("tried"), list):
            raise UserError(f"{path} is not the record of a search.")
        found.append(Tuning(path.parent.name, content["tried"], records.load_store(path.parent)))
    return found
