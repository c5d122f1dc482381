"""Executors by name."""

from __future__ import annotations

from typing import Optional

from ..errors import UserError, unknown
from .runner import Executor

NAMES = ("local", "ray")


def create(name: str, address: Optional[str] = None, tensorboard: bool = False) -> Executor:
    """The executor called ``local`` (this machine) or ``ray`` (a Ray cluster, by its address if it has one).

    ``tensorboard``: its trials write event files as well.
    """
    if name not in NAMES:
        raise unknown("executor", name, NAMES)
    if name == "ray":
        from .ray_cluster import Cluster

        return Cluster(address, tensorboard)
    if address is not None:
        raise UserError("an address goes with the executor ray only.")
    from .local import Local

    return Local(tensorboard=tensorboard)
