import math

from ...base.options import Positive
from ..graph import classes, rows
from .shared import KIND, Classifier, about, usual_settings


@KIND.register(
    title="Proxy-anchor",
    year=2020,
    paper="Kim et al.: Proxy Anchor Loss for Deep Metric Learning, CVPR 2020",
    **usual_settings.classes(margin=about(0.1, "the paper 0.1"), alpha=about(32.0, "the paper 32")),
)
class ProxyAnchor(Classifier):
    """Every class's proxy draws its hardest images and pushes the nearest of other classes.

    With p_k = proxy_k / |proxy_k|, S_ik = x_i.p_k and C classes, of which n are in the batch,

        L = 1/n sum over classes k of log(1 + sum over rows i of k of e^(-alpha (S_ik - margin)))
          + 1/C sum over classes k of log(1 + sum over rows i of others of e^(alpha (S_ik + margin))).

    A miner's row weights multiply the exponentials.

    margin: how far similarities are wanted beyond zero, on either side. The paper has 0.1.
    alpha: how much the hardest rows count more than the others. The paper has 32.
    """

    margin: float = 0.1
    alpha: Positive = 32.0

    def __post_init__(self) -> None:
        self.init_std = math.sqrt(2 / self.num_classes)
        super().__post_init__()

    def hybrid_forward(self, F, embeddings, labels, weights, proxies):
        similarities = classes.nearness(F, embeddings, proxies, self.num_classes, self.alpha)
        similarities = F.transpose(similarities)  # (C, B): a proxy sees the batch
        own = F.transpose(F.one_hot(labels, self.num_classes, dtype=self.dtype))
        reach = self.alpha * self.margin
        pull = rows.log_one_plus(F, F.broadcast_sub(self._weighed(F, own, weights), similarities - reach))
        push = rows.log_one_plus(F, F.broadcast_add(self._weighed(F, 1 - own, weights), similarities + reach))
        present = F.sum(rows.row_sums(F, own) > 0)
        return F.reshape(F.sum(pull) / present + F.sum(push) / self.num_classes, shape=(1,))

    def _weighed(self, F, chosen, weights):
        """What to add to the logits of the chosen rows, so that each counts by its weight and the others not at all."""
        if weights is None:
            return (1 - chosen) * rows.HIDDEN
        return rows.log_weights(F, F.broadcast_mul(chosen, F.expand_dims(weights, 0)))
