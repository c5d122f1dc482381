"""A trial as a value: typed, validated, completed with every default, and named by its content.

A configuration is read in layers, the later ones overriding: the framework's defaults (the dataclasses below), the
method's published settings (its record), a data set's and a backbone's own, the tuned values that the key ``hyperparams``
names, the user's file, and ``--set key=value``.
``Trial.mapping()`` is the canonical form: it holds every value, so that a record can be rerun whatever defaults become.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Optional, Union

import yaml

from .errors import UserError
from .options import build, fill_options

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


@dataclass(frozen=True)
class Evaluation:
    ks: list[int] = field(default_factory=lambda: [1, 2, 4, 8, 16])
    clustering: bool = True
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
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:10]
        parts = [
            self.method["name"],
            self.data["name"],
            self.backbone["name"].replace(":", "."),
            f"e{self.embed_dim}",
            f"s{self.seed}",
        ]
        return "-".join([*parts, digest])


DEFAULTS = {"data": {"name": "glyphs"}, "backbone": {"name": "conv4"}}
COMPONENTS = tuple(f.name for f in dataclasses.fields(Trial) if f.type == "Named")


# --- reading ------------------------------------------------------------------------------------------------------


def trial(given: Union[Trial, Mapping[str, Any]], overrides: Iterable[str] = ()) -> Trial:
    """A complete, checked trial from a mapping such as a YAML file holds, and ``key.subkey=value`` overrides."""
    from . import backbones, data, hyperparams, methods

    if isinstance(given, Trial):
        given = given.mapping()
    given = merge(DEFAULTS, expand(given), *(expand(override(text)) for text in overrides))
    if "method" not in given:
        raise UserError(f"the configuration needs a method; choose from {', '.join(methods.names())}.")
    for key in COMPONENTS:
        if key in given and not isinstance(given[key], Mapping):
            raise UserError(
                f"{key} must be a name, or a mapping with a name and options, not {given[key]!r}."
            )
    if "name" not in given["method"]:
        raise UserError(f"method needs a name; choose from {', '.join(methods.names())}.")
    method = methods.get(given["method"]["name"])
    dataset = data.get(given["data"]["name"])
    backbone = backbones.get(given["backbone"]["name"])
    layers = [
        expand(layer) for layer in (method.configuration(), dataset.configuration, backbone.configuration)
    ]
    if tuned := given.pop("hyperparams", None):
        layers.append(hyperparams.layer(tuned, method.key, dataset.name, backbone.name))
    built = build(Trial, merge(*layers, given), "")
    built = dataclasses.replace(
        built,
        method=_component(built.method, method.options, "method"),
        data=_component(built.data, dataset.options, "data set"),
        backbone=_component(built.backbone, backbone.options, "backbone"),
        **_complete_parts(built),
    )
    check(built)
    check_data(built, num_classes=None)
    return built


def _complete_parts(built: Trial) -> dict[str, Named]:
    from . import samplers, transforms

    return {
        "sampler": _component(built.sampler, samplers.get(built.sampler["name"]).options, "sampler"),
        "transform": _component(
            built.transform, transforms.get(built.transform["name"]).options, "transform"
        ),
    }


def _component(given: Named, options: Mapping, kind: str) -> Named:
    name = given["name"]
    rest = {key: value for key, value in given.items() if key != "name"}
    return {"name": name, **fill_options(options, rest, where=f"{kind} {name}")}


def expand(layer: Mapping[str, Any]) -> dict[str, Any]:
    """A layer with its bare words written out: ``method: npairs`` is ``method: {name: npairs}``."""
    if not isinstance(layer, Mapping):
        raise UserError(f"a configuration is a mapping of keys to values, not {layer!r}.")
    words = (*COMPONENTS, "protocol", "optimizer")
    return {
        key: {"name": value} if key in words and isinstance(value, str) else value
        for key, value in layer.items()
    }


def merge(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings joined key by key, the later ones winning. A component given another name forgets its old options."""
    result: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            old = result.get(key)
            if isinstance(old, Mapping) and isinstance(value, Mapping) and not _replaced(key, old, value):
                value = merge(old, value)
            result[key] = value
    return result


