"""Trainings by a command of somebody's own, in any framework, as trials of ours.

The command is given a job: a folder with ``job.json`` and arrays. It trains on the training classes and writes embeddings of
the images that it is asked for. The suite divides classes and folds, chooses, times, scores and records. The format of a job is
a contract, which docs/external.md states; ``FORMAT`` changes with it.
"""

import contextlib
import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...base import files, outside, seeds
from ...base.errors import UserError
from ...parts.data import Dataset
from ..config.building import script
from ..store import LAST, checks, trained_weights
from . import models
from .run import Earlier, Measurement, Run, States, TrialUnit
from .scoring import Entry, Outcome

FORMAT = 1
LOG = "command.log"
START = "first"  # of the fold's embeddings before any training
POLL, PATIENCE = 0.05, 10.0  # seconds between looks, and until a command that was asked to stop is killed
MOST = 2**31  # bytes of a file that the command writes
LAST_WORDS = 2000  # characters of the log that a failure repeats


class CommandFailed(Exception):
    """The command did not do what the job asks for; the message says what."""


class ExternalOutcome(Outcome):
    def untrained(self) -> Entry:
        return {"epoch": 0, **self._scored(self.embeddings([trained_weights.name(0, 0, START)]))}

    def embeddings(self, files: Sequence[str]) -> np.ndarray:
        stored = [trained_weights.read(self.run.folder / name, self.trial.id) for name in files]
        parts = [each.arrays["embeddings"] for each in stored]
        return models.join(self.trial, parts, [each.fold for each in stored])


class ExternalRun(Run):
    """A trial that a command trains. In place of weights, which stay the command's, embeddings of the test images are kept."""

    outcome = ExternalOutcome
    kept = staticmethod(lambda state: {"embeddings": state["tested"]})

    def _train_unit(self, unit: TrialUnit, earlier: Earlier, done: int, states: States | None) -> np.ndarray:
        job = CommandJob(self, unit)
        began = time.perf_counter()
        try:
            for epoch in job.epochs(-1 if states is None else done):
                embeddings, said = job.wait_for(epoch, self.held.check)
                monitored, tested = job.divided(embeddings)
                measured, states = Measurement(monitored, None, 0.0), [{"tested": tested}]
                entry = {"fold": unit.fold.number, "member": 0, "epoch": epoch, "evaluation_seconds": 0.0}
                if epoch:
                    entry.update(said, seconds=time.perf_counter() - began)
                    self._conclude(unit, entry, measured, states)
                    self._wait_for_scoring()
                else:
                    self._score(unit, entry, measured)
                    self._keep(unit, states, START)
                    self._add(entry)
                began = time.perf_counter()
                if epoch and self._out_of_patience(unit):
                    job.stop()
                    break
            job.wait_for_end()
        finally:
            job.stop()
            cost = self.record.cost
            cost["command_seconds"] = cost.get("command_seconds", 0.0) + job.seconds
            cost["peak_memory"] = max(cost.get("peak_memory", 0), job.peak)
        cost["images_declared"] = 1  # what a command says of itself, nobody has counted
        assert states is not None  # the last epoch is evaluated
        self._keep(unit, states, LAST)
        shutil.rmtree(job.folder, ignore_errors=True)
        return states[0]["tested"]


