"""The base of every optimizer: the registry, and the options that all of them share.

An optimizer is a rule for one array of weights: it knows nothing of networks, devices or epochs' losses. ``training``
calls it for every array, with the learning rate of the moment, and keeps its state. Rules are written with MXNet's
operators, which they are given as ``F``: nothing here imports MXNet, and nothing waits for a device.
"""

from functools import cached_property
from typing import Annotated

from ....base.options import Must, Positive, options_of
from ....base.registry import Kind, Named, Part

HIGHEST = 1e30  # of a rate: what 32 bits hold, with room for a product

#: The weight of the old value in a running mean.
Kept = Annotated[float, Must("be from 0 to below 1", lambda value: 0 <= value < 1)]


class Optimizer(Named):
    """A rule by which an array of weights moves. A subclass writes ``update`` and says how many arrays it remembers.

    lr: the learning rate, which the schedule scales.
    weight_decay: how strongly weights are drawn to zero; added to the gradient unless the optimizer says otherwise.
    clip: every element of the gradient is cut to between -clip and clip; nothing: it is not.
    clip_norm: gradients are shortened together so that their joint length is at most this; nothing: they are not.
        A part of the model with a clip_norm of its own (``groups``) is measured alone, all others as one.

    >>> dml.optimizers.create("adam", lr=0.001, weight_decay=0.01).weight_decay
    0.01
    """

    kind = "optimizer"
    slots = 0  # arrays of state beside every array of weights, all zero to begin with

    lr: float = 1e-4
    weight_decay: float = 1e-5
    clip: Positive | None = None
    clip_norm: Positive | None = None

    def __post_init__(self) -> None:
        self.require(0 <= self.lr <= HIGHEST, f"{self.lr:g} is not a valid learning rate (lr).")
        self.require(0 <= self.weight_decay <= HIGHEST, f"{self.weight_decay:g} is not a valid weight_decay.")

    def update(self, F, weight, gradient, state, lr: float, weight_decay: float, step: int) -> None:
        """Move ``weight`` in place, and the arrays of ``state`` with it; ``step`` counts from 1."""
        raise NotImplementedError

    def begin_epoch(self, epoch: int) -> None:
        """Called before every epoch, counted from 1."""

    @cached_property
    def clipping(self) -> dict[str, float]:
        """``clip`` as MXNet's own updates take it."""
        return {} if self.clip is None else {"clip_gradient": self.clip}

    def decayed(self, weight, gradient, weight_decay: float):
        """The gradient with weight decay in it, then clipped, in the order of MXNet's Adam."""
        gradient = gradient + weight_decay * weight
        return gradient if self.clip is None else gradient.clip(-self.clip, self.clip)


SHARED = options_of(Optimizer)
"""The options of every optimizer. They keep their values when a trial gets another optimizer."""

KIND: Kind[Part, Optimizer] = Kind("optimizer", "dmlplayground.parts.optimizers")
