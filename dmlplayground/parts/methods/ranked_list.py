from ...base.options import NotNegative, Positive
from ..graph import pairwise, rows
from .shared import KIND, Loss, about, between, blocks


@KIND.register(
    title="Ranked list",
    year=2019,
    paper="Wang et al.: Ranked List Loss for Deep Metric Learning, CVPR 2019",
    sampler={"name": "blocks", "per_class": 3},
    head={"bias": False, "normalize": True},
    defaults={
        "batch_size": 180,
        "iterations": 200,
        "epochs": 60,
        "optimizer": {"name": "adam", "lr": 1e-4, "weight_decay": 1e-5},
        "groups": {"head": {"lr_mult": 10.0}},
        "schedule": {"factor": 0.5, "steps": [20, 30, 40]},
    },
    ranges={
        "method.margin": between(0.2, 0.8, "the paper 0.4"),
        "method.alpha": between(0.8, 1.6, "the paper 1.2"),
        "method.temperature": about(10.0, "the paper 10"),
        **blocks(2, 3),
    },
)
class RankedList(Loss):
    """Every row keeps its class within alpha - margin, and all others beyond alpha, the nearest weighing
    most.

    With D_ij = |x_i - x_j| (not squared), the positives P_i of row i with D_ij > alpha - margin, its
    negatives N_i with D_ij < alpha, and w_ij = exp(temperature (alpha - D_ij)),

        l_i = mean over P_i of (D_ij - alpha + margin)
              + negative_weight  mean over N_i, weighted by w_ij, of (alpha - D_ij),
        L = mean over the rows i with l_i > 0 of  l_i.

    The paper's values: alpha 1.2, margin 0.4, temperature 10, unit embeddings, 60 classes x 3, the head
    learning ten times as fast.

    margin: how much closer than alpha a class is kept.
    alpha: how far all other classes must be.
    temperature: how much more the nearest negatives weigh; 0: all weigh the same.
    negative_weight: what the negatives' half is multiplied by: the study's lambda (its equation 8), which its code leaves at 1.
    detach_weights: take the weights w for constants, as the paper does; false: differentiate them too, as the released code
        does, which pushes the nearest negatives harder.
    """

    margin: float = 0.4
    alpha: Positive = 1.2
    temperature: NotNegative = 10.0
    negative_weight: NotNegative = 1.0
    detach_weights: bool = True

    def hybrid_forward(self, F, embeddings, labels):
        same, positive = pairwise.positive_pairs(F, labels)
        distances = pairwise.distances(F, embeddings)
        far, is_far = rows.above(F, distances - (self.alpha - self.margin), positive)
        pull = rows.row_sums(F, far) / F.maximum(rows.row_sums(F, is_far), 1)
        near, is_near = rows.above(F, self.alpha - distances, 1 - same)
        # softmax(temperature near) over N_i is w over its sum, whatever the temperature
        weights = F.softmax(self.temperature * near + (1 - is_near) * rows.HIDDEN, axis=1)
        if self.detach_weights:
            weights = F.BlockGrad(weights)
        losses = pull + self.negative_weight * rows.row_sums(F, weights * near)
        return F.sum(losses) / F.maximum(F.sum(losses > 0), 1)
