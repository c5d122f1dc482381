from ...base.options import Positive
from ..graph import rows
from .shared import KIND, Loss, about, between, usual_settings


@KIND.register(
    title="Multi-similarity",
    year=2019,
    paper="Wang et al.: Multi-Similarity Loss with General Pair Weighting for Deep Metric Learning, CVPR 2019",
    also=("MS loss",),
    **usual_settings.tuples(
        alpha=about(2.0, "the paper 2, Musgrave et al.'s searches 0.01 to 14"),
        beta=about(40.0, "the paper 50, Roth et al. 40, Musgrave et al.'s searches 47 to 76"),
        base=between(0.2, 0.9, "the paper and Roth et al. 0.5, Musgrave et al.'s searches 0.4 to 0.8"),
    ),
)
class MultiSimilarity(Loss):
    """Pairs weigh by their own similarity and by that of the anchor's other pairs.

    With S_ij = x_i.x_j, and P_i and N_i the positives and negatives of row i, each once,

        L = mean over rows i of  1/alpha log(1 + sum over P_i of e^(-alpha (S_ij - base)))
                               + 1/beta log(1 + sum over N_i of e^(beta (S_ij - base))).

    A row without positives, or without negatives, adds nothing for that half. The paper mines pairs first: that is the
    miner ``multi_similarity``, which is not used unless it is named.

    alpha: how much the farthest positives count more. The authors have 2; Musgrave et al. found 0.01 on CUB, 14.4 on Cars
        and 8.5 on SOP without the miner, 18, 7.5 and 16 with it.
    beta: how much the nearest negatives count more. The authors' code has 40, their paper 50; Musgrave et al. found 51,
        76 and 57, and 76, 48 and 157.
    base: the similarity around which pairs weigh. The authors' code has 0.5, their paper 1; Musgrave et al. found 0.56,
        0.66 and 0.42, and 0.78, 0.63 and 0.73.
    skip_incomplete: the mean is over the rows that have both positives and negatives, as in Roth et al.
    """

    reads = "pairs"

    alpha: Positive = 2.0
    beta: Positive = 40.0
    base: float = 0.5
    skip_incomplete: bool = False

    def __post_init__(self) -> None:
        self.means_rows = not self.skip_incomplete

    def hybrid_forward(self, F, embeddings, labels, pairs):
        beyond = pairs.similarities() - self.base
        towards = F.broadcast_add(-self.alpha * beyond, rows.hidden(F, pairs.positive))
        away = F.broadcast_add(self.beta * beyond, rows.hidden(F, pairs.negative))
        losses = rows.log_one_plus(F, towards) / self.alpha + rows.log_one_plus(F, away) / self.beta
        if not self.skip_incomplete:
            return F.mean(losses)
        return rows.count_mean(F, F.expand_dims(losses, 1), pairs.complete_rows())
