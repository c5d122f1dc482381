from ._arithmetic import dot, sigmoid
from ._tuples import mean


def value(
    embeddings,
    labels,
    parameters=None,
    *,
    ks=(1, 2, 4, 8, 16),
    temperature=1.0,
    rank_temperature=0.01,
    count_query=False,
) -> float:
    """1 - mean over k and over rows q with positives P_q of min(k, sum_{x in P_q} sig((k - r_qx)/T)) / min(k, |P_q|).

    r_qx = 1 + sum over rows z other than x and q (and over q too with ``count_query``) of
    sig((s_qz - s_qx)/rank_temperature).
    """
    recalls = []
    for q, own in enumerate(embeddings):
        similarities = [dot(own, other) for other in embeddings]
        positives = [x for x in range(len(labels)) if labels[x] == labels[q] and x != q]
        ranks = [
            1
            + sum(
                sigmoid((similarities[z] - similarities[x]) / rank_temperature)
                for z in range(len(labels))
                if z != x and (z != q or count_query)
            )
            for x in positives
        ]
        for k in ks:
            if positives:
                found = sum(sigmoid((k - rank) / temperature) for rank in ranks)
                recalls.append(min(k, found) / min(k, len(positives)))
    return 1 - mean(recalls) if recalls else 0.0
