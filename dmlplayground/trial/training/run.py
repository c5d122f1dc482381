"""The one loop. It trains every method, under every protocol, alone or as an ensemble, and can be killed at any moment.

A run is a sequence of units. A unit trains one learner, or several side by side on the same batches, for the trial's
epochs: an ordinary trial is one unit with one learner; an ensemble in sequence has a unit for each member; the folds
of a protocol follow each other. After every epoch the run writes a checkpoint, and continues from
there when it is started again. No random generator outlives an epoch, so a resumed run repeats the uninterrupted one
to the bit.
"""

from __future__ import annotations

import math
import os
import time
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, Optional

import mxnet as mx
import numpy as np
from mxnet import nd

from ...base import files, seeds
from ...base.errors import UserError
from ...parts import protocols, transforms
from ..config import Trial, criterion, units
from ..store import BEST, LAST, checkpoints, locks, records, snapshots, trained_weights
from ..store.records import Record
from ..store.stream import Stream
from . import TrialFailed, folds, health, models, untouched
from .feed import Feed
from .learner import Learner, weights_in
from .outcome import Outcome
from .progress import Progress

# Reading a loss makes the host wait. So losses are read several at a time, and never that of the step just queued; but
# often enough to notice Ctrl-C within a second or two, even if steps are slow.
READ_STEPS, READ_SECONDS, IN_FLIGHT = 10, 1.0, 2

States = list[dict[str, np.ndarray]]  # of each learner of a unit, and then of their feed


class Diverged(Exception):
    """The loss is not a finite number."""


class Unit(NamedTuple):
    number: int
    fold: folds.Fold
    members: range


