"""What holds for every part of a kind other than methods, and for every part whatever its kind."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable
from typing import Any

import mxnet as mx
import numpy as np
from mxnet import autograd, nd

from ...base import registry
from ...base.errors import UserError
from ...parts import (
    augmentations,
    backbones,
    data,
    metrics,
    miners,
    optimizers,
    protocols,
    regularizers,
    samplers,
    schedules,
    transforms,
)
from .. import config
from . import graphs
from .outcomes import Skip, close, refuses, require

Check = Callable[[str], None]
SIZES = (12, 10, 20, 16, 24)  # of batches
LABELS = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5])
TINY: dict[str, Any] = {
    "method": "triplet",
    "data": {"name": "glyphs", "classes": 24, "images_per_class": 6, "size": 24},
    "backbone": "conv4",
    "embed_dim": 8,
    "batch_size": 12,
    "iterations": 2,
    "epochs": 2,
    "evaluation": {"clustering": False, "ks": [1]},
}
_OWN: dict[str, list[Check]] = {}


def of(plural: str) -> list[Check]:
    """The checks of a kind of parts."""
    return [*_general(plural), *_OWN.get(plural, [])]


def check(plural: str) -> Callable[[Check], Check]:
    def add(function: Check) -> Check:
        _OWN.setdefault(plural, []).append(function)
        return function

    return add


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- every part ----------------------------------------------------------------------------------------------------------


def _general(plural: str) -> list[Check]:
    kind = registry.kind(plural)

    def its_record_describes_it(key: str) -> None:
        part = kind.get(key)
        require(part.title, "the decorator gives no title")
        require(part.summary, "it has no docstring")
        missing = [name for name in part.options if name not in part.option_notes]
        require(not missing, f"the docstring has no line 'NAME: what it is.' for {', '.join(missing)}")

    def an_unknown_option_is_refused(key: str) -> None:
        with refuses(f"{key}.*no_such_option"):
            kind.get(key).fill({"no_such_option": 1}, kind.name)

    def training_with_it_gives_the_same_numbers_again(key: str) -> None:
        trial = _trial(plural, key)
        once, again = (_trained(trial, threads) for threads in (1, 2))
        require(once == again, f"one thread gives {once}, and two give {again}")

    trained = (
        () if plural in ("metrics", "data", "backbones") else (training_with_it_gives_the_same_numbers_again,)
    )
    return [its_record_describes_it, an_unknown_option_is_refused, *trained]


def _trial(plural: str, key: str) -> config.Trial:
    """A small trial with this part in it."""
    name: Any = {"transform": {"name": "plain", "augment": [key]}} if plural == "augmentations" else None
    setting = registry.kind(plural).setting
    changes = name or {setting: [key] if plural == "regularizers" else key}
    for size in SIZES[:-1]:
        with contextlib.suppress(UserError):
            return config.trial({**TINY, "batch_size": size, **changes})
    return config.trial({**TINY, "batch_size": SIZES[-1], **changes})


def _trained(trial: config.Trial, threads: int) -> list[Any]:
    from ..training import train

    with tempfile.TemporaryDirectory() as store:
        record = train(trial, store, threads=threads)
    return [(entry.get("loss"), entry.get("metrics")) for entry in record.epochs]


# --- miners and regularizers -----------------------------------------------------------------------------------------


@check("miners")
def mined_rows_are_rows_of_the_batch(key: str) -> None:
    for labels in (LABELS, np.zeros(8, int), np.arange(8)):
        x = rng().normal(size=(len(labels), 4)).astype(np.float32)
        mx.random.seed(1)
        found = miners.create(key).mine(x, labels)
        require(
            len(found) == (4 if miners.get(key).gives == "pairs" else 3),
            f"it gives {len(found)} arrays of rows",
        )
        for rows in found:
            require(
                ((rows >= 0) & (rows < len(labels))).all(),
                f"rows are {rows}, and the batch has {len(labels)}",
            )


@check("miners")
def the_same_seed_mines_the_same(key: str) -> None:
    x = rng().normal(size=(len(LABELS), 4)).astype(np.float32)
    found = []
    for _ in range(2):
        mx.random.seed(1)
        found.append([each.tolist() for each in miners.create(key).mine(x, LABELS)])
    require(found[0] == found[1], "two runs with one seed differ")


@check("miners")
def every_operator_has_a_gpu_kernel(key: str) -> None:
    for method in ("contrastive", "triplet"):
        missing = graphs.without_kernel(method, mining=key)
        require(not missing, f"no GPU can compute {', '.join(sorted(missing))}")


def _regularized(key: str, x: np.ndarray, dtype: str = "float32") -> tuple[float, np.ndarray]:
    term = regularizers.create(key, weight=1.0)
    term.dtype = dtype
    points, labels = nd.array(x, dtype=dtype), nd.array(LABELS, dtype=dtype)
    points.attach_grad()
    with autograd.record():
        value = term.hybrid_forward(nd, points, labels)
    value.backward()
    require(
        value.shape == (1,), f"it returns an array of shape {value.shape}, and should return one number, (1,)"
    )
    return float(value.asscalar()), points.grad.asnumpy()


@check("regularizers")
def its_gradient_is_its_slope(key: str) -> None:
    x = rng().normal(size=(len(LABELS), 4))
    _, gradient = _regularized(key, x, "float64")
    step = rng(1).normal(size=x.shape)
    ends = [_regularized(key, x + sign * 1e-6 * step, "float64")[0] for sign in (1, -1)]
    close((gradient * step).sum(), (ends[0] - ends[1]) / 2e-6, 1e-4, 1e-7, "the gradient")


@check("regularizers")
def extreme_embeddings_give_finite_numbers(key: str) -> None:
    for x in (
        np.zeros((len(LABELS), 4)),
        np.ones((len(LABELS), 4)),
        100 * rng().normal(size=(len(LABELS), 4)),
    ):
        value, gradient = _regularized(key, x)
        require(np.isfinite(value) and np.isfinite(gradient).all(), "the value or its gradient is not finite")


@check("regularizers")
def all_its_operators_have_gpu_kernels(key: str) -> None:
    missing = graphs.without_kernel("contrastive", regularizers=[{"name": key, "weight": 1.0}])
    require(not missing, f"no GPU can compute {', '.join(sorted(missing))}")


# --- samplers --------------------------------------------------------------------------------------------------------


class _View:
    """What a sampler may look at."""

    def embeddings(self) -> np.ndarray:
        return rng(5).normal(size=(96, 8)).astype(np.float32)

    def proxies(self) -> np.ndarray:
        return rng(6).normal(size=(16, 8)).astype(np.float32)


def _sampler(key: str) -> samplers.BatchSampler:
    """The sampler with the first of some sizes of batches that it takes."""
    for size in SIZES[:-1]:
        with contextlib.suppress(UserError):
            return samplers.create(key, np.repeat(np.arange(16), 6), size, seed=3)
    return samplers.create(key, np.repeat(np.arange(16), 6), SIZES[-1], seed=3)


def _batches(key: str, epoch: int) -> list[np.ndarray]:
    sampler = _sampler(key)
    return [np.asarray(rows) for rows in sampler.batches(epoch, _View())]


@check("samplers")
def a_batch_has_the_right_rows(key: str) -> None:
    for rows in _batches(key, 0):
        require(
            rows.ndim == 1 and rows.dtype.kind in "iu", f"a batch is an array {rows.shape} of {rows.dtype}"
        )
        require(((rows >= 0) & (rows < 96)).all(), "a batch has rows that are not there")


@check("samplers")
def an_epoch_has_the_same_batches_whenever_it_is_asked_for(key: str) -> None:
    first = _batches(key, 2)
    _batches(key, 1)
    require(
        all(map(np.array_equal, first, _batches(key, 2))), "the batches of an epoch differ from call to call"
    )


@check("samplers")
def an_epoch_is_as_long_as_it_says(key: str) -> None:
    sampler = _sampler(key)
    require(len(_batches(key, 0)) == sampler.length(0), "length(epoch) is not the number of its batches")


# --- transforms and augmentations ------------------------------------------------------------------------------------


def _images(count: int = 6) -> np.ndarray:
    return rng(2).integers(0, 256, (count, 40, 40, 3)).astype(np.uint8)


@check("transforms")
def blocks_are_images_of_one_size(key: str) -> None:
    transform, rows = transforms.create(key), np.array([4, 0, 2])
    for block in (transform.train(_images(), rows, rng()), transform.test(_images(), rows)):
        require(
            block.dtype == np.uint8 and block.ndim == 4 and len(block) == 3,
            f"a block is {block.shape} {block.dtype}",
        )
    require(
        transform.test(_images(), rows).shape[1:3] == tuple(transform.test_shape(_images())),
        "test_shape is wrong",
    )


@check("transforms")
def an_image_does_not_depend_on_those_beside_it(key: str) -> None:
    transform, images = transforms.create(key), _images()
    others = images.copy()
    others[:3] = 255 - others[:3]
    rows = np.arange(6)
    one, other = (transform.train(each, rows, rng())[3:] for each in (images, others))
    require(np.array_equal(one, other), "an image is drawn otherwise when another beside it changes")


@check("augmentations")
def it_changes_a_block_in_place(key: str) -> None:
    blocks = [_images(), _images()]
    for block in blocks:
        augmentations.create(key)(block, rng(7))
    require(np.array_equal(blocks[0], blocks[1]), "one generator gives two results")


# --- optimizers and schedules ----------------------------------------------------------------------------------------


@check("optimizers")
def it_goes_downhill(key: str) -> None:
    rule = optimizers.create(key, lr=0.01, weight_decay=0.0)
    weight = nd.array([1.0, -2.0, 3.0])
    state = [nd.zeros(3) for _ in range(rule.slots)]
    for step in range(1, 21):
        rule.update(nd, weight, 2 * weight, state, rule.lr, 0.0, step)
    after = weight.asnumpy()
    require(
        np.isfinite(after).all() and (after**2).sum() < 14,
        f"twenty steps on a bowl lead from (1, -2, 3) to {after}",
    )


@check("schedules")
def every_multiplier_is_a_number_from_0(key: str) -> None:
    schedule = schedules.create(key)
    values = [schedule.scale(epoch, 5, step, 4) for epoch in range(1, 6) for step in range(4)]
    require(np.isfinite(values).all() and min(values) >= 0, f"the multipliers are {values}")


# --- protocols, metrics, data and backbones --------------------------------------------------------------------------


@check("protocols")
def no_fold_trains_on_what_it_keeps_back(key: str) -> None:
    protocol = protocols.create(key)
    folds = protocol.folds(40)
    require(
        len(folds) == protocol.trainings,
        f"there are {len(folds)} folds, and trainings says {protocol.trainings}",
    )
    for fold in folds:
        require(not set(fold.train) & set(fold.kept), "a class is trained on and kept back")
        require({*fold.train, *fold.kept} <= set(range(40)), "a class is not one of the training classes")


def _measured(key: str, x: np.ndarray, labels: np.ndarray) -> float:
    name = key.replace("@K", "@1")
    value = metrics.evaluate(x, labels, metrics=[name], ks=(1,))[name]
    require(value is not None and np.isfinite(value), f"it is {value}")
    return float(value)


@check("metrics")
def neither_order_nor_names_of_classes_matter(key: str) -> None:
    labels = np.repeat(np.arange(6), 8)
    x = rng().normal(size=(48, 4)) + np.eye(6, 4)[labels]
    if metrics.get(key).needs == "clusters":
        raise Skip("the clusters depend on the order, by their random start")
    order, names = rng(1).permutation(48), rng(2).permutation(6)
    value = _measured(key, x, labels)
    close(_measured(key, x[order], labels[order]), value, 1e-6, 1e-9, "with other rows first, it")
    close(_measured(key, x, names[labels]), value, 1e-6, 1e-9, "with other names of classes, it")


@check("metrics")
def it_is_best_where_classes_are_apart(key: str) -> None:
    metric = metrics.get(key)
    if metric.needs == "embeddings":
        raise Skip("it is no measure of how classes are told apart")
    labels = np.repeat(np.arange(6), 8)
    near = np.eye(6)[labels] + 0.01 * rng().normal(size=(48, 6))
    good, poor = _measured(key, near, labels), _measured(key, near, rng(3).permutation(labels))
    require(metric.better(good, poor), f"classes that are apart give {good}, and mixed ones {poor}")


@check("data")
def its_splits_share_no_class(key: str) -> None:
    splits = [data.load(key, split) for split in data.SPLITS]
    for one in splits:
        require(len(one.labels) == len(one.images), f"{one.describe()} has {len(one.labels)} labels")
        require(
            set(one.labels.tolist()) == set(range(one.num_classes)), "labels do not count the classes from 0"
        )
    require(not set(splits[0].class_names) & set(splits[1].class_names), "a class is in both splits")


@check("backbones")
def it_gives_as_many_features_as_it_says(key: str) -> None:
    record = backbones.get(key)
    if record.preprocessing is None:
        raise Skip("it takes features")
    network = backbones.create(key)
    images = nd.random.normal(shape=(2, 3, record.preprocessing.size, record.preprocessing.size))
    plain = network(images).asnumpy()
    require(
        plain.shape == (2, record.features),
        f"it gives {plain.shape}, and its record says {record.features} features",
    )
    network.hybridize()
    close(network(images).asnumpy(), plain, 1e-4, 1e-5, "what its graph gives")


@check("backbones")
def a_gpu_has_every_operator_of_it(key: str) -> None:
    graph = json.loads(backbones.create(key)(mx.sym.var("data")).tojson())
    missing = {node["op"] for node in graph["nodes"]} - {"null"} - graphs.kernels()
    require(not missing, f"no GPU can compute {', '.join(sorted(missing))}")
