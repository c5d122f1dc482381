"""Pieces of static graphs that losses, miners and regularizers share.

Each function takes ``F`` (``mx.nd`` or ``mx.sym``) first, so nothing here imports MXNet. MXNet's plain reductions,
``where`` and index lookups cost several times a pass over memory; its matrix products and softmax do not. Hence sums as
products with ones, masks as factors, and log-sum-exp read off a softmax.
"""

__all__ = [
    "bins", "blocks", "classes", "interleaved", "pair_blocks", "pairwise", "random_draws", "rows", "soft_ranks",
]  # fmt: skip
