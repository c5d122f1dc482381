from ..graph import classes
from .shared import KIND, AngleMultiplied, about, between, usual_settings


@KIND.register(
    title="SphereFace",
    year=2017,
    paper="Liu et al.: SphereFace: Deep Hypersphere Embedding for Face Recognition, CVPR 2017",
    also=("A-Softmax", "angular softmax"),
    **usual_settings.raw_classes(margin=between(1, 4), scale=about(1.0)),
)
class SphereFace(AngleMultiplied):
    """A softmax in which the angle to the own class is counted several times over.

    With p_k = proxy_k / |proxy_k|, theta_ik the angle between x_i and p_k, and
    psi(theta) = (-1)^q cos(margin theta) - 2 q with q = floor(margin theta / 180 degrees), which falls from 1 all the way,

        L = mean over rows i of  -log softmax_{y_i}(scale |x_i| (psi(theta_ik) if k = y_i, else cos theta_ik)).

    Embeddings are not normalised: their length is how sure the softmax is.

    margin: how many times the own angle counts, a whole number. The paper has 4.
    scale: what all logits are multiplied by.

    The authors' training blends psi with cos theta and lets the blend fade; that is not implemented. The library that
    Musgrave et al. used at the time ignored the embeddings' lengths.
    """

    def compared(self, F, embeddings, proxies, labels):
        logits = classes.nearness(F, embeddings, proxies, self.num_classes, self.scale)
        return logits, self.scale * classes.lengths(F, embeddings)
