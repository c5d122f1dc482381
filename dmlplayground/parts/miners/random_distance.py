from ..graph import rows
from .distance_weighted import DistanceWeighted
from .shared import KIND


@KIND.register(title="Distance-weighted under shuffled labels")
class RandomDistance(DistanceWeighted):
    """A control: ``distance_weighted`` after shuffling the labels of the batch.

    Its options are those of ``distance_weighted``; the study has ``each: anchor, nonzero_cutoff: null``.
    """

    in_batch = True

    def hybrid_forward(self, F, pairs):
        order = F.argsort(F.random.uniform_like(rows.own_row(F, pairs.own)), axis=0)

        def dealt(matrix):
            return F.take(F.take(matrix, order, axis=0), order, axis=1)

        return super().hybrid_forward(F, pairs.keep(dealt(pairs.positive), dealt(pairs.negative)))
