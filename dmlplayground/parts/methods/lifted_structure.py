from functools import partial

from ..graph import pair_blocks, pairwise, rows
from .shared import CLASS_BLOCKS, KIND, LENGTH, Loss, about, usual_settings

_BLOCKS = 2


@KIND.register(
    title="Lifted structure",
    year=2016,
    paper="Song et al.: Deep Metric Learning via Lifted Structured Feature Embedding, CVPR 2016",
    sampler={"name": "shuffled"},
    head={"bias": True, "normalize": False},
    defaults=usual_settings.PASSES,
    ranges={"method.margin": about(1.0, "the paper 1"), **LENGTH, **CLASS_BLOCKS},
)
class LiftedStructure(Loss):
    """Every positive pair against all the negatives of both its rows at once.

    With D_ij = |x_i - x_j| (not squared) and S_i = sum over negatives k of i of exp(margin - D_ik),

        L = 1 / (2 |P|) sum over unordered positive pairs (i, j) of [D_ij + log(S_i + S_j)]+^2.

    The paper's values: margin 1, embeddings not normalised. The released code computes the same from B x B x
    B numbers; log(S_i + S_j) needs only one log-sum-exp for each row.

    margin: how much farther than a positive the negatives of both its rows must be.
    """

    margin: float = 1.0
    blocks = _BLOCKS

    def check(self, rows, width):
        self.blocks = pair_blocks.blocks_for(rows, _BLOCKS)

    def hybrid_forward(self, F, embeddings, labels):
        pushes = self._pushes(F, F.BlockGrad(embeddings), labels)
        numbers = F.contrib.arange_like(labels, axis=0)
        find = partial(self._of_block, F, F.transpose(pushes), F.expand_dims(numbers, 0))
        more = pushes, F.expand_dims(numbers, 1)
        loss, count = pair_blocks.sum_over_pairs(F, self.blocks, embeddings, labels, find, *more)
        return loss / 2 / F.maximum(count, 1)  # ordered pairs: every unordered one was met twice

    def _pushes(self, F, x, labels):
        """log S_i, (B, 1)."""
        left, right = pairwise.factors(F, x)
        parts = []
        own_labels = F.expand_dims(labels, 1)
        for block, own in zip(*(pair_blocks.blocks(F, each, self.blocks) for each in (left, own_labels))):
            distances = F.sqrt(F.relu(F.dot(block, right, transpose_b=True)))
            # Said otherwise than below, or MXNet takes both for one and keeps it in between.
            others = F.broadcast_not_equal(own, F.expand_dims(labels, 0))
            parts.append(rows.log_sum_exp(F, (1 - others) * rows.HIDDEN - distances, keepdims=True))
        return F.BlockGrad(pair_blocks.joined(F, parts, own_labels) + self.margin)

    def _of_block(self, F, all_pushes, all_numbers, squares, same, own, labels, pushes, numbers):
        distances = F.sqrt(squares)
        positive = same - F.broadcast_equal(numbers, all_numbers)
        lead = F.broadcast_sub(pushes, all_pushes)
        # log(S_i + S_j) = log S_i + log(1 + exp(log S_j - log S_i))
        both = F.broadcast_add(F.Activation(-lead, act_type="softrelu"), pushes)
        hinges = F.relu(distances + both) * positive
        # Half a square's slope is the hinge: by D_ij itself, and by log S_i as much as is S_i's share of
        # S_i + S_j, in (i, j) as in (j, i). Log S_i falls with the distances of i's negatives,
        # softmax-wise.
        falls = 2 * rows.row_sums(F, hinges * F.sigmoid(lead))
        shares = F.softmax(same * rows.HIDDEN - distances, axis=1)
        slopes = hinges - F.broadcast_mul(shares, falls)
        return pair_blocks.by_squares(F, slopes, distances), rows.row_sums(F, F.square(hinges))
