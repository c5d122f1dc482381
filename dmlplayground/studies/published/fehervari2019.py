"""Fehervari, Ravichandran and Appalaraju 2019: tables 2 to 4, figures 1 and 2, and the logs released with them."""

from collections.abc import Iterator

from .quotes import KIND, Quote, table


@KIND.register(
    title="Fehervari, Ravichandran, Appalaraju: Unbiased Evaluation of Deep Metric Learning Algorithms (2019)",
    year=2019,
    warning="Its NMI divides by the geometric mean of the entropies.",
)
def quotes() -> Iterator[Quote]:
    """The tables of three data sets, the curves against the size of the embedding and of the batch, and five logs."""
    return table("fehervari2019")
