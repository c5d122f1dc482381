"""Where trials run, by name. ``local``: at once on this machine. ``ray``: a cluster's scheduler places them, and starts them
again elsewhere if a node is lost. The third way needs no executor: ``sweep --print-commands`` for any scheduler, or more
runners with one folder as their store, which share its trials."""

from collections.abc import Iterable

from ..base.errors import UserError, unknown
from ..trial.training import trackers
from .local import Local
from .ray_cluster import Cluster

NAMES = ("local", "ray")
Executor = Local | Cluster


def create(name: str, address: str | None = None, log: Iterable[str] = ()) -> Executor:
    """The executor called ``local``, or ``ray``, by its address if it has one. Its trials also write to the trackers ``log``."""
    trackers.require(names := tuple(log))
    if name not in NAMES:
        raise unknown("executor", name, NAMES)
    if name == "ray":
        return Cluster(address, names)
    if address is not None:
        raise UserError("an address is for the executor ray only.")
    return Local(log=names)
