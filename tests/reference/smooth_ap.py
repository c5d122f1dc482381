from ._arithmetic import dot, sigmoid


def value(embeddings, labels, parameters=None, *, temperature=0.01) -> float:
    """1 - mean over rows q of AP_q, the mean over i in q's class, q included, of
    (1 + sum_{j in class, j != i} sig((S_qj - S_qi)/T)) / (1 + sum_{j != i} sig((S_qj - S_qi)/T)).
    """
    total = 0.0
    for q, x in enumerate(embeddings):
        similarities = [dot(x, other) for other in embeddings]
        mates = [i for i in range(len(labels)) if labels[i] == labels[q]]
        precision = 0.0
        for i in mates:
            passed = {
                j: sigmoid((similarities[j] - similarities[i]) / temperature)
                for j in range(len(labels))
                if j != i
            }
            precision += (1 + sum(passed[j] for j in mates if j != i)) / (1 + sum(passed.values()))
        total += precision / len(mates)
    return 1 - total / len(labels)
