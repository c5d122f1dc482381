"""The signal-to-noise distance: the variance of the difference of two rows over that of the anchor."""

from .pairwise import squares_between
from .rows import row_sums

_SMALLEST = 1e-12  # the least variance that an anchor is taken to have


def noise_to_signal(F, pairs):
    """R_ij = var(x_i - x_j) / var(x_i), variances over coordinates; (B, R), i an anchor and j a reference."""
    anchors, width = _centred(F, pairs.anchors)
    references = anchors if pairs.references is pairs.anchors else _centred(F, pairs.references)[0]
    squares = squares_between(F, anchors, references, pairs.precision)
    signals = F.broadcast_maximum(row_sums(F, F.square(anchors)), _SMALLEST * width)
    return F.broadcast_div(squares, signals)


def _centred(F, rows):
    """Rows less the mean of their coordinates, and how many coordinates there are, (1, 1)."""
    ones = F.ones_like(F.slice_axis(rows, axis=0, begin=0, end=1))
    width = row_sums(F, ones)
    return F.broadcast_sub(rows, F.broadcast_div(row_sums(F, rows), width)), width
