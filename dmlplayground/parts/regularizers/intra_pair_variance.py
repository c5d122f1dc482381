from ...base.options import NotNegative
from ..graph import pairwise
from .shared.base import KIND, Regularizer


@KIND.register(title="Intra-pair variance")
class IntraPairVariance(Regularizer):
    """Keeps all similarities of one kind near their mean: those of positive pairs from falling below it, those of
    negative pairs from rising above.

    With S_ij = x_i.x_j, P and N all ordered positive and negative pairs, and mu their mean similarities (which are
    differentiated),

        R = mean over P of [(1 - pos_slack) mu_P - S]+^2  +  mean over N of [S - (1 + neg_slack) mu_N]+^2;

    a mean over no pair is 0. It is for unit embeddings.

    weight: what the term is multiplied by.
    pos_slack: how far positives may fall below their mean, as a share of it.
    neg_slack: how far negatives may rise above their mean, as a share of it.
    """

    weight: NotNegative = 1.0
    pos_slack: float = 0.01
    neg_slack: float = 0.01

    def hybrid_forward(self, F, embeddings, labels):
        same, positive = pairwise.positive_pairs(F, labels)
        similarities = F.dot(embeddings, embeddings, transpose_b=True)
        near = self._mean(F, similarities, positive)
        far = self._mean(F, similarities, 1 - same)
        below = F.relu(F.broadcast_sub((1 - self.pos_slack) * near, similarities))
        above = F.relu(F.broadcast_sub(similarities, (1 + self.neg_slack) * far))
        return F.reshape(
            self._mean(F, F.square(below), positive) + self._mean(F, F.square(above), 1 - same), shape=(1,)
        )

    @staticmethod
    def _mean(F, values, kept):
        """(1, 1)."""
        count = F.maximum(F.sum(kept), 1)
        return F.reshape(F.sum(values * kept) / count, shape=(1, 1))
