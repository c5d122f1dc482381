from .adam import Adam
from .shared.base import KIND


@KIND.register(title="Adam with its weight decay apart", also=("decoupled weight decay",))
class AdamW(Adam):
    """Adam whose weight decay does not pass through the means, as PyTorch has it and unlike MXNet's own AdamW.

        w <- w (1 - lr weight_decay);  then Adam's step without weight decay

    The rate in front of the decay is the scheduled one, so the decay fades with it. MXNet's AdamW scales only Adam's
    step by the learning rate, and waits for the device in every step.
    """

    def update(self, F, weight, gradient, state, lr, weight_decay, step):
        weight *= 1 - lr * weight_decay
        super().update(F, weight, gradient, state, lr, 0.0, step)
