"""The keys of a trial, each with its type, its neutral value and its meaning.

Nothing here loads parts. ``building`` makes a trial of a user's mapping, and completes its parts.

A neutral value never changes its meaning: the id of a trial is made of what differs from it (``trial_ids``), so a new
key whose neutral value does nothing leaves every trial's id as it is.
"""

import typing
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any, Literal, NamedTuple

from ...base import registry
from ...base.options import Must, Positive, at_least, describe, options_of
from ...parts.metrics.shared.table import KS, STANDARD
from ...parts.optimizers.shared.base import Kept

WIDEST = 2**16  # of a layer


def up_to(most: int) -> Must:
    return Must(f"be at most {most}", lambda value: value <= most)


Natural = Annotated[int, Must("not be negative", lambda value: value >= 0)]
Epochs = Annotated[Natural, up_to(10**9)]
Seed = Annotated[Natural, Must("be below 2**63", lambda value: value < 2**63)]
Count = Annotated[int, at_least(1), up_to(10**9)]
Width = Annotated[int, at_least(1), up_to(WIDEST)]
BatchSize = Annotated[int, at_least(1), up_to(10**6)]
Members = Annotated[int, at_least(1), up_to(10_000)]
Devices = Annotated[int, at_least(1), up_to(1000)]
Named = dict[str, Any]
"""A part by its name with its options: ``{"name": "pairs", "same_image": 0.1}``; a bare word is the name alone."""


def key(neutral: Any, about: str) -> Any:
    """A key of the configuration, with its neutral value and what it means."""
    if isinstance(neutral, (list, dict)):
        return field(default_factory=neutral.copy, metadata={"about": about})
    return field(default=neutral, metadata={"about": about})


def part(about: str, neutral: str | None = None) -> Any:
    """A key that names a part; ``neutral`` is that of a trial for which neither its user nor another part chooses one."""
    return field(metadata={"about": about, "neutral": neutral})


@dataclass(frozen=True)
class Groups:
    """What a part of the model does differently: any key of the optimizer, and multipliers of two of them.

    >>> dml.config.trial({"method": "npairs"}, ["groups.head.lr_mult=10"]).groups.head["lr_mult"]
    10.0
    """

    backbone: dict[str, Any] = key(
        {},
        "what the optimizer does differently for the backbone: keys of an optimizer, such as lr, or multipliers: lr_mult, "
        "lr_mult_by_name, wd_mult_by_name",
    )
    head: dict[str, Any] = key({}, "the same for the layers after the backbone")
    loss: dict[str, Any] = key({}, "the same for the loss's own weights, such as proxies")


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
    normalize: bool = key(False, "whether embeddings have unit length")
    bottleneck: list[int] = key([], "widths of linear layers before the last")
    bottleneck_dropout: float = key(0.0, "the share of the bottleneck's outputs that training drops")
    layer_norm: bool = key(False, "whether the features go through layer normalisation first")
    weight_norm: bool = key(False, "whether the last layer has weight normalisation")
    dropout: float = key(0.0, "the share of the last layer's outputs that training drops")
    to_classes: bool = key(False, "whether another layer has one output a class, which is then the embedding")
    pooling: Literal["average", "average+max"] = key("average", "how a backbone's last map becomes features")
    init: Literal["xavier", "truncnorm", "fan_in"] = key(
        "xavier",
        "how the head's weights are drawn at the start; fan_in: weights and biases uniformly within one over the root of "
        "a layer's inputs, as PyTorch draws them",
    )
    init_scale: float = key(0.2, "how large these weights are at the start; fan_in has a size of its own")
    start: str | None = key(
        None,
        "a file of trained weights with whose head this one starts; nothing: its weights are drawn at random",
    )
    reduction: Literal["linear", "none", "components"] = key(
        "linear",
        "what makes an embedding of the features; linear: a last layer of embed_dim numbers; none: no layer, the features "
        "themselves are the embedding; components: no layer, but the principal "
        "components of the images that are embedded together, standardised first and of unit length; no labels are used",
    )


