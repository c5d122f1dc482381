from .shared import KIND, Miner


@KIND.register(title="All pairs and triplets", also=("none",))
class All(Miner):
    """Nothing is left out: every pair, and for a loss that reads triplets every (a, p, n).

    It is the default of a loss without a miner of its own. The sum over all triplets is computed without listing them.
    """

    gives = "pairs"
    keeps_all = True

    def hybrid_forward(self, F, pairs):
        return pairs
