import math

from ._arithmetic import class_cosines, clipped_angle, smoothed_cross_entropy


def value(
    embeddings, labels, parameters, *, margin=28.6, scale=64.0, monotonic=True, label_smoothing=0.0
) -> float:
    """Mean over rows of the cross-entropy of scale cos(theta_k + margin [k = y]), the margin in degrees.

    theta = arccos of x.p_k, p_k of unit length, clipped to 1e-7 within -1 and 1. With ``monotonic``, where theta_y
    is beyond 180 degrees less the margin, the own logit is scale (cos theta_y - m sin m), m the margin in radians.
    """
    m = math.radians(margin)
    total = 0.0
    for x, y in zip(embeddings, labels):
        logits = class_cosines(x, parameters["proxies"])
        angle = clipped_angle(logits[y])
        if monotonic and angle > math.pi - m:
            logits[y] = math.cos(angle) - m * math.sin(m)
        else:
            logits[y] = math.cos(angle + m)
        total += smoothed_cross_entropy([scale * logit for logit in logits], y, label_smoothing)
    return total / len(labels)
