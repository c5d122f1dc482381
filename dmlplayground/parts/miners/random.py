from ..graph import rows
from .shared import KIND, Listed, Miner, rank

_EACH = 4


@KIND.register(title="Random")
class Random(Miner):
    """As many triplets as rows, drawn evenly from all (a, p, n) without replacement; all of them where there are fewer.

    They are the first different ones of four times as many draws; or, if that many do not exist, of all in random order.
    """

    gives = "triplets"

    def hybrid_forward(self, F, pairs):
        negatives = rows.row_sums(F, pairs.negative)
        until = F.cumsum(rows.flat(F, F.broadcast_mul(pairs.positive, negatives)), axis=0)
        total = F.max(until, axis=0, keepdims=True)
        slots = F.concat(*[rows.own_row(F, pairs.own)] * _EACH, dim=0)  # (4 B,)
        number = F.contrib.arange_like(slots, axis=0)
        few = F.broadcast_lesser_equal(total, F.max(number, axis=0, keepdims=True) + 1)

        drawn = F.broadcast_mul(F.random.uniform_like(slots), total * (1 - 1e-6))
        listed = F.broadcast_mul(few, number) + F.broadcast_mul(1 - few, drawn)
        place = rank(F, until, F.floor(listed) + 0.5)
        width = rows.flat(F, rows.width(F, pairs.own))
        anchor = F.floor(F.broadcast_div(place + 0.5, width))
        has = F.take(rows.flat(F, negatives), anchor)
        before = F.broadcast_mul(F.take(until, place - 1), place > 0)
        chosen = F.floor(F.random.uniform_like(slots) * (1 - 1e-6) * has)
        which = F.broadcast_mul(few, listed - before) + F.broadcast_mul(1 - few, chosen)
        passed = F.take(F.cumsum(pairs.negative, axis=1), anchor)
        column = F.sum(F.broadcast_lesser_equal(passed, F.expand_dims(which, 1)), axis=1)
        negative = F.broadcast_mul(anchor, width) + column
        exists = F.broadcast_lesser(number, F.maximum(total, (1 - few) * 1e9))
        kept = self._first(F, place, negative, exists, few, number)
        return Listed(pairs, *(F.expand_dims(each, 1) for each in (place, negative, kept, anchor)))

    def _first(self, F, place, negative, exists, few, number):
        """1 for the first B different triplets that exist, in the order of the draws, or in a random one."""
        order = F.broadcast_mul(few, F.random.uniform_like(place)) + F.broadcast_mul(1 - few, number)
        earlier = F.broadcast_greater(F.expand_dims(order, 1), F.expand_dims(order, 0))
        same_place, same_negative = (
            F.broadcast_equal(F.expand_dims(each, 1), F.expand_dims(each, 0)) for each in (place, negative)
        )
        different = exists * (1 - F.max(earlier * same_place * same_negative, axis=1))
        wanted = (F.max(number, axis=0, keepdims=True) + 1) / _EACH
        return different * F.broadcast_lesser(F.dot(earlier, different), wanted)
