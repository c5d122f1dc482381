"""The base of every method: its facts, the registry, and the loss as a plain object.

A loss is plain Python: it checks its options, declares its own weights and states its formula in terms of ``F``. So a
configuration can be checked without MXNet; ``objective.Objective`` makes a Gluon block of it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from ....base import registry
from ....base.errors import UserError, nearest, warn
from .initial_weights import Fill, Weight
from .search_ranges import Ranges

Reads = Literal["batch", "rows", "pairs", "triplets"]


class Loss(registry.Named):
    """A metric-learning loss: its options, its own weights and its formula.

    A subclass writes ``hybrid_forward(self, F, embeddings, labels, [what it reads,] **its own weights)``, which
    returns one number, (1,). ``embeddings`` is (B, E), taken as the head gives it; ``labels`` is (B,), class
    numbers in the type of the embeddings. ``reads`` says what else it is given, and so which miners it works with:

    * ``batch``: nothing. The loss looks at the batch as the sampler lays it out, and takes no miner.
    * ``rows``: ``weights``, (B,) or None: how much each row's term counts.
    * ``pairs``: a ``mining.tuples.Pairs``: how often each positive and each negative pair counts.
    * ``triplets``: a ``mining.tuples.Triplets``.

    Every loss is built with ``num_classes`` and ``embed_dim`` whether or not it uses them, so the trainer need not
    know. Labels and the like are to be added by ``F.broadcast_add``: where an input without
    gradient enters ``+`` itself, MXNet 1.9.1's static graphs give wrong gradients (apache/mxnet#20293).

    >>> dml.methods.create("triplet", 10, 64).reads
    'triplets'
    """

    kind = "method"
    reads: Reads = field(default="batch", init=False)

    #: For the rare loss that computes something on the host: a method ``host(embeddings, labels)`` on NumPy arrays,
    #: whose arrays ``hybrid_forward`` is given after the labels. It waits for its embeddings; no other loss may.
    host: ClassVar[Callable[..., tuple] | None] = None

    #: For a loss on pairs or triplets that also looks for rows in the batch itself: it takes no memory.
    in_batch: ClassVar[bool] = False

    #: Whether the value is a mean over all rows of the batch, those without pairs too.
    means_rows = False

    #: Whether rows are known to come at unit length, as ``methods.loss`` sets it.
    unit_rows = False

    dtype = "float32"  # of embeddings and weights, as ``Objective.cast`` sets it

    num_classes: int
    embed_dim: int
    weights: dict[str, Weight] = field(default_factory=dict, init=False)

    def weight(self, name: str, shape: tuple[int, ...], init: Fill, learned: bool = True) -> None:
        """Declare weights of the loss's own; ``hybrid_forward`` gets them by this name."""
        self.weights[name] = Weight(shape, init, learned)

    def check(self, rows: int, width: int) -> None:
        """Look at the shape of a batch before its graph is traced. Raise UserError if the loss cannot read it."""

    def check_labels(self, labels: np.ndarray) -> None:
        """Raise UserError if the loss cannot read these labels (on the host)."""
        if self.weights or self.reads == "rows":
            wrong = labels[(labels < 0) | (labels >= self.num_classes) | (labels != np.floor(labels))]
            self.require(
                not len(wrong), f"labels are whole numbers from 0 to {self.num_classes - 1}, not {wrong[:1]}."
            )

    def check_layout(self, labels: np.ndarray) -> None:
        """Raise UserError if batches that are laid out as this one teach the loss nothing, before any training."""
        self.check_labels(labels)

    def default_miner(self) -> Mapping[str, Any] | None:
        """The loss's own miner, by name and options, if its authors did not mean all tuples."""
        return None

    def hybrid_forward(self, F, embeddings, labels, *read, **weights):
        raise NotImplementedError


@dataclass(frozen=True)
class Method(registry.Part):
    """One method: the facts from its paper, and the loss (``build``) that computes it.

    >>> dml.methods.get("npairs").year
    2016
    """

    given: ClassVar[tuple[str, ...]] = ("num_classes", "embed_dim")

    year: int = 0
    paper: str = ""
    sampler: Mapping[str, Any] = field(default_factory=dict)  # what the loss needs of its batch
    head: Mapping[str, Any] = field(default_factory=dict)  # what the loss needs of its embeddings
    defaults: Mapping[str, Any] = field(default_factory=dict)  # other settings of a trial
    ranges: Ranges = field(default_factory=dict)  # where a search looks (``search_ranges``)

    @property
    def reads(self) -> Reads:
        """``batch``, ``rows``, ``pairs`` or ``triplets``: see ``Loss``."""
        return self.build.reads  # type: ignore[attr-defined]

    @property
    def configuration(self) -> dict[str, Any]:
        """A trial of the method as its authors or the study ran it: a layer of configuration that others override."""
        return {**self.defaults, "sampler": dict(self.sampler), "head": dict(self.head)}

    @property
    def facts(self) -> dict[str, str]:
        return {"year": str(self.year), "sampler": self.sampler["name"], "reads": self.reads}


KIND: registry.Kind[Method, Loss] = registry.Kind("method", "dmlplayground.parts.methods", Method)


class External(Loss):
    """Computed by a command, not by this package."""

    def __init__(self, num_classes: int, embed_dim: int, **options: Any):
        super().__init__(num_classes, embed_dim)


class ExternalMethod(Method):
    """A method by its name alone."""

    def fill(self, options: Mapping[str, Any], kind: str) -> dict[str, Any]:
        return dict(options)


def external_method(name: str) -> Method:
    """The record of a method that a command computes."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.+]*", name):
        raise UserError(f"a method is called by letters, digits and _, not {name!r}.")
    near = nearest(name, (key for key in KIND.names() if not isinstance(KIND.get(key), ExternalMethod)), 0.8)
    if near and near not in name:
        warn(f"method {name}: a label for what the command trains. If {near} is meant, tables show it apart.")
    title = f"{name} (by a command)"
    return ExternalMethod(key=name, title=title, build=External, sampler={"name": "shuffled"})
