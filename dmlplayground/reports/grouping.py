"""Cells: trials of a store that differ only in their seed, with what they measured.

A cell belongs to an arena, the cells that may be compared with one another: same data, same protocol, and whatever else
that protocol asks for (``ProtocolPart.comparable``).
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from statistics import fmean
from typing import Any, NamedTuple, TypeVar

from ..parts import metrics, protocols
from ..parts.protocols import UNTRAINED, UNTRAINED_HEAD, VALIDATION, ProtocolPart
from ..studies import published
from ..studies.published import Quoted, flatten
from ..trial import config
from ..trial.store.records import Record
from .statistics import Summary, best, summary

SEED_AND_PLACE = ("seed", "device")  # a cell's trials may differ in these
PROMINENT = ("backbone.name", "embed_dim", "batch_size")  # shown wherever they differ

#: What became of trials whose records do not say.
SILENT = {
    "interrupted": "it was interrupted and can go on",
    "running": "it has not ended",
    "failed": "it does not say why",
}

Flat = dict[str, Any]  # a configuration with dotted keys
T = TypeVar("T")


class Problem(NamedTuple):
    """A trial without a result: what became of it."""

    id: str
    config: Mapping[str, Any]
    status: str  # failed, interrupted, running or missing
    reason: str
    record: Record | None = None  # what it recorded before it stopped


@dataclass
class Cell:
    config: dict[str, Any]
    records: list[Record] = field(default_factory=list)  # the finished ones, by seed
    problems: list[Problem] = field(default_factory=list)
    factors: dict[str, Any] = field(default_factory=dict)  # in what it differs from the arena's other cells
    headline: str = ""  # the metric that ranks
    searched: bool = False  # a trial of a search, which is ranked by validation alone
    won: bool = False  # it leads; of a search's other trials nothing on test classes is a result
    # The factors in which it differs from its method's others.
    telling: list[str] = field(default_factory=list)
    in_full: bool = False  # where values would be alike if they were shortened

    @property
    def method(self) -> str:
        return published.method_of(self.config)

    @property
    def protocol(self) -> ProtocolPart:
        return protocols.get(self.config["protocol"]["name"])

    @property
    def compared_under(self) -> dict[str, Any]:
        """The protocol's name and those of its options in which it must agree with the cells it is compared with."""
        given = self.config["protocol"]
        return {"name": given["name"], **{key: given.get(key) for key in self.protocol.comparable}}

    @cached_property
    def settings(self) -> Flat:
        return flatten(self.config)

    @cached_property
    def flat(self) -> Flat:
        """Its settings under the name of its method in tables."""
        return {**self.settings, "method.name": self.method}

    @property
    def trained(self) -> bool:
        """Whether anything was; a network as it came is a row to begin tables with."""
        return self.method != published.UNTRAINED

    @property
    def distinctions(self) -> list[str]:
        """What distinguishes it from the arena's other cells of its method."""
        write = plain if self.in_full else shown
        return [f"{key.removesuffix('.name')} {write(self.factors[key])}" for key in self.telling]

    @property
    def length(self) -> int:
        """How many numbers an embedding has: an ensemble's stand side by side, and some heads give one for each class."""
        wide = self.config.get("embed_dim", 0)
        if self.records and self.config.get("head", {}).get("to_classes"):
            classes = re.search(r"of (\d+) classes", self.records[0].data.get("train", ""))
            folds = protocols.create(**self.config["protocol"]).folds(int(classes[1])) if classes else []
            wide = len(folds[0].train) if folds else wide
        return wide * self.config.get("ensemble", {}).get("members", 1)

    @property
    def label(self) -> str:
        return ", ".join([self.method, *self.distinctions])

    def label_without(self, key: str) -> str:
        """The label that it shares with all cells that differ only in ``key``."""
        return replace(self, telling=[other for other in self.telling if other != key]).label

    @cached_property
    def key(self) -> str:
        """A key that all trials of the cell share, and no others. What is null or empty is not set, as if it were missing."""
        given = {key: value for key, value in self.settings.items() if value not in (None, [])}
        shared = {key: given[key] for key in given.keys() - SEED_AND_PLACE}
        return hashlib.sha256(canonical(shared).encode()).hexdigest()[:10]

    def scores(self, which: str, metric: str) -> Summary:
        """As shown (``Metric.scale``), over seeds; empty if nothing was measured, or what was is no result."""
        if not self.tells(which):
            return summary(())
        return summary((record.seed, score(record, which, metric)) for record in self.records)

    def tells(self, which: str) -> bool:
        """Whether this is a result: of trials that lost a search only what chose among them is."""
        return not self.searched or self.won or which in (VALIDATION, UNTRAINED)

    def published(self, which: str) -> dict[str, Quoted]:
        """What was published for such trials, by metric. Empty unless all conditions agree."""
        return published.find(self.config, len(self.records), which)

    @property
    def metric(self) -> metrics.Metric:
        return metrics.get(self.headline)

    @cached_property
    def score(self) -> Summary:
        """The score that it is ranked by. Not to be asked for before all of its records are there."""
        return self.scores(self.primary, self.headline)

    @property
    def rank(self) -> tuple:
        """Sorts cells: the best first, those without a score last."""
        mean = self.score.mean if self.score else 0.0
        return (not self.score, -mean if self.metric.higher_is_better else mean, self.label)

    @property
    def backbone(self) -> str:
        """A key shared by all cells that start from the same network."""
        return canonical(self.config["backbone"])

    @property
    def beginning(self) -> str:
        """A key shared by all cells that begin with the same features of the same pixels."""
        pooling = self.config.get("head", {}).get("pooling")
        return canonical([self.config.get("backbone"), self.config.get("transform"), pooling])

    @property
    def before(self) -> str:
        """What its network before any training is called."""
        return UNTRAINED_HEAD if config.starts_trained(self.config["backbone"]) else UNTRAINED

    def untouched(self, which: str, metric: str) -> float | None:
        """The untouched features' score, in percent, on the classes that the result ``which`` is measured on."""
        found = [self.protocol.untouched(record.results, which).get(metric) for record in self.records]
        return next((metrics.get(metric).scale * value for value in found if value is not None), None)

    @property
    def primary(self) -> str:
        """The result that ranks."""
        return VALIDATION if self.searched else self.protocol.leading

    @property
    def secondary(self) -> str:
        return self.protocol.leading if self.searched else self.protocol.beside

    @property
    def seconds(self) -> Summary:
        return summary((record.seed, record.seconds) for record in self.records)

    @property
    def metrics(self) -> list[str]:
        """The names of what was measured, in the order of the records."""
        if not self.records:
            return []
        return list(self.protocol.measured(self.records[0].results, self.protocol.leading)[0])


