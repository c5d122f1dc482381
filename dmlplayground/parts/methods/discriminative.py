from ..graph import classes, rows
from .shared import ANY_BATCH, KIND, Loss, usual_settings


@KIND.register(
    title="Discriminative",
    year=2019,
    paper="Do et al.: A Theoretically Sound Upper Bound on the Triplet Loss for Improving the Efficiency of "
    "Deep Distance Metric Learning, CVPR 2019",
    sampler={"name": "shuffled"},
    head={"bias": False, "normalize": True, "to_classes": True, "bottleneck_dropout": 0.5},
    defaults=usual_settings.PASSES,
    ranges=ANY_BATCH,
)
class Discriminative(Loss):
    """An upper bound of the triplet loss: every image to its class's fixed centroid, away from all the
    others.

    The centroids are the corners e_k of R^C, so the head has a further layer with an output for each class, and its
    outputs are the embedding.

        L = mean over rows i of  |x_i - e_{y_i}|^2 - (1 / (3 (C - 1))) sum_{k != y_i} |x_i - e_k|^2.

    The paper multiplies the sum over all n training images by 3 (C - 1) (n / C - 1) (n / C). That is what
    bounds the sum of all triplets, and for their mean comes to 3 times our mean, whatever n; the 3 is a
    factor of the learning rate and is left out. There are no parameters.

    The released code uses the batch in place of the training set, which makes the factor zero or negative for batches
    no larger than the number of classes: it then drives images from their own class. There is no option for that.
    """

    reads = "rows"

    def __post_init__(self) -> None:
        classes.check_classes(self)

    def check(self, rows, width):
        classes.check_width(self, width, self.num_classes)

    def hybrid_forward(self, F, embeddings, labels, weights):
        # |x - e_k|^2 = |x|^2 + 1 - 2 x_k
        others = 1 / (3 * (self.num_classes - 1))
        squares = rows.row_sums(F, F.square(embeddings)) + 1
        every = rows.row_sums(F, embeddings)
        own = F.pick(embeddings, labels, axis=1, keepdims=True)
        losses = 2 / 3 * squares - 2 * own + 2 * others * (every - own)
        return rows.mean(F, losses, weights)
