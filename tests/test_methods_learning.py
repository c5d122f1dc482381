"""Every method learns: a small network tells the classes of glyphs apart after some dozens of steps."""

import mxnet as mx
import pytest

from dmlplayground import config, data, methods, metrics, samplers, transforms
from dmlplayground.parts.data.shared import loader
from dmlplayground.trial.training.learner import Learner

CLASSES, BATCH, STEPS = 20, 30, 150

# Rates and widths of a small network, nothing dropped: the papers' settings want thousands of steps.
QUICK = {
    "batch_size": BATCH,
    "head": {"init": "xavier", "init_scale": 2.0, "dropout": 0.0, "bottleneck_dropout": 0.0},
    "embed_dim": 64,
    "optimizer": {"lr": 2e-3, "epsilon": 1e-7},
    "groups": {"head": {"lr_mult": 1.0}},
}
FACENET = {
    "method": {"name": "triplet_semihard", "margin": 0.2},
    "head": {"normalize": True},
    "optimizer": {"lr": 1e-3},
}
BLOCKS = {"sampler": {"name": "blocks", "per_class": 5}}  # a shuffled batch this small has hardly any pairs
MANY = {"batch_size": 80, "optimizer": {"lr": 5e-4}}  # ranks among few rows tell little
OWN = {
    "triplet_semihard": config.merge(FACENET, BLOCKS),
    "dreml": {"embed_dim": 12},
    "fast_ap": MANY,
    "recall_at_k": MANY,
}


LARGER = ("angular",)  # learns the slowest, and sees more in larger pictures


def glyphs(key: str) -> data.Dataset:
    return data.load("glyphs", size=64 if key in LARGER else 32).subset(range(CLASSES))


def recall(learner, dataset) -> float:
    embeddings = learner.embed(loader.test_batches(dataset, transforms.create("plain"), batch_size=256))
    return metrics.evaluate(embeddings, dataset.labels, ks=(1,), clustering=False)["R@1"]


@pytest.mark.slow
@pytest.mark.parametrize("key", methods.names())
def test_learns_on_glyphs(key):
    pictures = glyphs(key)
    fours = {"batch_size": 32} if methods.get(key).sampler.get("per_class") == 4 else {}
    trial = config.trial(config.merge({"method": {"name": key}}, QUICK, fours, OWN.get(key, {})))
    learner = Learner(trial, CLASSES, [mx.cpu()])
    options = {name: value for name, value in trial.sampler.items() if name != "name"}
    sampler = samplers.create(
        trial.sampler["name"], pictures.labels, trial.batch_size, iterations=STEPS, seed=1, **options
    )
    before = recall(learner, pictures)
    learner.begin_epoch(trial.frozen_epochs + 1)
    for batch in loader.training_batches(pictures, sampler, transforms.create("plain"), seed=0, epoch=1):
        learner.step([(batch.images, batch.labels)])
    assert recall(learner, pictures) > before + 0.1
