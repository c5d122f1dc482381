"""What the losses share that compare rows with a proxy of every class."""

from __future__ import annotations

from ..graph import classes
from . import initial_weights
from .base import Loss


class Classifier(Loss):
    """A loss with weights ``proxies``, (C, E)."""

    reads = "rows"

    def __init__(
        self,
        num_classes: int,
        embed_dim: int,
        label_smoothing: float = 0.0,
        init: initial_weights.Start = "normal",
        init_std: float = 1.0,
    ):
        super().__init__(num_classes, embed_dim)
        classes.check_classes(self, label_smoothing)
        self.label_smoothing = label_smoothing
        self.require(init_std > 0, f"init_std must be above 0, not {init_std}.")
        self.weight("proxies", (num_classes, embed_dim), initial_weights.started(init, init_std, embed_dim))

    def check(self, rows, width):
        classes.check_width(self, width, self.embed_dim)

    def against_others(self, F, logits, own, labels, weights):
        """The loss of these logits once the own class's is replaced by ``own``."""
        return classes.against_others(
            F, logits, own, labels, self.num_classes, self.dtype, weights, self.label_smoothing
        )
