from ...base.options import NotNegative
from ..graph import rows
from .shared.base import KIND, Regularizer


@KIND.register(title="Zero mean", also=("zero mean regularizer",))
class ZeroMean(Regularizer):
    """Keeps the coordinates of every embedding balanced:

        R = mean over rows i of |sum of the coordinates of x_i|

    The signal-to-noise losses divide by a variance over coordinates, and are meant to be used with it.

    weight: what the term is multiplied by.
    """

    weight: NotNegative = 0.005

    def hybrid_forward(self, F, embeddings, labels):
        return F.mean(F.abs(rows.row_sums(F, embeddings)))
