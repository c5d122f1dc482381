"""Where trials run, by name. ``local``: at once on this machine. ``ray``: a cluster's scheduler places them, and starts them
again elsewhere if a node is lost. The third way needs no executor: ``sweep --print-commands`` for any scheduler, or more
runners with one folder as their store, which share its trials."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from ..base.errors import UserError, unknown
from ..trial.config import Trial
from ..trial.training import trackers

NAMES = ("local", "ray")


class Executor(Protocol):
    """Where trials run: ``local.Local`` or ``ray_cluster.Cluster``. Each has its own kind of process."""

    @property
    def slots(self) -> int:
        """How many trials at a time it is made for."""

    def prepare(self, trials: Sequence[Trial], workers: int) -> list[str]: ...
    def start(self, trial: Trial, folder: Path) -> Any: ...
    def ended(self, process: Any) -> None: ...
    def close(self, running: Iterable[Any] = ()) -> None: ...


def create(name: str, address: str | None = None, log: Iterable[str] = ()) -> Executor:
    """The executor called ``local`` (this machine) or ``ray`` (a Ray cluster, by its address if it has one). ``log`` names the
    trackers that its trials write to as well."""
    trackers.require(names := tuple(log))
    if name not in NAMES:
        raise unknown("executor", name, NAMES)
    if name == "ray":
        from .ray_cluster import Cluster

        return Cluster(address, names)
    if address is not None:
        raise UserError("an address is for the executor ray only.")
    from .local import Local

    return Local(log=names)