@dataclass(frozen=True)
class Ensemble:
    """Several learners as one model, their embeddings side by side.

    >>> dml.config.trial({"method": "npairs", "ensemble": {"members": 3}}).ensemble.members
    3
    """

    members: Members = key(1, "how many networks are trained as one model, their embeddings side by side")
    order: Literal["sequential", "parallel"] = key(
        "sequential", "members are trained one after the other, or all at once on the same batches"
    )


@dataclass(frozen=True)
class Memory:
    """Embeddings of earlier batches that losses of pairs and triplets also compare with."""

    size: int | None = key(None, "how many embeddings of earlier batches are kept; nothing: none")
    form: Literal["authors", "alone", "library"] = key(
        "authors",
        "which losses count; authors: the batch's own plus that against the memory; alone: only that against the memory; "
        "library: as alone, but a row is a positive of its own copy too, as in an early version of the Reality Check's "
        "library",
    )
    start: int = key(0, "how many batches pass before the memory is used")
    weight: float = key(1.0, "what the loss against the memory is multiplied by")


@dataclass(frozen=True)
class Average:
    """A moving average of the weights, which is then what is evaluated, kept and exported."""

    decay: Kept | None = key(
        None,
        "the weight of the old average when a step's weights are added to it; (1 + t) / (10 + t) after t steps, if that is "
        "less; nothing: no average",
    )


@dataclass(frozen=True)
class Trainer:
    """What trains: this package, or a command in its place.

    >>> dml.config.trial({"method": "npairs", "trainer": {"command": "python mine.py {job}"}}).trainer.seconds
    86400.0
    """

    command: str | None = key(
        None,
        "a command that trains in place of this package; {job} stands for the path of its job (see External trainings); "
        "nothing: this package trains",
    )
    seconds: Positive = key(
        86400.0, "how long the command may take for a fold; then it is ended, and the trial has failed"
    )


@dataclass(frozen=True)
class Evaluation:
    """What is measured, and when.

    >>> dml.config.trial({"method": "npairs"}, ["evaluation.ks=[1, 10]"]).evaluation.ks
    [1, 10]
    """

    metrics: list[str] = key(
        list(STANDARD),
        "what is measured; a name with K for a number, such as R@K, stands for one of each of ks",
    )
    ks: list[int] = key(list(KS), "the numbers that K stands for")
    clustering: bool = key(True, "whether to compute the metrics that need clusters")
    headline: str | None = key(None, "the metric that leads tables; nothing: the first of the metrics")
    intervals: Literal["bootstrap", "normal"] | None = key(
        None, "how 95 % intervals of means over queries are made; nothing: none"
    )
    training_metrics: list[str] = key([], "what is measured of the embeddings of training images")
    training_every: Count = key(
        1,
        "epochs between measurements of these, among those that are evaluated; always before training and at the end",
    )
    kmeans_starts: Count | None = key(
        None,
        "starts of k-means, of which the one of least inertia counts; nothing: ten, or one if there are more than 1,000 classes",
    )
    distance: Literal["euclidean", "cosine", "hamming"] = key(
        "euclidean", "how the distance of two embeddings is measured"
    )
    tsne: bool = key(False, "whether the page has a t-SNE map of samples beside that of principal components")
    every: Count = key(1, "epochs between evaluations; the last epoch is always evaluated")


