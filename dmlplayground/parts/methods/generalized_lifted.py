from ..graph import rows
from .shared import KIND, NEGATIVE, POSITIVE, Loss, usual_settings


@KIND.register(
    title="Generalised lifted structure",
    year=2017,
    paper="Hermans et al.: In Defense of the Triplet Loss for Person Re-Identification, 2017",
    also=("generalized lifted structure", "lifted embedding loss"),
    **usual_settings.tuples(pos_margin=POSITIVE, neg_margin=NEGATIVE),
)
class GeneralizedLifted(Loss):
    """Every row against its farthest positives and its nearest negatives, by soft maxima.

    With D_ij = |x_i - x_j| (not squared), and P_i and N_i the positives and negatives of row i, each once,

        L = mean over rows i of  [ log sum over P_i of e^(D_ij - pos_margin) + log sum over N_i of e^(neg_margin - D_ij) ]+,

    where the logarithm of a sum of nothing is taken as 0.

    Roth et al. use embeddings that are not normalised, with the regularizer ``embedding_norm`` (power 1, weight 0.005).

    pos_margin: how far positives may stay.
    neg_margin: how far negatives must go. The paper and Roth et al. have 1.
    skip_lone: the mean is over the rows that have a positive, as in Roth et al.
    """

    reads = "pairs"

    pos_margin: float = 0.0
    neg_margin: float = 1.0
    skip_lone: bool = False

    def __post_init__(self) -> None:
        self.means_rows = not self.skip_lone

    def hybrid_forward(self, F, embeddings, labels, pairs):
        distances = pairs.distances()
        mated, near = self._soft_sum(F, distances - self.pos_margin, pairs.positive)
        _, far = self._soft_sum(F, self.neg_margin - distances, pairs.negative)
        losses = F.relu(near + far)
        return rows.count_mean(F, losses, mated) if self.skip_lone else F.mean(losses)

    def _soft_sum(self, F, terms, counts):
        """Which rows have such a pair, and their log-sum-exp over them, 0 for the others; both (B, 1)."""
        have = F.BlockGrad(rows.row_sums(F, counts) > 0)
        found = rows.log_sum_exp(F, F.broadcast_add(terms, rows.hidden(F, counts)), keepdims=True)
        return have, have * found
