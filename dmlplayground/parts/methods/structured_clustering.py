from functools import lru_cache

import numpy as np

from ...base.options import NotNegative
from ..graph.pairwise import root
from ..graph.rows import row_sums
from .shared import KIND, Loss, about, blocks, usual_settings


@KIND.register(
    title="Structured clustering (facility location)",
    year=2017,
    paper="Song et al.: Deep Metric Learning via Facility Location, CVPR 2017",
    sampler={"name": "blocks", "per_class": 5},
    head={"bias": False, "normalize": True},
    defaults={**usual_settings.TRAINING, "batch_size": 120},
    ranges={"method.gamma": about(1.0), **blocks(2, 5)},
)
class StructuredClustering(Loss):
    """The batch's true clustering must beat the best other one, by the more the less that one agrees with the labels.

    With D_ij = |x_i - x_j| (not squared), the score of a set S of medoids F(S) = -sum_i min_{j in S} D_ij,
    and every row assigned to its nearest medoid (a medoid to itself),

        L = [max_S (F(S) + gamma (1 - NMI(labels, assigned(S)))) - sum over classes of their best F]+,

    one value a batch. S has as many medoids as the batch has classes, a class's best F is that of its best
    single medoid, and the NMI divides by the geometric mean of the entropies.

    The maximum is sought by adding one medoid after another, each the best at its turn, and then by
    ``refine`` sweeps in which every medoid in turn is replaced by the best member of its cluster (PAM).

    The medoids and the NMI found are constants of the gradient, which is exact for them. The search needs the
    distances on the host, so this loss alone waits for its embeddings; the rest of it is a graph like any other.

    The paper's values: gamma 1, unit embeddings, RMSProp with rho 0.94 decaying by 0.94 an epoch
    (MXNet's plain form: ``optimizer: {name: rmsprop, momentum: 0, root: of both, rho: 0.94, rho_decay: 0.94}``);
    the study's script: Adam and, by default, shuffled batches, with which it cannot run on a set of fewer
    classes than rows. The released code computes
    one NMI at a time, 6 s for a batch; here all candidates are scored at once.

    gamma: how much a clustering's disagreement with the labels adds to its score.
    refine: sweeps of the search that replace each medoid by a better one; 0: none.
    """

    gamma: NotNegative = 1.0
    refine: int = 5

    def __post_init__(self) -> None:
        self.require(self.refine >= 0, f"refine is a number of sweeps, 0 for none, not {self.refine}.")

    def host(self, embeddings, labels):
        found, own, push = search(embeddings, labels, self.gamma, self.refine)
        return found, own, np.array([push])

    def hybrid_forward(self, F, embeddings, labels, found, own, push):
        apart = (embeddings - F.take(embeddings, medoids) for medoids in (found, own))
        to_found, to_own = (root(F, row_sums(F, F.square(each))) for each in apart)
        # Not by +: in a static graph MXNet 1.9.1 gets the gradient of a sum wrong if one of its terms is an
        # input that needs none (apache/mxnet issue 20293).
        return F.relu(F.broadcast_add(F.sum(to_own - to_found), push))


def search(embeddings: np.ndarray, labels: np.ndarray, gamma: float, sweeps: int):
    """Every row's medoid in the best clustering found and in the true one; gamma (1 - NMI) of the found."""
    from scipy.spatial.distance import pdist, squareform  # slow to load

    if not np.isfinite(embeddings).all():  # nothing to search in; the loss reports that as any other does
        anywhere = np.zeros(len(labels), np.intp)
        return anywhere, anywhere, np.nan
    distances = squareform(pdist(embeddings.astype(np.float64)))
    classes = np.unique(labels, return_inverse=True)[1]
    own = class_medoids(distances, classes)
    if classes.max() == 0:
        return own, own, 0.0
    medoids = greedy(distances, classes, gamma)
    for _ in range(sweeps):
        before = medoids
        medoids = refined(distances, classes, medoids, gamma)
        if medoids == before:
            break
    clusters = assign(distances, medoids)
    cells = np.ravel_multi_index((clusters, classes), (len(medoids), classes.max() + 1))
    agreement = nmi(np.bincount(clusters), np.bincount(classes), np.bincount(cells), len(classes))
    return np.take(medoids, clusters), own, gamma * (1 - agreement)


