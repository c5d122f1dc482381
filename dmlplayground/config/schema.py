"""What a trial says, with the neutral value of every key. ``building`` makes one of a user's mapping."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Literal, Optional

from ..metrics.table import KS, STANDARD

Named = dict[str, Any]
"""A component by its name with its options: ``{"name": "pairs", "same_image": 0.1}``; a bare word is the name alone."""


@dataclass(frozen=True)
class Optimizer:
    name: Literal["adam", "sgd", "rmsprop"] = "adam"
    lr: float = 1e-4
    weight_decay: float = 1e-5  # added to the gradient (coupled), as MXNet and the study do
    momentum: float = 0.9  # SGD and RMSProp
    beta1: float = 0.9  # Adam
    beta2: float = 0.999
    rho: float = 0.9  # RMSProp: weight of the old mean square ...
    rho_decay: float = 1.0  # ... multiplied by this after every epoch
    epsilon: float = 1e-7
    clip: Optional[float] = None  # every element of the gradient is cut to [-clip, clip]


@dataclass(frozen=True)
class Group:
    """What one part of the model does differently: any key of the optimizer, and multipliers of its learning rate."""

    lr_mult: float = 1.0
    lr_mult_by_name: dict[str, float] = field(
        default_factory=dict
    )  # a piece of the parameter's name -> its own multiplier
    name: Optional[Literal["adam", "sgd", "rmsprop"]] = None
    lr: Optional[float] = None
    weight_decay: Optional[float] = None
    momentum: Optional[float] = None
    epsilon: Optional[float] = None
    clip: Optional[float] = None

    def optimizer(self, base: Optimizer) -> Optimizer:
        shared = {f.name for f in dataclasses.fields(Optimizer)}
        own = {k: v for k, v in vars(self).items() if k in shared and v is not None}
        return dataclasses.replace(base, **own)


@dataclass(frozen=True)
class Groups:
    backbone: Group = Group()
    head: Group = Group()
    loss: Group = Group()


@dataclass(frozen=True)
class Schedule:
    """The learning rate of an epoch (counted from 1): ``factor`` to the power of the steps at or before it."""

    factor: float = 0.5
    steps: list[int] = field(default_factory=list)
    every: Optional[int] = None  # instead of steps: at every, 2 every, 3 every, ...

    def scale(self, epoch: int) -> float:
        passed = epoch // self.every if self.every else sum(epoch >= step for step in self.steps)
        return self.factor**passed


@dataclass(frozen=True)
class Head:
    """The layers between the backbone's features and the embedding."""

    bias: bool = True
    normalize: bool = False  # unit length
    bottleneck: list[int] = field(default_factory=list)  # widths of linear layers before the last
    bottleneck_dropout: float = 0.0
    layer_norm: bool = False  # on the features, before everything else
    weight_norm: bool = False
    dropout: float = 0.0  # after the last layer
    to_classes: bool = False  # a further layer onto one output a class: that is then the embedding
    pooling: Literal["average", "average+max"] = "average"
    init: Literal["xavier", "truncnorm"] = "xavier"
    init_scale: float = 0.2


@dataclass(frozen=True)
class Ensemble:
    members: int = 1
    order: Literal["sequential", "parallel"] = "sequential"


@dataclass(frozen=True)
class Protocol:
    """``paper``: train half and test half, the best test epoch beside the last. ``validated``: class-disjoint folds of the
    train half choose the epoch; the test half is scored once, by each fold's model and by all of them joined."""

    name: Literal["paper", "validated"] = "paper"
    folds: int = 4
    patience: Optional[int] = None  # validated: stop a fold after so many evaluations without a better one
    criterion: str = "MAP@R"  # validated: what the choice is made by


#: The first keys of an evaluation are part of every trial's name; those added later only where they are not neutral.
NAMING = ("ks", "clustering", "kmeans_starts", "distance", "every")


@dataclass(frozen=True)
class Evaluation:
    metrics: list[str] = field(
        default_factory=lambda: list(STANDARD)
    )  # by name; a family without a number, such as R@K, stands for one of each of ks
    ks: list[int] = field(default_factory=lambda: list(KS))
    clustering: bool = True  # false: without the metrics that need clusters
    headline: Optional[str] = None  # the metric that leads tables; nothing: the first of the metrics
    intervals: Optional[Literal["bootstrap", "normal"]] = None  # 95 % intervals of means over queries
    training_metrics: list[str] = field(default_factory=list)  # of the embeddings of the training images
    training_every: int = 1  # epochs, of those that are evaluated; untrained and last are always among them
    kmeans_starts: Optional[int] = (
        None  # the best of so many by inertia; nothing: as many as the size of the set affords
    )
    distance: Literal["euclidean", "cosine", "hamming"] = "euclidean"
    every: int = 1  # epochs; the last epoch is always evaluated


@dataclass(frozen=True)
class Trial:
    method: Named
    data: Named
    backbone: Named
    embed_dim: int = 64
    head: Head = Head()
    sampler: Named = field(default_factory=lambda: {"name": "shuffled"})
    transform: Named = field(default_factory=lambda: {"name": "paper"})
    mining: Optional[Named] = None  # which pairs or triplets of a batch count; nothing: as the method has it
    regularizers: list[Named] = field(default_factory=list)  # terms added to the loss, each with its weight
    batch_size: int = 128
    iterations: Optional[int] = None  # batches an epoch; nothing: one pass over the images
    accumulate: int = 1  # batches (episodes) whose gradients are averaged into one step
    epochs: int = 20
    warmup_epochs: int = 0  # first epochs in which the backbone is left alone
    optimizer: Optimizer = Optimizer()
    groups: Groups = Groups()
    schedule: Schedule = Schedule()
    freeze_batchnorm: bool = False  # the backbone's: statistics, scale and shift
    ensemble: Ensemble = Ensemble()
    protocol: Protocol = Protocol()
    evaluation: Evaluation = Evaluation()
    devices: int = 1  # a batch is split over so many; they are CPU contexts where there is no GPU
    device: Literal["auto", "cpu", "gpu"] = "auto"
    amp: bool = False  # mixed precision; on GPUs only
    seed: int = 0

    def mapping(self) -> dict[str, Any]:
        """The canonical form: plain values in the order of the fields."""
        return dataclasses.asdict(self)

    @property
    def id(self) -> str:
        """A readable name that is different for every different trial.

        The kind of device is left out: it changes rounding, not the experiment, and a sweep may move a trial.
        """
        content = {k: v for k, v in self.mapping().items() if k != "device"}
        content = {k: v for k, v in content.items() if v or k not in ("mining", "regularizers")}
        neutral = dataclasses.asdict(Evaluation())
        content["evaluation"] = {
            k: v for k, v in content["evaluation"].items() if k in NAMING or v != neutral[k]
        }
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:10]
        parts = [
            self.method["name"],
            self.data["name"],
            self.backbone["name"].replace(":", "."),
            f"e{self.embed_dim}",
            f"s{self.seed}",
        ]
        return "-".join([*parts, digest])
