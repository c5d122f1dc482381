"""Runs trials on this machine: a process each, so many at a time, until none is left.

A process a trial keeps a crash, a leak or an exhausted memory to the one trial, and one thread each is much faster than
several when the machine is full. The runner learns of progress from the files that a trial writes anyway.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from .. import files, records
from ..config import Trial
from ..data import load as load_data
from ..records import Record
from .grid import Experiment

EXPERIMENT, TRIAL, LOG = "experiment.json", "trial.json", "log.txt"
POLL = 0.25  # seconds between looks at the running trials
PATIENCE = 20  # seconds a trial gets to stop in


@dataclass
class Job:
    """A trial on its way."""

    trial: Trial
    folder: Path
    process: subprocess.Popen | None = None
    epochs: int = 0
    size: int = field(default=-1, repr=False)

    @property
    def total(self) -> int:
        folds = self.trial.protocol.folds if self.trial.protocol.name == "validated" else 1
        members = self.trial.ensemble.members if self.trial.ensemble.order == "sequential" else 1
        return self.trial.epochs * folds * members

    def count_epochs(self) -> int:
        """How many epochs have been added since the last look."""
        stream = self.folder / records.EPOCHS
        size = stream.stat().st_size if stream.exists() else -1
        if size == self.size:
            return 0
        self.size, before = size, self.epochs
        lines = stream.read_text(encoding="utf-8").splitlines()
        self.epochs = max(0, sum('"epoch": 0,' not in line for line in lines))
        return self.epochs - before


def plan(store: Path, experiment: Experiment, file: Path, trials: Sequence[Trial]) -> None:
    """State in the store what the sweep is to hold, so that a report can name what is missing."""
    content = {
        "title": experiment.title,
        "about": experiment.about,
        "file": file.name,
        "trials": [{"id": trial.id, "config": trial.mapping()} for trial in trials],
    }
    files.write_json(store / EXPERIMENT, content)


def run(store: Path, trials: Sequence[Trial], *, workers: int = 1, retry_failed: bool = False, quiet: bool = False) -> None:
    """Run what is left of ``trials``; returns when every one has ended, raises KeyboardInterrupt when stopped."""
    jobs = [Job(trial, store / trial.id) for trial in trials]
    left = [job for job in jobs if not _ended(job.folder, retry_failed)]
    _render_data(left)
    running: list[Job] = []
    with tqdm(total=sum(job.total for job in jobs), unit="epoch", disable=quiet, dynamic_ncols=True, smoothing=0) as bar:
        bar.update(sum(job.total for job in jobs if job not in left))
        bar.initial = bar.n  # the time to go is judged by what this run does
        try:
            while left or running:
                while left and len(running) < workers:
                    running.append(_start(left.pop(0), store))
                time.sleep(POLL)
                for job in list(running):
                    bar.update(job.count_epochs())
                    if job.process.poll() is not None:
                        running.remove(job)
                        _finish(job, bar)
                bar.set_postfix_str(", ".join(job.trial.method["name"] for job in running))
        except BaseException:
            _stop(running)
            raise


def _ended(folder: Path, retry_failed: bool) -> bool:
    record = records.find(folder)
    return record is not None and (record.status == "finished" or (record.status == "failed" and not retry_failed))


def _render_data(jobs: Sequence[Job]) -> None:
    """Load every data set once before the workers do, so that a missing one is known now and a cache is built once."""
    for name, options in {str(job.trial.data): job.trial.data for job in jobs}.items():
        options = dict(options)
        name = options.pop("name")
        for split in ("train", "test"):
            load_data(name, split=split, **options)


def _start(job: Job, store: Path) -> Job:
    files.write_json(job.folder / TRIAL, job.trial.mapping())
    command = [sys.executable, "-m", "dmlplayground", "train", str(job.folder / TRIAL), "--store", str(store), "--quiet"]
    environment = {"OMP_NUM_THREADS": "1", **os.environ}
    with open(job.folder / LOG, "ab") as log:
        # In a session of its own: Ctrl-C reaches the runner alone, which stops the trials one by one.
        job.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
        )
    job.count_epochs()
    return job


def _finish(job: Job, bar: tqdm) -> None:
    bar.update(job.count_epochs())
    record = records.find(job.folder)
    if record is None or record.status == "running":
        record = _died(job, record)
    if record.status == "finished":
        best = record.results.get("best") or record.results["joined"]
        bar.write(f"{record.id}: R@1 {100 * best['metrics']['R@1']:.2f} in {record.seconds:.0f} s")
        bar.update(job.total - job.epochs)  # a fold that stopped early has epochs it did not need
    else:
        reason = (record.error or record.status).strip().splitlines()[-1]
        bar.write(f"{record.id}: {record.status}: {reason}")


def _died(job: Job, record: Record | None) -> Record:
    """The record of a trial whose process ended without a word."""
    code = job.process.returncode
    how = f"was ended by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"ended with code {code}"
    hint = "; the machine may have run out of memory" if code == -signal.SIGKILL else ""
    record = record or Record(id=job.trial.id, config=job.trial.mapping(), started=records.now())
    record.status = "failed"
    record.error = f"the trial's process {how}{hint}; its output is in {LOG}"
    record.save(job.folder)
    return record


def _stop(running: Sequence[Job]) -> None:
    """End the running trials, each of which keeps what it has done up to its last whole epoch."""
    for job in running:
        job.process.send_signal(signal.SIGINT)
    deadline = time.monotonic() + PATIENCE
    for job in running:
        try:
            job.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            job.process.kill()


def tally(store: Path, trials: Sequence[Trial]) -> Counter:
    """How many of the trials have which status."""
    found = [records.find(store / trial.id) for trial in trials]
    return Counter(record.status if record else "not started" for record in found)
