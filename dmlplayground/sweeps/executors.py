"""Executors by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from ..base.errors import UserError, unknown
from ..trial.training import trackers
from .runner import Executor

NAMES = ("local", "ray")


def create(name: str, address: Optional[str] = None, log: Iterable[str] = ()) -> Executor:
    """The executor called ``local`` (this machine) or ``ray`` (a Ray cluster, by its address if it has one).

    ``log`` names the trackers that its trials write to as well.
    """
    names = tuple(log)
    trackers.require(names)
    if name not in NAMES:
        raise unknown("executor", name, NAMES)
    if name == "ray":
        from .ray_cluster import Cluster

        return Cluster(address, names)
    if address is not None:
        raise UserError("an address is for the executor ray only.")
    from .local import Local

    return Local(log=names)