@dataclass(frozen=True)
class Trial:
    """One training with its evaluation. Made by ``config.trial``, which completes and checks it.

    >>> trial = dml.config.trial({"method": "npairs", "epochs": 3})
    >>> trial.epochs, trial.method["name"]
    (3, 'npairs')
    """

    method: Named = part("the loss")
    data: Named = part("the data set", "glyphs")
    backbone: Named = part("the network that images go through", "conv4")
    sampler: Named = part("which images make up a batch", "shuffled")
    transform: Named = part("what happens to an image between its file and a batch", "paper")
    optimizer: Named = part("how weights move along their gradients", "adam")
    schedule: Named = part("what the learning rate is multiplied by during training", "step")
    protocol: Named = part("which classes are trained on, what chooses an epoch, what result counts", "paper")
    embed_dim: Width = key(64, "the length of an embedding")
    head: Head = Head()
    mining: Named | None = key(None, "which pairs or triplets of a batch count; nothing: as the method says")
    regularizers: list[Named] = key([], "terms added to the loss, each with its weight")
    memory: Memory = Memory()
    batch_size: BatchSize = key(128, "images in a batch")
    iterations: Count | None = key(None, "steps in an epoch; nothing: one pass over the images")
    accumulate: Count = key(1, "batches (episodes) whose gradients are averaged into one step")
    epochs: Epochs = key(20, "how many epochs are trained")
    frozen_epochs: Natural = key(0, "how many epochs at the start leave the backbone as it is")
    groups: Groups = Groups()
    freeze_batchnorm: bool | Literal["statistics"] = key(
        False,
        "what of the backbone's batch normalisation stays as it is; true: statistics, scale and shift; statistics: these "
        "alone",
    )
    ema: Average = Average()
    trainer: Trainer = Trainer()
    ensemble: Ensemble = Ensemble()
    evaluation: Evaluation = Evaluation()
    devices: Devices = key(1, "how many devices share a batch; without a GPU, parts of the processor")
    device: Literal["auto", "cpu", "gpu"] = key("auto", "where to compute; auto: on GPUs if there are any")
    amp: bool | Literal["bfloat16"] = key(
        False,
        "how the backbone computes in training; true: in float16, on GPUs; bfloat16: in bfloat16, on CPUs",
    )
    seed: Seed = key(0, "what every random number of the trial derives from")
    search: Natural = key(0, "which of several searches found the settings, to keep winners apart; 0: none")
    parts: list[str | dict[str, str]] = key(
        [], "files with parts of one's own; a trial holds those that it uses, each with its SHA-256"
    )

    #: A readable name that is different for every different trial; set by ``config.trial``.
    id: str = field(default="", init=False, compare=False)

    def mapping(self) -> dict[str, Any]:
        """The canonical form: plain values in the order of the fields."""
        return {key: plain(value) for key, value in vars(self).items() if key != "id"}


def plain(value: Any) -> Any:
    """Plain values, which nothing else holds; ``dataclasses.asdict`` does the same in six times the time."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return plain(vars(value)) if is_dataclass(value) else value


FIELDS = typing.get_type_hints(Trial, include_extras=True)
"""Every key with its type."""
del FIELDS["id"]
NEEDED = tuple(one.name for one in fields(Trial) if one.type is Named)
"""Those without which there is no trial."""
NEUTRAL = {one.name: one.metadata["neutral"] for one in fields(Trial) if one.metadata.get("neutral")}
"""The parts of a trial that says nothing of them, and that neither its method nor its data set chooses."""
# A kind is listed by its key in the plural, or by another word.
LISTED = {"data": "data", "mining": "miners", "regularizers": "regularizers"}


def kind_of(key: str) -> registry.Kind:
    """The kind of part that the configuration's ``key`` chooses."""
    return registry.kind(LISTED.get(key, f"{key}s"))


class Key(NamedTuple):
    """One key of a configuration; ``neutral`` is its value in a trial that does not set it."""

    key: str
    type: str
    neutral: Any
    about: str


def reference() -> list[Key]:
    """Every key of a configuration in the order of the schema, nested ones dotted.

    >>> next(key for key in dml.config.reference() if key.key == "embed_dim")
    Key(key='embed_dim', type='a whole number', neutral=64, about='the length of an embedding')
    """
    return list(_keys(Trial, ""))


def _keys(cls: Any, prefix: str) -> Iterator[Key]:
    about = {one.name: one.metadata.get("about", "") for one in fields(cls)}
    for name, option in options_of(cls).items():
        if is_dataclass(option.type):
            yield from _keys(option.type, f"{prefix}{name}.")
            continue
        words = "a name, with options" if option.required else describe(option.type)
        neutral = NEUTRAL.get(name) if option.required else option.default
        yield Key(prefix + name, words, neutral, about[name])
