"""Mixed precision: refused without a GPU; what it does to a step (in bfloat16, which CPUs can compute)."""

import subprocess
import sys

import pytest

from dmlplayground import config
from dmlplayground.errors import UserError
from dmlplayground.training import models

STEPS = """
import dmlplayground, mxnet as mx, numpy as np
from dmlplayground import config
from dmlplayground.errors import UserError
from dmlplayground.training import mixed
from dmlplayground.training.learner import Learner

scaler = mixed.scaler
mixed.scaler = lambda wanted: scaler(wanted, "bfloat16")  # float16 is for GPUs
trial = {"method": "npairs", "batch_size": 12, "embed_dim": 8,
         "optimizer": {"name": "sgd", "momentum": 0, "lr": 0.1, "weight_decay": 0}}
rng = np.random.default_rng(0)
batch = rng.integers(0, 256, (12, 32, 32, 3)).astype(np.uint8), np.repeat(np.arange(6), 2).astype(np.int32)


def step(amp, poison=False):
    learner = Learner(config.trial({**trial, "amp": amp}), 6, [mx.cpu()])
    learner.begin_epoch(1)
    before = learner.weights()
    if poison:
        learner.network.head[0].bias.grad()[:] = np.nan
        ask = learner.scaler.has_overflow
        learner.scaler.has_overflow = lambda parameters: ask(parameters) or True
    embeddings = learner.step([batch]).embeddings[-1]
    assert embeddings.dtype == np.float32
    after = learner.weights()
    return before, {name: after[name] - before[name] for name in before}


before, plain = step(False)
same, mixed_ = step(True)
assert all(np.array_equal(before[name], same[name]) for name in before)
moved = [name for name in plain if np.abs(plain[name]).max() > 0 and name.startswith("network.head")]
assert moved
for name in moved:  # the same step, to a few bits, though the loss was scaled by 65536
    error = np.abs(mixed_[name] - plain[name]).max() / np.abs(plain[name]).max()
    assert 0 < error < 0.2, (name, error)

_, skipped = step(True, poison=True)
learned = [name for name in skipped if "running" not in name]
assert all(np.all(skipped[name] == 0) for name in learned)

try:
    step(False)
    raise SystemExit("a trial in full precision ran in a process of mixed precision")
except UserError as problem:
    assert "mixed precision by now" in str(problem)
"""


def test_without_a_gpu_it_is_refused_before_anything_is_trained():
    with pytest.raises(UserError, match="amp computes in 16 bits on GPUs: .*Leave amp false"):
        models.devices(config.trial({"method": "npairs", "amp": True, "device": "cpu"}))


def test_a_step_in_mixed_precision_is_the_step_to_a_few_bits():
    subprocess.run([sys.executable, "-c", STEPS], check=True)
