"""The metric-learning methods, one file each; the file's name is the method's key.

>>> import dmlplayground as dml
>>> loss = dml.methods.loss("npairs", num_classes=100, embed_dim=64, l2_reg=5e-4)   # doctest: +SKIP

Listing and checking need no MXNet; ``loss`` loads it.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.errors import UserError
from ..graph.blocks import ready
from .shared.base import KIND, Loss, Method
from .shared.cross_batch_memory import Memory, combinations, memory_for

if TYPE_CHECKING:
    from .shared.objective import Objective

__all__ = [
    "KIND", "Loss", "Memory", "Method", "combinations", "create", "get", "loss", "memory_for", "names",
]  # fmt: skip

names, get = KIND.names, KIND.get
create = KIND.create  # the plain ``Loss``: its options checked, nothing of MXNet

Component = str | Mapping[str, Any]


def loss(
    key: str,
    *,
    num_classes: int,
    embed_dim: int,
    mining: Component | None = None,
    regularizers: Iterable[Component] = (),
    memory: Mapping[str, Any] | None = None,
    unit_rows: bool = False,
    **options: Any,
) -> "Objective":
    """The method's loss with its miner and regularizers, ready to call: ``loss(embeddings, labels)`` is an NDArray of one
    element.

    ``mining`` names a miner, or is a mapping of its name and options; nothing means the method's own. A regularizer
    is given alike, with a ``weight`` among its options. ``memory`` has the options of ``methods.Memory``, for example
    ``{"size": 1024}``: losses of pairs and triplets then also compare a batch with the batches before it. ``unit_rows`` says
    that embeddings come at unit length, which saves memory where a miner keeps a band of triplets.

    >>> loss = dml.methods.loss("npairs", num_classes=2, embed_dim=2)
    >>> value = loss(np.eye(2, dtype=np.float32)[[0, 0, 1, 1]], np.array([5, 5, 7, 7]))
    >>> value.shape
    (1,)
    """
    from .shared.objective import Objective

    if "miner" in options:
        raise UserError("a loss takes its miner as mining=..., not as miner=...; see dmlplayground miners.")
    for name, size in {"num_classes": num_classes, "embed_dim": embed_dim}.items():
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise UserError(f"{name} must be a whole number of at least 1, not {size!r}.")
    if isinstance(regularizers, (str, Mapping)) or not isinstance(regularizers, Iterable):
        raise UserError(f"regularizers must be a list of names or mappings, not {regularizers!r}.")
    plain = create(key, num_classes, embed_dim, **options)
    plain.unit_rows = unit_rows
    objective = Objective(plain, mining, regularizers, memory)
    objective.initialize()
    return ready(objective)
