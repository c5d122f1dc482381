"""Which loss works with which miner and with a memory, found by asking the parts at their default options."""

from typing import Any, NamedTuple

from ....base.errors import UserError
from ...miners import KIND as MINERS
from ...miners import miner_for
from .base import KIND
from .cross_batch_memory import memory_for


class Combinations(NamedTuple):
    """What works with one loss."""

    own: str  # its default miner; "-" if it takes none
    miners: tuple[str, ...]  # those it takes
    with_memory: tuple[str, ...]  # the miners it takes together with a memory


def combinations() -> dict[str, Combinations]:
    """The combinations of every loss, by its key.

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
