"""What a person sees of a running trial: one bar with the epochs to go, and a line for each evaluation."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

from .. import metrics
from ..config import Trial
from ..store import locks


class Progress:
    """Progress of one trial on the terminal; ``quiet`` shows warnings only."""

    def __init__(self, quiet: bool = False):
        self.quiet = quiet
        self.bar: tqdm | None = None

    def begin(self, trial: Trial, units: int, done: int, held: locks.Held) -> None:
        if not self.quiet:
            self.bar = tqdm(
                total=units * trial.epochs, initial=done, unit="epoch", desc=trial.id, dynamic_ncols=True
            )
            if done:
                self.bar.write(f"{trial.id}: going on after epoch {done}")

    def step(self, step: int, steps: int, loss: float) -> None:
        if self.bar is not None:
            self.bar.set_postfix_str(f"step {step}/{steps}, loss {loss:.4g}", refresh=False)
            self.bar.update(0)

    def epoch(self, entry: dict[str, Any]) -> None:
        if self.bar is None:
            return
        if entry["epoch"]:
            self.bar.update(1)
        if "metrics" in entry:
            self.bar.write(describe(entry))

    def warn(self, message: str) -> None:
        tqdm.write(f"warning: {message}", file=sys.stderr)

    def end(self) -> None:
        if self.bar is not None:
            self.bar.close()


def describe(entry: dict[str, Any]) -> str:
    """One evaluated epoch in one line."""
    place = "untrained" if entry["epoch"] == 0 else f"epoch {entry['epoch']}"
    if entry["fold"] or entry["member"]:
        place = f"fold {entry['fold']}, member {entry['member']}, {place}"
    values = entry["metrics"]
    shown = metrics.leading(values)
    scores = "  ".join(f"{name} {metrics.get(name).shown(values[name]):>5}" for name in shown)
    loss = f"  loss {entry['loss']:.4g}" if "loss" in entry else ""
    return f"{place:>12}: {scores}{loss}"
