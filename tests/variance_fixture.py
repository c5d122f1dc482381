"""Scores drawn with known spreads, as repeated searches and divisions would give them."""

from itertools import product

import numpy as np

from dmlplayground.reports.variance import SOURCES, Comparison

# Standard deviations of the sources, in the order of SOURCES: what is common to all methods, a method's own in a division,
# its search's, of both together, the seed's.
NOISES = {
    "seeds": (1, 0, 0, 0, 1),
    "searches": (1, 0, 2, 0, 1),
    "divisions": (1, 2, 0, 0, 1),
    "all": (1, 1, 1, 1, 1),
    "common": (5, 0.5, 1, 0.5, 0.5),
}


def scores(random, levels, noise, divisions=3, searches=2, seeds=2, scales=None):
    """Every method's values by division, search and seed; ``scales`` are factors of the methods' own noise."""
    common, own, search, both, seed = noise
    shared = common * random.normal(size=divisions)
    found = {}
    for level, name, scale in zip(
        levels, names(len(levels)), np.ones(len(levels)) if scales is None else scales
    ):
        mean = own * random.normal(size=(divisions, 1, 1)) + search * random.normal(size=(1, searches, 1))
        rest = both * random.normal(size=(divisions, searches, 1)) + seed * random.normal(
            size=(divisions, searches, seeds)
        )
        values = level + shared[:, None, None] + scale * (mean + rest)
        runs = product(range(1, divisions + 1), range(1, searches + 1), range(seeds))
        found[name] = {(d, s, k): float(values[d - 1, s - 1, k]) for d, s, k in runs}
    return found


def names(count):
    return [f"m{number:02}" for number in range(count)]


def drawn(seed, levels, noise, higher=True, **design):
    return Comparison.of(scores(np.random.default_rng(seed), levels, noise, **design), higher)


def known(noise):
    return dict(zip(SOURCES, noise))
