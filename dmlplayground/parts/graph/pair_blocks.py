"""Losses over all pairs, in little memory.

Recording the operations on a (B, B) matrix keeps the results of most until the backward pass. A loss that
knows its slopes computes its gradient along with its value and keeps nothing but that. And what it needs
meanwhile it needs for a block of rows only, if one follows the other. Shapes come from small arrays there, or from
one for all: MXNet's memory plan never frees what an operator (arange_like, reshape_like) takes only a shape from.
"""

from .pairwise import _TINY, factors
from .rows import row_sums, total

_SMALL = 32  # rows; the number of blocks shows in the last bits, and the batches of kept records are larger


def with_gradient(F, value, x, gradient):
    """``value``, with ``gradient`` as its gradient with respect to ``x``."""
    along = total(F, x, F.BlockGrad(gradient))
    return F.BlockGrad(value) + (along - F.BlockGrad(along))


def blocks_for(rows: int, most: int) -> int:
    """How many blocks a batch is cut into: a small one needs no less memory in pieces, but more time."""
    return most if rows > _SMALL else 1


def blocks(F, matrix, number):
    """Every ``number``-th row from the first on, from the second on ...; rows of -1 even them out."""
    if number == 1:
        return [matrix]
    padding = -F.ones_like(F.slice_axis(matrix, axis=0, begin=0, end=1))
    padded = F.concat(matrix, *[padding] * (number - 1), dim=0)
    ends = [*range(1 - number, 0), None]
    return [F.slice(padded, begin=(k, None), end=(ends[k], None), step=(number, 1)) for k in range(number)]


def joined(F, parts, like):
    """The rows of ``blocks`` in their order again, as many as ``like`` has."""
    if len(parts) == 1:
        return parts[0]
    return F.slice_like(F.reshape(F.stack(*parts, axis=1), shape=(-3, 0)), like, axes=(0,))


def sum_over_pairs(F, number, embeddings, labels, find, *more):
    """The sum of a loss over rows, each against all, with its gradient; and how many positive pairs exist.

    It goes by a ``number`` of blocks: more of them need less memory, and more time where batches are small.

    ``find(squares, same, own, labels, *more)`` is given a block of rows: squared distances to all rows, where
    the class is the same, its labels and all, its rows of ``more``. It returns the slopes of the loss by the
    squared distances, and its value for every row. Rows of class -1, which does not exist, are only padding.
    """
    x = F.BlockGrad(embeddings)
    own_labels, labels = F.expand_dims(labels, 1), F.expand_dims(labels, 0)
    left, right = factors(F, x)
    by_left, by_right, sums, shape = [], 0, 0, None
    for rows, own, *rest in zip(*(blocks(F, each, number) for each in (left, own_labels, *more))):
        same = F.broadcast_equal(own, labels)
        shape = same if shape is None else shape
        slopes, losses = find(F.relu(F.dot(rows, right, transpose_b=True)), same, own, labels, *rest)
        # One node that all of the block goes through: with it done, the block is.
        found = F.concat(F.reshape_like(slopes, shape), losses, row_sums(F, same), dim=1)
        sums = sums + F.sum(F.slice_axis(found, axis=1, begin=-2, end=None), axis=0)
        slopes = F.slice_axis(found, axis=1, begin=0, end=-2)
        by_left.append(F.dot(slopes, right))
        by_right = by_right + F.dot(slopes, rows, transpose_a=True)
    by_left = joined(F, by_left, x)
    squares = F.slice_axis(by_left, axis=1, begin=-2, end=-1) + F.slice_axis(
        by_right, axis=1, begin=-1, end=None
    )
    pulls = F.slice_axis(by_right - 2 * by_left, axis=1, begin=0, end=-2)
    gradient = pulls + F.broadcast_mul(x, 2 * squares)
    value, same = (F.slice_axis(sums, axis=0, begin=k, end=k + 1) for k in (0, 1))
    return with_gradient(F, value, embeddings, gradient), same - F.sum(F.ones_like(labels))


def by_squares(F, slopes, distances):
    """Twice the slopes by squared distances, from those by distances; nothing where the distance is zero."""
    return slopes * distances / (F.square(distances) + _TINY)
