from ...base.options import Positive
from ..graph import classes
from .shared import ANY_BATCH, KIND, OWN_RATE, Classifier, about, usual_settings


@KIND.register(
    title="Proxy-NCA",
    year=2017,
    paper="Movshovitz-Attias et al.: No Fuss Distance Metric Learning using Proxies, ICCV 2017",
    sampler={"name": "shuffled"},
    head={"bias": True, "normalize": True, "init": "truncnorm", "init_scale": 0.001},
    defaults=usual_settings.PROXIES,
    ranges={
        "method.scale": about(3.0, "both other studies 3, Musgrave et al.'s searches 2.8 to 3.7"),
        **OWN_RATE,
        **ANY_BATCH,
    },
)
class ProxyNCA(Classifier):
    """Every image is drawn to its class's proxy and pushed from the proxies of all other classes.

    With p_k = proxy_k / |proxy_k| and D_ik = scale^2 |x_i - p_k|^2 / temperature,

        L = mean over rows i of  sum_k t_ik D_ik + log sum_{j in others(i)} exp(-D_ij),

    where t is one-hot or label-smoothed (1 - e on the own class, e / (C - 1) elsewhere) and others(i) leaves
    out the own class with ``exclude_positive`` (equation 14 of the study), so that the loss can be negative.

    The paper's values: temperature or scale "sufficiently small", which the study makes scale 3, temperature
    1. Later suites train with the own class included and smoothing 0.1.

    The released code has a second form (its option xentropy) that includes the own class but takes the
    softmax of +D, and so draws images away from their proxies: as proxies are free this learns their
    opposites instead. ``released_sign`` computes that form.

    init_std: the deviation of the proxies' coordinates at the start. Their length does not affect the loss, only how
        far a step moves them. The first study has 0.01 / 8; Musgrave et al. have 1, with the own class included and
        2 scale^2 / temperature twice their scale (14 on CUB); Roth et al. have 1 / 8, the own class excluded.
    scale: distances are as between vectors of this length.
    temperature: what squared distances are divided by.
    exclude_positive: leave the own class out of the sum over the others.
    label_smoothing: the share e of the target that goes to the other classes.
    released_sign: the softmax of +D instead of -D, as the released code's second form has it.
    """

    scale: Positive = 3.0
    temperature: Positive = 1.0
    exclude_positive: bool = True
    label_smoothing: float = 0.0
    released_sign: bool = False
    init_std: float = 0.00125

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(
            not (self.released_sign and self.exclude_positive),
            "released_sign needs exclude_positive to be false.",
        )
        self.sharpness = 2 * self.scale**2 / self.temperature * (-1 if self.released_sign else 1)

    def hybrid_forward(self, F, embeddings, labels, weights, proxies):
        # D_ik = (scale^2 / temperature) (|x_i|^2 + 1) - sharpness x_i.p_k, and what is the same for all k
        # cancels: embeddings of any length are served.
        logits = classes.nearness(F, embeddings, proxies, self.num_classes, self.sharpness)
        hidden = classes.hide_own(F, labels, self.num_classes, self.dtype) if self.exclude_positive else None
        return classes.cross_entropy(
            F, logits, labels, self.num_classes, self.label_smoothing, hidden, weights
        )
