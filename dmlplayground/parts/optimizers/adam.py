import math

from ...base.options import Positive
from .shared.base import KIND, Kept, Optimizer


@KIND.register(title="Adam")
class Adam(Optimizer):
    """A running mean of the gradient over the root of one of its square, as MXNet computes it.

        g <- clip(g + weight_decay w);  m <- beta1 m + (1 - beta1) g;  v <- beta2 v + (1 - beta2) g^2
        w <- w - lr sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt v + epsilon)

    Weight decay is part of the gradient here; ``adamw`` keeps it apart.

    beta1: weight of the old mean.
    beta2: weight of the old mean square.
    epsilon: added to the root. PyTorch adds it after the correction by 1 - beta2^t, where the same number
        weighs more in the first steps.
    """

    slots = 2

    beta1: Kept = 0.9
    beta2: Kept = 0.999
    epsilon: Positive = 1e-7

    def update(self, F, weight, gradient, state, lr, weight_decay, step):
        options = {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon, **self.clipping}
        # For the time that the means are still drawn to the zero they began with.
        correction = math.sqrt(1 - self.beta2**step) / (1 - self.beta1**step)
        # Its lazy form is for sparse gradients and would leave out the decay of rows without any.
        options.update(out=weight, lr=lr * correction, wd=weight_decay, lazy_update=False)
        F.adam_update(weight, gradient, *state, **options)
