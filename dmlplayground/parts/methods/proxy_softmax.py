from ...base.options import Positive
from ..graph import classes
from .shared import ANY_BATCH, KIND, OWN_RATE, Classifier, about, initial_weights


@KIND.register(
    title="Proxy-softmax",
    also=("normalized softmax", "NormSoftmax", "classification"),
    year=2018,
    paper="Zhai and Wu: Classification is a Strong Baseline for Deep Metric Learning, 2018 (BMVC 2019)",
    sampler={"name": "shuffled"},
    head={
        "bias": False,
        "normalize": True,
        "layer_norm": True,
        "weight_norm": True,
        "dropout": 0.5,
        "init": "truncnorm",
        "init_scale": 0.001,
    },
    defaults={
        "embed_dim": 2048,
        "batch_size": 75,
        "epochs": 30,
        "frozen_epochs": 1,
        "optimizer": {"name": "adam", "lr": 1e-3, "weight_decay": 1e-4, "epsilon": 1e-2, "clip": 10.0},
        "schedule": {"factor": 0.1, "steps": [15]},
    },
    ranges={
        "method.temperature": about(0.05, "the paper 0.05, Musgrave et al.'s searches 0.06 to 0.11"),
        **OWN_RATE,
        **ANY_BATCH,
    },
)
class ProxySoftmax(Classifier):
    """Classification: a softmax over the cosines between an image and the proxies of all classes.

    With p_k = proxy_k / |proxy_k|,

        L = mean over rows i of  -sum_k t_ik log softmax_k(x_i.p_k / temperature),

    where t is one-hot or label-smoothed (1 - e on the own class, e / (C - 1) elsewhere).

    The embedding is wide (2048), with layer normalisation before its weight-normalised linear layer and dropout after
    it; at evaluation its signs alone serve as binary codes, if ``evaluation.distance`` is hamming. In the first epoch
    the backbone is frozen. The paper's values: temperature 0.05, no label smoothing and no dropout (the study: 0.1
    and 0.5), batches of 3 classes x 25 (the study: shuffled).

    The released code takes the softmax of +(1 - x.p) / temperature, the sign reversed, and so learns the
    opposites of the proxies: the same embeddings as long as proxies are free. ``released_sign`` computes that.

    Musgrave et al. call it normalised softmax: temperature 0.109 on CUB, 0.089 on Cars and 0.063 on SOP, no smoothing,
    init_std 1. Roth et al.: temperature 0.05, no smoothing, uniform.

    temperature: what cosines are divided by.
    label_smoothing: the share e of the target that goes to the other classes.
    released_sign: the softmax with its sign reversed, as the released code has it.
    """

    temperature: Positive = 0.05
    label_smoothing: float = 0.1
    released_sign: bool = False
    init: initial_weights.Start = "normal"
    init_std: float = 0.00125

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sharpness = (-1 if self.released_sign else 1) / self.temperature

    def hybrid_forward(self, F, embeddings, labels, weights, proxies):
        logits = classes.nearness(F, embeddings, proxies, self.num_classes, self.sharpness)
        return classes.cross_entropy(
            F, logits, labels, self.num_classes, self.label_smoothing, weights=weights
        )
