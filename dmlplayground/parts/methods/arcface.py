import math

from ...base.options import Positive
from ..graph import classes
from .shared import KIND, Classifier, between, initial_weights, scaled, usual_settings


@KIND.register(
    title="ArcFace",
    year=2019,
    paper="Deng et al.: ArcFace: Additive Angular Margin Loss for Deep Face Recognition, CVPR 2019",
    also=("additive angular margin", "AAM-Softmax"),
    **usual_settings.classes(
        margin=between(10.0, 45.0, "degrees; the paper 28.6, Musgrave et al.'s searches 19 to 23"),
        scale=scaled(8.0, 128.0, "Roth et al. 16, the paper 64, Musgrave et al.'s searches 50 to 220"),
    ),
)
class ArcFace(Classifier):
    """A softmax over cosines in which the angle to the own class is counted as larger by a margin.

    With p_k = proxy_k / |proxy_k|, theta_ik the angle between x_i and p_k, and m the margin,

        L = mean over rows i of  -log softmax_{y_i}(scale cos(theta_ik + m [k = y_i])).

    theta comes from a cosine that is kept 1e-7 within -1 and 1, where its slope is finite.

    margin: the angle that is added, in degrees. The paper has 28.6 (half a radian); Musgrave et al. found 23.2 on CUB,
        20.5 on Cars and 18.6 on SOP.
    scale: what cosines are multiplied by. The paper has 64; Roth et al. 16; Musgrave et al. 100, 49.5 and 220.
    monotonic: where theta is beyond 180 degrees - m, cos(theta + m) would rise again; there the own logit is
        scale (cos theta - m sin m), m in radians, which keeps falling. The library that Musgrave et al. used at the
        time did not have this: false reproduces it.

    The code released by Roth et al. before February 2021 added the margin to every logit, where it cancels, and cut
    negative cosines off at zero; neither is an option here.
    """

    margin: float = 28.6
    scale: Positive = 64.0
    monotonic: bool = True
    label_smoothing: float = 0.0
    init: initial_weights.Start = "normal"
    init_std: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(
            0 <= self.margin < 180, f"margin is an angle from 0 to below 180 degrees, not {self.margin}."
        )
        self.turn = math.radians(self.margin)

    def hybrid_forward(self, F, embeddings, labels, weights, proxies):
        logits = classes.nearness(F, embeddings, proxies, self.num_classes, self.scale)
        own, turned = classes.turned(F, F.pick(logits, labels, axis=1) / self.scale, self.turn)
        if self.monotonic:
            beyond = F.BlockGrad(own < -math.cos(self.turn))
            turned = turned + beyond * (own - self.turn * math.sin(self.turn) - turned)
        turned = self.scale * turned
        return self.against_others(F, logits, turned, labels, weights)
