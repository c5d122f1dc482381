"""What a learner does to its parameters: groups, warm-up, frozen batch-norm, several devices, several batches a step."""

import mxnet as mx
import numpy as np
import pytest

from dmlplayground import config, optimizers
from dmlplayground.base.errors import UserError
from dmlplayground.trial.training.learner import Learner, weights_in

CLASSES, SIZE = 6, 12
CPU = [mx.cpu(0)]


def trial(method="npairs", **changes):
    return config.trial(config.merge({"method": method, "batch_size": SIZE, "embed_dim": 8}, changes))


def batch(seed=0):
    images = np.random.default_rng(seed).integers(0, 256, (SIZE, 32, 32, 3)).astype(np.uint8)
    return images, np.repeat(np.arange(CLASSES), 2).astype(np.int32)


def moved(learner, before):
    """The parts of which a weight has changed."""
    changed = {name for name, array in learner.weights().items() if not np.array_equal(array, before[name])}
    parts = {"network.backbone": "backbone", "network.head": "head", "loss": "loss"}
    return {
        part for prefix, part in parts.items() if any(name.startswith(prefix) for name in changed)
    }, changed


def steps(learner, count=1, epoch=1, seed=0):
    learner.begin_epoch(epoch)
    for number in range(count):
        loss = learner.step([batch(seed + number)]).loss
    return float(loss.asscalar())


def test_a_step_moves_every_part():
    learner = Learner(trial("proxy_nca"), CLASSES, CPU)
    before = learner.weights()
    steps(learner)
    parts, changed = moved(learner, before)
    assert parts == {"backbone", "head", "loss"}
    constants = {"network.mean", "network.scale"}
    assert set(before) - changed <= constants


@pytest.mark.parametrize("still", ["backbone", "head", "loss"])
def test_a_learning_rate_multiplier_of_zero_holds_its_part_still(still):
    given = trial("proxy_nca", groups={still: {"lr_mult": 0.0}})
    learner = Learner(given, CLASSES, CPU)
    before = learner.weights()
    steps(learner)
    held = [name for name, p in learner.parts[still].parameters.items()]
    prefix = {"backbone": "network.backbone.", "head": "network.head.", "loss": "loss."}[still]
    after = learner.weights()
    assert held
    assert all(np.array_equal(before[prefix + name], after[prefix + name]) for name in held)
    assert moved(learner, before)[0] >= {"backbone", "head", "loss"} - {still}


def test_a_multiplier_by_name_reaches_the_named_parameters_alone():
    learner = Learner(trial(groups={"backbone": {"lr_mult_by_name": {"conv": 0.0}}}), CLASSES, CPU)
    before = learner.weights()
    steps(learner)
    _, changed = moved(learner, before)
    convolutions = {n for n, p in learner.parts["backbone"].parameters.items() if "conv" in p.name}
    assert convolutions
    assert not {f"network.backbone.{name}" for name in convolutions} & changed
    assert "backbone" in moved(learner, before)[0]


def test_the_multiplier_scales_the_step():
    """With plain SGD and no weight decay the head's step is proportional to its multiplier."""
    deltas = []
    for multiplier in (1.0, 0.25):
        sgd = {"name": "sgd", "lr": 0.01, "momentum": 0.0, "weight_decay": 0.0}
        learner = Learner(trial(optimizer=sgd, groups={"head": {"lr_mult": multiplier}}), CLASSES, CPU)
        before = learner.weights()["network.head.0.weight"]
        steps(learner)
        deltas.append(learner.weights()["network.head.0.weight"] - before)
    np.testing.assert_allclose(deltas[1], deltas[0] / 4, rtol=1e-3, atol=1e-8)


def test_weight_decay_is_each_groups_own():
    """A loss parameter without gradient still shrinks where its group decays, and only there."""
    for decay, shrinks in ((0.1, True), (0.0, False)):
        sgd = {"name": "sgd", "lr": 0.5, "momentum": 0.0, "weight_decay": decay}
        learner = Learner(trial("margin", sampler={"per_class": 2}, groups={"loss": sgd}), 50, CPU)
        before = learner.weights()["loss.beta"]
        steps(learner)
        unseen = learner.weights()["loss.beta"][CLASSES:]
        assert (
            np.allclose(unseen, before[CLASSES:] * (1 - 0.5 * decay))
            and (unseen < before[CLASSES:]).all() == shrinks
        )


def test_warm_up_leaves_the_backbone_alone_and_then_not():
    learner = Learner(trial("proxy_nca", frozen_epochs=2, epochs=3), CLASSES, CPU)
    learned = {f"network.backbone.{name}" for name in learner.parts["backbone"].parameters}
    before = learner.weights()
    steps(learner, epoch=2)
    _, changed = moved(learner, before)
    assert not changed & learned
    assert {"network.head.0.weight", "loss.proxies"} <= changed
    steps(learner, epoch=3)
    assert moved(learner, before)[1] & learned


