from typing import Literal

from ...base.options import Positive
from ..graph import random_draws, rows
from .shared import KIND, Band, Listed, Miner


@KIND.register(title="Semi-hard", also=("semi-hard",))
class SemiHard(Miner):
    """Negatives that are farther off than the positive, but by less than a margin: D_ap < D_an < D_ap + margin.

    Distances are those of unit rows, not squared. Two studies mean two things by the name: Roth et al. draw one
    triplet an anchor, its positive evenly and its negative evenly among those (if there are none, among all
    negatives); the Reality Check's library keeps every such triplet (and those at the margin).

    margin: the width of the band; the loss's own margin, as a rule.
    each: draw one triplet for each ``anchor``, or keep ``all``.
    """

    gives = "triplets"

    margin: Positive = 0.2
    each: Literal["anchor", "all"] = "anchor"

    def hybrid_forward(self, F, pairs):
        distances = pairs.distances()
        if self.each == "all":
            return Band(pairs, distances, 0.0, self.margin)
        positive = random_draws.draw(F, pairs.positive)
        gaps = F.broadcast_sub(distances, rows.entry(F, distances, positive))
        band = pairs.negative * (gaps > 0) * (gaps < self.margin)
        negative = random_draws.draw(F, random_draws.or_else(F, band, pairs.negative))
        return Listed.each_anchor(pairs, positive, negative, pairs.complete_rows())
