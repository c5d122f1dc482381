from ..graph import rows
from ..graph.pairwise import same_class
from .shared import KIND, MARGIN, Loss, usual_settings


@KIND.register(
    title="Quadruplet",
    year=2017,
    paper="Chen et al.: Beyond Triplet Loss: A Deep Quadruplet Network for Person Re-Identification, CVPR 2017",
    **usual_settings.tuples(margin=MARGIN, second_margin=MARGIN),
)
class Quadruplet(Loss):
    """Triplet loss, and beside it positives against negatives that do not share their anchor.

    With D_ij = |x_i - x_j| (not squared), over triplets (a, p, n), and for each a row q drawn evenly from those whose
    class is neither a's nor n's,

        L = mean of [D_ap - D_an + margin]+  +  mean of [D_ap - D_nq + second_margin]+.

    Where there is no third class the second term is zero. Unless another miner is named, a negative is drawn for every
    ordered positive pair by the miner ``distance_weighted``, as in Roth et al. Of a miner that keeps many negatives of a
    pair, such as ``all``, one is drawn evenly.

    margin: how much farther an anchor's negative is than its positive. Roth et al. have 0.2.
    second_margin: how much farther two other classes are. Roth et al. have 0.2; the paper has half of ``margin``.

    The code released by Roth et al. draws the fourth image without regard to classes; that is not an option here.
    """

    reads = "triplets"
    in_batch = True  # the fourth row

    margin: float = 0.2
    second_margin: float = 0.2

    def default_miner(self):
        return {"name": "distance_weighted"}

    def hybrid_forward(self, F, embeddings, labels, triplets):
        distances = triplets.every_pair.distances()
        triplets, apart, counts = self.draw(F, labels, triplets)
        hinge = triplets.hinge(distances, distances, self.margin)
        excess = triplets.near(distances) - rows.lookup(F, distances, apart) + self.second_margin
        return (hinge.sum + rows.total(F, F.relu(excess), counts)) / F.maximum(hinge.count, 1)

    def draw(self, F, labels, triplets):
        """Triplets one by one, the place of (n, q) for each, and how often it counts."""
        triplets = triplets.drawn()
        like = triplets.every_pair.positive
        numbers = F.broadcast_add(F.zeros_like(like), F.expand_dims(F.contrib.arange_like(like, axis=1), 0))
        n = triplets.far(numbers)
        q, exists = self._fourth(F, labels, triplets, n)
        width = F.sum(F.ones_like(labels))
        return triplets, F.broadcast_add(F.broadcast_mul(n, width), q), triplets.weights * exists

    def _fourth(self, F, labels, triplets, n):
        """A row of a third class for every triplet, and whether there is one.

        In the rows by class, those of a's class and of n's are two runs; a number drawn among the others is moved past them.
        """
        order = F.argsort(labels, axis=0, dtype=self.dtype)
        sizes = rows.row_sums(F, same_class(F, labels))
        starts = rows.row_sums(F, F.broadcast_lesser(F.expand_dims(labels, 0), F.expand_dims(labels, 1)))
        size, start = (F.take(rows.flat(F, each), n) for each in (sizes, starts))
        own_size, own_start = (
            F.broadcast_add(F.zeros_like(n), triplets.of_anchors(each)) for each in (sizes, starts)
        )
        others = F.broadcast_sub(F.sum(F.ones_like(labels)), size + own_size)
        number = F.broadcast_minimum(F.floor(F.random.uniform_like(n) * others), F.relu(others - 1))
        own_first = own_start < start
        first_size = own_first * own_size + (1 - own_first) * size
        second_size = size + own_size - first_size
        number = number + first_size * (number >= F.broadcast_minimum(start, own_start))
        number = number + second_size * (number >= F.broadcast_maximum(start, own_start))
        return F.take(order, number), others > 0
