"""Every row against every other: distances, similarities and which of them share a class."""

from .rows import ones_row, row_sums

_TINY = 1e-20  # under a root: keeps its gradient finite at zero, where what flows into it is exactly zero
_LEAST_VARIANCE = 1e-12  # that an anchor is taken to have


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
    return _between(F, x, y, precision)[0]


def distances_between(F, x, y, precision):
    """|x_i - y_j| as (B, R); exactly zero, and its slope too, where rows are equal."""
    squares, apart = _between(F, x, y, precision)
    return root(F, squares) * apart


def _between(F, x, y, precision):
    """Squared distances, zero where they are no more than rounding, and 1 where they are more."""
    left, right = factors(F, x)[0], factors(F, y)[1]
    squares = F.dot(left, right, transpose_b=True)
    # |x_i|^2 + |y_j|^2 by the columns that have these squares: a product is faster than a broadcast sum, and as exact.
    ours, theirs = (F.slice_axis(F.BlockGrad(each), axis=1, begin=-2, end=None) for each in (left, right))
    apart = F.BlockGrad(squares) > F.dot(8 * precision * ours, theirs, transpose_b=True)
    return squares * apart, apart


def noise_to_signal(F, pairs):
    """R_ij = var(x_i - x_j) / var(x_i), variances over coordinates; (B, R), i an anchor and j a reference."""
    anchors, width = _centred(F, pairs.anchors)
    references = anchors if pairs.references is pairs.anchors else _centred(F, pairs.references)[0]
    squares = squares_between(F, anchors, references, pairs.precision)
    signals = F.broadcast_maximum(row_sums(F, F.square(anchors)), _LEAST_VARIANCE * width)
    return F.broadcast_div(squares, signals)


def _centred(F, rows):
    """Rows less the mean of their coordinates, and how many coordinates there are, (1, 1)."""
    width = row_sums(F, ones_row(F, rows))
    return F.broadcast_sub(rows, F.broadcast_div(row_sums(F, rows), width)), width


def same_class(F, labels):
    """(B, B): 1 where the labels agree, the diagonal included."""
    return F.broadcast_equal(F.expand_dims(labels, 1), F.expand_dims(labels, 0))


def positive_pairs(F, labels):
    """(same_class, the same without its diagonal)."""
    same = same_class(F, labels)
    return same, same - itself(F, labels)


def itself(F, labels):
    """(B, B): 1 on the diagonal, where a row meets itself; sooner done than a comparison of row numbers."""
    return F.linalg.makediag(F.ones_like(labels))
