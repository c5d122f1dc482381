from ._arithmetic import smoothed_cross_entropy
from .sphereface import logits_of


def value(embeddings, labels, parameters, *, margin=4, scale=1.0, label_smoothing=0.0) -> float:
    """Mean over rows of the cross-entropy of scale |x| |p_k| (psi(theta_y) or cos theta_k), x and p_k raw."""
    total = 0.0
    for x, y in zip(embeddings, labels):
        logits = logits_of(x, y, parameters["proxies"], margin)
        total += smoothed_cross_entropy([scale * logit for logit in logits], y, label_smoothing)
    return total / len(labels)
