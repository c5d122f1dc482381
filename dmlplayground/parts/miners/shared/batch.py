"""From a batch to the pairs or triplets that a miner keeps of it, and to what a loss reads."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...graph import rows
from ...graph.pairwise import itself, same_class
from .tuples import Pairs, Triplets

if TYPE_CHECKING:
    from .base import Miner


def all_pairs(F, embeddings, labels, dtype: str) -> Pairs:
    same, own = same_class(F, labels), itself(F, labels)
    return Pairs(F, embeddings, embeddings, same - own, 1 - same, own, float(np.finfo(dtype).eps))


def kept_by(miner: "Miner", F, pairs: Pairs) -> Pairs | Triplets:
    """What the miner keeps of all pairs. It gets rows without gradient."""
    if miner.keeps_all:
        return pairs
    same = pairs.references is pairs.anchors
    anchors = _seen(F, miner, pairs.anchors)
    references = anchors if same else _seen(F, miner, pairs.references)
    return miner.hybrid_forward(F, replace(pairs, anchors=anchors, references=references))


def _seen(F, miner, embeddings):
    embeddings = F.BlockGrad(embeddings)
    return rows.unit(F, embeddings) if miner.unit else embeddings


def as_read(pairs: Pairs, found: Pairs | Triplets, reads: str):
    """Pairs or triplets in the form that the loss reads, with the embeddings' gradient."""
    if reads == "rows":
        return found.row_weights()
    if reads == "pairs":
        found = found if isinstance(found, Pairs) else found.pairs()
        return pairs.keep(found.positive, found.negative)
    return (found.triplets() if isinstance(found, Pairs) else found).on(pairs)


def rows_kept_by(miner: "Miner", embeddings, labels, reads: str = "", dtype: str = "float32"):
    """The row numbers of what a miner keeps of a batch of arrays."""
    from mxnet import nd

    embeddings, labels = (
        each.astype(dtype) if isinstance(each, nd.NDArray) else nd.array(each, dtype=dtype)
        for each in (embeddings, labels)
    )
    miner.require(
        embeddings.ndim == 2 and labels.shape == embeddings.shape[:1],
        f"embeddings are (B, E) and labels (B,), not {embeddings.shape} and {labels.shape}.",
    )
    miner.width = embeddings.shape[1]
    miner.check(*embeddings.shape)
    found = kept_by(miner, nd, all_pairs(nd, embeddings, labels, dtype))
    if reads == "triplets" and isinstance(found, Pairs):
        found = found.triplets()
    return found.indices()
