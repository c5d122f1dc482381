import math

from ...base.options import Positive
from ..graph import rows
from .shared import KIND, Loss, about, usual_settings


@KIND.register(
    title="NT-Xent",
    year=2016,
    paper="Sohn: Improved Deep Metric Learning with Multi-class N-pair Loss Objective, NIPS 2016; named by Chen et al.: "
    "A Simple Framework for Contrastive Learning of Visual Representations, ICML 2020",
    also=("InfoNCE", "NTXentLoss", "normalized temperature-scaled cross entropy", "SimCLR loss"),
    **usual_settings.tuples(
        temperature=about(0.07, "usually 0.07, Musgrave et al.'s searches 0.009 to 0.04"),
    ),
)
class NTXent(Loss):
    """Every positive pair against all negatives of its anchor, by a softmax of similarities.

    With S_ij = x_i.x_j, over positive pairs (a, p), and over the negatives n of a,

        L = mean over (a, p) of  -log( e^(S_ap / temperature) / (e^(S_ap / temperature) + sum_n e^(S_an / temperature)) ).

    An anchor's other positives are not in the sum. Zero where there are no negatives.

    temperature: how much the nearest negatives count more than the others. Musgrave et al. found 0.0091 on CUB, 0.022 on
        Cars and 0.00024 on SOP; 0.07 is usual.
    floor: what is added to the ratio under the logarithm. The library that Musgrave et al. used added 1e-20, so that a
        pair's loss stops at 46.05 and its gradient fades there: at their temperature for SOP a pair that is violated by
        more than 0.011 is ignored. With 0 the logarithm is exact.
    """

    reads = "pairs"

    temperature: Positive = 0.07
    floor: float = 0.0

    def __post_init__(self) -> None:
        self.require(0 <= self.floor < 1, f"floor must be from 0 to below 1, not {self.floor}.")

    def hybrid_forward(self, F, embeddings, labels, pairs):
        logits = pairs.similarities() / self.temperature
        rivals = F.broadcast_add(logits, rows.log_weights(F, pairs.negative))
        rivals = rows.log_sum_exp(F, rivals, keepdims=True)
        losses = rows.softplus(F, F.broadcast_sub(rivals, logits))
        if self.floor:
            losses = F.relu(losses - rows.softplus(F, losses + math.log(self.floor)))
        return rows.count_mean(F, losses, pairs.positive)
