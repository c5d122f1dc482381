"""A cross-batch memory: a batch is also compared with the rows of earlier batches. And which loss works with which miner and
with a memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

from ....base.errors import UserError
from ....base.options import Count, Must, Positive, fill_options, options_of
from ...miners import KIND as MINERS
from ...miners import Miner, miner_for
from ...miners.shared.tuples import Pairs
from .base import KIND, Loss


@dataclass(eq=False)
class Memory:
    """How a loss of pairs or triplets uses a memory (Wang et al.: Cross-Batch Memory for Embedding Learning, CVPR 2020).

    Each batch is first written into the memory, over its oldest rows. Then the loss is taken with the batch as anchors and
    the memory as what they are compared with. Only the batch gets a gradient. A miner sees the batch against the memory.

    size: how many rows are remembered; at least a batch.
    form: authors: the batch's own loss, plus that against the memory. alone: the loss against the memory alone.
        library: the same, as in an early version of the library that the Reality Check used: a row is also a positive
        of its own copy in the memory, and a mean over rows is divided by the rows of batch and memory.
    start: batches before the memory is used; until then nothing is remembered and the loss is that of the batch.
    weight: what the loss against the memory is multiplied by.

    >>> dml.methods.Memory(size=1024).size
    1024
    """

    size: Count
    form: Literal["authors", "alone", "library"] = "authors"
    start: Annotated[int, Must("not be negative", lambda value: value >= 0)] = 0
    weight: Positive = 1.0

    def check(self, rows: int) -> None:
        """Raise UserError if a batch does not fit into the memory."""
        if rows > self.size:
            raise UserError(f"memory: size must be at least that of a batch, {rows}, not {self.size}.")

    def pairs(self, F, embeddings, labels, precision, rows, row_labels, filled, places) -> Pairs:
        """All pairs of the batch and the memory, as ``objective.Ring`` gives it."""
        same = F.broadcast_equal(F.expand_dims(labels, 1), F.expand_dims(row_labels, 0))
        filled = F.expand_dims(filled, 0)
        positive = F.broadcast_mul(same, filled)
        negative = F.broadcast_mul(1 - same, filled)
        numbers = F.contrib.arange_like(row_labels, axis=0)
        own = F.broadcast_equal(F.expand_dims(places, 1), F.expand_dims(numbers, 0))
        if self.form == "library":
            own = F.zeros_like(own)  # a row's own copy is a positive like any other
        return Pairs(F, embeddings, F.BlockGrad(rows), positive - own, negative, own, precision)

    def scaled(self, F, loss: Loss, value, labels, filled):
        """The value of the loss against the memory, as it enters the sum."""
        if self.form == "library" and loss.means_rows:
            batch = F.sum(F.ones_like(labels))
            value = F.broadcast_mul(value, batch / (batch + F.sum(filled)))
        return value if self.weight == 1 else self.weight * value


OPTIONS = options_of(Memory)


def memory_for(loss: Loss, miner: Miner | None, given: Mapping[str, Any] | None) -> Memory | None:
    """A loss's memory, by its options; None without a size. Losses that cannot use a memory refuse it.

    >>> loss = dml.methods.create("contrastive", 10, 64)
    >>> dml.methods.memory_for(loss, None, {"size": 1024}).size
    1024
    """
    if given is not None and not isinstance(given, Mapping):
        raise UserError(f"memory must be a mapping, such as {{'size': 1024}}, not {given!r}.")
    if not given or given.get("size", 1) is None:
        return None
    options = fill_options(OPTIONS, given, where="memory")
    reads = loss.reads in ("pairs", "triplets")
    loss.require(reads, "it takes no memory: that is for losses of pairs or triplets.")
    loss.require(not loss.in_batch, "it takes no memory: it looks for rows in the batch itself.")
    if miner is not None:
        miner.require(not miner.in_batch, "it takes no memory: it looks for rows in the batch itself.")
    return Memory(**options)


class Combinations(NamedTuple):
    """What works with one loss."""

    own: str  # its default miner; "-" if it takes none
    miners: tuple[str, ...]  # those it takes
    with_memory: tuple[str, ...]  # the miners it takes together with a memory


def combinations() -> dict[str, Combinations]:
    """The combinations of every loss, by its key, found by asking the parts at their default options.

    >>> "semihard" in dml.methods.combinations()["triplet"].miners
    True
    """
    found = {}
    for key in KIND.names():
        loss = KIND.create(key, 2, 2)
        own = miner_for(loss, None)
        miners = tuple(name for name in MINERS.names() if _works(loss, name))
        remembering = tuple(name for name in miners if _works(loss, name, {"size": 2}))
        found[key] = Combinations(own.key if own else "-", miners, remembering)
    return found


def _works(loss: Any, miner: str, memory: Any = None) -> bool:
    try:
        memory_for(loss, miner_for(loss, miner), memory)
    except UserError:
        return False
    return True
