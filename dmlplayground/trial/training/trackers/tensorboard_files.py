"""TensorBoard's event files, beside the record."""

from __future__ import annotations

import itertools
import os
import socket
import time
from collections.abc import Mapping
from typing import Any

from ....base import optional
from ...config import Trial
from ...store import locks
from ...store.stream import Growing

COUNT = itertools.count()  # a process may train many trials within a second


class Tracker:
    """Not by TensorBoard's EventFileWriter: its thread would write on when the trial is another process's."""

    program = "TensorBoard"

    def __init__(self) -> None:
        self._protocol = optional.load("tensorboard.compat.proto.event_pb2")
        self._summary = optional.load("tensorboard.compat.proto.summary_pb2").Summary
        self._records = optional.load("tensorboard.summary.writer.record_writer").RecordWriter
        self._writer: Any = None

    def begin(self, trial: Trial, held: locks.Held, step: int) -> None:
        name = (
            f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(COUNT)}"
        )
        with held.writing() as through:
            self._writer = self._records(Growing(held.folder / name, b"", through))
        self._event(0, file_version="brain.Event:2")
        start = self._protocol.SessionLog(status=self._protocol.SessionLog.START)
        self._event(step, session_log=start)  # what an earlier run has left here from this step on is void

    def write(self, step: int, values: Mapping[str, float]) -> None:
        summaries = [self._summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        self._event(step, summary=self._summary(value=summaries))

    def _event(self, step: int, **content: Any) -> None:
        event = self._protocol.Event(wall_time=time.time(), step=step, **content)
        self._writer.write(event.SerializeToString())

    def end(self) -> None:
        if self._writer is not None:
            self._writer.close()