def class_medoids(distances, classes) -> np.ndarray:
    """For every row the medoid of its class: the member nearest to all the others."""
    within = np.where(classes[:, None] == classes, distances, 0).sum(axis=0)
    order = np.lexsort((within, classes))
    first = np.unique(classes[order], return_index=True)[1]
    return order[first][classes]


def assign(distances, medoids) -> np.ndarray:
    """For every row the position of its nearest medoid (the first of equals); a medoid belongs to itself."""
    clusters = distances[:, medoids].argmin(axis=1)
    clusters[medoids] = np.arange(len(medoids))
    return clusters


def greedy(distances, classes, gamma) -> list[int]:
    """As many medoids as classes, each the one that makes F + gamma (1 - NMI) largest."""
    medoids = [best(-distances.sum(axis=0))]  # the NMI of a single cluster is zero whichever it is
    while len(medoids) <= classes.max():
        clusters = assign(distances, medoids)
        nearest = distances[np.arange(len(classes)), np.take(medoids, clusters)]
        moves = distances < nearest
        np.fill_diagonal(moves, True)
        scores = -np.minimum(distances, nearest).sum(axis=1) - gamma * nmi_after(moves, clusters, classes)
        scores[medoids] = -np.inf
        medoids.append(best(scores))
    return medoids


def refined(distances, classes, medoids, gamma) -> list[int]:
    """One sweep: every medoid in turn replaced by the member of its cluster that scores best, earlier swaps kept.

    A member c scores -(sum of D_ic over the cluster) - gamma NMI. Clusters stay as they were before the sweep.
    """
    medoids = list(medoids)
    members = assign(distances, medoids)
    for k in range(len(medoids)):
        candidates = np.flatnonzero(members == k)
        if len(candidates) == 1:
            continue
        others = medoids[:k] + medoids[k + 1 :]
        clusters = assign(distances, others)
        nearest = distances[np.arange(len(classes)), np.take(others, clusters)]
        to = distances[candidates]
        # Of equally near medoids the one listed first has the row.
        moves = np.where(clusters >= k, to <= nearest, to < nearest)
        moves[:, others] = False
        moves[np.arange(len(candidates)), candidates] = True
        scores = -to[:, candidates].sum(axis=1) - gamma * nmi_after(moves, clusters, classes)
        medoids[k] = int(candidates[best(scores)])
    return medoids


def best(scores) -> int:
    """The first of those that equal the largest, up to rounding."""
    return int(np.argmax(scores >= scores.max() - 1e-9))


@lru_cache(maxsize=8)
def surprises(rows: int) -> np.ndarray:
    """n log n for every n up to ``rows``."""
    numbers = np.arange(rows + 1)
    return numbers * np.log(np.maximum(numbers, 1))


def nmi(clusters, classes, cells, rows: int):
    """Mutual information over the geometric mean of the entropies of partitions of so many rows, with at least two parts
    each: from the sizes (along the last axis) of clusters and classes, and of what they have in common."""
    of_clusters, of_classes, joint = (
        np.log(rows) - surprises(rows)[sizes].sum(axis=-1) / rows for sizes in (clusters, classes, cells)
    )
    return (of_clusters + of_classes - joint) / np.sqrt(of_clusters * of_classes)


def nmi_after(moves, clusters, classes) -> np.ndarray:
    """The NMI with the classes of many partitions: in the i-th a new cluster takes the rows of ``moves[i]``.

    A cluster, or a class within one (a cell), keeps its size less what moves; what moves makes up the new
    cluster and its cells. A product with the memberships of all parts counts that for all partitions at once.
    """
    rows, moves = len(classes), moves.astype(np.float32)
    cells = np.unique(clusters * rows + classes, return_inverse=True)[1]
    of_clusters = sizes_after(moves, memberships(clusters), np.ones((rows, 1), np.float32))
    of_cells = sizes_after(moves, memberships(cells), memberships(classes))
    return nmi(of_clusters, np.bincount(classes), of_cells, rows)


def sizes_after(moves, losing, gaining) -> np.ndarray:
    """The sizes of the parts that rows leave, and of those they make up, one partition a row."""
    changes = moves @ np.hstack([-losing, gaining])
    changes[:, : losing.shape[1]] += losing.sum(axis=0)
    return changes.astype(np.intp)


def memberships(parts) -> np.ndarray:
    """(rows, parts): 1 where the row belongs to the part."""
    return np.eye(parts.max() + 1, dtype=np.float32)[parts]
