"""The least memory that a trial needs, so that a shortage is known beforehand."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Optional

from ..base import memory
from ..parts import backbones
from ..trial.config import Trial

PROCESS = 300 * 2**20  # Python, MXNet and what they load, on a CPU
KEPT = 0.6  # the smallest share of all layer outputs that a measured network kept for its gradients
COPIES = 4  # of every parameter: itself, its gradient and two of the optimizer's


def least(trial: Trial, height: int, width: int) -> int:
    """Bytes that training on images of this size takes on each device; the true figure is rather higher."""
    parameters, outputs = _sizes(json.dumps(trial.backbone, sort_keys=True), height, width)
    learners = trial.ensemble.members if trial.ensemble.order == "parallel" else 1
    rows = trial.batch_size // trial.devices
    return int(4 * learners * (COPIES * parameters + KEPT * rows * outputs))


def available(gpus: list[str], workers: int) -> Optional[int]:
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
    sizes = dict(zip(names, map(math.prod, shapes)))
    return sum(sizes[name] for name in names if name in own), sum(
        sizes[name] for name in names if name not in own
    )