class Run:
    """One trial in one folder, whose lock is held. Everything it writes there goes through ``held``, and stops if the
    lock is lost."""

    def __init__(
        self,
        trial: Trial,
        held: locks.Held,
        threads: int = 1,
        progress: Optional[Progress] = None,
        overlap: Optional[bool] = None,
    ):
        self.trial = trial
        self.held, self.folder = held, held.folder
        self.threads = threads
        self.progress = progress or Progress(quiet=True)
        self.protocol = protocols.create(**trial.protocol)
        self.tests = protocols.get(self.protocol.key).tests  # if not, nobody will want the weights
        self.criterion = criterion(trial.protocol, trial.evaluation)
        self.division = folds.divide(trial)
        self.units = _units(trial, self.division)
        self.transform = transforms.create(**trial.transform)
        self.contexts = models.devices(trial)
        # Scoring is the CPU's work: where a GPU trains, it can do so while the next epoch runs.
        overlap = self.contexts[0].device_type == "gpu" if overlap is None else overlap
        self.scorer = ThreadPoolExecutor(1, thread_name_prefix="scoring") if overlap else None
        self.scoring: Optional[Future] = None
        self.record = Record(
            id=trial.id,
            config=trial.mapping(),
            started=records.now(),
            versions=records.versions(),
            machine=records.machine(),
            data={
                "train": self.division.folds[0].train.describe(),
                "test": self.division.test.describe(),
                "weights": models.start(trial),
                **_classes(self.division, trial),
            },
        )
        # Embeddings of the fold's monitored images, by its members that are trained and by the unit's learners as they are.
        self.earlier_members: list[np.ndarray] = []
        self.embeddings: Optional[np.ndarray] = None
        # Of its training images, where they are measured too.
        self.training_embeddings: Optional[np.ndarray] = None
        self.chosen: dict[int, dict[str, Any]] = {}  # the best entry so far of each fold
        self.stream: Stream  # made when it is known where to go on
        self.loads: list[float] = []
        self._clock = time.monotonic()

    def execute(self) -> Record:
        """Train to the end, from the checkpoint if there is one. The record holds the outcome in any case."""
        try:
            number, epoch, states = self._resume()
            self._save("running")
            done = number * self.trial.epochs + epoch
            self.progress.begin(self.trial, len(self.units), done, self.held)
            start = untouched.entry(self.trial, self.division, self.contexts[0], self.threads)
            if start is not None and not done:
                self.progress.untouched(start)
            for unit in self.units[number:]:
                self._train_unit(unit, epoch, states)
                epoch, states = 0, None
            started = time.perf_counter()
            own = {} if start is None else {protocols.UNTOUCHED: start}
            self.record.results = {**own, **self._results()}
            self.record.cost["results_seconds"] = time.perf_counter() - started
            self._save("finished")
            (self.folder / checkpoints.FILE).unlink(missing_ok=True)
        except KeyboardInterrupt:
            self._wait_for_scoring()
            self._save("interrupted")
            raise
        except files.CannotWrite:
            raise  # not the trial's fault: it continues from its checkpoint once there is room
        except Exception as problem:
            self.record.error = traceback.format_exc()
            self._save("failed")
            raise TrialFailed(self.record, problem) from problem
        finally:
            if self.scorer is not None:
                self.scorer.shutdown()
            self.progress.end()
        return self.record

    # --- units and epochs --------------------------------------------------------------------------------------------

    def _train_unit(self, unit: Unit, done: int, states: Optional[States]) -> None:
        learners = [
            Learner(self.trial, unit.fold.train.num_classes, self.contexts, (unit.fold.number, member))
            for member in unit.members
        ]
        self.record.cost["parameters"] = sum(parameter.data().size for parameter in learners[0].learned())
        feed = self._feed(unit, learners)
        holders: list[Learner | Feed] = [*learners, feed]
        if states is not None:
            for holder, state in zip(holders, states):
                holder.load_state(state)
        elif unit.members.start == 0:
            self.earlier_members = []
            entry = {"fold": unit.fold.number, "member": 0, "epoch": 0}
            self._embed_now(unit, learners, entry)
            self._score(unit, entry)
            self._add(entry)
        self.embeddings = None
        for epoch in range(done + 1, self.trial.epochs + 1):
            if self._out_of_patience(unit):
                break
            entry = {"fold": unit.fold.number, "member": unit.members.start, "epoch": epoch}
            entry.update(self._train_epoch(unit, epoch, learners, feed))
            self._wait_for_scoring()
            self.embeddings = None
            if epoch % self.trial.evaluation.every == 0 or epoch == self.trial.epochs:
                self._embed_now(unit, learners, entry)
            self._conclude(unit, entry, [holder.state() for holder in holders])
        self._wait_for_scoring()
        if self.tests or len(self.units) > len(
            self.division.folds
        ):  # the next member is measured beside this one
            self._keep(unit, [learner.state() for learner in learners], LAST)
        self.earlier_members.append(
            self._embed(unit, learners) if self.embeddings is None else self.embeddings
        )

    def _feed(self, unit: Unit, learners: list[Learner]) -> Feed:
        # Each fold and member draws its own batches.
        seed = seeds.integer(self.trial.seed, "unit", unit.number)
        return Feed(self.trial, unit.fold.train, learners, self.transform, seed=seed, threads=self.threads)

    def _train_epoch(self, unit: Unit, epoch: int, learners: list[Learner], feed: Feed) -> dict[str, Any]:
        """Run all steps of an epoch; returns their figures."""
        started, worked = time.perf_counter(), time.process_time()
        mx.random.seed(seeds.integer(self.trial.seed, "training", unit.number, epoch))
        for learner in learners:
            learner.begin_epoch(epoch, feed.steps(epoch))
        rate = self.trial.optimizer["lr"] * learners[0].scale  # of the first step
        losses, images = Losses(epoch), 0
        for batches in feed.batches(epoch):
            images += sum(len(labels) for _, labels in batches)
            steps = [learner.step(batches) for learner in learners]
            feed.seen(steps)
            if losses.add([step.loss for step in steps]):
                self.progress.step(len(losses.read), feed.steps(epoch), losses.read[-1])
        losses.finish()
        self._note_load()
        figures = health.figures(learners[0], steps[0].embeddings[-1], steps[0].labels[-1])
        if health.collapsed(figures):
            self.progress.warn(health.COLLAPSED.format(epoch=epoch, **figures))
        return {
            "loss": float(np.mean(losses.read)),
            "learning_rate": rate,
            "steps": len(losses.read),
            "images": images,
            "seconds": time.perf_counter() - started,
            "processor_seconds": time.process_time() - worked,  # the same on a machine that others use too
            "health": figures,
        }

    def _note_load(self) -> None:
        """The mean load of the machine over the epochs of this sitting, where the system tells it."""
        if hasattr(os, "getloadavg"):
            self.loads.append(os.getloadavg()[0])
            self.record.cost["load"] = sum(self.loads) / len(self.loads)

    # --- measuring and choosing --------------------------------------------------------------------------------------

    def _embed(self, unit: Unit, learners: list[Learner]) -> np.ndarray:
        return models.embed(learners, unit.fold.monitor, self.transform, self.threads)

    def _embed_now(self, unit: Unit, learners: list[Learner], entry: dict[str, Any]) -> None:
        started = time.perf_counter()
        self.embeddings = self._embed(unit, learners)
        self.training_embeddings = None
        chosen, epoch = self.trial.evaluation, entry["epoch"]
        if chosen.training_metrics and (epoch % chosen.training_every == 0 or epoch == self.trial.epochs):
            self.training_embeddings = models.embed(learners, unit.fold.train, self.transform, self.threads)
        entry["evaluation_seconds"] = time.perf_counter() - started

    def _score(self, unit: Unit, entry: dict[str, Any]) -> None:
        started = time.perf_counter()
        embeddings = np.concatenate([*self.earlier_members, self.embeddings], axis=1)
        entry["measured_on"] = unit.fold.measured_on
        entry.update(models.score(self.trial, embeddings, unit.fold.monitor))
        if self.training_embeddings is not None:
            entry["training"] = models.score_training(self.trial, self.training_embeddings, unit.fold.train)
        entry["evaluation_seconds"] += time.perf_counter() - started

    def _conclude(self, unit: Unit, entry: dict[str, Any], states: States) -> None:
        """The rest of an epoch's work once its states are copied; it can run beside the next epoch's training."""

        def conclude() -> None:
            if self.embeddings is not None:
                self._score(unit, entry)
            self._add(entry)
            self._choose(unit, states, entry)
            self._checkpoint(unit, entry["epoch"], states)

        if self.scorer is None:
            conclude()
        else:
            self.scoring = self.scorer.submit(conclude)

    def _wait_for_scoring(self) -> None:
        """Wait until the previous epoch is finished, and raise any error of it."""
        if self.scoring is not None:
            self.scoring.result()
            self.scoring = None

    def _choose(self, unit: Unit, states: States, entry: dict[str, Any]) -> None:
        """Keep the weights if this epoch is the fold's best so far (the first of equals)."""
        if "metrics" not in entry:
            return
        by = self.criterion.key
        best = self.chosen.get(unit.fold.number)
        if best is None or self.criterion.better(entry["metrics"][by], best["metrics"][by]):
            files = []
            if self.tests:
                self._keep(unit, states, BEST)
                these = [trained_weights.name(unit.fold.number, member, BEST) for member in unit.members]
                files = _earlier(unit) + these
            self.chosen[unit.fold.number] = {**entry, "weights": files}

    def _out_of_patience(self, unit: Unit) -> bool:
        """Whether the protocol ends the training of this unit."""
        if self.protocol.patience is None:
            return False
        self._wait_for_scoring()
        evaluated = [
            (entry["epoch"], entry["metrics"][self.criterion.key])
            for entry in self.record.epochs
            if (entry["fold"], entry["member"]) == (unit.fold.number, unit.members.start)
            and "metrics" in entry
        ]
        return self.protocol.stops(evaluated, self.trial.evaluation.every, self.criterion.higher_is_better)

    def _results(self) -> dict[str, Any]:
        outcome = self._outcome()
        results = self.protocol.results(outcome)
        if not self.tests:
            return results
        if self.division.folds[0].measured_on == "test":  # then there is nothing new to embed
            self._snapshots(np.concatenate(self.earlier_members, axis=1))
        else:
            leading = protocols.get(self.protocol.key).leading
            self._snapshots(outcome.embeddings(results[leading]["weights"]))
        return results

    def _outcome(self) -> Outcome:
        return Outcome(
            self.record, self.trial, self.folder, self.division, self.chosen, self.contexts, self.threads
        )

    # --- keeping -----------------------------------------------------------------------------------------------------

    def _add(self, entry: dict[str, Any]) -> None:
        self.held.check()
        self.record.epochs.append(entry)
        self.stream.add(entry)
        self.progress.epoch(entry)

    def _keep(self, unit: Unit, states: States, which: str) -> None:
        for member, state in zip(unit.members, states):  # the feed's, at the end, is no member's
            content = trained_weights.Weights(
                self.record.id,
                self.record.config,
                unit.fold.train.num_classes,
                unit.fold.number,
                weights_in(state),
            )
            with self.held.writing() as through:
                trained_weights.write(
                    self.folder / trained_weights.name(unit.fold.number, member, which), content, through
                )

    def _snapshots(self, embeddings: np.ndarray) -> None:
        if self.division.test.images.ndim == 2:
            return  # there are no pictures of features
        evaluation = self.trial.evaluation
        content = snapshots.collect(embeddings, self.division.test, evaluation.distance, tsne=evaluation.tsne)
        with self.held.writing() as through:
            snapshots.save(self.folder, self.record.id, content, through)

    def _save(self, status: str) -> None:
        now = time.monotonic()
        self.record.seconds += now - self._clock
        self._clock = now
        self.record.status = status
        with self.held.writing() as through:
            self.record.save(self.folder, through)

    def _checkpoint(self, unit: Unit, epoch: int, states: States) -> None:
        header = {
            "unit": unit.number,
            "epoch": epoch,
            "epochs": self.record.epochs,
            "chosen": [[fold, entry] for fold, entry in self.chosen.items()],
            "started": self.record.started,
            "seconds": self.record.seconds + time.monotonic() - self._clock,
        }
        arrays = {f"{i}/{name}": array for i, state in enumerate(states) for name, array in state.items()}
        with self.held.writing() as through:
            checkpoints.write(self.folder, self.record.id, checkpoints.Checkpoint(header, arrays), through)

    # --- continuing ----------------------------------------------------------------------------------------------------

    def _resume(self) -> tuple[int, int, Optional[States]]:
        """Where to continue: the unit, the number of its finished epochs, and its learners' states."""
        position: tuple[int, int, Optional[States]] = (0, 0, None)
        if (self.folder / checkpoints.FILE).exists():
            try:
                position = self._go_on(checkpoints.read(self.folder, self.record.id))
            except UserError as problem:
                aside = checkpoints.set_aside(self.folder)
                self.progress.warn(f"{problem} The trial starts over; that file is now {aside.name}.")
        with self.held.writing() as through:
            files.write_json(self.folder / records.TRIAL, self.record.config, through)
            self.stream = Stream(self.folder, self.record.epochs, through)
        return position

    def _go_on(self, checkpoint: checkpoints.Checkpoint) -> tuple[int, int, Optional[States]]:
        """Restore the state of the checkpoint; a UserError if it, or a file of weights that it needs, is damaged."""
        header = checkpoint.header
        unit = self.units[header["unit"]]
        chosen = dict(header["chosen"])
        for name in {name for entry in chosen.values() for name in entry["weights"]}:
            trained_weights.read(self.folder / name, self.record.id)
        learners = (models.load(self.folder / name, self.contexts, self.record.id) for name in _earlier(unit))
        self.earlier_members = [self._embed(unit, [learner]) for learner in learners]
        states: States = [{} for _ in range(len(unit.members) + 1)]
        for key, array in checkpoint.arrays.items():
            index, _, name = key.partition("/")
            states[int(index)][name] = array
        self.chosen, self.record.epochs = chosen, header["epochs"]
        self.record.started, self.record.seconds = header["started"], header["seconds"]
        return unit.number, header["epoch"], states


