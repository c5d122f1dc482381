from ...base.options import NotNegative, Positive
from ..graph import rows
from ..graph.pairwise import root
from .shared.base import KIND, Regularizer


@KIND.register(title="Embedding norm", also=("l2_reg", "embedding l2"))
class EmbeddingNorm(Regularizer):
    """Keeps embeddings short:

        R = mean over rows i of |x_i|^power

    It is for embeddings that the head does not normalise. With ``power`` 2 it is the L2 term of N-pairs and angular
    (theirs is a mean over pairs of |a|^2 + |p|^2, which is twice this mean); with 1 that of Roth et al., weight 0.005.

    weight: what the term is multiplied by.
    power: the exponent of the lengths.
    """

    weight: NotNegative = 0.005
    power: Positive = 2.0

    def hybrid_forward(self, F, embeddings, labels):
        squares = rows.row_sums(F, F.square(embeddings))
        return F.mean(squares if self.power == 2 else root(F, squares) ** self.power)
