"""Runs trials, a few at a time, until none is left: alone, or beside other runners of the same store.

Trials have processes of their own, so a crash harms no other trial. The runner follows progress through the
files that trials write, and other runners through their locks. It holds nothing that would be lost if it died.
"""

import random
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..base import files, layout, outside
from ..base.errors import UserError
from ..trial.config import Trial
from ..trial.store import locks, records
from ..trial.store.records import Record
from . import display, worker
from .executors import Executor
from .job import SweepTrial, jobs_left
from .worker import LOG, TRIAL, Ending

POLL, LOOK = 0.25, 2.0  # seconds between checks of our own trials, and of those of others
DEATHS = 2  # how often in a row a trial's process may die before it completes another epoch
ROOM = 300 * 2**20  # bytes that must be free on the store's disk for a trial to start


def run(
    store: Path,
    trials: Sequence[Trial],
    executor: Executor,
    *,
    workers: int | None = None,
    retry_failed: bool = False,
    quiet: bool = False,
    searching: bool = False,
) -> None:
    """Run what is left of ``trials``. Returns when all have ended; raises KeyboardInterrupt when stopped."""
    left = jobs_left(store, trials, retry_failed, searching)
    if done := len(trials) - len(left):
        display.Display(quiet).say(f"{done} of {layout.plural(len(trials), 'trial')} done already")
    if not left:  # and so no device is looked for
        return
    runner = Runner(store, executor, workers, quiet)
    for warning in executor.prepare([job.trial for job in left], runner.workers):
        runner.display.say(f"warning: {warning}")
    runner.run(left, len(trials), sum(job.total for job in left), done)