@dataclass
class Arena:
    """Cells that may be compared. Best first, those without a result last."""

    cells: list[Cell]
    title: str = ""

    @property
    def protocol(self) -> ProtocolPart:
        return self.cells[0].protocol

    @property
    def finished(self) -> list[Cell]:
        """Those with a score. A metric that is not finite gives none."""
        return [cell for cell in self.cells if cell.score]

    @property
    def factors(self) -> list[str]:
        return list(self.cells[0].factors)

    @property
    def headline(self) -> str:
        return self.cells[0].headline

    @property
    def metric(self) -> metrics.Metric:
        return self.cells[0].metric

    @property
    def metrics(self) -> list[str]:
        return list(dict.fromkeys(metric for cell in self.cells for metric in cell.metrics))

    def champions(self) -> list[Cell]:
        """Every method's best cell."""
        methods, higher = alike(self.finished, lambda cell: cell.method), self.metric.higher_is_better
        return [cells[best([cell.score for cell in cells], higher)] for cells in methods]

    def colour(self, cell: Cell) -> int:
        """The number of a cell's colour in every figure: its method's or, if there is one method alone, its own."""
        methods = list(dict.fromkeys(one.method for one in self.cells))
        return methods.index(cell.method) if len(methods) > 1 else self.cells.index(cell)

    @property
    def untrained_on(self) -> set[str]:
        """What the untrained networks were measured on."""
        outcomes = [record.results.get(UNTRAINED) for cell in self.finished for record in cell.records]
        return {outcome["measured_on"] for outcome in outcomes if outcome and "measured_on" in outcome}

    def untouched(self) -> list[Cell]:
        """A cell for each kind of untouched features that cells begin with, best first."""
        scores = ((cell.untouched(cell.primary, self.headline), cell) for cell in self.finished)
        found = {cell.beginning: (score, cell) for score, cell in scores if score is not None}
        order = sorted(found.values(), key=itemgetter(0), reverse=self.metric.higher_is_better)
        return [cell for _, cell in order]

    def untrained(self, metric: str) -> dict[str, Summary]:
        """The score before any training, by backbone and pretraining, over seeds. Methods with the same seed start from the
        same network up to their head, so a seed counts once, as their mean."""
        values: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        for cell in (cell for cell in self.finished if cell.trained):
            for record in cell.records:
                if (value := score(record, UNTRAINED, metric)) is not None:
                    values[cell.backbone][record.seed].append(value)
        return {
            backbone: Summary({seed: fmean(found) for seed, found in sorted(seeds.items())})
            for backbone, seeds in values.items()
        }


