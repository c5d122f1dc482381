"""Default settings for methods whose paper's recipe is not stated: batches, embeddings and rates that work.

Recipes of studies (``hyperparams``) override them value by value.
"""

from typing import Any

_UNIT = {"bias": True, "normalize": True}
_RAW = {"bias": True, "normalize": False}
_TRAINING = {
    "batch_size": 128,
    "iterations": 200,
    "epochs": 25,
    "optimizer": {"name": "adam", "lr": 1e-4, "weight_decay": 1e-5},
    "schedule": {"factor": 0.5, "steps": [12, 14, 16, 18]},
}

#: For losses over the pairs, triplets or ranks of a batch: four images a class, unit embeddings.
TUPLES: dict[str, Any] = {
    "sampler": {"name": "blocks", "per_class": 4},
    "head": _UNIT,
    "defaults": _TRAINING,
}

#: For losses with weights for every class: any batch, unit embeddings, and weights that learn faster than the network.
CLASSES: dict[str, Any] = {
    "sampler": {"name": "shuffled"},
    "head": _UNIT,
    "defaults": {**_TRAINING, "groups": {"loss": {"lr_mult": 100.0, "weight_decay": 0.0}}},
}

#: The same for losses that read the embeddings' lengths, and whose weights' lengths may matter.
RAW_CLASSES: dict[str, Any] = {
    **CLASSES,
    "head": _RAW,
    "defaults": {**_TRAINING, "groups": {"loss": {"lr_mult": 10.0, "weight_decay": 0.0}}},
}
