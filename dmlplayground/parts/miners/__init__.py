"""The miners: which pairs or triplets of a batch a loss is computed over; one file each.

>>> import dmlplayground as dml
>>> miner = dml.mining.create("multi_similarity", epsilon=0.1)
>>> a1, p, a2, n = miner.mine(embeddings, labels)   # doctest: +SKIP
"""

from .shared.base import KIND, Miner, MinerRecord, miner_for

__all__ = ["KIND", "Miner", "MinerRecord", "create", "get", "miner_for", "names"]

names, get, create = KIND.names, KIND.get, KIND.create
