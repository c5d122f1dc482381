from typing import Literal

from ..graph import random_draws, rows
from .shared import KIND, Listed, Miner


@KIND.register(title="Distance-weighted", also=("distance",))
class DistanceWeighted(Miner):
    """Negatives drawn so that all distances are met equally often on the unit sphere.

    With d = max(D_an, cutoff) and E dimensions, n has the probability of

        exp((2 - E) log d - (E - 3) / 2 log(1 - d^2 / 4)).

    Draws are independent, with replacement. Rows are taken as the head gives them: the law is for unit rows.
    Fehérvári et al. and the authors draw a negative for every ordered positive pair and none beyond 1.4. Roth et al.
    (their miner "distance") draw one triplet an anchor, the positive evenly, and have no upper cutoff: ``each: anchor``
    and ``nonzero_cutoff: null``. Without it far negatives are drawn as readily as near ones: the law rises beyond sqrt 2.

    cutoff: nearer negatives are drawn as if they were this far.
    nonzero_cutoff: no negative is drawn from this distance on, unless all of the anchor's are that far: then each is
      as likely; null: no such bound.
    each: draw for each ordered positive ``pair``, or one triplet for each ``anchor``.
    """

    gives = "triplets"
    unit = False

    cutoff: float = 0.5
    nonzero_cutoff: float | None = 1.4
    each: Literal["pair", "anchor"] = "pair"

    def __post_init__(self) -> None:
        check_cutoffs(self, self.cutoff, self.nonzero_cutoff)

    def check(self, rows, width):
        largest = random_draws.LARGEST_BATCH
        self.require(rows <= largest, f"a batch can have {largest} rows, not {rows}.")

    def hybrid_forward(self, F, pairs):
        return self.draw(F, pairs, pairs.unrounded_distances(), pairs.negative)

    def draw(self, F, pairs, distances, allowed):
        law = random_draws.by_distance(F, distances, allowed, self.width, self.cutoff, self.nonzero_cutoff)
        has_negative = rows.row_sums(F, pairs.negative) > 0
        if self.each == "pair":
            weights = F.broadcast_mul(pairs.positive, has_negative)
            return Listed(pairs, None, random_draws.draw_each(F, law), weights)
        positive, negative = (random_draws.draw(F, each) for each in (pairs.positive, law))
        return Listed.each_anchor(pairs, positive, negative, pairs.complete_rows())


def check_cutoffs(part, cutoff, nonzero_cutoff):
    part.require(
        0 < cutoff < (nonzero_cutoff or 2) and (nonzero_cutoff or 1) < 2,
        f"cutoff, nonzero_cutoff and 2 must be in rising order, not {cutoff}, {nonzero_cutoff} and 2.",
    )
