"""Random draws, all rows at once, by the inverse of the cumulative distribution."""

from .rows import HIDDEN, lookup, row_starts, row_sums

_HALVINGS = 14
LARGEST_BATCH = 2**_HALVINGS
_TOO_FAR = -1e6  # a finite amount: never within the class, whose HIDDEN is further
_LONGEST = 2 - 1e-4  # opposite rows: the law has no limit there


def numbers(F, matrix):
    """A random number from 0 to below 1 for every row, (B, 1)."""
    return F.random.uniform_like(F.slice_axis(matrix, axis=1, begin=0, end=1))


def draw(F, weights):
    """For every row a column drawn by the row's weights, (B, 1)."""
    return column(F, weights, numbers(F, weights))


def column(F, weights, numbers):
    """For every row the column that its number from 0 to 1 stands for, by the row's weights, (B, 1).

    It is the inverse of the cumulative distribution. A row without any weight has a column beyond the last.
    """
    cumulative = F.cumsum(weights, axis=1)
    whole = F.slice_axis(cumulative, axis=1, begin=-1, end=None)
    passed = F.broadcast_lesser_equal(cumulative, numbers * whole * (1 - 1e-6))
    return row_sums(F, passed)


def or_else(F, weights, others):
    """The rows of ``weights``, or those of ``others`` where a row has no weight."""
    none = F.max(weights, axis=1, keepdims=True) == 0
    return weights + F.broadcast_mul(others, none)


def by_distance(F, distances, allowed, width, cutoff, upper=None):
    """Row a: the law by which anchor a's negative is drawn so that on the unit sphere all distances are met equally often.

    ``allowed`` is 1 where a reference may be drawn. Beyond ``upper``, if there is such a bound, none is drawn, unless
    all are beyond it: then each is as likely.
    """
    d = F.clip(distances, cutoff, upper or _LONGEST)
    log_weights = (2 - width) * F.log(d) - (width - 3) / 2 * F.log(1 - F.square(d) / 4)
    if upper:
        near = distances < upper
        log_weights = near * log_weights + (1 - near) * _TOO_FAR
    return F.softmax(log_weights + (1 - allowed) * HIDDEN, axis=1)


def draw_each(F, probabilities):
    """A place of the flattened matrix for every entry: its column drawn by the row's probabilities.

    The inverse of the cumulative distribution by halving, all entries at once: ``found`` is the last place whose
    cumulative probability is known to be at most the entry's random number, at first the one before the row's.
    """
    cumulative = F.cumsum(probabilities, axis=1)
    whole = F.slice_axis(cumulative, axis=1, begin=-1, end=None)
    numbers = F.broadcast_mul(F.random.uniform_like(probabilities), whole * (1 - 1e-6))
    places = F.contrib.arange_like(F.cast(probabilities, "int32"))
    found = F.broadcast_add(F.zeros_like(places), row_starts(F, places) - 1)
    last = F.slice_axis(places, axis=1, begin=-1, end=None)
    for halving in reversed(range(_HALVINGS)):
        probe = F.broadcast_minimum(found + 2**halving, last)
        passed = F.broadcast_lesser_equal(lookup(F, cumulative, probe), numbers)
        found = found + 2**halving * F.cast(passed, "int32")
    return found + 1
