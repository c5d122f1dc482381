"""Trackers: other programs for watching curves. ``Progress`` sends them what the record holds of every epoch.

The record stays what counts: a tracker that fails is left out with a warning, and training continues.
"""

import hashlib
import itertools
import os
import re
import socket
import time
from collections.abc import Iterable, Mapping
from typing import Any

from ...base import files, optional
from ...base.errors import unknown
from ..config import Trial, dotted
from ..store import locks
from ..store.stream import Growing

COUNT = itertools.count()  # a process may train many trials within a second
#: Tags of a run in MLflow: whose it is, and its last step.
TRIAL, STEP = "dmlplayground.trial", "dmlplayground.step"
LONGEST = 500  # characters of a parameter's value there


class Tracker:
    """What a trial's curves go to."""

    program: str  # as users call it
    needs: tuple[str, ...]  # modules of its package

    def __init__(self) -> None:
        self.modules = [optional.load(module) for module in self.needs]  # a UserError, before training
        self.run: Any = None

    def begin(self, trial: Trial, held: locks.Held, step: int) -> None:
        """Begin, or go on with, the run of a trial, which is locked; an earlier sitting sent the steps below ``step``."""

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Numbers by name. Of a trial that goes on the last step may be sent twice."""

    def end(self) -> None:
        """Also after a ``begin`` that failed."""


class TensorBoard(Tracker):
    """Event files beside the record; not by TensorBoard's EventFileWriter, whose thread writes on when the lock is lost."""

    program = "TensorBoard"
    needs = (
        "tensorboard.compat.proto.event_pb2", "tensorboard.compat.proto.summary_pb2", "tensorboard.summary.writer.record_writer",
    )  # fmt: skip

    def begin(self, trial: Trial, held: locks.Held, step: int) -> None:
        events, _, writer = self.modules
        place = f"{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(COUNT)}"
        with held.writing() as through:
            growing = Growing(held.folder / f"events.out.tfevents.{place}", b"", through)
            self.run = writer.RecordWriter(growing)
        self._event(0, file_version="brain.Event:2")
        # What an earlier sitting has left here from this step on is void.
        self._event(step, session_log=events.SessionLog(status=events.SessionLog.START))

    def write(self, step: int, values: Mapping[str, float]) -> None:
        summary = self.modules[1].Summary
        shown = [summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        self._event(step, summary=summary(value=shown))

    def _event(self, step: int, **content: Any) -> None:
        event = self.modules[0].Event(wall_time=time.time(), step=step, **content)
        self.run.write(event.SerializeToString())

    def end(self) -> None:
        if self.run is not None:
            self.run.close()


class WeightsAndBiases(Tracker):
    """A run for each trial, known by the trial's id and folder, in the project $WANDB_PROJECT, else dmlplayground.

    Its other variables count too; with WANDB_MODE=offline all stays in the trial's folder until ``wandb sync``.
    """

    program = "Weights & Biases"
    needs = ("wandb",)

    def begin(self, trial: Trial, held: locks.Held, step: int) -> None:
        (wandb,) = self.modules
        place = hashlib.sha256(str(held.folder.resolve()).encode()).hexdigest()[:8]
        self.run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "dmlplayground"),
            id=f"{trial.id[:100]}-{place}",
            name=trial.id,
            resume="allow",
            config=trial.mapping(),
            dir=str(held.folder),
            settings=wandb.Settings(console="off", silent=True),
        )

    def write(self, step: int, values: Mapping[str, float]) -> None:
        self.run.log(dict(values), step=step)  # W&B passes over steps that it has

    def end(self) -> None:
        if self.run is not None:
            self.run.finish()


class MLflow(Tracker):
    """A run for each trial, known by its tag, on the server that $MLFLOW_TRACKING_URI names, else in the folder mlruns of the
    store, which is an experiment there.

    MLflow 3 calls such folders old and wants a sign that they are meant: so to look at one,
    ``MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri runs/quickstart/mlruns``.
    """

    program = "MLflow"
    needs = ("mlflow",)

    def begin(self, trial: Trial, held: locks.Held, step: int) -> None:
        store = held.folder.parent.resolve()
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        home = os.environ.get("MLFLOW_TRACKING_URI") or (store / "mlruns").as_uri()
        self.client = self.modules[0].MlflowClient(home)
        with files.alone(held.folder.parent / "mlruns", "set MLFLOW_TRACKING_URI to another place"):
            self.run, self.last = self._run_of(trial, str(store))
        self.client.update_run(self.run, status="RUNNING")

    def _run_of(self, trial: Trial, store: str) -> tuple[str, int]:
        """The trial's run, made now if there is none, and the last step that it has."""
        known = self.client.get_experiment_by_name(store)
        experiment = known.experiment_id if known else self.client.create_experiment(store)
        runs = self.client.search_runs([experiment], f"tags.`{TRIAL}` = '{trial.id}'")
        if runs:
            return runs[0].info.run_id, int(runs[0].data.tags.get(STEP, -1))
        run = self.client.create_run(experiment, run_name=trial.id, tags={TRIAL: trial.id}).info.run_id
        for key, value in dotted(trial.mapping()).items():
            self.client.log_param(run, self._name(key), str(value)[:LONGEST])
        return run, -1

    def write(self, step: int, values: Mapping[str, float]) -> None:
        if step <= self.last:
            return
        for name, value in values.items():
            self.client.log_metric(self.run, self._name(name), value, step=step)
        self.client.set_tag(self.run, STEP, str(step))

    def end(self) -> None:
        if self.run:
            self.client.set_terminated(self.run)

    @staticmethod
    def _name(name: str) -> str:
        """With what MLflow allows in a name: ``R@1`` is ``R_1`` there."""
        return re.sub(r"[^\w\-. /]", "_", name)


TRACKERS = {"tensorboard": TensorBoard, "wandb": WeightsAndBiases, "mlflow": MLflow}


def create(name: str) -> Tracker:
    """The tracker called ``tensorboard``, ``wandb`` or ``mlflow``; a ``UserError`` where its package is missing."""
    if name not in TRACKERS:
        raise unknown("tracker", name, TRACKERS)
    return TRACKERS[name]()


def require(names: Iterable[str]) -> None:
    """A ``UserError`` where one of them is unknown, or its package missing."""
    for name in names:
        create(name)
