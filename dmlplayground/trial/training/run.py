"""The one loop. It trains every method, under every protocol, alone or as an ensemble, and can be killed at any moment.

A run is a sequence of units. A unit trains one learner, or several side by side on the same batches, for the trial's epochs:
an ordinary trial is one unit with one learner; an ensemble in sequence has a unit for each member; the folds of a protocol
follow each other. After every epoch the run writes a checkpoint, and continues from there when it is started again. No random
generator outlives an epoch, so a resumed run repeats the uninterrupted one to the bit.
"""

import math
import os
import time
import traceback
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import mxnet as mx
import numpy as np
from mxnet import nd

from ...base import array_files, files, seeds
from ...base.errors import UserError
from ...parts import protocols
from ..config import Trial, criterion, units
from ..store import BEST, CHECKPOINT, LAST, locks, records, snapshots, stream, trained_weights
from ..store.records import Record
from . import TrialFailed, folds, models
from .feed import Feed
from .learner import Learner, weights_in
from .progress import Progress
from .scoring import Entry, Outcome, untouched

# Reading a loss makes the host wait. So losses are read several at a time, and never that of the step just queued; but
# often enough to notice Ctrl-C within a second or two, even if steps are slow.
READ_STEPS, READ_SECONDS, IN_FLIGHT = 10, 1.0, 2
DAMAGED = "checkpoint.npz.damaged"  # an unusable checkpoint, out of the way
COLLAPSE = 1e-3  # embeddings closer than this fraction of their length count as one point

Earlier = np.ndarray | None  # what the trained members of a unit's fold give of its monitored images
States = list[dict[str, np.ndarray]]  # of each learner of a unit, and then of their feed


class Diverged(Exception):
    """The loss is not a finite number."""


class TrialUnit(NamedTuple):
    """A unit of this trial, with its place among the others."""

    number: int
    fold: folds.Fold
    members: range


class Measurement(NamedTuple):
    """The embeddings that an epoch is scored by: of the fold's monitored images, by all of its members that are trained so
    far side by side; and of its training images, where these are measured too."""

    monitored: np.ndarray
    training: np.ndarray | None
    seconds: float  # that they took


class Position(NamedTuple):
    """How far a trial is."""

    unit: int = 0
    epoch: int = 0
    states: States | None = None
    earlier: Earlier = None


