from .shared.base import KIND, Kept, Optimizer


@KIND.register(title="Stochastic gradient descent, with momentum", also=("momentum", "heavy ball"))
class SGD(Optimizer):
    """The gradient itself, or with momentum a running sum of it, as MXNet computes it.

        m <- momentum m - lr (clip(g) + weight_decay w);  w <- w + m

    The gradient is clipped before weight decay is added, so the decay is not clipped.

    momentum: the share of the last move that is made again.
    """

    momentum: Kept = 0.9

    def __post_init__(self) -> None:
        super().__post_init__()
        self.slots = 1 if self.momentum else 0

    def update(self, F, weight, gradient, state, lr, weight_decay, step):
        options = {"out": weight, "lr": lr, "wd": weight_decay, "lazy_update": False, **self.clipping}
        if self.momentum:
            F.sgd_mom_update(weight, gradient, state[0], momentum=self.momentum, **options)
        else:
            F.sgd_update(weight, gradient, **options)
