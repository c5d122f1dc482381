from ._arithmetic import squared_distance


def value(embeddings, labels, parameters=None, *, margin=1.0) -> float:
    """Mean over ordered positive pairs (a, p) of [margin + |a - p|^2 - |a - n|^2]+.

    n is the closest negative that is farther from a than p (strictly); if there is none, the farthest
    negative. A pair without any negative adds zero but is counted; no pair at all gives zero.
    """
    rows = range(len(labels))
    pairs = [(a, p) for a in rows for p in rows if a != p and labels[a] == labels[p]]
    total = 0.0
    for a, p in pairs:
        to_positive = squared_distance(embeddings[a], embeddings[p])
        to_negatives = [
            squared_distance(embeddings[a], embeddings[n]) for n in rows if labels[n] != labels[a]
        ]
        if not to_negatives:
            continue
        farther = [d for d in to_negatives if d > to_positive]
        to_negative = min(farther) if farther else max(to_negatives)
        total += max(0.0, margin + to_positive - to_negative)
    return total / max(len(pairs), 1)
