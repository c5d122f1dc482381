"""Random draws, all rows at once, by the inverse of the cumulative distribution."""

from __future__ import annotations

from .rows import lookup, row_starts

_HALVINGS = 14
LARGEST_BATCH = 2**_HALVINGS


def draw_each(F, probabilities):
    """A place of the flattened matrix for every entry: its column drawn by the row's probabilities.

    The inverse of the cumulative distribution by halving, all entries at once: ``found`` is the last place
    whose cumulative probability is known to be at most the entry's random number, the place before the row's
    first to begin with.
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
