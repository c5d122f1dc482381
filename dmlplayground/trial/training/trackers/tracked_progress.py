"""Progress that is sent to trackers as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ....base.errors import UserError
from ...config import Trial
from ...store import locks
from ..progress import Progress
from . import Tracker


class TrackedProgress(Progress):
    """Folds and members follow each other on the axis of steps, each with its epoch 0."""

    def __init__(self, trackers: Sequence[Tracker], quiet: bool = False):
        super().__init__(quiet)
        self.trackers = list(trackers)

    def begin(self, trial: Trial, units: int, done: int, held: locks.Held) -> None:
        super().begin(trial, units, done, held)
        self.trial = trial
        unit, epoch = divmod(done, max(trial.epochs, 1))
        step = unit * (trial.epochs + 1) + epoch + (epoch > 0)
        self._tell(lambda tracker: tracker.begin(trial, held, step))

    def epoch(self, entry: dict[str, Any]) -> None:
        super().epoch(entry)
        ensemble = self.trial.ensemble
        members = ensemble.members if ensemble.order == "sequential" else 1
        unit = entry["fold"] * members + entry["member"]
        step = unit * (self.trial.epochs + 1) + entry["epoch"]
        values = dict(_numbers(entry))
        self._tell(lambda tracker: tracker.write(step, values))

    def end(self) -> None:
        super().end()
        self._tell(lambda tracker: tracker.end())

    def _tell(self, act: Callable[[Tracker], None]) -> None:
        for tracker in list(self.trackers):
            try:
                act(tracker)
            except UserError:  # of the trial's own folder
                raise
            except Exception as problem:  # whatever another program's package may raise
                self.trackers.remove(tracker)
                self.warn(f"stopped sending to {tracker.program}: {problem}")


def _numbers(entry: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The numbers of an epoch, those that were measured on validation classes under that name."""
    yield from ((key, entry[key]) for key in ("loss", "learning_rate", "seconds") if key in entry)
    yield from ((f"health/{key}", value) for key, value in entry.get("health", {}).items())
    if "metrics" in entry:
        yield from ((f"{entry['measured_on']}/{key}", value) for key, value in entry["metrics"].items())
