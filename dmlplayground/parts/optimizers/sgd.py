from __future__ import annotations

from typing import Any

from .shared.base import KIND, Optimizer


@KIND.register(title="Stochastic gradient descent, with momentum", also=("momentum", "heavy ball"))
class SGD(Optimizer):
    """The gradient itself, or with momentum a running sum of it, as MXNet computes it.

        m <- momentum m - lr (clip(g) + weight_decay w);  w <- w + m

    The gradient is clipped before weight decay is added, so the decay is not clipped.

    momentum: the share of the last move that is made again.
    """

    def __init__(self, *, momentum: float = 0.9, **shared: Any):
        super().__init__(**shared)
        self.require_shares(momentum=momentum)
        self.momentum = momentum
        self.slots = 1 if momentum else 0

    def update(self, F, weight, gradient, state, lr, weight_decay, step):
        options = {"out": weight, "lr": lr, "wd": weight_decay, "lazy_update": False, **self.clipping}
        if self.momentum:
            F.sgd_mom_update(weight, gradient, state[0], momentum=self.momentum, **options)
        else:
            F.sgd_update(weight, gradient, **options)
