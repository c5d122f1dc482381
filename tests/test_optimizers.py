"""Optimizers against their formulas in NumPy, step by step, and their place in a configuration."""

import numpy as np
import pytest
from own_tests import without_own_test

from dmlplayground import config, optimizers
from dmlplayground.base.errors import UserError

STEPS, LR, DECAY = 6, 0.02, 0.3
SHARED = {"lr": LR, "weight_decay": DECAY}


def adam(w, gradients, clip=None, beta1=0.9, beta2=0.999, epsilon=1e-7, decoupled=False):
    m = v = 0.0
    for t, g in enumerate(gradients, 1):
        if decoupled:
            w = w - LR * DECAY * w
        else:
            g = g + DECAY * w
        g = cut(g, clip)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
        w = w - LR * np.sqrt(1 - beta2**t) / (1 - beta1**t) * m / (np.sqrt(v) + epsilon)
    return w


def adamw(w, gradients, **options):
    return adam(w, gradients, decoupled=True, **options)


def sgd(w, gradients, clip=None, momentum=0.9):
    m = 0.0
    for g in gradients:
        m = momentum * m - LR * (cut(g, clip) + DECAY * w)
        w = w + m
    return w


def rmsprop(w, gradients, clip=None, rho=0.9, momentum=0.9, epsilon=1e-7, root="of the square"):
    m = v = 0.0
    for g in gradients:
        g = cut(g + DECAY * w, clip)
        v = rho * v + (1 - rho) * g * g
        m = momentum * m + g / (np.sqrt(v + epsilon) if root == "of both" else np.sqrt(v) + epsilon)
        w = w - LR * m
    return w


def lars(w, gradients, clip=None, momentum=0.9, trust=1e-3, epsilon=1e-9):
    m = 0.0
    for g in gradients:
        g = cut(g, clip)
        length, slope = np.sqrt((w * w).sum()), np.sqrt((g * g).sum())
        ratio = (
            trust * length / (slope + DECAY * length + epsilon) if w.ndim > 1 and length and slope else 1.0
        )
        m = momentum * m + LR * ratio * (g + DECAY * w)
        w = w - m
    return w


def cut(g, clip):
    return g if clip is None else np.clip(g, -clip, clip)


REFERENCES = {"adam": adam, "adamw": adamw, "sgd": sgd, "rmsprop": rmsprop, "lars": lars}
VARIANTS = [
    ("adam", {}),
    ("adam", {"epsilon": 1e-2, "beta1": 0.5, "beta2": 0.9}),
    ("adamw", {}),
    ("sgd", {}),
    ("sgd", {"momentum": 0.0}),
    ("rmsprop", {}),
    ("rmsprop", {"rho": 0.99, "epsilon": 1e-8, "momentum": 0.9}),  # as PyTorch computes it
    ("rmsprop", {"rho": 0.94, "epsilon": 1e-3, "momentum": 0.0, "root": "of both"}),  # as MXNet's plain one
    ("lars", {}),
    ("lars", {"trust": 0.02, "momentum": 0.5}),
]


def descend(name, weight, gradients, lr=LR, **options):
    from mxnet import nd

    from dmlplayground.trial.training.trainers import Updates

    updates = Updates(optimizers.create(name, **{**SHARED, **options}))
    updates.set_learning_rate(lr)
    array = nd.array(weight, dtype="float64")
    state = updates.create_state(0, array)
    for gradient in gradients:
        updates.update(0, array, nd.array(gradient, dtype="float64"), state)
    return array.asnumpy()


def test_every_optimizer_is_tested_against_its_formula():
    """Here, or in a file of its own, as ``dmlplayground new`` writes it."""
    assert set(REFERENCES) == without_own_test("optimizers")


