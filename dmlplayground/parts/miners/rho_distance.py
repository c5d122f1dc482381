from dataclasses import field
from typing import Literal

from ...base.options import Share
from ..graph import random_draws, rows
from .distance_weighted import DistanceWeighted
from .shared import KIND, Listed


@KIND.register(title="Rho-regularised distance-weighted")
class RhoDistance(DistanceWeighted):
    """Distance-weighted triplets, one an anchor, of which some push an anchor from its own class.

    With probability p an anchor's triplet becomes (a, a, j), j another image of its class drawn evenly: the anchor
    stands for the positive, a positive for the negative. That keeps embeddings from collapsing along directions that
    the training classes do not need. Published p: CUB 0.4 (margin 0.35, SNR 0.3), Cars 0.35, SOP 0.15.

    p: the share of anchors whose triplet is exchanged.
    nonzero_cutoff: no negative is drawn from this distance on; null: no such bound, as in the study.
    """

    p: Share = 0.2
    nonzero_cutoff: float | None = None
    each: Literal["anchor"] = field(default="anchor", init=False)

    def draw(self, F, pairs, distances, allowed):
        law = random_draws.by_distance(F, distances, allowed, self.width, self.cutoff, self.nonzero_cutoff)
        positive, negative = (random_draws.draw(F, each) for each in (pairs.positive, law))
        swapped = random_draws.numbers(F, law) < self.p
        own = F.argmax(pairs.own, axis=1, keepdims=True)
        negative = swapped * positive + (1 - swapped) * negative
        positive = swapped * own + (1 - swapped) * positive
        # An exchanged triplet needs no negative.
        exists = F.maximum((rows.row_sums(F, pairs.positive) > 0) * swapped, pairs.complete_rows())
        return Listed.each_anchor(pairs, positive, negative, exists)
