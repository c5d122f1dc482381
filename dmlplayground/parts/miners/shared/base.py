"""The base of every miner: the miner as a plain object, and the registry."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ....base import registry
from ...graph import rows
from .tuples import Pairs, Triplets, all_pairs


class Miner(registry.Named):
    """Which pairs or triplets of a batch count.

    A subclass writes ``hybrid_forward(self, F, pairs)``: it is given all pairs of the batch, its rows at unit length
    and without gradient, and returns ``pairs.keep(...)`` or ``Triplets`` of them. Random numbers come from MXNet's
    generator (``F.random``), so a trial's seed decides them.

    >>> a, p, n = dml.mining.create("semihard").mine(np.eye(4, dtype=np.float32), np.array([0, 0, 1, 1]))
    >>> len(a) == len(p) == len(n)
    True
    """

    kind = "miner"
    gives: ClassVar[Literal["pairs", "triplets"]]
    # True: rows get unit length first; False: they are taken as the head gives them.
    unit: ClassVar[bool] = True

    keeps_all: ClassVar[bool] = False  # gives back the pairs that it was given
    in_batch: ClassVar[bool] = False  # looks for rows in the batch itself, and so takes no memory

    width = 0  # of the embeddings, set when the miner joins an objective or is given a batch

    def check(self, rows: int, width: int) -> None:
        """Raise UserError if the miner cannot read a batch of this shape."""

    def hybrid_forward(self, F, pairs: Pairs) -> Pairs | Triplets:
        raise NotImplementedError

    def kept(self, F, pairs: Pairs) -> Pairs | Triplets:
        """What it keeps of all pairs. It gets rows without gradient."""
        if self.keeps_all:
            return pairs

        def seen(embeddings):
            embeddings = F.BlockGrad(embeddings)
            return rows.unit(F, embeddings) if self.unit else embeddings

        anchors = seen(pairs.anchors)
        references = anchors if pairs.references is pairs.anchors else seen(pairs.references)
        return self.hybrid_forward(F, replace(pairs, anchors=anchors, references=references))

    def mine(
        self, embeddings: Any, labels: Any, *, reads: str = "", dtype: str = "float32"
    ) -> tuple[np.ndarray, ...]:
        """The row numbers of what it keeps of a batch of arrays: (a1, p, a2, n), or (a, p, n)."""
        from mxnet import nd

        embeddings, labels = (
            each.astype(dtype) if isinstance(each, nd.NDArray) else nd.array(each, dtype=dtype)
            for each in (embeddings, labels)
        )
        self.require(
            embeddings.ndim == 2 and labels.shape == embeddings.shape[:1],
            f"embeddings are (B, E) and labels (B,), not {embeddings.shape} and {labels.shape}.",
        )
        self.width = embeddings.shape[1]
        self.check(*embeddings.shape)
        found = self.kept(nd, all_pairs(nd, embeddings, labels, dtype))
        if reads == "triplets" and isinstance(found, Pairs):
            found = found.triplets()
        return found.indices()


@dataclass(frozen=True)
class MinerRecord(registry.Part):
    """A miner, and what it gives.

    >>> dml.mining.get("semihard").gives
    'triplets'
    """

    @property
    def gives(self) -> str:
        """``pairs`` or ``triplets``."""
        return self.build.gives  # type: ignore[attr-defined]

    @property
    def facts(self) -> dict[str, str]:
        return {"gives": self.gives}


KIND: registry.Kind[MinerRecord, Miner] = registry.Kind(
    "miner", "dmlplayground.parts.miners", MinerRecord, setting="mining"
)


def miner_for(loss: Any, given: str | Mapping[str, Any] | None) -> Miner | None:
    """A loss's miner: the requested one, its own, or ``all``; None for a loss that takes none.

    ``loss`` is a ``methods.Loss``. A loss that reads the whole batch as it is laid out refuses any miner.

    >>> loss = dml.methods.create("margin", 10, 64)
    >>> type(dml.mining.miner_for(loss, None)).__name__
    'DistanceWeighted'
    """
    if loss.reads == "batch":
        loss.require(not given, "it uses the sampler's layout of the batch, so a miner cannot be set.")
        return None
    name, options = registry.split(given or loss.default_miner() or "all")
    miner = KIND.create(name, **options)
    miner.width = loss.embed_dim
    return miner
