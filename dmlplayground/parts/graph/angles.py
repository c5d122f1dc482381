"""Angles between vectors, by their cosines: margins that are added to an angle, and angles that are multiplied."""

import math

_LARGEST = 1 - 1e-7  # where the sine still has a finite slope


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
