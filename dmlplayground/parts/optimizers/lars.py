from ...base.options import Positive
from .shared.base import KIND, Kept, Optimizer


@KIND.register(title="Layer-wise adaptive rates (LARS)", also=("layerwise adaptive rate scaling",))
class LARS(Optimizer):
    """Momentum with a rate for each layer, proportional to the length of its weights over that of their gradient.

        r = trust |w| / (|g| + weight_decay |w| + epsilon), or 1 where |w| or |g| is 0
        m <- momentum m + lr r (clip(g) + weight_decay w);  w <- w - m

    You et al.: Large Batch Training of Convolutional Networks, 2017. Arrays of one dimension (biases, scales and
    shifts) have r = 1. MXNet's own waits for the device in every step and rescales the momentum when the rate changes.

    momentum: the share of the last move that is made again.
    trust: how far a layer may move in a step, as a share of its length.
    epsilon: keeps the divisor from zero.
    """

    slots = 1

    momentum: Kept = 0.9
    trust: Positive = 1e-3
    epsilon: Positive = 1e-9

    def update(self, F, weight, gradient, state, lr, weight_decay, step):
        if self.clip is not None:
            gradient = gradient.clip(-self.clip, self.clip)
        ratio = self.ratio(F, weight, gradient, weight_decay)
        (velocity,) = state
        velocity[:] = self.momentum * velocity + lr * F.broadcast_mul(gradient + weight_decay * weight, ratio)
        weight -= velocity

    def ratio(self, F, weight, gradient, weight_decay: float):
        """r as an array with one element, on the weights' device."""
        shape = (1,) * len(weight.shape)
        if len(weight.shape) < 2:
            return F.ones(shape, ctx=weight.context, dtype=weight.dtype)
        length, slope = weight.norm(), gradient.norm()
        ratio = self.trust * length / (slope + weight_decay * length + self.epsilon)
        known = (length > 0) * (slope > 0)
        return (known * ratio + (1 - known)).reshape(shape)
