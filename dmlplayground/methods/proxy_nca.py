from __future__ import annotations

from mxnet import init

from ..errors import UserError
from .base import Loss, method


@method(
    title="Proxy-NCA",
    year=2017,
    paper="Movshovitz-Attias et al.: No Fuss Distance Metric Learning using Proxies, ICCV 2017",
    sampler={"name": "shuffled"},
    head={"bias": True, "normalize": True, "init": "truncnorm", "init_scale": 0.001},
    defaults={
        "batch_size": 32,
        "epochs": 20,
        "optimizer": {"name": "adam", "lr": 1e-3, "weight_decay": 5e-4, "epsilon": 1e-2, "clip": 10.0},
        "groups": {"head": {"lr_mult": 0.01}},
        "schedule": {"factor": 0.1, "steps": [3, 10, 16]},
    },
)
class ProxyNCA(Loss):
    """Every image is drawn to its class's proxy and pushed from the proxies of all other classes.

    With p_k = proxy_k / |proxy_k| and D_ik = scale^2 |x_i - p_k|^2 / temperature,

        L = mean over rows i of  sum_k t_ik (D_ik + log sum_{j in others(k)} exp(-D_ij)),

    where t is one-hot or label-smoothed (1 - e on the own class, e / (C - 1) elsewhere) and others(i) leaves out the own
    class with ``exclude_positive`` (equation 14 of the study), so that the loss can be negative.
    """

    def __init__(
        self,
        num_classes,
        embed_dim,
        *,
        scale: float = 3.0,
        temperature: float = 1.0,
        exclude_positive: bool = True,
        label_smoothing: float = 0.0,
    ):
        super().__init__(num_classes, embed_dim)
        if scale <= 0 or temperature <= 0:
            raise UserError(f"proxy_nca: scale and temperature must be above 0, not {scale} and {temperature}.")
        if not 0 <= label_smoothing < 1:
            raise UserError(f"proxy_nca: label_smoothing is a share from 0 to below 1, not {label_smoothing}.")
        self.sharpness = scale**2 / temperature
        self.exclude_positive = exclude_positive
        self.label_smoothing = label_smoothing
        with self.name_scope():
            self.proxies = self.params.get("proxies", shape=(num_classes, embed_dim), init=init.Normal(0.01 / 8))

    def hybrid_forward(self, F, embeddings, labels, proxies):
        proxies = F.L2Normalization(proxies)
        products = F.FullyConnected(embeddings, proxies, no_bias=True, num_hidden=self.num_classes)
        # |x - p|^2 with |p| = 1; |x|^2 is kept, so that the loss is right for embeddings of any length too.
        distances = F.broadcast_add(F.sum(embeddings**2, axis=1, keepdims=True) + 1, -2 * products) * self.sharpness
        own = F.one_hot(labels, self.num_classes)
        logits = -distances - 1e30 * own if self.exclude_positive else -distances
        log_sum = F.max(logits, axis=1) + F.log(
            F.sum(F.exp(F.broadcast_sub(logits, F.max(logits, axis=1, keepdims=True))), axis=1)
        )
        smooth = self.label_smoothing
        targets = own * (1 - smooth) + (1 - own) * (smooth / max(self.num_classes - 1, 1)) if smooth else own
        return F.mean(F.sum(targets * distances, axis=1) + log_sum)