def _replaced(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return key in COMPONENTS and "name" in new and "name" in old and new["name"] != old["name"]


def override(text: str, flag: str = "--set") -> dict[str, Any]:
    """``"schedule.steps=[3, 5]"`` as the mapping it stands for; the value is read as YAML."""
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise UserError(f"{flag} takes key=value (such as method.margin=0.5), not {text!r}.")
    try:
        content = yaml.safe_load(value)
    except yaml.YAMLError:
        raise UserError(f"{flag} {path}: {value!r} is not a value that YAML can read.") from None
    return nested(path.strip(), content)


def nested(key: str, value: Any) -> dict[str, Any]:
    """``("schedule.factor", 0.1)`` as ``{"schedule": {"factor": 0.1}}``."""
    for part in reversed(key.split(".")):
        value = {part: value}
    return value


def dotted(layer: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The other way round: every value by its dotted key."""
    found: dict[str, Any] = {}
    for key, value in layer.items():
        found.update(
            dotted(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
        )
    return found


def read_yaml(path: str | Path) -> Any:
    """The content of a YAML file, or a UserError that names the file and the line."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            return yaml.safe_load(file)
    except OSError as problem:
        raise UserError(f"cannot read {path}: {problem.strerror or problem}.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as problem:
        raise UserError(f"{path} is not valid YAML: {problem}") from None


# --- checking -----------------------------------------------------------------------------------------------------


def check(trial: Trial) -> None:
    """Values and combinations that cannot work, found without any data; ``check_data`` finds the others."""
    from . import methods, samplers, transforms

    positive = {
        "embed_dim": trial.embed_dim, "batch_size": trial.batch_size, "accumulate": trial.accumulate,
        "devices": trial.devices, "ensemble.members": trial.ensemble.members, "evaluation.every": trial.evaluation.every,
        "iterations": trial.iterations, "schedule.every": trial.schedule.every,
        "evaluation.kmeans_starts": trial.evaluation.kmeans_starts,
    }  # fmt: skip
    for key, value in positive.items():
        _require(value is None or value >= 1, f"{key} must be at least 1, not {value}.")
    for key, value in {
        "epochs": trial.epochs,
        "warmup_epochs": trial.warmup_epochs,
        "seed": trial.seed,
    }.items():
        _require(value >= 0, f"{key} must not be negative, not {value}.")
    _require(
        trial.warmup_epochs <= trial.epochs,
        f"warmup_epochs {trial.warmup_epochs} is more than epochs {trial.epochs}.",
    )
    _require(trial.protocol.folds >= 2, f"protocol.folds must be at least 2, not {trial.protocol.folds}.")
    _require(
        trial.evaluation.ks and min(trial.evaluation.ks) >= 1,
        f"evaluation.ks must be ranks from 1 up, not {trial.evaluation.ks}.",
    )
    _require(
        trial.batch_size % trial.devices == 0,
        f"batch_size {trial.batch_size} cannot be split over {trial.devices} devices.",
    )
    _check_optimizers(trial)
    for key in ("dropout", "bottleneck_dropout"):
        rate = getattr(trial.head, key)
        _require(0 <= rate < 1, f"head.{key} is a share from 0 to below 1, not {rate}.")
    options = {key: value for key, value in trial.method.items() if key != "name"}
    loss = methods.get(trial.method["name"]).loss(
        2, 2, **options
    )  # a loss refuses impossible values of its own
    transforms.create(**trial.transform)  # so does a transform
    sampler = samplers.get(trial.sampler["name"])
    _require(
        hasattr(loss, "proxies") or "proxies" not in sampler.needs,
        f"the sampler {sampler.key} looks at the proxies of the loss, and {trial.method['name']} has none.",
    )


def _check_optimizers(trial: Trial) -> None:
    for part, group in vars(trial.groups).items():
        optimizer = group.optimizer(trial.optimizer)
        where = f"the optimizer of the {part}"
        _require(optimizer.lr >= 0 and group.lr_mult >= 0, f"{where} has a negative learning rate.")
        _require(
            optimizer.weight_decay >= 0, f"{where} has a negative weight_decay ({optimizer.weight_decay})."
        )
        _require(optimizer.epsilon > 0, f"{where} needs an epsilon above 0, not {optimizer.epsilon}.")
        _require(
            optimizer.clip is None or optimizer.clip > 0,
            f"{where} needs a clip above 0, not {optimizer.clip}.",
        )
        for key in ("momentum", "beta1", "beta2", "rho"):
            value = getattr(optimizer, key)
            _require(0 <= value < 1, f"{where}: {key} must be from 0 to below 1, not {value}.")


def check_data(trial: Trial, num_classes: Optional[int]) -> None:
    """Whether batches as configured can be made from so many classes (None: not known yet)."""
    from . import samplers

    samplers.KIND.create(**trial.sampler).check(trial.batch_size, num_classes)


def _require(condition: Any, message: str) -> None:
    if not condition:
        raise UserError(message)