def _classes(division: folds.Division, trial: Trial) -> dict[str, list[str]]:
    """The names of the test classes, if the configuration divides the classes; published sets come divided."""
    return {"test_classes": list(division.test.class_names)} if "seed" in trial.data else {}


def _earlier(unit: Unit) -> list[str]:
    """The files of the members of the unit's fold that are trained already."""
    return [trained_weights.name(unit.fold.number, member, LAST) for member in range(unit.members.start)]


def _units(trial: Trial, division: folds.Division) -> list[Unit]:
    return [Unit(number, division.folds[unit.fold], unit.members) for number, unit in enumerate(units(trial))]


class Losses:
    """The losses of an epoch's steps. They stay on the device until several can be read together."""

    def __init__(self, epoch: int):
        self.epoch = epoch
        self.read: list[float] = []
        self._waiting: list = []
        self._batch = 1
        self._last = time.perf_counter()

    def add(self, losses: list) -> bool:
        """Queue the losses of a step. Returns whether some were read from the device."""
        self._waiting.append(losses[0] if len(losses) == 1 else nd.add_n(*losses) / len(losses))
        if len(self._waiting) < self._batch + IN_FLIGHT:
            return False
        self._read(self._batch)
        now = time.perf_counter()
        self._batch = int(np.clip(READ_SECONDS * self._batch / max(now - self._last, 1e-9), 1, READ_STEPS))
        self._last = now
        return True

    def finish(self) -> None:
        if self._waiting:
            self._read(len(self._waiting))

    def _read(self, count: int) -> None:
        values = nd.concat(*self._waiting[:count], dim=0).asnumpy().tolist()
        del self._waiting[:count]
        for value in values:
            self.read.append(value)
            if not math.isfinite(value):
                raise Diverged(
                    f"the loss is {value} at step {len(self.read)} of epoch {self.epoch}; a smaller learning rate may help"
                )
