"""Which pairs and triplets a batch holds, and the means over them."""

from collections.abc import Iterable, Sequence


def all_pairs(labels: Sequence[int]) -> tuple[list[int], list[int], list[int], list[int]]:
    """Ordered pairs (a1, p) of different rows of one class, and (a2, n) of rows of different classes."""
    rows = range(len(labels))
    positives = [(i, j) for i in rows for j in rows if i != j and labels[i] == labels[j]]
    negatives = [(i, j) for i in rows for j in rows if labels[i] != labels[j]]
    return (
        [i for i, _ in positives],
        [j for _, j in positives],
        [i for i, _ in negatives],
        [j for _, j in negatives],
    )


def all_triplets(labels: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Every (a, p, n): two different rows of one class, and a row of another."""
    rows = range(len(labels))
    triplets = [
        (a, p, n)
        for a in rows
        for p in rows
        for n in rows
        if a != p and labels[a] == labels[p] and labels[a] != labels[n]
    ]
    return [a for a, _, _ in triplets], [p for _, p, _ in triplets], [n for _, _, n in triplets]


def by_anchor(anchors: Iterable[int], others: Iterable[int], once: bool = False) -> dict[int, list[int]]:
    """The other rows of every anchor's pairs; a pair listed twice counts twice, unless ``once``."""
    found: dict[int, list[int]] = {}
    for a, other in zip(anchors, others):
        row = found.setdefault(int(a), [])
        if not (once and other in row):
            row.append(int(other))
    return found


def mean(terms: Sequence[float]) -> float:
    """Zero for no terms."""
    return sum(terms) / max(len(terms), 1)


def active_mean(terms: Sequence[float]) -> float:
    """The mean of the terms above zero; zero if there are none."""
    return mean([term for term in terms if term > 0])


MEANS = {"active": active_mean, "all": mean}