def score(record: Record, which: str, metric: str) -> float | None:
    """A metric of a finished record as shown (``Metric.scale``); of a result with several models their mean."""
    measured = protocols.get(record.config["protocol"]["name"]).measured(record.results, which)
    values = [one[metric] for one in measured if one.get(metric) is not None]
    complete = values and len(values) == len(measured)
    return metrics.get(metric).scale * sum(values) / len(values) if complete else None


def arenas(
    records: Iterable[Record], expected: Iterable[Mapping[str, Any]] | None = None, searched: bool = False
) -> list[Arena]:
    """All cells of a store, and of the trials that it is to hold, by arena; those of a search ranked by what it maximised."""
    cells: dict[str, Cell] = {}
    of_settings: dict[str, Cell] = {}

    def cell_of(recorded: Mapping[str, Any]) -> Cell:
        settings = seedless(recorded)
        if settings not in of_settings:
            cell = Cell(config.upgraded(recorded), searched=searched)
            of_settings[settings] = cells.setdefault(cell.key, cell)
        return of_settings[settings]

    known = set()
    for record in sorted(records, key=lambda record: (record.seed, record.started)):
        cell = cell_of(record.config)
        known |= {record.id, (cell.key, record.seed)}
        if record.status == "finished":
            if cell.records and cell.records[-1].seed == record.seed:
                cell.records.pop()  # it was trained again, under the id of another edition: it counts once
            cell.records.append(record)
        else:
            reason = record.error.strip().splitlines()[-1] if record.error else SILENT[record.status]
            cell.problems.append(Problem(record.id, record.config, record.status, reason, record))
    for missing in expected or ():
        cell = cell_of(missing["config"])
        if not {missing["id"], (cell.key, missing["config"]["seed"])} & known:
            cell.problems.append(Problem(missing["id"], missing["config"], "missing", "it has not been run"))

    groups = alike(cells.values(), lambda cell: canonical([cell.config["data"], cell.compared_under]))
    found = list(map(_arena, groups))
    # Data set and protocol, with the options by which those of one name differ.
    data = named([arena.cells[0].config["data"] for arena in found])
    protocol = named([arena.cells[0].compared_under for arena in found], " protocol")
    for arena, *title in zip(found, data, protocol):
        arena.title = ", ".join(title)
    return found


def _arena(cells: list[Cell]) -> Arena:
    factors, headline = _factors([cell.flat for cell in cells]), _headline(cells)
    for group in alike(cells, lambda cell: cell.method):
        telling = _differing([[cell.flat for cell in group]], factors)
        for cell in group:
            cell.factors = {key: cell.flat.get(key) for key in factors}
            cell.telling, cell.headline = telling, headline
    labels = [cell.label for cell in cells]
    counts = Counter(labels)
    for cell, label in zip(cells, labels):
        cell.in_full = counts[label] > 1
    cells.sort(key=lambda cell: cell.rank)
    cells[0].won = True
    return Arena(cells)


