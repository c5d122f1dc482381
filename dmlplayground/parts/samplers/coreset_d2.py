import numpy as np

from ...base.options import NotNegative
from .shared import KIND, Coreset


@KIND.register(
    title="D2 coreset", also=("D2", "d2 coreset", "squared distance coreset"), needs=("embeddings",)
)
class CoresetD2(Coreset):
    """Batches that spread over the embeddings, but rarely reach outliers.

    Picks are drawn from a pool of random images with chances proportional to

        p(x) d(x)^(2 power),

    p the density of the normal distribution that fits the pool, d the distance to the nearest pick. The first pick is
    the image nearest to a random point of that distribution. Random images of each pick's class join it.

    power: how much distance counts.

    The density is that of the directions in which the pool varies, and is compared by its logarithm: with many
    dimensions it would vanish.
    """

    power: NotNegative = 1.0

    def choose(self, points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return pick(points, self.blocks, rng, self.power)


def pick(pool: np.ndarray, count: int, rng: np.random.Generator, power: float = 1.0) -> np.ndarray:
    """The places in the pool (N, E) of ``count`` picks."""
    # In the pool's own axes, each divided by its spread, the fitted distribution is the standard one.
    centred = pool - pool.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / max(len(pool) - 1, 1))
    spread = np.sqrt(np.maximum(variances, 0))
    varied = variances > 1e-10 * variances[-1]
    standard = (centred @ axes[:, varied]) / spread[varied]
    densities = -0.5 * (standard**2).sum(axis=1)

    start = axes @ (spread * rng.normal(size=len(spread)))
    picks = [int(np.argmin(((centred - start) ** 2).sum(axis=1)))]
    gaps = ((centred - centred[picks[0]]) ** 2).sum(axis=1)
    while len(picks) < count:
        picks.append(int(rng.choice(len(pool), p=chances(densities, gaps, picks, power))))
        gaps = np.minimum(gaps, ((centred - centred[picks[-1]]) ** 2).sum(axis=1))
    return np.array(picks)


def chances(densities: np.ndarray, gaps: np.ndarray, picks: list[int], power: float) -> np.ndarray:
    """Of each point to be the next pick, from the logarithm of its density and its squared distance to the nearest
    pick. Uniform among the others where none is apart from the picks."""
    free = np.ones(len(gaps), bool)
    free[picks] = False
    apart = free & (gaps > 0)
    if not apart.any():
        return free / free.sum()
    weights = np.full(len(gaps), -np.inf)
    weights[apart] = densities[apart] + power * np.log(gaps[apart])
    weights = np.exp(weights - weights.max())
    return weights / weights.sum()
