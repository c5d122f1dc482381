"""Default settings for methods whose paper's recipe is not stated: batches, embeddings and rates that work.

Recipes of studies (``hyperparams``) override them value by value. The functions take where a search looks for the
options of the loss; where else it looks is the same for all.
"""

from typing import Any

from .search_ranges import ANY_BATCH, CLASS_BLOCKS, OWN_RATE

_UNIT = {"bias": True, "normalize": True}
_RAW = {"bias": True, "normalize": False}
#: The first study's, with batches by class.
TRAINING = {
    "batch_size": 128,
    "iterations": 200,
    "epochs": 25,
    "optimizer": {"name": "adam", "lr": 1e-4, "weight_decay": 1e-5},
    "schedule": {"factor": 0.5, "steps": [12, 14, 16, 18]},
}

#: The same study's, with passes over all images.
PASSES = {
    "batch_size": 128,
    "epochs": 60,
    "optimizer": {"name": "adam", "lr": 1e-4, "weight_decay": 1e-5, "clip": 10.0},
    "schedule": {"factor": 0.5, "steps": [20, 30, 40]},
}

#: The same study's, with proxies in small batches.
PROXIES = {
    "batch_size": 32,
    "epochs": 20,
    "optimizer": {"name": "adam", "lr": 1e-3, "weight_decay": 5e-4, "epsilon": 1e-2, "clip": 10.0},
    "groups": {"head": {"lr_mult": 0.01}},
    "schedule": {"factor": 0.1, "steps": [3, 10, 16]},
}


def tuples(**ranges: Any) -> dict[str, Any]:
    """Of losses over the pairs, triplets or ranks of a batch: four images a class, unit embeddings."""
    settings = {"sampler": {"name": "blocks", "per_class": 4}, "head": _UNIT, "defaults": TRAINING}
    return {**settings, "ranges": {**_of_options(ranges), **CLASS_BLOCKS}}


def classes(**ranges: Any) -> dict[str, Any]:
    """Of losses with weights for every class: any batch, unit embeddings, and weights that learn faster than the network."""
    return _of_classes(_UNIT, 100.0, ranges)


def raw_classes(**ranges: Any) -> dict[str, Any]:
    """The same of losses that read the embeddings' lengths, and whose weights' lengths may matter."""
    return _of_classes(_RAW, 10.0, ranges)


def _of_classes(head: dict[str, bool], faster: float, ranges: dict[str, Any]) -> dict[str, Any]:
    defaults = {**TRAINING, "groups": {"loss": {"lr_mult": faster, "weight_decay": 0.0}}}
    settings = {"sampler": {"name": "shuffled"}, "head": head, "defaults": defaults}
    return {**settings, "ranges": {**_of_options(ranges), **OWN_RATE, **ANY_BATCH}}


def _of_options(ranges: dict[str, Any]) -> dict[str, Any]:
    return {f"method.{option}": values for option, values in ranges.items()}
