"""Roth et al. 2020: the points of its figures, decoded from the vector graphics of the released repository."""

from collections.abc import Iterator

from .quotes import KIND, Quote, table


@KIND.register(
    title="Roth, Milbich, Sinha, Gupta, Ommer, Cohen: Revisiting Training Strategies and Generalization Performance in Deep "
    "Metric Learning (ICML 2020)",
    also=("training strategies", "revisiting dml"),
    year=2020,
    warning="Each value is the mean over five seeds of the best test epoch; several of its released losses are faulty.",
)
def quotes() -> Iterator[Quote]:
    """R@1 of eighteen losses and miners, and of five with the regularizer of rho, on three data sets; and what their
    training embeddings look like at the epoch of that R@1."""
    return table("roth2020")
