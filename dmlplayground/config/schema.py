"""The keys of a trial, each with its type, its neutral value and its meaning.

Nothing here knows which parts there are. ``building`` makes a trial of a user's mapping, and completes its parts.

A neutral value never changes its meaning: the id of a trial is made of what differs from it (``trial_ids``), so a new
key whose neutral value does nothing leaves every trial's id as it is.
"""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union

from ..metrics.table import KS, STANDARD

Named = dict[str, Any]
"""A part by its name with its options: ``{"name": "pairs", "same_image": 0.1}``; a bare word is the name alone."""


def key(neutral: Any, about: str) -> Any:
    """A key of the configuration, with its neutral value and what it means."""
    if isinstance(neutral, (list, dict)):
        return dataclasses.field(default_factory=lambda: type(neutral)(neutral), metadata={"about": about})
    return dataclasses.field(default=neutral, metadata={"about": about})


def part(about: str) -> Any:
    """A key that names a part."""
    return dataclasses.field(metadata={"about": about})


@dataclass(frozen=True)
class Groups:
    """What a part of the model does differently: any key of the optimizer, and multipliers of two of them.

    >>> dml.config.trial({"method": "npairs"}, ["groups.head.lr_mult=10"]).groups.head["lr_mult"]
    10.0
    """

    backbone: dict[str, Any] = key({}, "the network of the images")
    head: dict[str, Any] = key({}, "the layers after the backbone")
    loss: dict[str, Any] = key({}, "the loss's own weights, such as proxies")


@dataclass(frozen=True)
class Multipliers:
    """The keys of a group beside those of the optimizer."""

    lr_mult: float = key(1.0, "of the learning rate")
    lr_mult_by_name: dict[str, float] = key({}, "by a piece of the parameter's name, in lr_mult's place")
    wd_mult_by_name: dict[str, float] = key({}, "of the weight decay, by a piece of the parameter's name")


@dataclass(frozen=True)
class Head:
    """The layers between the backbone's features and the embedding.

    >>> dml.config.trial({"method": "npairs"}, ["head.dropout=0.2"]).head.dropout
    0.2
    """

    bias: bool = key(True, "whether the last layer has a bias")
    normalize: bool = key(False, "embeddings of unit length")
    bottleneck: list[int] = key([], "widths of linear layers before the last")
    bottleneck_dropout: float = key(0.0, "the share of their outputs that training drops")
    layer_norm: bool = key(False, "layer normalisation of the features, before everything else")
    weight_norm: bool = key(False, "weight normalisation of the last layer")
    dropout: float = key(0.0, "the share of the last layer's outputs that training drops")
    to_classes: bool = key(False, "a further layer onto one output a class; its output is then the embedding")
    pooling: Literal["average", "average+max"] = key(
        "average", "how the backbone's last map becomes features"
    )
    init: Literal["xavier", "truncnorm", "fan_in"] = key(
        "xavier",
        "how the layers' weights begin; fan_in: they and the biases are uniform up to one over the root of the layer's "
        "inputs, as PyTorch begins a layer",
    )
    init_scale: float = key(0.2, "how large they begin; fan_in has a size of its own")
    reduction: Literal["linear", "components"] = key(
        "linear",
        "how the last of these layers comes to embed_dim numbers; components: there is no last layer, and the images that "
        "are embedded together are standardised, reduced to that many principal components and brought to unit length; "
        "no labels are used",
    )


@dataclass(frozen=True)
class Ensemble:
    """Several learners as one model, their embeddings side by side.

    >>> dml.config.trial({"method": "npairs", "ensemble": {"members": 3}}).ensemble.members
    3
    """

    members: int = key(1, "how many")
    order: Literal["sequential", "parallel"] = key(
        "sequential", "one after the other, or side by side on the same batches"
    )


@dataclass(frozen=True)
class CrossBatchMemory:
    """Rows of earlier batches with which a loss of pairs or triplets compares a batch too."""

    size: Optional[int] = key(None, "how many rows are remembered; nothing: no memory")
    form: Literal["authors", "alone", "library"] = key(
        "authors",
        "authors: the loss of the batch plus that against the memory; alone: that against the memory; library: the "
        "same, own copies and all, as an early version of the Reality Check's library had it",
    )
    start: int = key(0, "batches before the memory is used")
    weight: float = key(1.0, "what the loss against the memory is multiplied by")


@dataclass(frozen=True)
class Average:
    """A moving average of the weights, which is then what is evaluated, kept and exported."""

    decay: Optional[float] = key(
        None,
        "weight of the old average after every step; while t steps are few, (1 + t) / (10 + t) if that is less",
    )