class Runner:
    def __init__(self, store: Path, executor: Executor, workers: int | None = None, quiet: bool = False):
        self.store = store
        if workers is not None and workers < 1:
            raise UserError(f"workers must be at least 1, not {workers}.")
        self.executor, self.workers = executor, workers or executor.slots
        self.display = display.Display(quiet)
        self.running: dict[SweepTrial, Any] = {}  # with their processes
        self.elsewhere: list[SweepTrial] = []  # being trained by other processes
        self.waiting: list[SweepTrial] = []  # started once, to be started again
        self.begun: dict[SweepTrial, None] = {}  # all so far
        self.company = False  # whether other runners have been seen at work
        self.watch = locks.Watch()
        self._started = self._looked = time.monotonic()

    def run(self, jobs: Iterable[SweepTrial], count: int, epochs: int, done: int = 0) -> None:
        """Run the jobs, with ``epochs`` in all; returns when all have ended, those of other runners too. They belong to ``count``
        trials, of which so many were ``done`` before."""
        outside.require_idle("sweep")
        source, self.count, self.total, self.done_before = self._in_turn(jobs), count, epochs, done
        try:
            self.store.mkdir(parents=True, exist_ok=True)
            while True:
                self._fill(source)
                if not self.running and not self.elsewhere and not self.waiting:
                    break
                time.sleep(POLL)
                for job in list(self.running):
                    self._look(job)
                if time.monotonic() - self._looked > LOOK:
                    self._look_elsewhere()
                self._show()
        except BaseException as problem:
            self.display.show([])
            self.executor.close(self.running.values())
            if not isinstance(problem, (OSError, files.CannotWrite)):
                raise
            raise UserError(
                f"the store {self.store} cannot be written or read: {str(problem).rstrip('.')}. "
                "What was done is kept. Once that is fixed, run the same command again."
            ) from None
        self.display.show([])

    # --- starting ----------------------------------------------------------------------------------------------------

    def _fill(self, source: Iterator[SweepTrial]) -> None:
        """Start as many trials as there is room for."""
        while len(self.running) < self.workers and self._room():
            job = self.waiting.pop(0) if self.waiting else next(source, None)
            if job is None:
                return
            self.begun[job] = None
            if job.outcome() is not None:
                self.company = True
                self._done(job, job.outcome(), quiet=True)
            elif self.watch.look(job.folder) == "free":
                self._start(job)
            else:
                self._leave(job)

    def _in_turn(self, jobs: Iterable[SweepTrial]) -> Iterator[SweepTrial]:
        """The jobs in their order; in company in an order of this runner's own, so that two seldom reach for the same one."""
        if not isinstance(jobs, Sequence):
            yield from jobs
            return
        left, chance = list(jobs), random.Random()
        while left:
            yield left.pop(chance.randrange(len(left)) if self.company else 0)

    def _leave(self, job: SweepTrial) -> None:
        """Leave it to the runner that trains it."""
        self.company = True
        self.elsewhere.append(job)

    def _room(self) -> bool:
        """Whether the disk has room for another trial. An error once no running trial could free any."""
        free = shutil.disk_usage(self.store).free
        if free < ROOM and not self.running:
            raise UserError(
                f"{self.store} is on a disk with {free / 2**20:.0f} MB left, too little for a trial. Make room: "
                "what was done is kept, and the same command continues."
            )
        return free >= ROOM

    def _start(self, job: SweepTrial) -> None:
        outside.keep(job.trial.parts, self.store)
        files.write_json(job.folder / TRIAL, job.trial.mapping())
        job.reached, job.started = job.epochs, time.monotonic()
        self.running[job] = self.executor.start(job.trial, job.folder)

    # --- looking -----------------------------------------------------------------------------------------------------

    def _look(self, job: SweepTrial) -> None:
        job.look()
        if (ending := self.running[job].poll()) is None:
            return
        self.executor.ended(self.running.pop(job))
        records.tidy(job.folder)
        job.look()
        if job.outcome() is not None:
            self._done(job, job.outcome())
        elif ending.code == worker.BUSY:
            self._leave(job)
        elif ending.code == worker.UNWRITABLE:
            raise files.CannotWrite(_last_words(job.folder).removeprefix("error: "))
        elif ending.code == worker.STOPPED:
            self._done(job, records.find(job.folder))
        else:
            self._died(job, ending)

    def _died(self, job: SweepTrial, ending: Ending) -> None:
        """Its process ended unexpectedly: continue from the checkpoint, as long as that gets further."""
        job.deaths = 1 if job.epochs > job.reached else job.deaths + 1
        if ending.code != worker.REFUSED and job.deaths < DEATHS:
            self.display.say(f"{job.id}: its process {ending.words}; continuing after epoch {job.epochs}")
            self.waiting.append(job)
            return
        try:
            with locks.hold(job.folder) as held, held.writing() as through:
                begun = Record(job.id, job.trial.mapping(), started=records.now())
                record = records.find(job.folder) or begun
                record.status = "failed"
                record.error = f"the trial's process {ending.words}: {_last_words(job.folder)}"
                record.save(job.folder, through)
        except locks.Busy:
            self._leave(job)
        else:
            self._done(job, record)

    def _look_elsewhere(self) -> None:
        self._looked = time.monotonic()
        for job in list(self.elsewhere):
            job.look()
            if job.outcome() is not None:
                self.elsewhere.remove(job)
                self._done(job, job.outcome())
            elif self.watch.look(job.folder) == "free":
                self.elsewhere.remove(job)
                self.waiting.append(job)

    def _done(self, job: SweepTrial, record: Record | None, quiet: bool = False) -> None:
        job.ended = True
        if not quiet:
            self.display.say(f"{job.outcome_line(record)} ({self._ended()} of {self.count}{self._left()})")

    # --- telling -----------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        lines = [
            display.trial(job.id, job.entries, job.epochs, job.total, time.monotonic() - job.started)
            for job in self.running
        ]
        others = f", {len(self.elsewhere)} elsewhere" if self.elsewhere else ""
        ended = f"{self._ended()} of {layout.plural(self.count, 'trial')}"
        self.display.show([*lines, f"{ended}, {len(self.running)} running{others}{self._left()}"])

    def _ended(self) -> int:
        return self.done_before + sum(job.ended for job in self.begun)

    def _left(self) -> str:
        """The time left, judged by the epochs since the runner began."""
        # A fold that stops early has epochs that it does not need.
        done = sum(job.total if job.ended else job.epochs for job in self.begun)
        gained = done - sum(job.before for job in self.begun)
        if gained <= 0 or done >= self.total:
            return ""
        spent = time.monotonic() - self._started
        return f", about {display.clock((self.total - done) * spent / gained)} to go"


def _last_words(folder: Path) -> str:
    log = folder / LOG
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n") if log.exists() else []
    return next((line for line in reversed(lines) if line.strip()), "it printed nothing")
