from ...base.options import Positive
from ..graph import classes
from .shared import KIND, Classifier, between, initial_weights, scaled, usual_settings


@KIND.register(
    title="CosFace",
    year=2018,
    paper="Wang et al.: CosFace: Large Margin Cosine Loss for Deep Face Recognition, CVPR 2018",
    also=("AM-Softmax", "additive margin softmax", "large margin cosine loss", "LMCL"),
    **usual_settings.classes(
        margin=between(0.1, 0.7, "the paper 0.35, Musgrave et al.'s searches 0.3 to 0.6"),
        scale=scaled(
            8.0, 128.0, "the paper 64, Musgrave et al.'s searches 88 to 162; smaller for few classes"
        ),
    ),
)
class CosFace(Classifier):
    """A softmax over cosines in which the own class must lead by a margin.

    With p_k = proxy_k / |proxy_k| and c_ik = x_i.p_k,

        L = mean over rows i of  -log softmax_{y_i}(scale (c_ik - margin [k = y_i])).

    margin: what the own cosine must lead by. The paper has 0.35; Musgrave et al. found 0.62 on CUB, 0.43 on Cars and
        0.34 on SOP.
    scale: what cosines are multiplied by. The paper has 64; Musgrave et al. 100, 162 and 100.
    """

    margin: float = 0.35
    scale: Positive = 64.0
    label_smoothing: float = 0.0
    init: initial_weights.Start = "normal"
    init_std: float = 1.0

    def hybrid_forward(self, F, embeddings, labels, weights, proxies):
        logits = classes.nearness(F, embeddings, proxies, self.num_classes, self.scale)
        own = F.pick(logits, labels, axis=1) - self.scale * self.margin
        return self.against_others(F, logits, own, labels, weights)
