"""Trials in processes on this machine, each with one thread: much faster on a full machine. GPUs take turns."""

import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ..base import memory
from ..base.errors import UserError
from ..base.threads import cores
from ..parts import backbones, data, transforms
from ..trial.config import Trial, check_data
from . import checks, worker

# Of the least memory that a trial needs:
PROCESS = 300 * 2**20  # Python, MXNet and what they load, on a CPU
KEPT = 0.6  # the smallest share of all layer outputs that a measured network kept for its gradients
COPIES = 4  # of every parameter: itself, its gradient and two of the optimizer's


class Local:
    """The executor of this machine."""

    def __init__(self, log: Sequence[str] = ()):
        self.log = log
        self.load: Counter[str] = Counter()
        self.idle: list[worker.Worker] = []  # whose trial has finished, and which can train another

    @cached_property
    def gpus(self) -> list[str]:
        """CUDA's names of the GPUs that this process may use. To know them takes MXNet."""
        import mxnet as mx

        count = mx.context.num_gpus()
        named = os.environ.get("CUDA_VISIBLE_DEVICES")
        return (named.split(",") if named else [str(i) for i in range(count)])[:count]

    @property
    def slots(self) -> int:
        """How many trials fit on the machine at a time."""
        return len(self.gpus) or cores()

    def prepare(self, trials: Sequence[Trial], workers: int) -> list[str]:
        """Load every data set and find all weights before the trials start. Missing files and too few classes are
        found now, and caches and downloads are made once. Returns warnings about trials that may not fit into memory."""
        checks.require(trials, here=True)
        groups: dict[str, list[Trial]] = {}
        for trial in trials:
            groups.setdefault(f"{trial.data} {trial.transform}", []).append(trial)
        room = available_memory(self.gpus, workers)
        checked = [_check(group, room) for group in groups.values()]
        if problems := [problem for found, _ in checked for problem in found]:
            raise checks.cannot_run(problems)
        return [warning for _, found in checked for warning in found]

    def start(self, trial: Trial, folder: Path) -> worker.Worker:
        gpus = self._take(trial)
        for process in self.idle:
            if process.gpus == gpus:
                self.idle.remove(process)
                process.train(folder)
                return process
        environment = {"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if self.gpus else {}
        return worker.Worker(folder, environment, self.log, gpus)

    def _take(self, trial: Trial) -> list[str]:
        """The GPUs with the fewest trials."""
        if trial.device == "cpu":
            return []
        gpus = sorted(self.gpus, key=lambda gpu: self.load[gpu])[: trial.devices]
        self.load.update(gpus)
        return gpus

    def ended(self, process: worker.Worker) -> None:
        """Its GPUs are free again, and if all went well it can train another trial."""
        self.load.subtract(process.gpus)
        if process.free:
            self.idle.append(process)
        else:
            process.finish()

    def close(self, running: Iterable[worker.Worker] = ()) -> None:
        """Stop them all, side by side, and the processes that wait for another trial."""
        processes, self.idle = [*running, *self.idle], []
        for process in processes:
            process.stop()
        for process in processes:
            process.finish()


def _check(trials: Sequence[Trial], room: int | None) -> tuple[list[tuple[str, UserError]], list[str]]:
    """The problems of trials that share their images: images that cannot be read, and batches that need more classes than
    there are. Also warnings about trials that need more memory than there is."""
    transform = transforms.create(**trials[0].transform)
    try:
        train = data.load(**trials[0].data, split="train", stored=transform.stored)
        data.load(**trials[0].data, split="test", stored=transform.stored_for_test)
    except UserError as problem:
        return [(trial.id, problem) for trial in trials], []
    problems, warnings = [], []
    for trial in trials:
        if wrong := checks.answer(check_data, trial, train.num_classes):
            problems.append((trial.id, wrong))
        least = least_memory(trial, *transform.test_shape(train.images))
        if room is not None and least > room:
            have = f"{max(room, 0) / 2**30:.1f} GB for each trial at a time"
            warnings.append(f"{trial.id} needs {least / 2**30:.1f} GB of memory or more; there is {have}")
    return problems, warnings


def least_memory(trial: Trial, height: int, width: int) -> int:
    """Bytes that training on images of this size takes on each device; the true figure is rather higher."""
    parameters, outputs = _sizes(json.dumps(trial.backbone, sort_keys=True), height, width)
    learners = trial.ensemble.members if trial.ensemble.order == "parallel" else 1
    rows = trial.batch_size // trial.devices
    return int(4 * learners * (COPIES * parameters + KEPT * rows * outputs))


def available_memory(gpus: list[str], workers: int) -> int | None:
    """Bytes for each trial when ``workers`` run at a time, on this machine or on a GPU; None if unknown."""
    if gpus:
        import mxnet as mx

        share = math.ceil(workers / len(gpus))
        return min(mx.context.gpu_memory_info(i)[1] for i in range(len(gpus))) // share
    free = memory.available()
    return None if free is None else free // workers - PROCESS


@cache
def _sizes(backbone: str, height: int, width: int) -> tuple[int, int]:
    """Numbers in a backbone's parameters, and in all its layers' outputs for one image."""
    import mxnet as mx

    options: Mapping[str, Any] = {**json.loads(backbone), "pretrained": "none"}
    inner = backbones.create(**options)(mx.sym.var("data")).get_internals()
    names, (_, shapes, _) = inner.list_outputs(), inner.infer_shape(data=(1, 3, height, width))
    own = set(inner.list_inputs())
    sizes = {True: 0, False: 0}
    for name, shape in zip(names, shapes):
        sizes[name in own] += math.prod(shape)
    return sizes[True], sizes[False]
