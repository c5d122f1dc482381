from __future__ import annotations

from . import pairs
from .base import Loss, method


@method(
    title="Lifted structure",
    year=2016,
    paper="Song et al.: Deep Metric Learning via Lifted Structured Feature Embedding, CVPR 2016",
    sampler={"name": "shuffled"},
    head={"bias": True, "normalize": False},
    defaults={
        "batch_size": 128,
        "epochs": 60,
        "optimizer": {"name": "adam", "lr": 1e-4, "weight_decay": 1e-5, "clip": 10.0},
        "schedule": {"factor": 0.5, "steps": [20, 30, 40]},
    },
)
class LiftedStructure(Loss):
    """Every positive pair against all the negatives of both its rows at once.

    With D_ij = |x_i - x_j| (not squared) and S_i = sum over negatives k of i of exp(margin - D_ik),

        L = 1 / (2 |P|) sum over unordered positive pairs (i, j) of [D_ij + log(S_i + S_j)]+^2.

    The paper's values: margin 1, embeddings not normalised. The released code computes the same from B x B x
    B numbers; log(S_i + S_j) needs but one log-sum-exp a row.
    """

    def __init__(self, num_classes, embed_dim, *, margin: float = 1.0):
        super().__init__(num_classes, embed_dim)
        self.margin = margin

    def hybrid_forward(self, F, embeddings, labels):
        x = F.BlockGrad(embeddings)
        same, positive = pairs.positive_pairs(F, labels)
        distances = F.sqrt(pairs.squared_distances(F, x))
        against = same * pairs.HIDDEN - distances
        pushes = F.expand_dims(pairs.log_sum_exp(F, against), 1) + self.margin  # log S_i
        lead = F.broadcast_sub(pushes, F.transpose(pushes))
        # log(S_i + S_j) = log S_i + log(1 + exp(log S_j - log S_i))
        both = F.broadcast_add(F.Activation(-lead, act_type="softrelu"), pushes)
        hinges = F.relu(distances + both) * positive
        # Half a square's slope is the hinge: by D_ij itself, and by log S_i as much as is S_i's share of
        # S_i + S_j, in (i, j) as in (j, i). Log S_i falls with the distances of i's negatives, softmax-wise.
        falls = 2 * pairs.row_sums(F, hinges * F.sigmoid(lead))
        slopes = hinges - F.broadcast_mul(F.softmax(against, axis=1), falls)
        gradient = pairs.distance_gradient(F, slopes, distances, x)
        loss = pairs.with_gradient(F, pairs.total(F, hinges, hinges) / 2, embeddings, gradient)
        return loss / F.maximum(F.sum(positive), 1)  # ordered pairs: every unordered one was met twice
