"""ProxyNCA++, as docs/paper-to-place.md makes it."""

from dmlplayground.parts.graph import classes
from dmlplayground.parts.methods.shared import initial_weights
from dmlplayground.parts.methods.shared.base import KIND, Loss
from dmlplayground.parts.methods.shared.search_ranges import ANY_BATCH, OWN_RATE, about


@KIND.register(
    title="ProxyNCA++",
    year=2020,
    paper="Teh et al.: ProxyNCA++: Revisiting and Revitalizing Proxy Neighborhood Component Analysis, ECCV 2020",
    sampler={"name": "blocks", "per_class": 4},
    head={"normalize": True},
    defaults={
        "batch_size": 32,
        "epochs": 40,
        "optimizer": {"name": "adam", "lr": 4e-3, "epsilon": 1.0, "weight_decay": 0.0},
        "groups": {"loss": {"lr": 400.0}},
    },
    ranges={"method.scale": about(3.0, "the authors 3"), **OWN_RATE, **ANY_BATCH},
)
class ProxyNcaPp(Loss):
    """Every image is drawn to its class's proxy, among the proxies of all classes, its own included:

        L = mean over rows i of  -log softmax_k(-scale^2 |x_i - p_k|^2)  at  k = y_i,

    where p_k = proxy_k / |proxy_k|. Proxies start with a deviation of 1 / 8.

    scale: the root of one over the temperature; the authors have 3, a temperature of 1 / 9.
    """

    reads = "rows"

    def __init__(self, num_classes, embed_dim, *, scale: float = 3.0):
        super().__init__(num_classes, embed_dim)
        classes.check_classes(self)
        self.require(scale > 0, f"scale must be above 0, not {scale}.")
        self.scale = scale
        self.weight("proxies", (num_classes, embed_dim), initial_weights.normal(1 / 8))

    def check(self, rows, width):
        classes.check_width(self, width, self.embed_dim)

    def hybrid_forward(self, F, embeddings, labels, weights, proxies):
        # Of |x - p|^2 only -2 x.p differs between proxies of unit length.
        logits = classes.nearness(F, embeddings, proxies, self.num_classes, 2 * self.scale**2)
        return classes.cross_entropy(F, logits, labels, self.num_classes, weights=weights)
