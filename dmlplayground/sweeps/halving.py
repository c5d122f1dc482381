"""Runs a search by halving: many settings get a short training, the best of these a longer one, and so on up the rungs.

A trial of a rung is a training of its own, with a schedule of its own length. Proposals are decided by their numbers
(``sobol``), and who goes on by the scores of all trials of the rung, of equals the first. So a search finds the same with any
number of workers, and continues from its records alone when it was stopped. It looks at no test class.

The store then holds ``best.yaml``, ``repeat.yaml`` (``winners``) and ``search.json``, everything that was tried.
"""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from ..base import files
from ..base.errors import UserError
from ..parts import data
from ..trial import config
from ..trial.config import part_keys
from ..trial.store import manifest, records
from ..trial.store.records import Record
from . import runner, sobol, winners
from .runner import Executor
from .search_space import Search

PATIENCE = 20  # so many proposals for each trial, if most of them cannot be trained


@dataclass
class Proposal:
    """Settings, and what they came to on the rungs that they reached."""

    number: int
    values: dict[str, Any]
    reached: list[dict[str, Any]] = field(default_factory=list)

    @property
    def value(self) -> Optional[float]:
        return self.reached[-1].get("value")


def tune(
    search: Search, store: Path, executor: Executor, *, workers: Optional[int] = None, quiet: bool = False
) -> Path:
    """Search until all rungs are done, and return the winner's file. The same call continues a search that was stopped."""
    manifest.write_search(store, search.title, search.about)
    tried = _proposals(search)
    going_on = tried
    for number, rung in enumerate(search.rungs):
        trials = [search.trial(proposal.values, number) for proposal in going_on[: rung.trials]]
        runner.run(store, trials, executor, workers=workers, quiet=quiet)
        for proposal, trial in zip(going_on, trials):
            proposal.reached.append(_outcome(store / trial.id))
        going_on = _ranked(going_on[: rung.trials], search.direction)
        if not going_on:
            raise UserError(
                f"the search found nothing: no trial of its rung {number + 1} finished; see {store}."
            )
    _write_record(search, tried, store)
    return _write_winner(search, tried, going_on[0], store)


def _proposals(search: Search) -> list[Proposal]:
    """What the search tries, leaving out what cannot be trained or was proposed before."""
    found: dict[str, Proposal] = {}
    wanted = search.rungs[0].trials
    problem: Optional[UserError] = None
    classes = None
    for number in range(PATIENCE * wanted):
        values = dict(sobol.proposal(search, number))
        try:
            trials = [search.trial(values, rung) for rung in range(len(search.rungs))]
            classes = classes or data.require(**trials[0].data)
            for trial in trials:
                config.check_data(trial, classes)
        except UserError as refused:
            problem = refused
            continue
        found.setdefault(trials[0].id, Proposal(number, values))
        if len(found) == wanted:
            break
    if not found:
        raise UserError(f"none of the search's proposals can be trained; the last one: {problem}")
    return list(found.values())


def _outcome(folder: Path) -> dict[str, Any]:
    """What became of a trial: the best of its evaluations, averaged over folds, and when that was."""
    record = records.find(folder)
    found: dict[str, Any] = {"id": folder.name, "status": record.status if record else "missing"}
    if record is None or record.status != "finished":
        return found
    curve = curve_of(record)
    criterion = _criterion(record)
    best = None
    for epoch, value in enumerate(curve, 1):
        if value is not None and (best is None or criterion.better(value, best[1])):
            best = epoch, value
    if best is not None:
        found.update(epoch=best[0], value=best[1])
    return {**found, "curve": curve}


def curve_of(record: Record) -> list[Optional[float]]:
    """The criterion after every epoch, averaged over folds; the epochs of an ensemble's members are counted through."""
    key = _criterion(record).key
    folds: dict[int, list[Optional[float]]] = {}
    for entry in record.epochs:
        if entry["epoch"]:
            folds.setdefault(entry["fold"], []).append(entry.get("metrics", {}).get(key))
    return [None if None in values else statistics.mean(values) for values in zip(*folds.values())]


def _criterion(record: Record) -> Any:
    trial = config.trial(record.config)
    return config.criterion(trial.protocol, trial.evaluation)


def _ranked(proposals: list[Proposal], direction: str) -> list[Proposal]:
    """Those that have a score, the best first."""
    sign = -1 if direction == "maximize" else 1
    scored = [(sign * one.value, one.number, one) for one in proposals if one.value is not None]
    return [one for _, _, one in sorted(scored, key=lambda row: row[:2])]


def _write_record(search: Search, tried: list[Proposal], store: Path) -> None:
    """All that was tried, as JSON."""
    content = {
        "title": search.title,
        "about": search.about,
        "number": search.number,
        "seed": search.seed,
        "images": search.images,
        "rungs": [
            {"trials": rung.trials, "length": str(rung.share), "folds": rung.folds} for rung in search.rungs
        ],
        "config": search.config,
        "tried": [vars(proposal) for proposal in tried],
    }
    files.write_json(store / winners.TRIED, content)


def _write_winner(search: Search, tried: list[Proposal], best: Proposal, store: Path) -> Path:
    last = best.reached[-1]
    record = records.find(store / last["id"])
    assert record is not None and best.value is not None
    states = Counter(reached["status"] for proposal in tried for reached in proposal.reached)
    further = {
        "number": search.number,
        "epoch": last["epoch"],
        "by_length": {str(rung.share): reached["value"] for rung, reached in zip(search.rungs, best.reached)},
    }
    # A trial that trains on all classes reports this epoch beside its best and its last.
    chosen = {"protocol.name": part_keys.NEUTRAL["protocol"], "protocol.epoch": last["epoch"]}
    return winners.write(search, record, store, best.value, states, further, chosen)