def test_batch_norm_with_frozen_statistics_still_learns_its_scale_and_shift():
    learner = Learner(trial(freeze_batchnorm="statistics"), CLASSES, CPU)
    before = learner.weights()
    steps(learner, count=2)
    after = learner.weights()
    for kind, moves in {"gamma": True, "beta": True, "running_mean": False, "running_var": False}.items():
        names = [name for name in before if name.endswith(kind) and "backbone" in name]
        assert names
        assert all((not np.array_equal(before[n], after[n])) == moves for n in names), kind


def test_frozen_batch_norm_is_a_constant():
    free, frozen = (Learner(trial(freeze_batchnorm=freeze), CLASSES, CPU) for freeze in (False, True))
    kinds = ("gamma", "beta", "running_mean", "running_var")
    for learner, moves in ((free, True), (frozen, False)):
        before = learner.weights()
        steps(learner, count=2)
        after = learner.weights()
        for kind in kinds:
            names = [name for name in before if name.endswith(kind) and "backbone" in name]
            assert names
            assert any(not np.array_equal(before[n], after[n]) for n in names) == moves, kind


def test_the_learning_rate_follows_the_schedule():
    sgd = {"name": "sgd", "lr": 0.01, "momentum": 0.0, "weight_decay": 0.0}
    learner = Learner(trial(optimizer=sgd, schedule={"factor": 1e-30, "steps": [2]}), CLASSES, CPU)
    steps(learner, epoch=1)
    before = learner.weights()["network.head.0.weight"]
    steps(learner, epoch=2)
    assert np.array_equal(before, learner.weights()["network.head.0.weight"])


def test_gradients_are_cut_elementwise():
    sgd = {"name": "sgd", "lr": 1.0, "momentum": 0.0, "weight_decay": 0.0, "clip": 1e-4}
    learner = Learner(trial(optimizer=sgd), CLASSES, CPU)
    before = learner.weights()["network.head.0.weight"]
    steps(learner)
    change = np.abs(learner.weights()["network.head.0.weight"] - before)
    assert change.max() == pytest.approx(1e-4, rel=1e-2)


def lengths(learner, before):
    """How far the backbone, the head and the loss have moved."""
    after = learner.weights()
    squares = dict.fromkeys(learner.parts, 0.0)
    for part in learner.parts:
        prefix = "loss." if part == "loss" else f"network.{part}."
        for name in learner.parts[part].parameters:
            squares[part] += float(((after[prefix + name] - before[prefix + name]) ** 2).sum())
    return {part: square**0.5 for part, square in squares.items()}


def test_gradients_are_shortened_to_their_joint_length():
    sgd = {"name": "sgd", "lr": 1.0, "momentum": 0.0, "weight_decay": 0.0, "clip_norm": 1e-3}
    alike = {"head": {"lr_mult": 1.0}}
    learner = Learner(trial("proxy_nca", optimizer=sgd, groups=alike), CLASSES, CPU)
    before = learner.weights()
    steps(learner)
    joint = sum(length**2 for length in lengths(learner, before).values()) ** 0.5
    assert joint == pytest.approx(1e-3, rel=1e-2)
    learner = Learner(
        trial("proxy_nca", optimizer=sgd, groups={**alike, "loss": {"clip_norm": 5e-4}}), CLASSES, CPU
    )
    before = learner.weights()
    steps(learner)
    moved_by = lengths(learner, before)
    assert moved_by["loss"] == pytest.approx(5e-4, rel=1e-2)
    assert (moved_by["backbone"] ** 2 + moved_by["head"] ** 2) ** 0.5 == pytest.approx(1e-3, rel=1e-2)


def test_short_gradients_are_left_as_they_are():
    sgd = {"name": "sgd", "lr": 1e-3, "momentum": 0.0, "weight_decay": 0.0}
    free, held = (
        Learner(trial(optimizer={**sgd, "clip_norm": limit}), CLASSES, CPU) for limit in (None, 1e9)
    )
    for learner in (free, held):
        steps(learner, count=2)
    held_weights = held.weights()
    assert all(np.array_equal(array, held_weights[name]) for name, array in free.weights().items())


def test_a_schedule_moves_the_rate_with_every_step():
    sgd = {"name": "sgd", "lr": 1.0, "momentum": 0.0, "weight_decay": 0.0}
    learner = Learner(trial(optimizer=sgd, schedule="polynomial", epochs=1), CLASSES, CPU)
    learner.begin_epoch(1, steps=4)
    seen = []
    for number in range(4):
        seen.append(learner.scale)
        learner.step([batch(number)])
    assert seen == [1.0, 0.75, 0.5, 0.25]


