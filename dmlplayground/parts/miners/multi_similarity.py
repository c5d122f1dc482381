from .shared import KIND, Miner


@KIND.register(title="Multi-similarity", also=("MS miner",))
class MultiSimilarityMiner(Miner):
    """Positive pairs that are less alike than some negative, and negative pairs that are more alike than some positive.

    With S_ij = u_i.u_j of unit rows, a negative pair (a, n) is kept if S_an + epsilon > min over positives of S_ap, and a
    positive pair (a, p) if S_ap - epsilon < max over negatives of S_an. Rows without positives keep no negatives, and the
    reverse.

    epsilon: by how much the comparison is relaxed.
    self_pairs: take every row for a positive of its own, as the library did with which the Reality Check was run: (a, a) is
      kept if 1 - epsilon is below the largest S_an, and an image alone in its class keeps negatives.
    """

    gives = "pairs"

    epsilon: float = 0.1
    self_pairs: bool = False

    def hybrid_forward(self, F, pairs):
        similarities = pairs.similarities()
        positive = pairs.positive + pairs.own if self.self_pairs else pairs.positive
        least = F.min(similarities + (1 - positive) * 1e30, axis=1, keepdims=True)
        most = F.max(similarities - (1 - pairs.negative) * 1e30, axis=1, keepdims=True)
        near = F.broadcast_greater(similarities + self.epsilon, least)
        far = F.broadcast_lesser(similarities - self.epsilon, most)
        return pairs.keep(positive * far, pairs.negative * near)
