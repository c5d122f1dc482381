from typing import Annotated

from ...base.options import NotNegative, Positive, within
from ..graph import classes, rows
from .shared import KIND, Classifier, about, between, initial_weights, usual_settings


@KIND.register(
    title="SoftTriple",
    year=2019,
    paper="Qian et al.: SoftTriple Loss: Deep Metric Learning Without Triplet Sampling, ICCV 2019",
    also=("soft triplet without sampling", "multi-centre softmax"),
    **usual_settings.classes(
        scale=about(20.0, "the paper 20, Roth et al. 8, Musgrave et al.'s searches 18 to 100"),
        gamma=about(
            0.1, "the paper and Roth et al. 0.1; Musgrave et al.'s searches 19 to 59 make one centre of all"
        ),
        tau=between(0.0, 0.4, "the paper and Roth et al. 0.2, Musgrave et al.'s searches 0 to 0.4"),
        margin=between(0.0, 0.4, "the paper and Roth et al. 0.01, Musgrave et al.'s searches 0.3 to 0.7"),
    ),
)
class SoftTriple(Classifier):
    """A softmax over classes with several centres each, of which the nearest count most.

    With w_ck = proxy_ck / |proxy_ck| and S_ic = sum_k softmax_k(x_i.w_ck / gamma) x_i.w_ck,

        L = mean over rows i of  -log softmax_{y_i}(scale (S_ic - margin [c = y_i]))  +  tau R,
        R = sum over classes and pairs j < k of their K centres of  sqrt(2 + 1e-5 - 2 w_cj.w_ck) / (C K (K - 1)),

    R drawing a class's centres together, so that it keeps as many as it needs; there is none for tau 0 or one centre.

    centers: K, how many centres a class has. The authors have 10, Roth et al. 2; Musgrave et al. do not say.
    scale: what similarities are multiplied by. The authors have 20, Roth et al. 8; Musgrave et al. found 78 on CUB,
        17.7 on Cars and 100 on SOP.
    gamma: how evenly a class's centres count. The authors have 0.1; Musgrave et al. found 59, 19 and 48, which is almost
        evenly.
    margin: what the own class must lead by. The authors have 0.01; Musgrave et al. found 0.43, 0.36 and 0.31.
    tau: how much R weighs. The authors have 0.2; Musgrave et al. found 0.376 and 0.067, and none on SOP.
    average_pairs: R is the mean over a class's pairs, C K (K - 1) / 2 of them, and so twice as large. It is what the
        library computed that Musgrave et al. used.
    label_smoothing: the share of the target that goes to the other classes.

    The code released by Roth et al. normalises centres over classes, takes the softmax over classes and multiplies by
    gamma; that is not an option here.
    """

    centers: Annotated[int, within(1, 1000)] = 10
    scale: Positive = 20.0
    gamma: Positive = 0.1
    margin: float = 0.01
    tau: NotNegative = 0.2
    average_pairs: bool = False
    label_smoothing: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        pairs = self.num_classes * self.centers * (self.centers - 1) / (2 if self.average_pairs else 1)
        self.pull = self.tau / pairs if pairs else 0.0
        start = initial_weights.uniform((self.num_classes * self.centers) ** -0.5)
        self.weight("proxies", (self.num_classes, self.centers, self.embed_dim), start)

    def hybrid_forward(self, F, embeddings, labels, weights, proxies):
        centres = F.reshape(proxies, shape=(-3, 0))  # the centres of class 0, of class 1 ...
        near = classes.nearness(F, embeddings, centres, self.num_classes * self.centers, 1.0)
        near = F.reshape(near, shape=(-1, self.centers))
        shares = F.softmax(near / self.gamma, axis=1)
        logits = F.reshape(self.scale * rows.row_sums(F, shares * near), shape=(-1, self.num_classes))
        own = F.pick(logits, labels, axis=1) - self.scale * self.margin
        loss = self.against_others(F, logits, own, labels, weights)
        return loss + self.pull * self._spread(F, proxies) if self.pull else loss

    def _spread(self, F, proxies):
        """The sum of distances between centres of one class, each pair once."""
        products = F.batch_dot(proxies, proxies, transpose_b=True)
        lengths = rows.row_sums(F, F.reshape(F.square(proxies), shape=(-3, 0)))
        scales = F.rsqrt(F.reshape(lengths, shape=(-1, self.centers, 1)) + 1e-10)
        others = F.expand_dims(1 - F.one_hot(F.arange(self.centers), self.centers, dtype=self.dtype), 0)
        # Brought to one shape first, since a broadcasting product takes far longer on its way back.
        ours, theirs, others = (
            F.broadcast_like(each, products) for each in (scales, F.swapaxes(scales, 1, 2), others)
        )
        # Of a centre and itself the root could be of a negative number: these are taken out before.
        squares = F.relu(2 + 1e-5 - 2 * (products * ours * theirs)) * others
        return rows.sum_of(F, F.reshape(F.sqrt(squares + 1e-20) * others, shape=(0, -1))) / 2
