"""Soft histograms: an entry between two nodes counts for both, for the nearer one more.

In running counts, what all nodes up to one hold, this is simple: of an entry ``d`` above the first node, in units of
their distance, node l and those before hold all if d <= l, nothing if d >= l + 1, and l + 1 - d between. So the slope by
``d`` is that of one node alone, the one below, and is looked up.
"""

from .rows import flat


def held(F, places, nodes: int):
    """For each node in turn how much of each entry it and those before it hold, in the shape of ``places`` (>= 0)."""
    rest = places
    for _ in range(nodes):
        missing = F.minimum(rest, 1)
        rest = rest - missing
        yield 1 - missing


def slopes_by_place(F, places, by_held):
    """For every entry its slope, from those by what each node and those before hold: (B, nodes), or (1, nodes) for all.

    There is none beyond the last node's reach.
    """
    width = F.slice_axis(F.contrib.arange_like(by_held, axis=1), axis=0, begin=-1, end=None) + 2
    none = F.zeros_like(F.slice_axis(by_held, axis=1, begin=0, end=1))
    starts = F.broadcast_mul(F.contrib.arange_like(by_held, axis=0), width)
    below = F.broadcast_minimum(F.floor(places), F.reshape(width - 1, shape=(1, 1)))
    table = flat(F, F.concat(-by_held, none, dim=1))
    return F.take(table, F.broadcast_add(below, F.expand_dims(starts, 1)))


def differences(F, running):
    """What each node holds by itself, (B, nodes), from the running counts."""
    first = F.slice_axis(running, axis=1, begin=0, end=1)
    return running - F.concat(F.zeros_like(first), F.slice_axis(running, axis=1, begin=0, end=-1), dim=1)


def following(F, values):
    """Every column's next one; zeros after the last."""
    first = F.slice_axis(values, axis=1, begin=0, end=1)
    return F.concat(F.slice_axis(values, axis=1, begin=1, end=None), F.zeros_like(first), dim=1)
