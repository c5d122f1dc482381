"""Soft ranks: how many rows are more similar to a query than one of them, by sigmoids of the differences.

This takes B^3 sigmoids. Queries go by in blocks, and the sigmoids are found once more for the slopes, so that never more
than a block's stand in memory.
"""

from .pair_blocks import blocks, joined

BLOCKS = 16
_AT_ONCE = 2**19  # sigmoids, or so; and never fewer than four queries


def blocks_for(rows: int) -> int:
    """How many blocks a batch of this size is cut into."""
    queries = max(4, min(16, _AT_ONCE // rows**2))
    return -(-rows // queries)


class SoftRanks:
    """For every query q and every row x the sum over rows z of weight_qz sigmoid((s_qz - s_qx) / temperature), x itself
    counting for a half.

    Several sets of weights stand side by side, (B, n B); so do ``counts``, one for each. It is all without gradient.
    """

    def __init__(self, F, similarities, weights, sets: int, temperature: float, number: int):
        self.F = F
        self.weights = weights
        self.sets = sets
        self.temperature = temperature
        self.number = number
        self.scaled = F.BlockGrad(similarities) / temperature
        self.counts = self._summed(weights, sets, self._passed)

    def slopes(self, by_counts):
        """By similarities, (B, B), from those by ``counts``."""
        F = self.F
        # The slope of a sigmoid is even: it serves s_z against s_x and s_x against s_z.
        sides = self._summed(F.concat(by_counts, self.weights, dim=1), 2 * self.sets, self._steepness)
        raised, lowered = F.split(
            F.reshape(sides, shape=(0, 2, -1)), axis=1, num_outputs=2, squeeze_axis=True
        )
        slopes = F.reshape(self.weights * raised - by_counts * lowered, shape=(0, self.sets, -1))
        return F.sum(slopes, axis=1) / self.temperature

    def _summed(self, weights, sets, function):
        F = self.F
        # Otherwise every block would be kept for a backward pass that never comes.
        found, weights = [], F.BlockGrad(weights)
        for scaled, rows in zip(*(blocks(F, each, self.number) for each in (self.scaled, weights))):
            sums = F.batch_dot(F.reshape(rows, shape=(0, sets, -1)), function(scaled))
            found.append(F.reshape(sums, shape=(0, -1)))
        return joined(F, found, self.scaled)

    def _passed(self, scaled):
        F = self.F
        gaps = F.broadcast_sub(F.expand_dims(scaled, 2), F.expand_dims(scaled, 1))
        return F.Activation(gaps, act_type="sigmoid")

    def _steepness(self, scaled):
        F = self.F
        # The other way round than in ``_passed``, which comes to the same: MXNet finds equal expressions, and would
        # keep what the counts needed of every block until the slopes need it.
        gaps = F.broadcast_sub(F.expand_dims(scaled, 1), F.expand_dims(scaled, 2))
        passed = F.Activation(gaps, act_type="sigmoid")
        return passed - F.square(passed)
