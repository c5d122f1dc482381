"""TensorBoard's event files: what every epoch's record holds, as curves, beside the record."""

from __future__ import annotations

import itertools
import os
import socket
import time
from collections.abc import Iterator
from typing import Any

from ..config import Trial
from ..errors import UserError
from ..store import locks
from ..store.stream import Growing
from .progress import Progress

COUNT = itertools.count()  # a process may train many trials within a second


class Events(Progress):
    """Progress that goes to TensorBoard as well. Folds and members follow each other on the axis of epochs, each with
    its epoch 0."""

    def __init__(self, quiet: bool = False):
        super().__init__(quiet)
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.summary.writer.record_writer import RecordWriter
        except ImportError:
            raise UserError(
                "event files need TensorBoard's writer: pip install 'dmlplayground[tensorboard]'."
            ) from None
        self._protocol, self._summary, self._records = event_pb2, summary_pb2.Summary, RecordWriter

    def begin(self, trial: Trial, units: int, done: int, held: locks.Held) -> None:
        super().begin(trial, units, done, held)
        self.trial = trial
        # Not by TensorBoard's EventFileWriter: its thread would write on when the trial is another process's.
        name = (
            f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(COUNT)}"
        )
        with held.writing() as through:
            self._writer = self._records(Growing(held.folder / name, b"", through))
        self._write(0, file_version="brain.Event:2")
        start = self._protocol.SessionLog(status=self._protocol.SessionLog.START)
        unit, epoch = divmod(done, max(trial.epochs, 1))
        # What an earlier run has left here from this step on is void.
        self._write(unit * (trial.epochs + 1) + epoch + (epoch > 0), session_log=start)

    def epoch(self, entry: dict[str, Any]) -> None:
        super().epoch(entry)
        sequential = self.trial.ensemble.order == "sequential"
        members = self.trial.ensemble.members if sequential else 1
        unit = entry["fold"] * members + entry["member"]
        step = unit * (self.trial.epochs + 1) + entry["epoch"]
        values = [self._summary.Value(tag=tag, simple_value=value) for tag, value in _scalars(entry)]
        self._write(step, summary=self._summary(value=values))

    def _write(self, step: int, **content: Any) -> None:
        event = self._protocol.Event(wall_time=time.time(), step=step, **content)
        self._writer.write(event.SerializeToString())

    def end(self) -> None:
        super().end()
        if hasattr(self, "_writer"):
            self._writer.close()


def _scalars(entry: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The numbers of an epoch, those that were measured on validation classes under that name."""
    yield from ((key, entry[key]) for key in ("loss", "learning_rate", "seconds") if key in entry)
    yield from ((f"health/{key}", value) for key, value in entry.get("health", {}).items())
    if "metrics" in entry:
        yield from ((f"{entry['measured_on']}/{key}", value) for key, value in entry["metrics"].items())
