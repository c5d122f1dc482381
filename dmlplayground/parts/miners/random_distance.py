from ..graph import rows
from .distance_weighted import DistanceWeighted
from .shared.base import KIND
from .shared.tuples import Pairs


@KIND.register(title="Distance-weighted under shuffled labels")
class RandomDistance(DistanceWeighted):
    """A control: ``distance_weighted`` after shuffling the labels of the batch.

    Its options are those of ``distance_weighted``; the study has ``each: anchor, nonzero_cutoff: null``.

    cutoff: nearer negatives are drawn as if they were this far.
    nonzero_cutoff: no negative is drawn from this distance on; null: no such bound.
    each: draw for each ordered positive ``pair``, or one triplet for each ``anchor``.
    """

    in_batch = True

    def hybrid_forward(self, F, pairs):
        order = F.argsort(F.random.uniform_like(rows.own_row(F, pairs.own)), axis=0)

        def dealt(matrix):
            return F.take(F.take(matrix, order, axis=0), order, axis=1)

        positive, negative = dealt(pairs.positive), dealt(pairs.negative)
        shuffled = Pairs(F, pairs.anchors, pairs.references, positive, negative, pairs.own, pairs.precision)
        return super().hybrid_forward(F, shuffled)
