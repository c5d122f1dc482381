from ..graph import classes
from .shared import KIND, AngleMultiplied, about, between, usual_settings


@KIND.register(
    title="Large-margin softmax",
    year=2016,
    paper="Liu et al.: Large-Margin Softmax Loss for Convolutional Neural Networks, ICML 2016",
    also=("L-Softmax",),
    **usual_settings.raw_classes(margin=between(1, 4), scale=about(1.0)),
)
class LargeMarginSoftmax(AngleMultiplied):
    """A plain softmax in which the angle to the own class's weights is counted several times over.

    With w_k the class's proxy as it is, theta_ik the angle between x_i and w_k, and
    psi(theta) = (-1)^q cos(margin theta) - 2 q with q = floor(margin theta / 180 degrees), which falls from 1 all the way,

        L = mean over rows i of  -log softmax_{y_i}(scale |x_i| |w_k| (psi(theta_ik) if k = y_i, else cos theta_ik)).

    Neither embeddings nor weights are normalised.

    margin: how many times the own angle counts, a whole number. The paper has up to 4.
    scale: what all logits are multiplied by.
    init_std: their deviation at the start. Here their length matters.
    """

    def compared(self, F, embeddings, proxies, labels):
        logits = F.FullyConnected(embeddings, self.scale * proxies, num_hidden=self.num_classes, no_bias=True)
        own_lengths = F.take(classes.lengths(F, proxies), labels)
        return logits, self.scale * classes.lengths(F, embeddings) * own_lengths