def test_the_average_of_the_weights_is_what_embeds_and_is_kept():
    learner = Learner(trial(ema={"decay": 0.5}), CLASSES, CPU)
    plain = Learner(trial(), CLASSES, CPU)
    name = "network.head.0.weight"
    average = learner.weights()[name].astype(np.float64)
    for count, decay in enumerate((2 / 11, 3 / 12, 4 / 13)):
        for other in (learner, plain):
            steps(other, seed=count)
        average = decay * average + (1 - decay) * learner.weights()[name]
    assert np.array_equal(learner.weights()[name], plain.weights()[name])  # training does not see it
    kept = weights_in(learner.state())
    np.testing.assert_allclose(kept[name], average, rtol=1e-4, atol=1e-7)
    assert not np.array_equal(kept[name], learner.weights()[name])
    images = [batch(99)[0]]
    loaded = Learner(trial(), CLASSES, CPU)
    loaded.load_weights(kept)
    before = learner.weights()
    np.testing.assert_array_equal(learner.embed(images), loaded.embed(images))
    assert all(np.array_equal(array, before[key]) for key, array in learner.weights().items())


def test_a_learner_with_an_average_goes_on_from_its_state():
    given = trial("proxy_nca", ema={"decay": 0.9}, frozen_epochs=0)
    first, second = Learner(given, CLASSES, CPU), Learner(given, CLASSES, CPU, place=(0, 1))
    steps(first, count=2)
    second.load_state(first.state())
    assert steps(first, count=3, seed=50) == steps(second, count=3, seed=50)
    after, other = first.state(), second.state()
    assert set(after) == set(other)
    assert all(np.array_equal(after[key], other[key]) for key in after)


def test_two_batches_a_step_average_their_gradients():
    sgd = {"name": "sgd", "lr": 0.1, "momentum": 0.0, "weight_decay": 0.0}
    name = "network.head.0.weight"
    deltas = []
    for batches in ([batch(0)], [batch(1)]):
        learner = Learner(trial(optimizer=sgd), CLASSES, CPU)
        before = learner.weights()[name]
        learner.begin_epoch(1)
        learner.step(batches)
        deltas.append(learner.weights()[name] - before)
    both = Learner(trial(optimizer=sgd, accumulate=2), CLASSES, CPU)
    before = both.weights()
    for _ in range(2):  # the second step must not remember the gradients of the first
        both.load_weights(before)
        both.begin_epoch(1)
        both.step([batch(0), batch(1)])
        np.testing.assert_allclose(both.weights()[name] - before[name], sum(deltas) / 2, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("method", ["npairs", "proxy_nca", "triplet_semihard"])
def test_two_devices_do_what_one_does(method):
    """With batch-norm frozen a batch may be split: the loss still sees all of it."""
    results = []
    for devices in (1, 2):
        given = trial(method, devices=devices, freeze_batchnorm=True, optimizer={"lr": 1e-3})
        learner = Learner(given, CLASSES, [mx.cpu(i) for i in range(devices)])
        losses = [steps(learner, seed=10 * i) for i in range(3)]
        images = batch(99)[0]
        results.append((losses, learner.embed([images[:6], images[6:]]), learner))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-4)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-2, atol=1e-4)
    both = results[1][2]
    for parameter in both.network.collect_params().values():
        first, second = (data.asnumpy() for data in parameter.list_data())
        assert np.array_equal(first, second)


@pytest.mark.parametrize("optimizer", optimizers.names())
def test_state_and_weights_make_an_equal_learner(optimizer):
    given = trial("proxy_nca", optimizer={"name": optimizer, "lr": 1e-3}, frozen_epochs=1)
    first = Learner(given, CLASSES, CPU)
    steps(first, count=2, epoch=1)
    steps(first, count=2, epoch=2)
    second = Learner(given, CLASSES, CPU, place=(0, 1))
    second.load_state(first.state())
    assert steps(first, count=3, epoch=3, seed=50) == steps(second, count=3, epoch=3, seed=50)
    after, other = first.state(), second.state()
    assert set(after) == set(other)
    assert all(np.array_equal(after[key], other[key]) for key in after)


def test_weights_of_another_network_are_refused_by_name():
    learner = Learner(trial(), CLASSES, CPU)
    weights = learner.weights()
    missing = {name: array for name, array in weights.items() if name != "network.head.0.bias"}
    with pytest.raises(UserError, match=r"Missing: .*network\.head\.0\.bias"):
        learner.load_weights(missing)
    with pytest.raises(
        UserError, match=r"network\.head\.0\.bias has the shape \(3,\); this network needs \(8,\)"
    ):
        learner.load_weights({**weights, "network.head.0.bias": np.zeros(3)})


def test_the_same_seed_starts_alike_and_members_do_not():
    one, again, member = (Learner(trial(), CLASSES, CPU, place) for place in ((0, 0), (0, 0), (0, 1)))
    weight = "network.head.0.weight"
    assert np.array_equal(one.weights()[weight], again.weights()[weight])
    assert not np.array_equal(one.weights()[weight], member.weights()[weight])
