"""Trainings by a command of somebody's own, in any framework, as trials of ours.

The command is given a job: a folder with ``job.json`` and arrays. It trains on the training classes and writes embeddings of
the images that it is asked for. The suite divides classes and folds, chooses, times, scores and records. The format of a job is
a contract, which docs/external.md states; ``FORMAT`` changes with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

import numpy as np

from ...base import files, outside, seeds
from ...base.errors import UserError
from ...parts.data import Dataset
from ..store import LAST, trained_weights
from . import models
from .outcome import Entry, Outcome
from .run import Measurement, Run, States, TrialUnit

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
        stored = [trained_weights.read(self.folder / name, self.record.id) for name in files]
        parts = [each.arrays["embeddings"] for each in stored]
        return models.join(self.trial, parts, [each.fold for each in stored])


class ExternalRun(Run):
    """A trial whose units are trained by a command. Instead of weights, which stay the command's, the embeddings of the test
    images are kept."""

    outcome = ExternalOutcome
    kept = staticmethod(lambda state: {"embeddings": state["tested"]})

    def _train_unit(
        self, unit: TrialUnit, earlier: Optional[np.ndarray], done: int, states: Optional[States]
    ) -> np.ndarray:
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
            self.record.cost["command_seconds"] = self.record.cost.get("command_seconds", 0.0) + job.seconds
            self.record.cost["peak_memory"] = max(self.record.cost.get("peak_memory", 0), job.peak)
        self.record.cost["images_declared"] = 1  # what a command says of itself, nobody has counted
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
        self.process: Optional[subprocess.Popen] = None
        self.seconds, self.peak, self.images = 0.0, 0, 0
        self.code: Optional[int] = None
        asked = [self.fold.monitor] if self.fold.monitor is self.test else [self.fold.monitor, self.test]
        self.asked: list[Dataset] = asked
        count = sum(len(each) for each in asked)
        # In an order that tells nothing of the classes, nor which images are for validation and which for test.
        self.order = seeds.generator(self.trial.seed, "external", unit.fold.number).permutation(count)

    def epochs(self, done: int) -> list[int]:
        """The epochs that are still to come, of those after which embeddings are asked for."""
        trial = self.trial
        wanted = {epoch for epoch in range(trial.epochs + 1) if epoch % trial.evaluation.every == 0} | {
            trial.epochs
        }
        self.wanted = sorted(wanted)
        left = [epoch for epoch in self.wanted if epoch > done]
        self._prepare()
        ready = [epoch for epoch in left if _parsed(self._file(epoch, "json")) is not None]
        self.begun_after = max([done, *ready])
        if self.begun_after < self.wanted[-1]:
            self._start(max(self.begun_after, 0) if self.begun_after >= 0 else None)
        return left

    # --- what it is given --------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        (self.folder / "work").mkdir(parents=True, exist_ok=True)
        train = self.fold.train
        for dataset in (train, *self.asked):
            if None in dataset.images.shape:
                raise UserError(
                    f"the images of {dataset.name} differ in size; a command needs a transform that makes them alike."
                )
        if not (self.folder / "job.json").exists():
            _write(self.folder / "train_images.npy", [train], np.arange(len(train)))
            np.save(self.folder / "train_labels.npy", train.labels.astype(np.int64))
            _write(self.folder / "images.npy", self.asked, self.order)

    def _start(self, done: Optional[int]) -> None:
        """Start the command; it goes on after epoch ``done`` if it has done any."""
        trial = self.trial
        steps = trial.iterations or max(1, len(self.fold.train) // trial.batch_size)
        self.budget = trial.epochs * steps * trial.accumulate * trial.batch_size
        settings = trial.mapping()
        content = {
            "format": FORMAT,
            "fold": self.fold.number,
            "seed": seeds.integer(trial.seed, "unit", self.fold.number) % 2**31,
            "classes": self.fold.train.num_classes,
            "train_images": str(self.folder / "train_images.npy"),
            "train_labels": str(self.folder / "train_labels.npy"),
            "images": str(self.folder / "images.npy"),
            "embed_dim": trial.embed_dim,
            "evaluate": self.wanted,
            "done": done,
            "budget": {"epochs": trial.epochs, "images": self.budget, "seconds": trial.trainer.seconds},
            "settings": {
                key: value for key, value in settings.items() if key not in ("trainer", "data", "parts")
            },
            "output": str(self.folder),
            "work": str(self.folder / "work"),
        }
        path = self.folder / "job.json"
        files.write_json(path, content)
        words = _words(trial, path, self.store)
        with self.log.open("ab") as log:
            try:
                self.process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    env={"OMP_NUM_THREADS": "1", **os.environ}, preexec_fn=_end_with_parent,
                )  # fmt: skip
            except OSError as problem:
                raise CommandFailed(f"{words[0]} cannot be started: {problem.strerror}") from None
        self.began = time.monotonic()

    # --- what it gives -----------------------------------------------------------------------------------------------

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
        images, loss = (
            (content.get("images"), content.get("loss")) if isinstance(content, dict) else (None, None)
        )
        if isinstance(images, bool) or not isinstance(images, int) or images < 0:
            raise self._failed(
                f"{path.name} does not say how many images the epoch took (a whole number: images)"
            )
        self.images += images
        if self.process is not None and self.images > self.budget:
            raise self._failed(
                f"the command declares {self.images:,} images, and the budget is {self.budget:,}"
            )
        if isinstance(loss, (int, float)) and not isinstance(loss, bool) and np.isfinite(loss):
            return {"images": images, "loss": float(loss)}
        return {"images": images}

    def _file(self, epoch: int, kind: str) -> Path:
        return self.folder / f"epoch-{epoch}.{kind}"

    def _failed(self, reason: str) -> CommandFailed:
        said = ""
        if self.log.is_file():
            said = self.log.read_bytes()[-LAST_WORDS:].decode(errors="replace").strip()
        return CommandFailed(f"{reason}.{f' Its log ends: {said}' if said else ''}")

    # --- its process -------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Note whether the process has ended, and what it has used."""
        if self.process is None or self.code is not None:
            return
        pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self._ended(status, used)

    def _ended(self, status: int, used: Any) -> None:
        assert self.process is not None
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
        if self.code is None:
            _, status, used = os.wait4(self.process.pid, 0)
            self._ended(status, used)


