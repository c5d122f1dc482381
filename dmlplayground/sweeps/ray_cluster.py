"""Trials as tasks of a Ray cluster: each is the same process as on one machine, on whichever node has room.

The store must be a folder that all nodes share under one path. If a node is lost, its processes end and their locks
are no longer renewed; the runner then starts the trials elsewhere, from their checkpoints.
"""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..base import ray_nodes
from ..trial.config import Trial
from ..trial.store import locks
from . import worker
from .worker import Ending


class Task:
    """A trial that Ray runs, or will run as soon as there is room."""

    def __init__(self, reference: Any, folder: Path):
        self.reference, self.folder = reference, folder

    def poll(self) -> Ending | None:
        import ray

        if not ray.wait([self.reference], timeout=0)[0]:
            return None
        try:
            code = ray.get(self.reference)
        except ray.exceptions.TaskCancelledError:
            return Ending(worker.STOPPED, "was stopped")
        except ray.exceptions.RayError as problem:
            return Ending(None, f"was lost with its node or its Ray worker ({type(problem).__name__})")
        return Ending.of(code)


class Cluster:
    """The executor of a Ray cluster: the one at ``address``, the one this machine belongs to, or a new one."""

    def __init__(self, address: str | None = None, log: Sequence[str] = ()):
        self.log = log
        ray = ray_nodes.connect(address)
        # Each trial gets a process of its own, so that it cannot disturb another.
        self.task = ray.remote(max_calls=1, max_retries=0)(_train)

    @property
    def slots(self) -> int:
        """One trial for each GPU of the cluster, or for each core if it has no GPU."""
        import ray

        resources = ray.cluster_resources()
        return max(1, int(resources.get("GPU", 0) or resources.get("CPU", 1)))

    def prepare(self, trials: Sequence[Trial], workers: int) -> list[str]:
        """Nothing: data and memory are the nodes' concern, and this machine may have neither."""
        return []

    def start(self, trial: Trial, folder: Path) -> Task:
        import ray

        gpus = trial.devices if trial.device != "cpu" and ray.cluster_resources().get("GPU") else 0
        task = self.task.options(num_cpus=1, num_gpus=gpus, name=trial.id)
        return Task(task.remote(str(folder.resolve()), self.log), folder)

    def ended(self, process: Task) -> None:
        """Ray knows."""

    def close(self, running: Iterable[Task] = ()) -> None:
        """Stop them all, side by side, and wait until they have let go of their trials, which keep their epochs."""
        import ray

        tasks = list(running)
        for task in tasks:
            ray.cancel(task.reference)
        deadline = time.monotonic() + worker.PATIENCE
        while any(locks.current(task.folder) for task in tasks) and time.monotonic() < deadline:
            time.sleep(0.2)


def _train(folder: str, log: Sequence[str]) -> int:
    """On a node: the trial's process, and its exit code. When this task dies, that ends as well."""
    process = worker.Worker(Path(folder), {}, log)
    try:
        while (ending := process.poll()) is None:
            time.sleep(0.2)  # short waits: cancelling a task does not end a long one
        return ending.code or 0
    finally:
        process.finish()
