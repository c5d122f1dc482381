"""The arithmetic behind the metrics: exact ranks and k-means, at the speed of matrix products.

Libraries serve neither need. Those for exact search return the K nearest, and a metric that looks at as many
neighbours as the largest class has members would need thousands of them; those for k-means take minutes at the
thousands of clusters that a set of products has.
"""

from types import ModuleType

__all__ = ["embeddings", "inner_loops", "kmeans", "loops", "rank_counting", "ranks", "rounded", "vectors"]

#: Bytes that may be allocated beyond the embeddings, unless the caller says otherwise.
MEMORY = 512_000_000


def loops() -> ModuleType:
    """The innermost loops. Loading numba takes a second, which waits until something is measured."""
    from . import inner_loops

    return inner_loops
