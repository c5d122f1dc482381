"""Looks through the records kept here for settings of a method that beat its tuned ones, beyond the noise of seeds, on the same
data, network and number of images: python experiments/results/contradictions.py [FOLDER]

The noise is that of all settings on that data and network together, or the pair's own where that is larger: two runs alone tell
little of theirs.

Settings are tuned if a search found them: the trial says which (the key ``search``), or the experiment of the store takes them
from a recipe that a search has written.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from dmlplayground.base.errors import UserError
from dmlplayground.parts import metrics, protocols
from dmlplayground.reports import cost, grouping
from dmlplayground.reports.statistics import LEVEL, MeanDifference, Summary, pooled
from dmlplayground.studies import published, recipes
from dmlplayground.sweeps import grid
from dmlplayground.trial import config
from dmlplayground.trial.store import packed, records

HERE = Path(__file__).resolve().parent
LEAST = 2  # runs: one alone may be luck


class Settings(NamedTuple):
    """What a store has of a method on some data, with some network, images and protocol: the score after the last epoch of each
    run."""

    method: str
    store: str
    tuned: bool
    place: str
    scores: tuple[float, ...]  # of its runs
    higher: bool


class Contradiction(NamedTuple):
    method: str
    tuned: str  # the store of the settings that a search found
    better: str  # the store of others that score more
    gap: float  # in points

    def __str__(self) -> str:
        return f"{self.method}: {self.better} is {self.gap:.1f} points better than {self.tuned}, which a search has tuned"


def find(results: Path = HERE) -> list[Contradiction]:
    """The largest first."""
    places: dict[str, list[Settings]] = defaultdict(list)
    for store in stores(results):
        for one in settings(store, store.relative_to(results).as_posix()):
            places[one.place].append(one)
    found: dict[tuple[str, str, str], Contradiction] = {}
    for same in places.values():
        for tuned, other in product(same, same):
            if tuned.method != other.method or other.tuned or not tuned.tuned:
                continue
            gap = (fmean(other.scores) - fmean(tuned.scores)) * (1 if tuned.higher else -1)
            key = tuned.method, tuned.store, other.store
            if beyond_noise(gap, tuned, other, same) and (key not in found or found[key].gap < gap):
                found[key] = Contradiction(*key, gap)
    return sorted(found.values(), key=lambda one: -one.gap)


def beyond_noise(gap: float, one: Settings, other: Settings, everything: Sequence[Settings]) -> bool:
    """Whether the gap is larger than chance makes one in forty."""
    pair, same = (
        [Summary(dict(enumerate(each.scores))) for each in some] for some in ((one, other), everything)
    )
    spread, freedom = max(pooled(pair), pooled(same))
    error = spread * sum(1 / side.n for side in pair) ** 0.5
    return gap > 0 and MeanDifference(gap, error, freedom).chance < LEVEL


def stores(results: Path) -> list[Path]:
    """Every folder below that holds records of trials. Those of a search are no results."""
    found = {path.parents[1] for path in results.glob(f"**/{records.RECORD}")}
    found |= {path.parent for path in results.glob(f"**/{packed.FILE}")}
    return sorted(store for store in found if "search" not in store.relative_to(results).parts)


def settings(store: Path, name: str) -> Iterator[Settings]:
    by_search = from_search(name)
    runs: dict[tuple[str, str, bool, str], list[tuple[float, bool]]] = defaultdict(list)
    for record in records.load_store(store):
        protocol = protocols.get(record.config["protocol"]["name"])
        if record.status != "finished" or protocol.watches != "test":
            continue
        given = config.upgraded(record.config)
        metric = metrics.headline(given["evaluation"])
        value = grouping.score(record, protocol.trained, metric.key)
        if value is not None:
            same = [given["data"], given["backbone"], cost.images(record), protocol.key]
            tuned = by_search or bool(given.get("search"))
            # What several searches found is the tuned method; other settings stand each for themselves.
            own = "" if tuned else grouping.Cell(given).key
            key = published.method_of(given), grouping.canonical(same), tuned, own
            runs[key].append((value, metric.higher_is_better))
    for (method, place, tuned, _), values in runs.items():
        if len(values) >= LEAST:
            yield Settings(method, name, tuned, place, tuple(value for value, _ in values), values[0][1])


def from_search(name: str) -> bool:
    """Whether the experiment of this store takes its settings from a recipe that a search has written."""
    try:
        experiment, _ = grid.load(name)
        first = experiment.trials()[0]
        recipe = experiment.base.get("hyperparams")
        found = recipes.find(recipe, first.method["name"], first.data["name"]) if recipe else None
    except (UserError, IndexError):
        return False
    return found is not None and any(entry.source == "search" for entry in found.values.values())


if __name__ == "__main__":
    told = find(*map(Path, sys.argv[1:2]))
    print("\n".join(map(str, told)) or "Nothing contradicts what was tuned.")
    sys.exit(bool(told))
