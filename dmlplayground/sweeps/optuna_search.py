"""Runs a search: Optuna (TPE) proposes trials and prunes them, the runner trains them, validation classes judge them.

The store holds the trials and ``study.journal``, Optuna's own log, from which an interrupted search continues; several
runners may share it. At the end it also holds ``best.yaml``, the winner as a file of hyperparameters, ``repeat.yaml``,
an experiment that trains the winner ten times, and ``search.json``, everything that was tried.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, Optional

from ..base import files, optional
from ..base.errors import UserError
from ..parts import protocols
from ..trial import config
from ..trial.store import manifest, records
from ..trial.store.records import Record
from . import early_stopping, winners
from .job import Job
from .runner import Executor, Runner
from .search_space import Choice, Search
from .sobol import proposal
from .winners import TRIED

JOURNAL = "study.journal"
STOPPED = "stopped"  # of a trial that was stopped early: why


def tune(
    search: Search, store: Path, executor: Executor, *, workers: Optional[int] = None, quiet: bool = False
) -> Path:
    """Search until all trials are done, and return the winner's file. The same call continues a search that was
    stopped."""
    study = _study(search, store)
    manifest.write_search(store, search.title, search.about)
    runner = Runner(store, executor, workers, quiet)
    left = search.trials - sum(trial.state.is_finished() for trial in study.trials)
    epochs = left * search.epochs
    runner.run(_attempts(search, study, store, runner), max(left, 0), max(epochs, 0))
    _write_record(search, study, store)
    states = Counter(trial.state.name.lower() for trial in study.trials)
    if not states["complete"]:
        raise UserError(
            f"the search found nothing: none of its {len(study.trials)} trials finished; see {store / TRIED}."
        )
    record = Record.load(store / study.best_trial.user_attrs["id"] / records.RECORD)
    return winners.write(search, record, store, study.best_value, states)


def _study(search: Search, store: Path) -> Any:
    optuna = optional.load("optuna")
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    store.mkdir(parents=True, exist_ok=True)
    journal = (store / JOURNAL).resolve()
    # Optuna's usual lock is a link. Where that points to nothing (as a relative one does, or one in a store that was moved)
    # it waits for ever. A lock that is a file it takes away after 30 s, as its owner must have been killed.
    lock = journal.with_name(f"{journal.name}.lock")
    if lock.is_symlink() and not lock.exists():
        lock.unlink()
    study = optuna.create_study(
        storage=JournalStorage(JournalFileBackend(str(journal), JournalFileOpenLock(str(journal)))),
        study_name="search",
        direction=search.direction,
        pruner=early_stopping.pruner(search.prune, search.epochs),
        load_if_exists=True,
    )
    study.sampler = _sampler(search)
    return study


def _sampler(search: Search) -> Any:
    """What a trial tries, decided by its number, and with ``tpe`` by the trials before it too: wherever a search was stopped,
    it goes on as if it had not been. In the form in which Optuna asks for it."""
    from optuna.samplers import BaseSampler, TPESampler

    @cache
    def tpe(number: int) -> TPESampler:
        return TPESampler(seed=search.seed + number, constant_liar=True)

    numbered = search.combination if search.draw == "every" else partial(proposal, search)

    class ByNumber(BaseSampler):
        def infer_relative_search_space(self, study: Any, trial: Any) -> dict[str, Any]:
            return {}

        def sample_relative(self, study: Any, trial: Any, search_space: Any) -> dict[str, Any]:
            return {}

        def sample_independent(self, study: Any, trial: Any, param_name: str, param_distribution: Any) -> Any:
            if search.draw == "tpe":
                return tpe(trial.number).sample_independent(study, trial, param_name, param_distribution)
            value = numbered(trial.number)[param_name]
            return json.dumps(value) if isinstance(search.parameters[param_name], Choice) else value

    return ByNumber()


def _attempts(search: Search, study: Any, store: Path, runner: Runner) -> Iterator[Job]:
    """What an earlier run left unfinished, then what Optuna proposes. What cannot be trained counts as tried."""
    import optuna

    running = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.RUNNING]
    waiting = [optuna.trial.Trial(study, trial._trial_id) for trial in running]
    while waiting or len(study.get_trials(deepcopy=False)) < search.trials:
        proposed = waiting.pop(0) if waiting else study.ask()
        if STOPPED in proposed.user_attrs:  # by a runner that died before it could say so
            study.tell(proposed, state=optuna.trial.TrialState.PRUNED)
            continue
        try:
            values = {key: parameter.ask(proposed, key) for key, parameter in search.parameters.items()}
        except ValueError as problem:
            raise UserError(
                f"the store {store} holds a search with other ranges: {problem} Use a new store."
            ) from None
        try:
            trial = search.trial(values)
            for warning in runner.executor.prepare([trial], runner.workers):
                runner.display.say(f"warning: {warning}")
        except UserError as problem:
            proposed.set_user_attr("problem", str(problem))
            study.tell(proposed, state=optuna.trial.TrialState.FAIL)
            _give_up(study, problem)
            continue
        proposed.set_user_attr("id", trial.id)
        yield Attempt(trial, store / trial.id, search, study, proposed)


def _give_up(study: Any, problem: UserError) -> None:
    """Stop if nothing that was tried could be trained: then the file is wrong."""
    tried = [trial for trial in study.trials if trial.state.is_finished()]
    if len(tried) >= 5 and all("problem" in trial.user_attrs for trial in tried):
        raise UserError(f"none of the search's proposals can be trained; the last one: {problem}")


class Attempt(Job):
    """A trial of the search."""

    def __init__(self, trial: config.Trial, folder: Path, search: Search, study: Any, proposed: Any):
        super().__init__(trial, folder)
        self.rule, self.study, self.proposed = search.prune, study, proposed
        self.reported = set(self._stored().intermediate_values)
        self.pruned = False

    def outcome(self) -> Optional[Record]:
        """It has also ended if another runner of the search has pruned it."""
        over = self._stored().state.is_finished()
        return records.find(self.folder) if over else super().outcome()

    def _stored(self) -> Any:
        """What the study knows about it. Copying the whole study would slow down every look."""
        return self.study.get_trials(deepcopy=False)[self.proposed.number]

    def saw(self, new: list[dict[str, Any]]) -> bool:
        """Report every epoch by itself, so that what is stopped does not depend on when it is looked at."""
        criterion = config.criterion(self.trial.protocol, self.trial.evaluation)
        best: dict[int, float] = {}
        for entry in self.entries:
            if entry["epoch"] == 0 or "metrics" not in entry:
                continue
            value = entry["metrics"].get(criterion.key)
            if value is None:  # not finite
                continue
            if entry["fold"] not in best or criterion.better(value, best[entry["fold"]]):
                best[entry["fold"]] = value
            step = entry["fold"] * self.trial.epochs + entry["epoch"]
            if step not in self.reported and not self.pruned:
                self.reported.add(step)
                self.proposed.report(statistics.mean(best.values()), step)
                self._prune(step)
        return not self.pruned

    def _prune(self, step: int) -> None:
        self.pruned = self.proposed.should_prune()
        if self.pruned:
            reason = early_stopping.why(self.rule, self.study, self.proposed.number, step)
            self.proposed.set_user_attr(STOPPED, reason)

    def done(self, record: Optional[Record]) -> None:
        from optuna.trial import TrialState

        if record is not None and record.status == "finished":
            value = validation(record)
            if value is None:
                self.proposed.set_user_attr("problem", "its criterion is not finite")
            state = TrialState.FAIL if value is None else None
            self.study.tell(self.proposed, value, state=state, skip_if_finished=True)
        elif self.pruned:
            self.study.tell(self.proposed, state=TrialState.PRUNED, skip_if_finished=True)
        elif record is not None and record.status == "failed":
            self.study.tell(self.proposed, state=TrialState.FAIL, skip_if_finished=True)

    def outcome_line(self, record: Optional[Record]) -> str:
        if record is not None and record.status == "finished":
            criterion = config.criterion(self.trial.protocol, self.trial.evaluation)
            return (
                f"{self.id}: {criterion.key} {criterion.shown(validation(record))} in {record.seconds:.0f} s"
            )
        if self.pruned:
            return f"{self.id}: stopped early by {self.proposed.user_attrs[STOPPED]}"
        return super().outcome_line(record)


def validation(record: Record) -> Optional[float]:
    """What a search goes by: the criterion on the validation classes, averaged over folds; nothing if it is not finite."""
    return protocols.create(**record.config["protocol"]).judged(record.results)


def _write_record(search: Search, study: Any, store: Path) -> None:
    """All that was tried, as JSON."""
    tried = [
        {
            "number": trial.number,
            "state": trial.state.name.lower(),
            "value": trial.value,
            "values": trial.params,
            "by_epoch": {str(step): value for step, value in trial.intermediate_values.items()},
            **{key: value for key, value in trial.user_attrs.items() if key != STOPPED or _pruned(trial)},
        }
        for trial in study.trials
    ]
    content = {
        "title": search.title,
        "about": search.about,
        "seed": search.seed,
        "draw": search.draw,
        "config": search.config,
        "tried": tried,
    }
    files.write_json(store / TRIED, content)


def _pruned(trial: Any) -> bool:
    """Whether it was stopped early: it may have ended before it could be."""
    return trial.state.name == "PRUNED"