class Run:
    """One trial in one folder, whose lock is held. All that it writes there goes through ``held``, until the lock is lost."""

    kept = staticmethod(weights_in)  # what of a learner's state is kept
    outcome = Outcome

    def __init__(
        self, trial: Trial, held: locks.Held, threads: int, progress: Progress, overlap: bool | None = None
    ):
        self.trial = trial
        self.held, self.folder = held, held.folder
        self.threads = threads
        self.progress = progress
        self.division = folds.divide(trial)
        self.protocol, self.transform = self.division.protocol, self.division.transform
        self.facts = protocols.get(self.protocol.key)
        self.criterion = criterion(self.protocol, trial.evaluation)
        self.units = [
            TrialUnit(number, self.division.folds[unit.fold], unit.members)
            for number, unit in enumerate(units(trial, self.protocol))
        ]
        self.contexts = models.devices(trial)
        # Scoring is the CPU's work: where a GPU trains, it can do so while the next epoch runs.
        overlap = self.contexts[0].device_type == "gpu" if overlap is None else overlap
        self.scorer = ThreadPoolExecutor(1, thread_name_prefix="scoring") if overlap else None
        self.scoring: Future | None = None
        train, test = self.division.folds[0].train, self.division.test
        self.record = Record(trial.id, trial.mapping(), started=records.now())
        self.record.versions, self.record.machine = records.versions(), records.machine()
        self.record.data = {"train": train.describe(), "test": test.describe()}
        self.record.data["weights"] = models.start(trial)
        if "seed" in trial.data:  # published sets come divided; here the configuration divides the classes
            self.record.data["test_classes"] = list(test.class_names)
        self.chosen: dict[int, Entry] = {}  # the best entry so far of each fold
        self.stream: stream.Growing  # made when it is known where to go on
        self.loads: list[float] = []
        self._clock = time.monotonic()

    def execute(self) -> Record:
        """Train to the end, from the checkpoint if there is one. The record holds the outcome in any case."""
        try:
            position = self._resume()
            self._save("running")
            done = position.unit * self.trial.epochs + position.epoch
            self.progress.begin(self.trial, len(self.units), done, self.held)
            start = untouched(self.trial, self.division, self.contexts[0], self.threads)
            if start is not None and not done:
                self.progress.untouched(start)
            embeddings = position.earlier
            for unit in self.units[position.unit :]:
                embeddings = self._train_unit(unit, embeddings, position.epoch, position.states)
                position = Position()
            assert embeddings is not None  # every trial has a unit
            started = time.perf_counter()
            own = {} if start is None else {protocols.UNTOUCHED: start}
            self.record.results = {**own, **self._results(embeddings)}
            self.record.cost["results_seconds"] = time.perf_counter() - started
            self._save("finished")
            (self.folder / CHECKPOINT).unlink(missing_ok=True)
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

    def _train_unit(self, unit: TrialUnit, earlier: Earlier, done: int, states: States | None) -> np.ndarray:
        """Train a unit that has ``done`` epochs. ``earlier`` are the embeddings that the trained members of its fold give of
        the monitored images; they are returned with its own beside them."""
        learners = [
            Learner(self.trial, unit.fold.train.num_classes, self.contexts, (unit.fold.number, member))
            for member in unit.members
        ]
        self.record.cost["parameters"] = sum(parameter.data().size for parameter in learners[0].learned())
        # Each fold and member draws its own batches.
        seed = seeds.integer(self.trial.seed, "unit", unit.number)
        feed = Feed(self.trial, unit.fold.train, learners, self.transform, seed=seed, threads=self.threads)
        holders: list[Learner | Feed] = [*learners, feed]
        measured = None
        if unit.members.start == 0:
            earlier = None
        if states is not None:
            for holder, state in zip(holders, states):
                holder.load_state(state)
        elif unit.members.start == 0:
            entry = {"fold": unit.fold.number, "member": 0, "epoch": 0}
            measured = self._measure(unit, learners, 0, earlier)
            self._score(unit, entry, measured)
            self._add(entry)
        for epoch in range(done + 1, self.trial.epochs + 1):
            if self._out_of_patience(unit):
                break
            entry = {"fold": unit.fold.number, "member": unit.members.start, "epoch": epoch}
            entry.update(self._train_epoch(unit, epoch, learners, feed))
            self._wait_for_scoring()
            evaluated = epoch % self.trial.evaluation.every == 0 or epoch == self.trial.epochs
            measured = self._measure(unit, learners, epoch, earlier) if evaluated else None
            self._conclude(unit, entry, measured, [holder.state() for holder in holders])
        self._wait_for_scoring()
        next_to_others = len(self.units) > len(self.division.folds)  # it is measured beside the next member
        if self.facts.tests or next_to_others:
            self._keep(unit, [learner.state() for learner in learners], LAST)
        return self._embed(unit, learners, earlier) if measured is None else measured.monitored

    def _train_epoch(self, unit: TrialUnit, epoch: int, learners: list[Learner], feed: Feed) -> Entry:
        """Run all steps of an epoch; returns their figures."""
        started, worked = time.perf_counter(), time.process_time()
        mx.random.seed(seeds.integer(self.trial.seed, "training", unit.number, epoch))
        count = feed.steps(epoch)
        for learner in learners:
            learner.begin_epoch(epoch, count)
        rate = self.trial.optimizer["lr"] * learners[0].scale  # of the first step
        losses, images = Losses(epoch), 0
        for batches in feed.batches(epoch):
            images += sum(len(labels) for _, labels in batches)
            steps = [learner.step(batches) for learner in learners]
            feed.seen(steps)
            if losses.add([step.loss for step in steps]):
                self.progress.step(len(losses.read), count, losses.read[-1])
        losses.finish()
        if hasattr(os, "getloadavg"):  # the machine's mean load over the epochs of this sitting
            self.loads.append(os.getloadavg()[0])
            self.record.cost["load"] = sum(self.loads) / len(self.loads)
        health = learners[0].health(steps[0].embeddings[-1], steps[0].labels[-1])
        apart, length = health["negative_distance"], health["embedding_norm"]
        if apart is not None and apart < COLLAPSE * max(length, 1e-6):
            self.progress.warn(
                f"epoch {epoch}: the embeddings have collapsed: different classes are {apart:.2g} apart at a length of "
                f"{length:.2g}. A smaller learning rate or another margin may help."
            )
        return {
            "loss": float(np.mean(losses.read)),
            "learning_rate": rate,
            "steps": len(losses.read),
            "images": images,
            "seconds": time.perf_counter() - started,
            "processor_seconds": time.process_time() - worked,  # the same on a machine that others use too
            "health": health,
        }

    # --- measuring and choosing --------------------------------------------------------------------------------------

    def _embed(self, unit: TrialUnit, learners: list[Learner], earlier: Earlier) -> np.ndarray:
        own = models.embed(learners, unit.fold.monitor, self.transform, self.threads)
        return own if earlier is None else np.concatenate([earlier, own], axis=1)

    def _measure(
        self, unit: TrialUnit, learners: list[Learner], epoch: int, earlier: np.ndarray | None
    ) -> Measurement:
        started = time.perf_counter()
        monitored, training = self._embed(unit, learners, earlier), None
        chosen = self.trial.evaluation
        if chosen.training_metrics and (epoch % chosen.training_every == 0 or epoch == self.trial.epochs):
            training = models.embed(learners, unit.fold.train, self.transform, self.threads)
        return Measurement(monitored, training, time.perf_counter() - started)

    def _score(self, unit: TrialUnit, entry: Entry, measured: Measurement) -> None:
        started = time.perf_counter()
        entry.update(evaluation_seconds=measured.seconds, measured_on=unit.fold.measured_on)
        entry.update(models.score(self.trial, measured.monitored, unit.fold.monitor))
        if measured.training is not None:
            entry["training"] = models.score_training(self.trial, measured.training, unit.fold.train)
        entry["evaluation_seconds"] += time.perf_counter() - started

    def _conclude(self, unit: TrialUnit, entry: Entry, measured: Measurement | None, states: States) -> None:
        """The rest of an epoch's work once its states are copied; it can run beside the next epoch's training."""

        def conclude() -> None:
            if measured is not None:
                self._score(unit, entry, measured)
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

    def _choose(self, unit: TrialUnit, states: States, entry: Entry) -> None:
        """Keep the weights if this epoch is the fold's best so far (the first of equals)."""
        if "metrics" not in entry:
            return
        by, best = self.criterion.key, self.chosen.get(unit.fold.number)
        if best is None or self.criterion.better(entry["metrics"][by], best["metrics"][by]):
            names = []
            if self.facts.tests:  # if not, nobody will want the weights
                self._keep(unit, states, BEST)
                own = (trained_weights.name(unit.fold.number, member, BEST) for member in unit.members)
                names = [*_earlier(unit), *own]
            self.chosen[unit.fold.number] = {**entry, "weights": names}

    def _out_of_patience(self, unit: TrialUnit) -> bool:
        """Whether the protocol ends the training of this unit."""
        if self.protocol.patience is None:
            return False
        self._wait_for_scoring()
        place, by = (unit.fold.number, unit.members.start), self.criterion
        own = [entry for entry in self.record.epochs if (entry["fold"], entry["member"]) == place]
        evaluated = [(entry["epoch"], entry["metrics"][by.key]) for entry in own if "metrics" in entry]
        return self.protocol.stops(evaluated, self.trial.evaluation.every, by.higher_is_better)

    def _results(self, embeddings: np.ndarray) -> dict[str, Any]:
        """What the protocol makes of the training; ``embeddings`` are the last that were monitored."""
        outcome = self.outcome(self)
        results = self.protocol.results(outcome)
        if self.facts.tests and self.division.test.images.ndim > 2:  # there are no pictures of features
            if self.division.folds[0].measured_on != "test":  # else there is nothing new to embed
                embeddings = outcome.embeddings(results[self.facts.leading]["weights"])
            chosen = self.trial.evaluation
            content = snapshots.collect(embeddings, self.division.test, chosen.distance, tsne=chosen.tsne)
            with self.held.writing() as through:
                snapshots.save(self.folder, self.record.id, content, through)
        return results

    # --- keeping -----------------------------------------------------------------------------------------------------

    def _add(self, entry: Entry) -> None:
        self.held.check()
        self.record.epochs.append(entry)
        self.stream.write(stream.line(entry))
        self.progress.epoch(entry)

    def _keep(self, unit: TrialUnit, states: States, which: str) -> None:
        record, classes, fold = self.record, unit.fold.train.num_classes, unit.fold.number
        for member, state in zip(unit.members, states):  # the feed's, at the end, is no member's
            content = trained_weights.Weights(record.id, record.config, classes, fold, self.kept(state))
            path = self.folder / trained_weights.name(fold, member, which)
            with self.held.writing() as through:
                trained_weights.write(path, content, through)

    def _save(self, status: str) -> None:
        now = time.monotonic()
        self.record.seconds += now - self._clock
        self._clock = now
        self.record.status = status
        with self.held.writing() as through:
            self.record.save(self.folder, through)

    def _checkpoint(self, unit: TrialUnit, epoch: int, states: States) -> None:
        header = {
            "trial": self.record.id,
            "unit": unit.number,
            "epoch": epoch,
            "epochs": self.record.epochs,
            "chosen": [[fold, entry] for fold, entry in self.chosen.items()],
            "started": self.record.started,
            "seconds": self.record.seconds + time.monotonic() - self._clock,
        }
        arrays = {f"{i}/{name}": array for i, state in enumerate(states) for name, array in state.items()}
        with self.held.writing() as through:
            array_files.write(self.folder / CHECKPOINT, header, arrays, through)

    # --- continuing ----------------------------------------------------------------------------------------------------

    def _resume(self) -> Position:
        """Where to continue."""
        position = Position()
        if (self.folder / CHECKPOINT).exists():
            try:
                position = self._go_on(*read_checkpoint(self.folder, self.record.id))
            except UserError as problem:
                aside = (self.folder / CHECKPOINT).replace(self.folder / DAMAGED)
                self.progress.warn(f"{problem} The trial starts over; that file is now {aside.name}.")
        with self.held.writing() as through:
            files.write_json(self.folder / records.TRIAL, self.record.config, through)
            begins = b"".join(map(stream.line, self.record.epochs))
            self.stream = stream.Growing(self.folder / stream.FILE, begins, through)
        return position

    def _go_on(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Position:
        """Restore the state of a checkpoint; a UserError if a file of weights that it needs is damaged."""
        unit = self.units[header["unit"]]
        chosen = dict(header["chosen"])
        for name in {name for entry in chosen.values() for name in entry["weights"]}:
            trained_weights.read(self.folder / name, self.record.id)
        earlier = None
        for name in _earlier(unit):
            learner = models.load(self.folder / name, self.contexts, self.record.id)
            earlier = self._embed(unit, [learner], earlier)
        states: States = [{} for _ in range(len(unit.members) + 1)]
        for key, array in arrays.items():
            index, _, name = key.partition("/")
            states[int(index)][name] = array
        self.chosen, self.record.epochs = chosen, header["epochs"]
        self.record.started, self.record.seconds = header["started"], header["seconds"]
        return Position(unit.number, header["epoch"], states, earlier)


def _earlier(unit: TrialUnit) -> list[str]:
    """The files of the members of the unit's fold that are trained already."""
    return [trained_weights.name(unit.fold.number, member, LAST) for member in range(unit.members.start)]


def read_checkpoint(folder: Path, trial: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """How far the trial is, and the states of what it trains; a UserError if that is damaged or another trial's."""
    path = folder / CHECKPOINT
    header, arrays = array_files.read(path)
    needed = {"unit", "epoch", "epochs", "chosen", "started", "seconds"}
    if not isinstance(header, dict) or not needed <= set(header):
        raise UserError(f"{path} is not a checkpoint.")
    if (whose := header.get("trial", "which it does not name")) != trial:
        raise UserError(f"{path} is the checkpoint of another trial, {whose}.")
    return header, arrays


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
                where = f"at step {len(self.read)} of epoch {self.epoch}"
                raise Diverged(f"the loss is {value} {where}; a smaller learning rate may help")
