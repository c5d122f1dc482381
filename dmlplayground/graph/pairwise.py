"""Every row against every other: distances, similarities and which of them share a class."""

from __future__ import annotations

from .rows import row_sums

_TINY = 1e-20  # under a root: keeps its gradient finite at zero, where what flows into it is exactly zero


def squared_distances(F, x):
    """|x_i - x_j|^2 as (B, B), never negative."""
    left, right = factors(F, x)
    return F.relu(F.dot(left, right, transpose_b=True))


def factors(F, x):
    """Two (B, E + 2) whose product is the squared distances: rows' squares ride in it as two more columns."""
    squares = row_sums(F, x * x)
    ones = F.ones_like(squares)
    return F.concat(-2 * x, squares, ones, dim=1), F.concat(x, ones, squares, dim=1)


def root(F, squares):
    """The square root, with a finite gradient (zero, for squared distances) at zero."""
    return F.sqrt(squares + _TINY)


def distances(F, x):
    return root(F, squared_distances(F, x))


def squares_between(F, x, y, precision):
    """|x_i - y_j|^2 as (B, R), exactly zero where it is within the rounding error (``precision``)."""
    squares, apart = _between(F, x, y, precision)
    return squares * apart


def distances_between(F, x, y, precision):
    """|x_i - y_j| as (B, R); exactly zero, and its slope too, where rows are equal."""
    squares, apart = _between(F, x, y, precision)
    return root(F, squares) * apart


def _between(F, x, y, precision):
    """Squared distances, and 1 where they are more than rounding."""
    left, right = factors(F, x)[0], factors(F, y)[1]
    squares = F.relu(F.dot(left, right, transpose_b=True))
    lengths = [row_sums(F, F.square(F.BlockGrad(each))) for each in (x, y)]
    limits = 8 * precision * F.broadcast_add(lengths[0], F.reshape(lengths[1], shape=(1, -1)))
    return squares, F.BlockGrad(squares) > limits


def row_distances(F, x, y):
    """|x_i - y_i|, (B, E), (B, E) -> (B, 1)."""
    return root(F, row_sums(F, F.square(x - y)))


def same_class(F, labels):
    """(B, B): 1 where the labels agree, the diagonal included."""
    return F.broadcast_equal(F.expand_dims(labels, 1), F.expand_dims(labels, 0))


def positive_pairs(F, labels):
    """(same_class, the same without its diagonal)."""
    same = same_class(F, labels)
    return same, same - same_class(F, F.contrib.arange_like(labels, axis=0))
