"""The base of losses that compare rows with a proxy of every class."""

from ....base.options import Positive
from ...graph import classes
from . import initial_weights
from .base import Loss


class Classifier(Loss):
    """A loss with weights ``proxies``, (C, E).

    label_smoothing: the share of the target that goes to the other classes.
    init: how proxies start: normal, with deviation init_std in every coordinate; or uniform, between -1 / sqrt(E) and
        1 / sqrt(E), as in Roth et al.
    init_std: their deviation at the start. Their length does not affect the loss, only how far a step moves them.
    """

    reads = "rows"

    # A subclass makes options of these.
    label_smoothing = 0.0
    init = "normal"
    init_std = 1.0

    def __post_init__(self) -> None:
        classes.check_classes(self, self.label_smoothing)
        self.require(self.init_std > 0, f"init_std must be above 0, not {self.init_std}.")
        drawn = initial_weights.normal(self.init_std)
        if self.init == "uniform":  # as a linear layer over so many numbers
            drawn = initial_weights.uniform(self.embed_dim**-0.5)
        self.weight("proxies", (self.num_classes, self.embed_dim), drawn)

    def check(self, rows, width):
        classes.check_width(self, width, self.embed_dim)

    def against_others(self, F, logits, own, labels, weights):
        """The loss of these logits once the own class's is replaced by ``own``."""
        return classes.against_others(
            F, logits, own, labels, self.num_classes, self.dtype, weights, self.label_smoothing
        )


class AngleMultiplied(Classifier):
    """Base: the angle to the own class counts ``margin`` times. A subclass writes ``compared``."""

    margin: int = 4
    scale: Positive = 1.0
    label_smoothing: float = 0.0
    init: initial_weights.Start = "normal"
    init_std: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require(self.margin >= 1, f"margin is a whole number from 1, not {self.margin}.")

    def compared(self, F, embeddings, proxies, labels):
        """The logits (B, C), and each row's largest possible logit for its own class (B,)."""
        raise NotImplementedError

    def hybrid_forward(self, F, embeddings, labels, weights, proxies):
        logits, largest = self.compared(F, embeddings, proxies, labels)
        own = largest * classes.multiplied(F, F.pick(logits, labels, axis=1) / largest, self.margin)
        return self.against_others(F, logits, own, labels, weights)