class CommandJob:
    """The training of one fold: its folder, its process and what it writes."""

    def __init__(self, run: Run, unit: TrialUnit):
        self.trial, self.fold = run.trial, unit.fold
        self.folder = run.folder / f"job-fold{unit.fold.number}"
        self.store, self.log = run.folder.parent, run.folder / LOG
        self.test = run.division.test
        self.process: subprocess.Popen | None = None
        self.code: int | None = None
        self.seconds, self.peak, self.images = 0.0, 0, 0
        validated = self.fold.monitor is not self.test
        self.asked: list[Dataset] = [self.fold.monitor, self.test] if validated else [self.test]
        count = sum(map(len, self.asked))
        # In an order that tells nothing of the classes, nor which images are for validation and which for test.
        self.order = seeds.generator(self.trial.seed, "external", unit.fold.number).permutation(count)

    def epochs(self, done: int) -> list[int]:
        """The epochs that are still to come, of those after which embeddings are asked for."""
        last = self.trial.epochs
        self.wanted = sorted({*range(0, last + 1, self.trial.evaluation.every), last})
        left = [epoch for epoch in self.wanted if epoch > done]
        self._prepare()
        ready = [epoch for epoch in left if _parsed(self._file(epoch, "json")) is not None]
        begun_after = max([done, *ready])
        if begun_after < last:
            self._start(begun_after if begun_after >= 0 else None)
        return left

    def _prepare(self) -> None:
        (self.folder / "work").mkdir(parents=True, exist_ok=True)
        train, advice = self.fold.train, "a command needs a transform that makes them alike"
        for dataset in (train, *self.asked):
            if None in dataset.images.shape:
                raise UserError(f"the images of {dataset.name} differ in size; {advice}.")
        if not (self.folder / "job.json").exists():
            _write(self.folder / "train_images.npy", [train], np.arange(len(train)))
            np.save(self.folder / "train_labels.npy", train.labels.astype(np.int64))
            _write(self.folder / "images.npy", self.asked, self.order)

    def _start(self, done: int | None) -> None:
        """Start the command; it goes on after epoch ``done`` if it has done any."""
        trial = self.trial
        steps = trial.iterations or max(1, len(self.fold.train) // trial.batch_size)
        self.budget = trial.epochs * steps * trial.accumulate * trial.batch_size
        apart = ("trainer", "data", "parts")
        content = {
            "format": FORMAT,
            "fold": self.fold.number,
            "seed": seeds.integer(trial.seed, "unit", self.fold.number) % 2**31,
            "classes": self.fold.train.num_classes,
            **{name: str(self.folder / f"{name}.npy") for name in ("train_images", "train_labels", "images")},
            "embed_dim": trial.embed_dim,
            "evaluate": self.wanted,
            "done": done,
            "budget": {"epochs": trial.epochs, "images": self.budget, "seconds": trial.trainer.seconds},
            "settings": {key: value for key, value in trial.mapping().items() if key not in apart},
            "output": str(self.folder),
            "work": str(self.folder / "work"),
        }
        files.write_json(self.folder / "job.json", content)
        words = _words(trial, self.folder / "job.json", self.store)
        with self.log.open("ab") as log:
            try:
                self.process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    env={"OMP_NUM_THREADS": "1", **os.environ}, preexec_fn=_end_with_parent,
                )  # fmt: skip
            except OSError as problem:
                raise CommandFailed(f"{words[0]} cannot be started: {problem.strerror}") from None
        self.began = time.monotonic()

    def wait_for(self, epoch: int, listen: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """The embeddings after an epoch, in the order of ``images``, and what the command says of the epoch."""
        path = self._file(epoch, "json")
        while (content := _parsed(path)) is None:
            self._look()
            if self.code is not None and (content := _parsed(path)) is None:
                raise self._failed(f"the command ended with code {self.code} before {path.name} was there")
            if self.process is not None and time.monotonic() - self.began > self.trial.trainer.seconds:
                raise self._failed(f"the command took longer than {self.trial.trainer.seconds:g} seconds")
            listen()
            time.sleep(POLL)
        return self._embeddings(epoch), self._said(path, content)

    def divided(self, embeddings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the images that are watched, and those of the test images."""
        rows = np.empty_like(embeddings)
        rows[self.order] = embeddings
        return rows[: len(self.fold.monitor)], rows[-len(self.test) :]

    def _embeddings(self, epoch: int) -> np.ndarray:
        path, shape = self._file(epoch, "npy"), (len(self.order), self.trial.embed_dim)
        try:
            if path.stat().st_size > MOST:
                raise self._failed(f"{path.name} is larger than {MOST >> 20:,} MB")
            found = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as problem:
            raise self._failed(f"{path.name} is not an array of numbers: {problem}") from None
        if not isinstance(found, np.ndarray) or found.dtype.kind != "f" or found.shape != shape:
            what = f"{found.dtype} {found.shape}" if isinstance(found, np.ndarray) else "several arrays"
            raise self._failed(
                f"{path.name} holds {what}, and should hold numbers {shape}: a row for each image asked for"
            )
        found = found.astype(np.float32)
        if not np.isfinite(found).all():
            raise self._failed(f"{path.name} holds numbers that are not finite")
        return found

    def _said(self, path: Path, content: Any) -> dict[str, Any]:
        """How many images the command has trained on in this epoch, and its loss, as it declares them."""
        said: Any = content if isinstance(content, dict) else {}
        images, loss = said.get("images"), said.get("loss")
        if not checks.is_count(images):
            reason = "does not say how many images the epoch took (a whole number: images)"
            raise self._failed(f"{path.name} {reason}")
        self.images += images
        if self.process is not None and self.images > self.budget:
            declared = f"the command declares {self.images:,} images"
            raise self._failed(f"{declared}, and the budget is {self.budget:,}")
        return {"images": images, **({"loss": float(loss)} if checks.is_number(loss) else {})}

    def _file(self, epoch: int, kind: str) -> Path:
        return self.folder / f"epoch-{epoch}.{kind}"

    def _failed(self, reason: str) -> CommandFailed:
        log = self.log.read_bytes() if self.log.is_file() else b""
        said = log[-LAST_WORDS:].decode(errors="replace").strip()
        return CommandFailed(f"{reason}. Its log ends: {said}" if said else f"{reason}.")

    def _look(self, wait: int = os.WNOHANG) -> None:
        """Note whether the process has ended, and what it has used."""
        if self.process is None or self.code is not None:
            return
        pid, status, used = os.wait4(self.process.pid, wait)
        if pid:
            self.code = self.process.returncode = os.waitstatus_to_exitcode(status)
            self.seconds, self.peak = time.monotonic() - self.began, used.ru_maxrss * 1024

    def wait_for_end(self) -> None:
        """Give the process the time to end by itself."""
        deadline = time.monotonic() + PATIENCE
        while self.process is not None and self.code is None and time.monotonic() < deadline:
            self._look()
            time.sleep(POLL)

    def stop(self) -> None:
        """End the process and what it has started."""
        if self.process is None:
            return
        if self.code is None:
            _signal(self.process.pid, signal.SIGTERM)
            self.wait_for_end()
        _signal(self.process.pid, signal.SIGKILL)  # also what it has started and left
        self._look(wait=0)


def _words(trial: Any, job: Path, store: Path) -> list[str]:
    """The command line. ``python`` is the Python of this process; a script is the one that the trial was made with."""
    scripts = [source for source in trial.parts if source.get("role") == outside.COMMAND]
    words: list[str] = []
    for word in shlex.split(trial.trainer.command):
        if not words and word == "python":
            word = sys.executable
        elif source := script(word, scripts):
            word = str(outside.file_of(source, store))
        words.append(word.replace("{job}", str(job)))
    return words


def _parsed(path: Path) -> Any:
    """What a file of JSON says; None as long as it is not there or not whole."""
    with contextlib.suppress(UserError):
        return files.read_json(path)
    return None


def _write(path: Path, datasets: Sequence[Dataset], order: np.ndarray) -> None:
    """Images of data sets one after another, in this order, one at a time."""
    first = datasets[0].images
    target = np.lib.format.open_memmap(path, "w+", first.dtype, (len(order), *first.shape[1:]))
    rows = [(dataset.images, row) for dataset in datasets for row in range(len(dataset))]
    for place, number in enumerate(order):
        images, row = rows[number]
        target[place] = images[row]
    target.flush()


def _end_with_parent() -> None:
    """Linux ends this process when the one that started it dies."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
