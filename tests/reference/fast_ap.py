from ._arithmetic import squared_distance
from ._tuples import mean


def value(embeddings, labels, parameters=None, *, bins=10) -> float:
    """1 - FastAP, mean over the rows that have a positive.

    FastAP of a row: (1/N+) sum_l h+_l H+_l / H_l over L + 1 centres at 0, 4/L .. 4 of squared distances to all other
    rows, soft counts [1 - |D2 - centre| / (4/L)]+, H and H+ running sums that include l; 0 where h+_l H+_l is 0.
    """
    width = 4 / bins
    losses = []
    for i, x in enumerate(embeddings):
        others = [j for j in range(len(labels)) if j != i]
        mates = [j for j in others if labels[j] == labels[i]]
        if not mates:
            continue

        def count(rows, centre, x=x):
            return sum(max(0.0, 1 - abs(squared_distance(x, embeddings[j]) - centre) / width) for j in rows)

        precision, seen, seen_mates = 0.0, 0.0, 0.0
        for step in range(bins + 1):
            own = count(mates, step * width)
            seen_mates += own
            seen += count(others, step * width)
            if own * seen_mates > 0:
                precision += own * seen_mates / seen
        losses.append(1 - precision / len(mates))
    return mean(losses)
