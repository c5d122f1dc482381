from .shared import KIND, Band, Miner


@KIND.register(title="Hard")
class Hard(Miner):
    """Every triplet whose negative is no farther off than its positive: D_an <= D_ap, of unit rows."""

    gives = "triplets"

    def hybrid_forward(self, F, pairs):
        return Band(pairs, pairs.distances(), None, 0.0)
