"""The images of a trial, divided as its protocol divides the classes."""

from dataclasses import dataclass

from ...base.errors import UserError
from ...parts import backbones, data, protocols, transforms
from ...parts.data import Dataset
from ...parts.protocols import Protocol
from ...parts.transforms import Transform
from ..config import Trial, check_batches


@dataclass(frozen=True)
class Fold:
    """One training of the trial: on ``train``, evaluated on ``monitor`` after its epochs."""

    number: int
    train: Dataset
    monitor: Dataset
    measured_on: str  # "test" or "validation"


@dataclass(frozen=True)
class Division:
    """Everything that a trial trains and tests on, and the parts that decide it."""

    folds: list[Fold]
    test: Dataset
    protocol: Protocol
    transform: Transform


def divide(trial: Trial) -> Division:
    """The trial's data, loaded and divided; raises UserError where a batch cannot be made of it."""
    protocol, transform = protocols.create(**trial.protocol), transforms.create(**trial.transform)
    train = data.load(**trial.data, split="train", stored=transform.stored)
    test = data.load(**trial.data, split="test", stored=transform.stored_for_test)
    kept, watches = kept_back(trial), protocols.get(protocol.key).watches
    folds = []
    for one in protocol.folds(train.num_classes):
        own = train if len(one.train) == train.num_classes else train.subset(one.train)
        folds.append(Fold(one.number, own, kept.get(one.number, test), watches))
    check_batches(trial.sampler, protocol, trial.batch_size, train.num_classes)
    _check_network(trial, train)
    for fold in folds:
        transform.check(fold.train.images)
    return Division(folds, test, protocol, transform)


def kept_back(trial: Trial) -> dict[int, Dataset]:
    """By the fold's number, the images of the classes that it is not trained on, if any, prepared like test images."""
    protocol, transform = protocols.create(**trial.protocol), transforms.create(**trial.transform)
    if protocols.get(protocol.key).watches != protocols.VALIDATION:
        return {}
    pool = data.load(**trial.data, split="train", stored=transform.stored_for_test)
    return {fold.number: pool.subset(fold.kept) for fold in protocol.folds(pool.num_classes)}


def _check_network(trial: Trial, train: Dataset) -> None:
    """Refuse a network for images on a data set of features, and the reverse."""
    name = trial.backbone["name"]
    takes_features = backbones.get(name).preprocessing is None
    if takes_features != (train.images.ndim == 2):
        given, taken = ("images", "features") if takes_features else ("features", "images")
        raise UserError(f"the data set {train.name} holds {given}, and the backbone {name} takes {taken}.")
    if takes_features and train.images.shape[1] != trial.backbone["features"]:
        there = f"the data set {train.name} has {train.images.shape[1]} features a row"
        raise UserError(f"backbone.features is {trial.backbone['features']}, and {there}.")
