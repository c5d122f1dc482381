"""The nodes of a Ray cluster: connecting to them, and having them compute what ``map`` would compute here."""

import socket
from collections.abc import Callable, Iterable
from typing import Any

from . import optional
from .errors import UserError


def connect(address: str | None = None) -> Any:
    """The module, connected to the cluster at ``address``, the one this machine belongs to, or a new one."""
    ray = optional.load("ray")
    host, _, port = (address or "").rpartition("/")[2].rpartition(":")
    try:
        if host and port.isdecimal():  # where nothing listens, Ray itself would wait for minutes
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(address=address, ignore_reinit_error=True, log_to_driver=False, configure_logging=False)
    except (OSError, ValueError, RuntimeError) as problem:
        where = f"at {address}" if address else "here"
        raise UserError(f"no Ray cluster answers {where}: {problem}.") from None
    return ray


def on_ray(address: str | None = None) -> Callable[[Callable, Iterable], list]:
    """A ``map`` whose items are computed as tasks of a Ray cluster, on one core each: what ``evaluate`` takes as ``run``.
    The function's arrays are sent to every node once. ``address`` is as for sweeps.

    >>> points, labels = np.eye(2)[[0, 0, 1, 1]], [5, 5, 7, 7]
    >>> dml.metrics.evaluate(points, labels, [1], metrics=["R@K"], blocks=2)  # here
    {'R@1': 1.0}
    >>> scores = dml.metrics.evaluate(points, labels, blocks=2, run=on_ray("10.0.0.1:6379"))  # doctest: +SKIP
    """
    ray = connect(address)
    task = ray.remote(lambda function, item: function(item))

    def run(function: Callable, items: Iterable) -> list:
        shared = ray.put(function)
        return ray.get([task.remote(shared, item) for item in items])

    return run
