from typing import Literal

from ...base.options import Fraction, Positive
from .shared.base import KIND, Kept, Optimizer


@KIND.register(title="RMSProp, with momentum on the scaled gradient", also=("rms prop",))
class RMSProp(Optimizer):
    """The gradient over the root of a running mean of its square, with momentum on the result.

        g <- clip(g + weight_decay w);  v <- rho v + (1 - rho) g^2
        m <- momentum m + g / (sqrt(v) + epsilon);  w <- w - lr m

    PyTorch computes this with ``rho: 0.99, epsilon: 1e-8`` and the momentum it is given. MXNet's plain RMSProp is
    ``momentum: 0, root: of both``, with g / sqrt(v + epsilon).

    rho: weight of the old mean square.
    rho_decay: rho is multiplied by this after every epoch.
    momentum: the share of the last move that is made again.
    epsilon: keeps the divisor from zero.
    root: where epsilon stands: "of the square" alone is sqrt(v) + epsilon, "of both" is sqrt(v + epsilon).
    """

    slots = 2  # mean square, velocity

    rho: Kept = 0.9
    rho_decay: Fraction = 1.0
    momentum: Kept = 0.9
    epsilon: Positive = 1e-7
    root: Literal["of the square", "of both"] = "of the square"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.first_rho = self.rho

    def begin_epoch(self, epoch):
        self.rho = self.first_rho * self.rho_decay ** (epoch - 1)

    def update(self, F, weight, gradient, state, lr, weight_decay, step):
        gradient = self.decayed(weight, gradient, weight_decay)
        square, velocity = state
        square[:] = self.rho * square + (1 - self.rho) * gradient**2
        if self.root == "of both":
            divisor = (square + self.epsilon).sqrt()
        else:
            divisor = square.sqrt() + self.epsilon
        velocity[:] = self.momentum * velocity + gradient / divisor
        weight -= lr * velocity
