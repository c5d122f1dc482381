from ...base.options import Positive
from ..graph import classes, rows
from .shared import ANY_BATCH, KIND, OWN_RATE, Classifier, about, initial_weights, usual_settings


@KIND.register(
    title="Proxy-triplet",
    year=2017,
    paper="Movshovitz-Attias et al.: No Fuss Distance Metric Learning using Proxies, ICCV 2017",
    sampler={"name": "shuffled"},
    head={"bias": True, "normalize": True},
    defaults=usual_settings.PROXIES,
    ranges={"method.margin": about(1.0), "method.scale": about(1.0), **OWN_RATE, **ANY_BATCH},
)
class ProxyTriplet(Classifier):
    """Triplets of an image, its class's proxy and, in turn, the proxy of every other class.

    With p_k = proxy_k / |proxy_k| and s = scale,

        L = mean over rows i of  sum_{k != y_i} [margin + s^2 |x_i - p_{y_i}|^2 - s^2 |x_i - p_k|^2]+,

    a sum over classes and a mean over rows. As |p_k| = 1, the bracket is margin + 2 s^2 x_i.(p_k - p_{y_i}).

    The study's values: margin 1, scale 1 (its script has an option for the scale, 3, but does not pass it
    on); learning rate 1e-5 for the head, 1e-3 for backbone and classes. The released code copies the proxies
    once a row; one matrix product gives the same numbers.

    margin: how much farther, in squared distance, another class's proxy must be than the own.
    scale: what embeddings and proxies are multiplied by before they are compared.
    """

    margin: float = 1.0
    scale: Positive = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sharpness = 2 * self.scale**2
        # Xavier's, of magnitude 0.2: by the mean of the two sizes.
        drawn = initial_weights.uniform((0.2 / ((self.num_classes + self.embed_dim) / 2)) ** 0.5)
        self.weight("proxies", (self.num_classes, self.embed_dim), drawn)

    def hybrid_forward(self, F, embeddings, labels, weights, proxies):
        near = classes.nearness(F, embeddings, proxies, self.num_classes, self.sharpness)
        own = F.pick(near, labels, axis=1, keepdims=True)
        active = F.broadcast_greater(near, own - self.margin)
        sums = rows.row_sums(F, near * active) + rows.row_sums(F, active) * (self.margin - own)
        surplus = max(self.margin, 0)  # the own class, not left out above, has added it
        return rows.mean(F, sums, weights) - (surplus if weights is None else surplus * F.mean(weights))
