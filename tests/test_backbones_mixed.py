"""Mixed precision: where it is refused; what it does to a step (in bfloat16, which CPUs can compute) and what it leaves alone."""

import json

import mxnet as mx
import numpy as np
import pytest
from mxnet import sym

from dmlplayground import config
from dmlplayground.base import devices
from dmlplayground.base.errors import UserError
from dmlplayground.trial.training import learner, models, networks
from dmlplayground.trial.training.learner import Learner

TRIAL = {
    "method": "margin",
    "head": {"normalize": True},
    "batch_size": 10,
    "embed_dim": 8,
    "optimizer": {"name": "sgd", "momentum": 0.9, "lr": 0.1, "weight_decay": 0},
}


def made(amp=False) -> Learner:
    ready = Learner(config.trial({**TRIAL, "amp": amp}), 6, [mx.cpu()])
    ready.begin_epoch(1)
    return ready


def batch(seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (10, 32, 32, 3)).astype(np.uint8), np.repeat(np.arange(2), 5).astype(np.int32)


def step(of: Learner, seed=0):
    mx.random.seed(seed)
    return of.step([batch(seed)])


def change(before: dict, of: Learner) -> dict:
    return {name: array - before[name] for name, array in of.weights().items()}


@pytest.mark.parametrize(
    ("amp", "gpus", "kind", "words"),
    [
        (True, 0, "cpu", "offers MXNet 0. On the CPU leave it false, or set it to bfloat16"),
        ("bfloat16", 1, "gpu", "amp bfloat16 is for CPUs"),
    ],
)
def test_each_type_has_its_devices(amp, gpus, kind, words):
    with pytest.raises(UserError, match=words):
        devices.check_amp(amp, 1, gpus, kind)


def test_float16_is_refused_on_a_cpu_before_anything_is_trained():
    with pytest.raises(UserError, match="amp true computes in float16 on GPUs"):
        models.devices(config.trial({**TRIAL, "amp": True, "device": "cpu"}))
    assert models.devices(config.trial({**TRIAL, "amp": "bfloat16", "device": "cpu"})) == [mx.cpu()]


def test_a_step_is_the_step_to_a_few_bits_and_leaves_other_trials_of_the_process_alone():
    plain, cast, again = made(), made("bfloat16"), made()
    before = plain.weights()
    assert all(np.array_equal(array, before[name]) for name, array in cast.weights().items())
    blocks = [batch()[0]]
    np.testing.assert_array_equal(cast.embed(blocks), plain.embed(blocks))  # images are embedded in float32
    given = [step(one).embeddings[0].asnumpy() for one in (cast, plain, again)]
    assert 0 < np.abs(given[0] - given[1]).max() < 0.02
    np.testing.assert_allclose(np.linalg.norm(given[0], axis=1), 1, rtol=1e-6)
    moved, few_bits = change(before, plain), change(before, cast)
    assert all(np.array_equal(moved[name], array) for name, array in change(before, again).items())
    assert {array.dtype for array in few_bits.values()} == {np.dtype(np.float32)}
    for name in (name for name in moved if np.abs(moved[name]).max() > 0 and "backbone" in name):
        error = np.linalg.norm(few_bits[name] - moved[name]) / np.linalg.norm(moved[name])
        assert 0 < error < 0.3, (name, error)


def test_it_goes_on_from_a_state_to_the_bit():
    whole = made("bfloat16")
    step(whole, 1)
    state = whole.state()
    step(whole, 2)
    resumed = made("bfloat16")
    resumed.load_state(state)
    step(resumed, 2)
    assert all(np.array_equal(array, resumed.weights()[name]) for name, array in whole.weights().items())


def test_float16_multiplies_its_loss_and_leaves_out_steps_that_overflow(monkeypatch):
    bfloat16 = networks.Mixed
    monkeypatch.setattr(learner, "Mixed", lambda network, _: bfloat16(network, "bfloat16"))
    scaled, plain = made(True), made("bfloat16")
    before = plain.weights()
    step(scaled)
    step(plain)
    for name, array in change(before, plain).items():  # a power of two that is divided out again
        np.testing.assert_allclose(change(before, scaled)[name], array, rtol=1e-4, atol=1e-7)
    overflown = made(True)
    overflown.scaler.has_overflow = lambda parameters: True
    step(overflown)
    kept = change(before, overflown)
    assert not any(kept[name].any() for name in kept if "running" not in name)


@pytest.mark.parametrize("amp", [True, "bfloat16"])
def test_the_backbone_is_cast_and_the_head_is_not(amp):
    network = made().network
    graph = networks.Mixed(network, amp)._cast(network(sym.var("data", dtype="uint8")))
    nodes = json.loads(graph.tojson(remove_amp_cast=False))["nodes"]

    def casts(op: str) -> set[str]:
        """The types to which inputs of such nodes are cast."""
        places = [place for node in nodes if node["op"] == op for place, *_ in node["inputs"]]
        return {nodes[place]["attrs"]["dtype"] for place in places if nodes[place]["op"] == "amp_cast"}

    assert casts("Convolution") == {"float16" if amp is True else amp}
    assert casts("FullyConnected") <= {"float32"}
