"""Musgrave, Belongie and Lim 2020: networks before training (tables 1 and 2), and means over ten runs with half of their
95 % intervals (tables 4 to 6)."""

from collections.abc import Iterator

from .quotes import KIND, Quote, table


@KIND.register(
    title="Musgrave, Belongie, Lim: A Metric Learning Reality Check (ECCV 2020)",
    also=("reality check", "powerful benchmarker"),
    year=2020,
    protocol="validated",
    metrics={"R@1": "P@1", "RP": "RP", "MAP@R": "MAP@R"},
    warning="Its intervals count ten repeats and the winning trial of the search.",
)
def quotes() -> Iterator[Quote]:
    """P@1, which is R@1, R-precision and MAP@R of fourteen losses on three data sets, of four folds' models joined and apart,
    and of the network before training; R@1 and NMI of three networks before training."""
    return table("musgrave2020")