def _words(trial: Any, job: Path, store: Path) -> list[str]:
    """The command line. ``python`` is the Python of this process; a script is the one that the trial was made with."""
    scripts = {
        Path(source["file"]).name: source for source in trial.parts if source.get("role") == outside.COMMAND
    }
    words: list[str] = []
    for word in shlex.split(trial.trainer.command):
        if not words and word == "python":
            word = sys.executable
        elif Path(word).name in scripts and (word.endswith(".py") or "/" in word):
            word = str(outside.file_of(scripts[Path(word).name], store))
        words.append(word.replace("{job}", str(job)))
    return words


def _parsed(path: Path) -> Any:
    """What a file of JSON says; None as long as it is not there or not whole."""
    try:
        return json.loads(files.read_bytes(path))
    except (OSError, ValueError, RecursionError):
        return None


def _write(path: Path, datasets: Sequence[Dataset], order: np.ndarray) -> None:
    """Images of data sets one after another, in this order, a block at a time."""
    first = datasets[0].images
    shape = (len(order), *first.shape[1:])
    target = np.lib.format.open_memmap(path, "w+", first.dtype, shape)
    ends = np.cumsum([0, *(len(each) for each in datasets)])
    for place, row in enumerate(order):
        which = int(np.searchsorted(ends, row, side="right")) - 1
        target[place] = datasets[which].images[int(row - ends[which])]
    target.flush()


def _end_with_parent() -> None:
    """Linux ends this process when the one that started it dies."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
