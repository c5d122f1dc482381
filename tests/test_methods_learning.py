"""Every method learns: a small network, trained for some dozens of steps on glyphs, tells its classes apart
better.
"""

from __future__ import annotations

import mxnet as mx
import pytest

from dmlplayground import config, data, methods, metrics
from dmlplayground.data import loader, samplers, transforms
from dmlplayground.training.learner import Learner

CLASSES, BATCH, STEPS = 20, 30, 150
RATES = {"triplet_semihard": 3e-4}  # at higher ones it gathers all points in one, its known failure


@pytest.fixture(scope="module")
def glyphs():
    return data.load("glyphs").subset(range(CLASSES))


def recall(learner, dataset) -> float:
    embeddings = learner.embed(loader.test_batches(dataset, transforms.create("plain"), batch_size=256))
    return metrics.evaluate(embeddings, dataset.labels, ks=(1,), clustering=False)["R@1"]


@pytest.mark.slow
@pytest.mark.parametrize("key", methods.names())
def test_learns_on_glyphs(key, glyphs):
    """By its own sampler, head and optimiser; the rates are a small network's, not the paper's."""
    trial = config.trial(
        {
            "method": key,
            "batch_size": BATCH,
            "embed_dim": 12 if key == "dreml" else 64,
            "head": {"init": "xavier", "init_scale": 2.0, "dropout": 0.0, "bottleneck_dropout": 0.0},
            "optimizer": {"lr": RATES.get(key, 2e-3), "epsilon": 1e-7},
            "groups": {"head": {"lr_mult": 1.0}},
        }
    )
    learner = Learner(trial, CLASSES, [mx.cpu()])
    options = {name: value for name, value in trial.sampler.items() if name != "name"}
    sampler = samplers.create(
        trial.sampler["name"], glyphs.labels, BATCH, iterations=STEPS, seed=1, **options
    )
    before = recall(learner, glyphs)
    learner.begin_epoch(trial.warmup_epochs + 1)
    for batch in loader.training_batches(glyphs, sampler, transforms.create("plain"), seed=0, epoch=1):
        learner.step([batch])
    print(key, round(before, 3), round(recall(learner, glyphs), 3))
    assert recall(learner, glyphs) > before + 0.1
