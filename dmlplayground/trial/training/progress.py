"""What a running trial shows: a line for each evaluation and, on a terminal, a bar with the time left. Trackers get it too."""

import shutil
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from tqdm import tqdm

from ...base.errors import UserError
from ...parts import metrics
from ...parts.protocols import UNTOUCHED_FEATURES, UNTRAINED
from ..config import Trial
from ..store import locks
from .trackers import Tracker

BAR = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"


class Progress:
    """Progress of one trial on the terminal, where ``quiet`` shows warnings only, and in trackers. Folds and members follow
    each other on their axis of steps, each with its epoch 0."""

    def __init__(self, quiet: bool = False, trackers: Iterable[Tracker] = ()):
        self.quiet = quiet
        self.trackers = list(trackers)
        self.bar: tqdm | None = None
        self.epochs = 0  # done so far

    def begin(self, trial: Trial, units: int, done: int, held: locks.Held) -> None:
        self.trial = trial
        if not self.quiet:
            name, room = trial.id, shutil.get_terminal_size().columns // 4
            self.epochs = done
            self.bar = tqdm(
                total=units * trial.epochs,
                initial=done,
                desc=name if len(name) <= room else f"{name[: room - 1]}…",
                bar_format=BAR,
                miniters=0,
                dynamic_ncols=True,
                disable=None,  # no bar where no terminal shows it
            )
            if done:
                self.bar.write(f"{trial.id}: continuing after epoch {done}")
        unit, epoch = divmod(done, max(trial.epochs, 1))
        self._send("begin", trial, held, unit * (trial.epochs + 1) + epoch + (epoch > 0))

    def step(self, step: int, steps: int, loss: float) -> None:
        if self.bar is not None:
            place = f"epoch {self.epochs + 1}/{self.bar.total}, step {step}/{steps}"
            self.bar.set_postfix_str(f"{place}, loss {loss:.4g}", refresh=False)
            self.bar.update(self.epochs + step / steps - self.bar.n)

    def epoch(self, entry: dict[str, Any]) -> None:
        if self.bar is not None:
            if entry["epoch"]:
                self.epochs += 1
                self.bar.update(self.epochs - self.bar.n)
            if "metrics" in entry:
                self.bar.write(describe(entry))
        if self.trackers:
            ensemble = self.trial.ensemble
            members = ensemble.members if ensemble.order == "sequential" else 1
            unit = entry["fold"] * members + entry["member"]
            self._send("write", unit * (self.trial.epochs + 1) + entry["epoch"], dict(_numbers(entry)))

    def untouched(self, entry: dict[str, Any]) -> None:
        """What the network's own features give, before its head."""
        if self.bar is not None:
            self.bar.write(f"{UNTOUCHED_FEATURES}: test {_scores(entry['metrics'])}")

    def warn(self, message: str) -> None:
        tqdm.write(f"warning: {message}", file=sys.stderr)

    def end(self) -> None:
        if self.bar is not None:
            self.bar.close()
        self._send("end")

    def _send(self, act: str, *given: Any) -> None:
        for tracker in list(self.trackers):
            try:
                getattr(tracker, act)(*given)
            except UserError:  # of the trial's own folder
                raise
            except Exception as problem:  # whatever another program's package may raise
                self.trackers.remove(tracker)
                self.warn(f"stopped sending to {tracker.program}: {problem}")


def describe(entry: dict[str, Any]) -> str:
    """One evaluated epoch in one line."""
    validated = entry["measured_on"] != "test"
    parts = [
        f"fold {entry['fold']}" if validated else "",
        f"member {entry['member']}" if entry["member"] else "",
        UNTRAINED if entry["epoch"] == 0 else f"epoch {entry['epoch']}",
    ]
    place = ", ".join(filter(None, parts))
    values = entry["metrics"]
    loss = f"  loss {entry['loss']:.4g}" if "loss" in entry else ""
    return f"{place:>12}: {'validation ' * validated}{_scores(values)}{loss}"


def _scores(values: dict[str, Any]) -> str:
    return "  ".join(f"{name} {metrics.get(name).shown(values[name]):>5}" for name in metrics.leading(values))


def _numbers(entry: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The numbers of an epoch, those that were measured on validation classes under that name."""
    yield from ((key, entry[key]) for key in ("loss", "learning_rate", "seconds") if key in entry)
    yield from ((f"health/{key}", value) for key, value in entry.get("health", {}).items())
    if "metrics" in entry:
        yield from ((f"{entry['measured_on']}/{key}", value) for key, value in entry["metrics"].items())
