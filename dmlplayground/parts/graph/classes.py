"""Classes that a row is compared with, by proxies or logits: cosines and their angles, targets, cross-entropy."""

import math

from .rows import HIDDEN, flat, log_sum_exp, mean, row_sums, softplus

_LARGEST = 1 - 1e-7  # of a cosine, where the sine still has a finite slope


def check_classes(loss, label_smoothing=0.0):
    classes = loss.num_classes
    loss.require(
        classes >= 2,
        f"proxies of other classes are needed, so num_classes must be at least 2, not {classes}.",
    )
    loss.require(
        0 <= label_smoothing < 1, f"label_smoothing is a share from 0 to below 1, not {label_smoothing}."
    )


def check_width(loss, width, expected):
    loss.require(width == expected, f"embeddings must have {expected} columns, not {width}.")


def nearness(F, x, proxies, num_proxies, sharpness):
    """sharpness x_i.p_k, the proxies p brought to unit length, as (B, num_proxies).

    Rather than the proxies the products are divided by their lengths: that touches fewer numbers.
    """
    scales = sharpness * F.rsqrt(row_sums(F, F.square(proxies)) + 1e-10)
    rows = F.ones_like(F.slice_axis(x, axis=1, begin=0, end=1))
    products = F.FullyConnected(x, proxies, num_hidden=num_proxies, no_bias=True)
    return products * F.dot(rows, scales, transpose_b=True)


def smoothed(F, values, labels, num_classes, smoothing):
    """The mean of each row under its target: 1 - smoothing on the label, the rest in equal shares on the others."""
    own = F.pick(values, labels, axis=1)
    if not smoothing:
        return own
    share = smoothing / (num_classes - 1)
    return (1 - smoothing - share) * own + share * flat(F, row_sums(F, values))


def cross_entropy(F, logits, labels, num_classes, smoothing=0.0, hidden=None, weights=None):
    """The mean over rows of log sum_k exp(logits_k) - (the logits under the smoothed target).

    ``hidden``, which is ``hide_own``, takes the label's own entry out of the sum (not out of the target).
    """
    if hidden is None:
        return -mean(F, smoothed(F, F.log_softmax(logits, axis=1), labels, num_classes, smoothing), weights)
    another = labels == 0  # class 1 for rows of class 0, class 0 for the rest
    losses = log_sum_exp(F, logits + hidden, another) - smoothed(F, logits, labels, num_classes, smoothing)
    return mean(F, losses, weights)


def hide_own(F, labels, num_classes, dtype):
    """(B, num_classes): HIDDEN in the column of the row's label, zero elsewhere."""
    return F.one_hot(labels, num_classes, on_value=HIDDEN, dtype=dtype)


def against_others(F, logits, own, labels, num_classes, dtype, weights=None, smoothing=0.0):
    """The mean over rows of the cross-entropy of ``logits`` with ``own``, (B,), in place of the label's own entry,
    under the target that ``smoothed`` has."""
    others = log_sum_exp(F, logits + hide_own(F, labels, num_classes, dtype), labels == 0)
    losses = softplus(F, others - own)
    if smoothing:
        sums = flat(F, row_sums(F, logits)) - F.pick(logits, labels, axis=1)
        losses = losses + smoothing * (own - sums / (num_classes - 1))
    return mean(F, losses, weights)


def lengths(F, vectors):
    """|v| of every row, (N, E) -> (N,); never zero, and of finite slope."""
    return F.sqrt(flat(F, row_sums(F, F.square(vectors))) + 1e-20)


def turned(F, cosines, radians):
    """(cos(theta), cos(theta + radians)); theta is kept from 0 and 180 degrees by as little as 1e-7 of its cosine."""
    cosines = F.minimum(F.maximum(cosines, -_LARGEST), _LARGEST)
    sines = F.sqrt((1 - cosines) * (1 + cosines))
    return cosines, math.cos(radians) * cosines - math.sin(radians) * sines


def multiplied(F, cosines, times: int):
    """psi(theta) = (-1)^q cos(times theta) - 2 q with q = floor(times theta / pi), which falls all the way from 1.

    cos(times theta) is Chebyshev's polynomial of the cosine, so its slope is finite everywhere; q has none.
    """
    before, power = F.ones_like(cosines), cosines
    for _ in range(times - 1):
        before, power = power, 2 * cosines * power - before
    theta = F.arccos(F.minimum(F.maximum(F.BlockGrad(cosines), -1), 1))
    turns = F.floor(theta * (times / math.pi))
    sign = 1 - 2 * (turns - 2 * F.floor(turns / 2))
    return F.broadcast_sub(F.broadcast_mul(sign, power), 2 * turns)
