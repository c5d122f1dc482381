"""Trained models: their weights on disk, their embeddings, and the scores of these."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np
from mxnet.gluon import nn

from ...base import outside, seeds
from ...base.devices import check_amp
from ...base.devices import context as device_by_name
from ...base.errors import UserError
from ...base.files import digest
from ...parts import backbones, data, metrics, transforms
from ...parts.backbones.shared.engines import extract
from ...parts.data import Dataset
from ...parts.data.shared import loader
from ...parts.metrics.shared.engine.embeddings import principal_components
from ...parts.transforms import Transform
from .. import config
from ..config import Trial
from ..store import trained_weights
from . import networks
from .learner import Learner, on_device

# Images in a batch to embed, roughly: enough to be quick, few enough for any machine.
EMBEDDING_PIXELS = 256 * 64 * 64


def load(path: Path, contexts: list[mx.Context] | None = None, owner: str | None = None) -> Learner:
    """The learner whose weights are in this file; a UserError if they belong to another trial than ``owner``."""
    stored = trained_weights.read(path, owner)
    outside.recall(stored.config.get("parts"), path.parent.parent)
    trial = config.trial(stored.config)
    if trial.trainer.command:
        raise UserError(f"{stored.trial} was trained by a command, which keeps its weights to itself.")
    place = (stored.fold, 0)
    learner = Learner(trial, stored.classes, contexts or _devices(trial), place, pretrained=False)
    learner.load_weights(stored.arrays)
    return learner


def start(trial: Trial) -> dict[str, str] | None:
    """The file of weights that the backbone starts from; a name alone would not identify it."""
    path = backbones.weights_path(backbones.get(trial.backbone["name"]), trial.backbone["pretrained"])
    return None if path is None else {"file": path.name, "sha256": digest(path)}


def devices(trial: Trial) -> list[mx.Context]:
    """The devices a trial is trained on."""
    found = _devices(trial)
    check_amp(trial.amp, trial.devices, mx.context.num_gpus(), found[0].device_type)
    return found


def _devices(trial: Trial) -> list[mx.Context]:
    gpus = mx.context.num_gpus() if trial.device != "cpu" else 0
    if trial.device == "gpu" and gpus < trial.devices:
        device_by_name(f"gpu:{trial.devices - 1}")  # says what is missing
    kind = "gpu" if gpus >= trial.devices else "cpu"
    return [device_by_name(f"{kind}:{index}") for index in range(trial.devices)]


def embed(
    learners: Sequence[Learner], dataset: Dataset, transform: Transform, threads: int = 1
) -> np.ndarray:
    """The learners' embeddings of a data set, joined: (N, sum of widths)."""
    parts = [outputs(learner, dataset, transform, threads) for learner in learners]
    return join(learners[0].trial, parts, [learner.fold for learner in learners])


def outputs(learner: Learner, dataset: Dataset, transform: Transform, threads: int = 1) -> np.ndarray:
    """The learner's embeddings of a data set, for ``join``."""
    return learner.embed(blocks(dataset, transform, threads))


def blocks(dataset: Dataset, transform: Transform, threads: int = 1) -> Iterator[np.ndarray]:
    """All images of a data set, in blocks to embed."""
    height, width = transform.test_shape(dataset.images)
    size = int(np.clip(EMBEDDING_PIXELS // (height * width), 1, 1024))
    return loader.test_batches(dataset, transform, batch_size=size, threads=threads)


def features(trial: Trial, blocks: Iterable[np.ndarray], context: mx.Context) -> np.ndarray:
    """What the trial's backbone gives for all images before any training and without a head, (N, features) float32."""
    network = networks.joined(trial, networks.backbone(trial, pretrained=True), nn.Flatten())
    network.collect_params().reset_ctx(context)
    network.hybridize(static_alloc=True, static_shape=True)
    return extract(network, (on_device(context, block) for block in blocks), 0)


def join(trial: Trial, parts: Sequence[np.ndarray], folds: Sequence[int]) -> np.ndarray:
    """Embeddings side by side. Members of an ensemble are one model; folds are models of their own, which count alike: each
    at unit length, or with as many principal components."""
    of_folds: dict[int, list[np.ndarray]] = {}
    for part, fold in zip(parts, folds):
        of_folds.setdefault(fold, []).append(part)
    models = [np.concatenate(own, axis=1) for own in of_folds.values()]
    if trial.head.reduction == "components":
        return principal_components(np.concatenate(models, axis=1), len(models) * trial.embed_dim)
    if len(models) == 1:
        return models[0]
    alike = [model / np.maximum(np.linalg.norm(model, axis=1, keepdims=True), 1e-12) for model in models]
    return np.concatenate(alike, axis=1)


def data_of(trial: Trial, split: str, name: str | None = None) -> tuple[Dataset, Transform]:
    """The images a trial embeds, its own or those of the data set ``name``, and its transform."""
    transform = transforms.create(**trial.transform)
    options = trial.data if name is None else {"name": name}
    return data.load(**options, split=split, stored=transform.stored_for_test), transform


def score(trial: Trial, embeddings: np.ndarray, dataset: Dataset) -> dict[str, Any]:
    """The trial's metrics of a data set's embeddings, as an entry of its record states them."""
    names = [metric.key for metric in metrics.of_trial(dataclasses.asdict(trial.evaluation))]
    result = _assess(trial, names, **searched(embeddings, dataset))
    entry: dict[str, Any] = {"metrics": _recorded(result.scores)}
    if result.intervals:
        entry["intervals"] = {name: list(bounds) for name, bounds in result.intervals.items()}
    if result.clustering is not None:
        said = ("starts", "iterations", "inertia")
        entry["kmeans"] = {name: getattr(result.clustering, name) for name in said}
    return entry


def score_training(trial: Trial, embeddings: np.ndarray, dataset: Dataset) -> dict[str, float | None]:
    """The metrics that the trial asks for of its own training images, each of which searches all others."""
    chosen = trial.evaluation.training_metrics
    return _recorded(_assess(trial, chosen, embeddings=embeddings, labels=dataset.labels).scores)


def _assess(trial: Trial, names: Sequence[str], **arrays: Any) -> metrics.Evaluation:
    chosen, seed = trial.evaluation, seeds.integer(trial.seed, "clustering")
    same = {name: getattr(chosen, name) for name in ("ks", "clustering", "distance", "intervals")}
    return metrics.assess(**arrays, metrics=names, starts=chosen.kmeans_starts, seed=seed, **same)


def _recorded(scores: dict[str, float]) -> dict[str, float | None]:
    """As records hold them. JSON has no infinity, which rho can be if the embeddings leave a direction unused."""
    return {name: value if np.isfinite(value) else None for name, value in scores.items()}


def searched(embeddings: np.ndarray, dataset: Dataset) -> dict[str, Any]:
    """Queries and gallery: all images search all others, or the data set's queries search its gallery."""
    if dataset.queries is None:
        return {"embeddings": embeddings, "labels": dataset.labels}
    queries, gallery = dataset.queries, ~dataset.queries
    found = {"embeddings": embeddings[queries], "labels": dataset.labels[queries]}
    return {**found, "gallery": embeddings[gallery], "gallery_labels": dataset.labels[gallery]}
