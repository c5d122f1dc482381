from typing import Literal

from ...base.options import NotNegative
from ..graph import classes, rows
from ..miners.distance_weighted import check_cutoffs
from .shared import KIND, OWN_RATE, Loss, between, blocks, initial_weights, scaled, usual_settings


@KIND.register(
    title="Margin, distance-weighted sampling",
    year=2017,
    paper="Wu et al.: Sampling Matters in Deep Embedding Learning, ICCV 2017",
    sampler={"name": "blocks", "per_class": 5},
    head={"bias": True, "normalize": True},
    defaults={
        **usual_settings.TRAINING,
        "batch_size": 125,
        "epochs": 20,
        "groups": {"loss": {"name": "sgd", "lr": 0.1, "momentum": 0.9, "weight_decay": 0.0}},
    },
    ranges={
        "method.margin": scaled(0.05, 0.4, "the paper 0.2, Musgrave et al.'s searches 0.07 to 0.09"),
        "method.beta": between(
            0.6, 1.4, "the paper 1.2, Roth et al. 0.6 and 1.2, Musgrave et al.'s searches 0.8 to 1.3"
        ),
        **OWN_RATE,
        **blocks(2, 5),
    },
)
class Margin(Loss):
    """A learned boundary beta: positives stay within it by a margin, negatives beyond it by the same.

    With D_ij = |x_i - x_j| (not squared), b the anchor's beta, and triplets (a, p, n),

        L = (sum over triplets of [D_ap - b + margin]+ + [b - D_an + margin]+ + nu b) / (hinges above zero),

    their number being at least 1 and a constant of the gradient; the nu term only where beta is learned.

    Unless another miner is named, a negative is drawn for every ordered pair (a, p) of different rows of one
    class by the miner ``distance_weighted``, whose law ``cutoff`` and ``nonzero_cutoff`` bound.

    The paper's values: margin 0.2, beta 1.2 learned, nu 0, cutoffs 0.5 and 1.4, unit embeddings, batches of 25 classes
    x 5, beta by SGD with momentum 0.9 at 0.1.

    Where we differ from the released code. It looks beta up by the row's position in the batch, rows beyond
    the number of classes sharing the last: ``beta_by: position`` does so. An anchor without an admissible
    negative made it divide zero by zero, and MXNet then draws the first row of the batch, of whatever class:
    there is no option for that. And it divides the mean by the batch size B once more, so that beta really
    moved at 0.1 / B and weight decay weighed B times as much: set groups.loss.lr to 0.0008 and the
    optimizer's weight_decay to 1.25e-3 for its numbers at B = 125.

    margin: how far within beta positives stay, and how far beyond it negatives.
    beta: the boundary, or where it starts if it is learned.
    learn_beta: learn the boundary; false: it stays.
    per_class: one beta for each class; false: one for all.
    beta_by: where a row's beta is looked up: by its class, or by its position in the batch, as in the released code.
    nu: weight of the term that keeps beta small.
    cutoff: of the miner: nearer negatives are drawn as if they were this far away.
    nonzero_cutoff: of the miner: negatives at this distance or farther are not drawn.
    """

    reads = "triplets"

    margin: float = 0.2
    beta: float = 1.2
    learn_beta: bool = True
    per_class: bool = True
    beta_by: Literal["class", "position"] = "class"
    nu: NotNegative = 0.0
    cutoff: float = 0.5
    nonzero_cutoff: float = 1.4

    def __post_init__(self) -> None:
        check_cutoffs(self, self.cutoff, self.nonzero_cutoff)
        beta = initial_weights.constant(self.beta)
        self.weight("beta", (self.num_classes if self.per_class else 1,), beta, self.learn_beta)

    def default_miner(self):
        return {"name": "distance_weighted", "cutoff": self.cutoff, "nonzero_cutoff": self.nonzero_cutoff}

    def check(self, rows, width):
        classes.check_width(self, width, self.embed_dim)

    def hybrid_forward(self, F, embeddings, labels, triplets, beta):
        distances = triplets.every_pair.unrounded_distances()
        # An index too large takes the last: so rows beyond the number of classes share its beta.
        row = labels if self.beta_by == "class" else F.contrib.arange_like(labels, axis=0)
        beta = F.take(beta, row if self.per_class else F.zeros_like(labels))
        beta = triplets.of_anchors(F.expand_dims(beta, 1))
        beyond = F.broadcast_sub(triplets.near(distances), beta - self.margin)
        within = F.broadcast_sub(beta + self.margin, triplets.far(distances))
        near, too_far = rows.above(F, beyond, triplets.near_weights)
        far, too_near = rows.above(F, within, triplets.far_weights)
        active = rows.sum_of(F, too_far) + rows.sum_of(F, too_near)
        loss = F.sum(near + far)
        if self.nu and self.learn_beta:
            loss = loss + self.nu * F.sum(F.broadcast_mul(triplets.near_weights, beta))
        return loss / F.maximum(active, 1)
