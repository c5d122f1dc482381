from typing import Annotated, Literal

from ...base.options import at_least
from ..graph import random_draws
from .shared import KIND, Listed, Miner

_BANDS = {"uniform": (0.0, 9.0), "hards": (0.0, 0.5), "veryhards": (0.0, 0.3), "semihards": (0.3, 0.7)}
_HARDLY = 1e-15


@KIND.register(title="Parametric")
class Parametric(Miner):
    """One triplet an anchor, the negative drawn by a weight for the bin that its distance falls into.

    The bins are equal parts of ``low`` to ``high``. A bin's weight is 1 where its lower edge is at most 0.5 (``hards``), at
    most 0.3 (``veryhards``), from 0.3 to 0.7 (``semihards``) or anywhere (``uniform``), and 1e-15 elsewhere; beyond all bins
    it is 0. The positive is drawn evenly; so is the negative if no bin holds one. The study states no values for
    ``low``, ``high`` and ``support``: these are chosen.

    form: which bins have the weight 1, as above.
    low: where the first bin begins.
    high: where the last bin ends.
    support: the number of points that bound the bins, one more than there are bins.
    """

    gives = "triplets"

    form: Literal["uniform", "hards", "veryhards", "semihards"] = "uniform"
    low: float = 0.0
    high: float = 2.0
    support: Annotated[int, at_least(2)] = 21

    def __post_init__(self) -> None:
        self.require(
            0 <= self.low < self.high, f"low must be from 0 to below high, not {self.low} and {self.high}."
        )

    def hybrid_forward(self, F, pairs):
        distances = pairs.distances()
        width = (self.high - self.low) / (self.support - 1)
        first, last = _BANDS[self.form]
        edges = self.low + width * F.floor((distances - self.low) / width)
        chosen = (edges >= first - 1e-6) * (edges <= last + 1e-6)
        inside = (distances >= self.low) * (distances <= self.high) * pairs.negative
        weights = random_draws.or_else(F, inside * (chosen + (1 - chosen) * _HARDLY), pairs.negative)
        positive, negative = (random_draws.draw(F, each) for each in (pairs.positive, weights))
        return Listed.each_anchor(pairs, positive, negative, pairs.complete_rows())
