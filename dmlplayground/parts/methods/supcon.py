from ...base.options import Positive
from ..graph import rows
from .shared import KIND, Loss, about, usual_settings


@KIND.register(
    title="Supervised contrastive",
    year=2020,
    paper="Khosla et al.: Supervised Contrastive Learning, NeurIPS 2020",
    also=("SupCon", "SupConLoss"),
    **usual_settings.tuples(temperature=about(0.1, "the paper 0.1")),
)
class SupCon(Loss):
    """Every positive pair against all other pairs of its anchor, positives among them, by a softmax of similarities.

    With S_ij = x_i.x_j, P_i the positives of row i and A_i all its pairs, each once,

        l_i = -1/|P_i| sum over p in P_i of ( S_ip / temperature - log sum over A_i of e^(S_ij / temperature) ),
        L = mean over the rows i with a positive and l_i > 0 of  l_i,

    and zero in a batch without positives or without negatives.

    temperature: how much the nearest pairs count more than the others. The paper has 0.1, the authors' code 0.07.
    """

    reads = "pairs"

    temperature: Positive = 0.1

    def hybrid_forward(self, F, embeddings, labels, pairs):
        logits = pairs.similarities() / self.temperature
        positive, any_pair = pairs.positive > 0, pairs.positive + pairs.negative
        count = rows.row_sums(F, positive)
        whole = rows.log_sum_exp(F, F.broadcast_add(logits, rows.hidden(F, any_pair)), keepdims=True)
        own = rows.row_sums(F, logits * positive) / F.maximum(count, 1)
        losses = whole - own
        contrast = F.broadcast_mul(count > 0, F.expand_dims(rows.sum_of(F, pairs.negative) > 0, 1))
        return rows.active_mean(F, losses, contrast)
