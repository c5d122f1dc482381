import numpy as np

from ._arithmetic import log_sum_exp, squared_distance


def _query_losses(embeddings, labels, supports) -> list[float]:
    """-log softmax of every query of one episode."""
    members: dict[int, list] = {}
    queries = []
    for x, y in zip(embeddings, labels):
        if len(members.setdefault(y, [])) < supports:
            members[y].append(x)
        else:
            queries.append((x, y))
    prototypes = {y: np.mean(rows, axis=0) for y, rows in members.items()}
    losses = []
    for x, y in queries:
        logits = {k: -squared_distance(x, prototype) for k, prototype in prototypes.items()}
        losses.append(log_sum_exp(list(logits.values())) - logits[y])
    return losses


def value(embeddings, labels, parameters=None, *, supports=5, episodes=1) -> float:
    """Mean over queries q of -log softmax_k(-|q - mu_k|^2) at q's class, mu_k the mean of class k's supports.

    A row is a support while fewer than ``supports`` earlier rows of its episode carry its label, else a
    query; so both layouts can be read: class after class, or all supports before all queries. Several
    episodes are equal consecutive parts of the batch; a query is compared only with the prototypes of its
    own. No query gives zero.
    """
    labels = [int(y) for y in labels]
    length = len(labels) // episodes
    losses = []
    for start in range(0, len(labels), length):
        episode = slice(start, start + length)
        losses += _query_losses(embeddings[episode], labels[episode], supports)
    return sum(losses) / max(len(losses), 1)