#: The first keys of an evaluation are part of every trial's name; those added later only where they are not neutral.
NAMING = ("ks", "clustering", "kmeans_starts", "distance", "every")


@dataclass(frozen=True)
class Evaluation:
    """What is measured, and when.

    >>> dml.config.trial({"method": "npairs"}, ["evaluation.ks=[1, 10]"]).evaluation.ks
    [1, 10]
    """

    metrics: list[str] = key(
        list(STANDARD), "by name; a family without a number, such as R@K, stands for one of each of ks"
    )
    ks: list[int] = key(list(KS), "the ranks of a family without a number")
    clustering: bool = key(True, "false: without the metrics that need clusters")
    headline: Optional[str] = key(None, "the metric that leads tables; nothing: the first of the metrics")
    intervals: Optional[Literal["bootstrap", "normal"]] = key(None, "95 % intervals of means over queries")
    training_metrics: list[str] = key([], "metrics of the embeddings of the training images")
    training_every: int = key(
        1, "epochs between those, of epochs that are evaluated; untrained and last are always among them"
    )
    kmeans_starts: Optional[int] = key(
        None, "starts of k-means, the best by inertia counts; nothing: as many as the size of the set affords"
    )
    distance: Literal["euclidean", "cosine", "hamming"] = key("euclidean", "how far two embeddings are apart")
    tsne: bool = key(
        False, "a t-SNE map of sample images on the page, beside that of their principal components"
    )
    every: int = key(1, "epochs between evaluations; the last epoch is always evaluated")


@dataclass(frozen=True)
class Trial:
    """One training with its evaluation. Made by ``config.trial``, which completes and checks it.

    >>> trial = dml.config.trial({"method": "npairs", "epochs": 3})
    >>> trial.epochs, trial.method["name"]
    (3, 'npairs')
    """

    method: Named = part("the loss")
    data: Named = part("the data set")
    backbone: Named = part("the network that images go through")
    sampler: Named = part("which images make up a batch")
    transform: Named = part("what happens to an image between its file and a batch")
    optimizer: Named = part("how weights move along their gradients")
    schedule: Named = part("what the learning rate is multiplied by during training")
    protocol: Named = part("which classes are trained on, what chooses an epoch, and which result counts")
    embed_dim: int = key(64, "the length of an embedding")
    head: Head = Head()
    mining: Optional[Named] = key(
        None, "which pairs or triplets of a batch count; nothing: as the method has it"
    )
    regularizers: list[Named] = key([], "terms added to the loss, each with its weight")
    memory: CrossBatchMemory = CrossBatchMemory()
    batch_size: int = key(128, "images in a batch")
    iterations: Optional[int] = key(None, "steps in an epoch; nothing: one pass over the images")
    accumulate: int = key(1, "batches (episodes) whose gradients are averaged into one step")
    epochs: int = key(20, "how long to train")
    frozen_epochs: int = key(0, "first epochs in which the backbone is left alone")
    groups: Groups = Groups()
    freeze_batchnorm: Union[bool, Literal["statistics"]] = key(
        False,
        "the backbone's batch normalisation: true: statistics, scale and shift stay; statistics: they stay, and "
        "scale and shift are trained",
    )
    ema: Average = Average()
    ensemble: Ensemble = Ensemble()
    evaluation: Evaluation = Evaluation()
    devices: int = key(
        1, "a batch is split over so many; they are parts of the processor where there is no GPU"
    )
    device: Literal["auto", "cpu", "gpu"] = key("auto", "where to compute; auto: on GPUs if there are any")
    amp: Union[bool, Literal["bfloat16"]] = key(
        False, "mixed precision: true: the backbone in float16, on GPUs; bfloat16: in that, on CPUs"
    )
    seed: int = key(0, "what every random number of the trial derives from")

    #: A readable name that is different for every different trial; set by ``config.trial``.
    id: str = dataclasses.field(default="", init=False, compare=False)

    def mapping(self) -> dict[str, Any]:
        """The canonical form: plain values in the order of the fields."""
        return {key: plain(value) for key, value in vars(self).items() if key != "id"}


def plain(value: Any) -> Any:
    """Plain values, which nothing else holds; ``dataclasses.asdict`` does the same in six times the time."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return plain(vars(value)) if dataclasses.is_dataclass(value) else value


FIELDS = typing.get_type_hints(Trial)
"""Every key with its type."""
del FIELDS["id"]
COMPONENTS = tuple(
    field.name
    for field in dataclasses.fields(Trial)
    if field.type in ("Named", "Optional[Named]", "list[Named]")
)
"""The keys that name a part, or several."""
NEEDED = tuple(field.name for field in dataclasses.fields(Trial) if field.type == "Named")
"""Those without which there is no trial."""
