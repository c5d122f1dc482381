"""Proposals that go by the trials before them (``draw: tpe``), made by Optuna.

The store holds ``study.journal``, Optuna's own log, from which an interrupted search continues; several runners may share it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..base import optional
from ..base.errors import UserError
from ..trial.store import records
from . import winners
from .executors import Executor
from .job import SweepTrial
from .runner import Runner
from .search_space import Choice, Search

JOURNAL = "study.journal"
WRONG = 5  # so many proposals that cannot be trained, and no other, mean that the file is wrong


def run(search: Search, store: Path, executor: Executor, **how: Any) -> list[winners.Proposal]:
    """Propose and train until all trials are done; gives all that was tried."""
    study = _study(search, store)
    runner = Runner(store, executor, **how)
    left = max(0, search.trials - sum(trial.state.is_finished() for trial in study.trials))
    attempts = Attempts(search, study, store, runner)
    runner.run(attempts.jobs(), left, left * search.epochs)
    attempts.report()
    return [_proposal(search, trial, store) for trial in study.trials]


def _proposal(search: Search, trial: Any, store: Path) -> winners.Proposal:
    values = {
        key: json.loads(value) if isinstance(search.parameters[key], Choice) else value
        for key, value in trial.params.items()
    }
    if "id" in trial.user_attrs:
        reached = winners.outcome(search, store / trial.user_attrs["id"])
    else:
        reached = {"status": "refused", "problem": trial.user_attrs.get("problem", "")}
    return winners.Proposal(trial.number, values, [reached])


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
    storage = JournalStorage(JournalFileBackend(str(journal), JournalFileOpenLock(str(journal))))
    named = {"study_name": "search", "direction": search.direction, "load_if_exists": True}
    return optuna.create_study(storage=storage, **named)


class Attempts:
    """The trials of the search that this runner takes on."""

    def __init__(self, search: Search, study: Any, store: Path, runner: Runner):
        self.search, self.study, self.store, self.runner = search, study, store, runner
        self.open: dict[SweepTrial, Any] = {}  # with Optuna's trials, which wait for a report

    def jobs(self) -> Iterator[SweepTrial]:
        """What an earlier run left unfinished, then what Optuna proposes. What cannot be trained counts as tried."""
        from optuna.trial import Trial, TrialState

        running = [trial for trial in self.study.trials if trial.state == TrialState.RUNNING]
        waiting = [Trial(self.study, trial._trial_id) for trial in running]
        while True:
            self.report()
            if not waiting and len(self.study.get_trials(deepcopy=False)) >= self.search.trials:
                return
            proposed = waiting.pop(0) if waiting else self.study.ask()
            values = self._values(proposed)
            try:
                trial = self.search.trial(values)
                for warning in self.runner.executor.prepare([trial], self.runner.workers):
                    self.runner.display.say(f"warning: {warning}")
            except UserError as problem:
                proposed.set_user_attr("problem", str(problem))
                self.study.tell(proposed, state=TrialState.FAIL)
                tried = [trial for trial in self.study.trials if trial.state.is_finished()]
                if len(tried) >= WRONG and all("problem" in trial.user_attrs for trial in tried):
                    raise winners.none_can_be_trained(problem) from None
                continue
            proposed.set_user_attr("id", trial.id)
            job = SweepTrial(trial, self.store / trial.id, searching=True)
            self.open[job] = proposed
            yield job

    def _values(self, proposed: Any) -> dict[str, Any]:
        """Decided by the trial's number and the trials before it: a search that was stopped goes on as if it had not been."""
        from optuna.samplers import TPESampler

        self.study.sampler = TPESampler(seed=self.search.seed + proposed.number, constant_liar=True)
        try:
            return {key: parameter.ask(proposed, key) for key, parameter in self.search.parameters.items()}
        except ValueError as problem:
            raise UserError(
                f"the store {self.store} holds a search with other ranges: {problem} Use a new store."
            ) from None

    def report(self) -> None:
        """Let Optuna know what has become of trials that have ended; those that were stopped go on another time."""
        from optuna.trial import TrialState

        for job in [job for job in self.open if job.ended]:
            proposed, record = self.open.pop(job), records.find(job.folder)
            if record is not None and record.status in ("finished", "failed"):
                value = winners.validation(record) if record.status == "finished" else None
                state = TrialState.FAIL if value is None else None
                self.study.tell(proposed, value, state=state, skip_if_finished=True)