@pytest.mark.parametrize("shape", [(3, 4), (5,)])
@pytest.mark.parametrize("clip", [None, 0.7])
@pytest.mark.parametrize("name, options", VARIANTS)
def test_steps_are_those_of_the_formula(name, options, clip, shape):
    rng = np.random.default_rng(3)
    weight, gradients = rng.normal(size=shape), rng.normal(size=(STEPS, *shape))
    gradients[2] = 0.0  # a step without gradient still decays and still has its momentum
    expected = REFERENCES[name](weight, gradients, clip=clip, **options)
    np.testing.assert_allclose(descend(name, weight, gradients, clip=clip, **options), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_the_bits_are_those_of_mxnets_own(name):
    import mxnet as mx
    from mxnet import nd

    from dmlplayground.trial.training.trainers import Updates

    theirs = {
        "adam": lambda: mx.optimizer.Adam(learning_rate=LR, wd=DECAY, epsilon=1e-7, lazy_update=False),
        "sgd": lambda: mx.optimizer.SGD(learning_rate=LR, wd=DECAY, momentum=0.9, lazy_update=False),
    }[name]()
    ours = Updates(optimizers.create(name, **SHARED))
    rng = np.random.default_rng(4)
    weights = [nd.array(rng.normal(size=(7, 5))) for _ in range(2)]
    weights[1][:] = weights[0]
    states = [optimizer.create_state(0, w) for optimizer, w in zip((theirs, ours), weights)]
    for _ in range(STEPS):
        gradient = nd.array(rng.normal(size=(7, 5)))
        theirs.update(0, weights[0], gradient, states[0])
        ours.update(0, weights[1], gradient, states[1])
    assert np.array_equal(weights[0].asnumpy(), weights[1].asnumpy())


def test_rho_decays_after_every_epoch():
    rule = optimizers.create("rmsprop", rho=0.94, rho_decay=0.5)
    seen = []
    for epoch in (1, 2, 3):
        rule.begin_epoch(epoch)
        seen.append(rule.rho)
    assert seen == [0.94, 0.47, 0.235]


def test_rates_and_decays_have_multipliers():
    from mxnet import autograd, gluon, nd

    from dmlplayground.trial.training.trainers import PartTrainer, step

    names = ("near_weight", "near_bias", "far_weight", "far_bias")
    parameters = {name: gluon.Parameter(name, shape=(1, 1)) for name in names}
    for parameter in parameters.values():
        parameter.initialize()
        parameter.set_data(nd.ones((1, 1)))
    group = {"lr_mult": 0.5, "lr_mult_by_name": {"far": 0.1}, "wd_mult_by_name": {"bias": 0.0}}
    optimizer = {"name": "sgd", "lr": 0.2, "momentum": 0.0, "weight_decay": 1.0}
    trial = config.trial({"method": "npairs", "optimizer": optimizer, "groups": {"head": group}})
    trainer = PartTrainer(parameters, trial, "head")
    trainer.rule.begin_epoch(1)
    trainer.scale(0.5)
    with autograd.record():  # no gradient: what moves is the decay
        total = sum(0 * parameter.data() for parameter in parameters.values())
    total.backward()
    step([trainer], None)
    moved = {name: 1 - parameter.data().asnumpy().item() for name, parameter in parameters.items()}
    expected = {"near_weight": 0.05, "near_bias": 0.0, "far_weight": 0.005, "far_bias": 0.0}
    assert moved == pytest.approx(expected, abs=1e-7)


IMPOSSIBLE = {
    "momentum=1": "momentum must be from 0",
    "lr=-1": "not a valid learning rate",
    "clip=0": "clip must be above 0",
    "clip_norm=-1": "clip_norm must be above 0",
    "root=inside": "must be one of of the square, of both",
    "beta1=0.5": "optimizer rmsprop: 'beta1'",
    "rho_decay=0": "rho_decay",
    "epsilon=0": "epsilon must be above 0",
}


@pytest.mark.parametrize("place", ["optimizer", "groups.loss"])
@pytest.mark.parametrize("change", IMPOSSIBLE)
def test_impossible_values_are_refused_wherever_they_stand(place, change):
    with pytest.raises(UserError, match=IMPOSSIBLE[change]):
        config.trial({"method": "npairs", "optimizer": "rmsprop"}, [f"{place}.{change}"])


def test_a_group_takes_any_key_of_its_optimizer():
    group = {"name": "rmsprop", "rho": 0.99, "clip": None, "lr_mult": 2.0}
    trial = config.trial(
        {"method": "npairs", "optimizer": {"lr": 3e-3, "clip": 1.0}, "groups": {"loss": group}}
    )
    own = config.optimizer_of(trial.optimizer, trial.groups, "loss")
    assert (own["name"], own["lr"], own["rho"], own["clip"]) == ("rmsprop", 3e-3, 0.99, None)
    assert config.optimizer_of(trial.optimizer, trial.groups, "head") == trial.optimizer
    with pytest.raises(UserError, match="groups.loss: optimizer adam: 'rho'"):
        config.trial({"method": "npairs", "groups": {"loss": {"rho": 0.9}}})