def _headline(cells: Sequence[Cell]) -> str:
    """The metric that the cells ask for, if all have it; otherwise the first that all have."""
    if cells[0].searched:  # as all of a search are
        wanted = [str(cell.config["protocol"]["criterion"]) for cell in cells]
    else:
        wanted = [metrics.headline(cell.config.get("evaluation", {})).key for cell in cells]
    measured = [cell.metrics for cell in cells if cell.records]
    common = [name for name in (measured or [wanted])[0] if all(name in names for names in measured)]
    return next(name for name in [*wanted, *common] if name in common)


def _factors(configs: Sequence[Flat]) -> list[str]:
    """The keys that distinguish the cells.

    These are the prominent ones that differ at all, the options in which backbones of one name differ, and between cells
    of one method which those do not tell apart: the parts and switches that do, and whatever differs where these do not
    suffice. What a method sets for itself is the method, not a factor; so is what comes with another part.
    """
    if len(configs) < 2:
        return []
    keys = list(dict.fromkeys(key for config in configs for key in config if key not in SEED_AND_PLACE))
    factors = _differing([configs], PROMINENT)
    options = [key for key in keys if key.startswith("backbone.")]
    factors += _differing(_agreeing(configs, ["backbone.name"]), options)
    # What names a part or turns something on: words and truths, no amounts; parts first.
    chooses = (str, bool, type(None))
    choices = [key for key in keys if all(isinstance(config.get(key), chooses) for config in configs)]
    for key in sorted(choices, key=lambda key: not key.endswith(".name")):
        factors += _differing(_agreeing(configs, ["method.name", *factors]), [key])
    return factors + _differing(_agreeing(configs, ["method.name", *factors]), keys)


def alike(items: Iterable[T], key: Callable[[T], Any]) -> list[list[T]]:
    """The items in groups that share a key, in their order."""
    groups: dict[Any, list[T]] = defaultdict(list)
    for one in items:
        groups[key(one)].append(one)
    return list(groups.values())


def _agreeing(configs: Iterable[Flat], keys: Sequence[str]) -> list[list[Flat]]:
    """The configurations in groups that agree in all of the keys."""
    return alike(configs, lambda flat: tuple(plain(flat.get(key)) for key in keys))


def _differing(groups: Collection[Sequence[Flat]], keys: Iterable[str]) -> list[str]:
    """The keys in which the members of some group differ."""
    return [key for key in keys if any(len({plain(flat.get(key)) for flat in group}) > 1 for group in groups)]


def named(parts: Sequence[Mapping[str, Any]], kind: str = "") -> list[str]:
    """Each by its name, with the options in which it differs from another of that name."""
    flat = [flatten(part) for part in parts]
    names = []
    for options in flat:
        others = [other for other in flat if other["name"] == options["name"]]
        differing = [f"{key} {plain(options[key])}" for key in _differing([others], options)]
        names.append(", ".join([options["name"] + kind, *differing]))
    return names


def canonical(content: Any) -> str:
    return json.dumps(content, sort_keys=True)


def seedless(recorded: Mapping[str, Any]) -> str:
    """A key that records share which were written alike but for their seed."""
    return json.dumps({key: value for key, value in recorded.items() if key != "seed"})


def shown(value: Any) -> str:
    """A value for people to read. Numbers drawn by a search are shortened to the digits that matter."""
    if value is None or value == []:
        return "none"
    if isinstance(value, list) and all(isinstance(one, Mapping) and "name" in one for one in value):
        return " + ".join(map(_part, value))
    return f"{value:.4g}" if isinstance(value, float) else plain(value)


def _part(part: Mapping[str, Any]) -> str:
    options = ", ".join(f"{key} {shown(value)}" for key, value in part.items() if key != "name")
    return f"{part['name']} ({options})" if options else part["name"]


def plain(value: Any) -> str:
    """A value in full."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
