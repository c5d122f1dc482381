"""What holds for every part, whatever its kind, and for every part of a kind. What holds for methods is in ``methods``."""

import contextlib
import json
import tempfile
from collections.abc import Callable
from functools import cache, partial, update_wrapper
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mxnet as mx
import numpy as np
from mxnet import autograd, nd

from ...base import registry
from ...base.errors import UserError
from ...parts import backbones, data, methods, metrics, samplers, transforms
from ...parts.metrics.shared import conformance as of_metrics
from .. import config
from . import Skip, close, refuses, require

Check = Callable[[str], None]
SIZES = (12, 10, 20, 16, 24)  # of batches: a part is checked with the first that it takes
LABELS = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5])
TINY: dict[str, Any] = {
    "method": "triplet",
    "data": {"name": "glyphs", "classes": 24, "images_per_class": 6, "size": 24},
    "backbone": "conv4",
    "embed_dim": 8,
    "iterations": 2,
    "epochs": 2,
    "evaluation": {"clustering": False, "ks": [1]},
}
#: Relative difference between devices of the losses of a few steps, in which rounding errors grow.
ALIKE = 0.05
_OWN: dict[str, list[Check]] = {}


def of(plural: str) -> list[Check]:
    """The checks of a kind of parts."""
    general = [its_record_describes_it, an_unknown_option_is_refused]
    if plural in _WITHOUT_KERNEL:
        general.append(every_operator_has_a_gpu_kernel)
    if plural not in ("metrics", "data"):
        general.append(training_with_it_gives_the_same_numbers_again)
    bound = [update_wrapper(partial(each, plural), each) for each in general]
    return [*bound, *_OWN.get(plural, [])]


def check(plural: str) -> Callable[[Check], Check]:
    def add(function: Check) -> Check:
        _OWN.setdefault(plural, []).append(function)
        return function

    return add


def with_a_size(make: Callable[[int], Any]) -> Any:
    """What is made with the first size of a batch that is not refused."""
    for size in SIZES[:-1]:
        with contextlib.suppress(UserError):
            return make(size)
    return make(SIZES[-1])


def its_record_describes_it(plural: str, key: str) -> None:
    part = registry.kind(plural).get(key)
    require(part.title, "the decorator gives no title")
    require(part.summary, "it has no docstring")
    missing = [name for name in part.options if name not in part.option_notes]
    require(not missing, f"the docstring has no line 'NAME: what it is.' for {', '.join(missing)}")


def an_unknown_option_is_refused(plural: str, key: str) -> None:
    with refuses(f"{key}.*no_such_option"):
        registry.kind(plural).get(key).fill({"no_such_option": 1}, registry.kind(plural).name)


@cache
def kernels() -> frozenset[str]:
    """The operators of MXNet 1.9.1 that a GPU has a kernel for."""
    lines = Path(__file__).with_name("gpu_operators.txt").read_text().splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def operators(objective: Any) -> set[str]:
    """Those in the graph of an objective, as it is when a batch has 8 rows."""
    names = ["embeddings", "labels"]
    if objective.loss.host is not None:
        names += ["found", "own", "push"]  # what its search hands to the graph
    elif objective.ring is not None:
        names += ["rows", "row_labels", "filled", "places"]
    own = {name: getattr(objective, name).var() for name in objective.loss.weights}
    objective.loss.check(8, objective.loss.embed_dim)
    graph = objective.hybrid_forward(mx.sym, *map(mx.sym.var, names), **own)
    return operators_of(graph)


def operators_of(graph: Any) -> set[str]:
    return {node["op"] for node in json.loads(graph.tojson())["nodes"]} - {"null"}


def without_kernel(key: str, options: Any = None, **parts: Any) -> set[str]:
    """The operators of a method, with these parts, that no GPU can compute."""
    made = methods.loss(key, num_classes=6, embed_dim=6, **parts, **(options or {}))
    return operators(made) - kernels()


#: Losses with which miners are looked at: of rows, pairs and triplets, and one that draws of its own.
MINING = ("proxy_nca", "contrastive", "triplet", "quadruplet")
#: The operators of a part that no GPU can compute, by its kind.
_WITHOUT_KERNEL: dict[str, Callable[[str], set[str]]] = {
    "methods": without_kernel,
    "miners": lambda key: set().union(*(without_kernel(loss, mining=key) for loss in MINING)),
    "regularizers": lambda key: without_kernel("contrastive", regularizers=[{"name": key, "weight": 1.0}]),
    "backbones": lambda key: operators_of(backbones.create(key)(mx.sym.var("data"))) - kernels(),
}


def every_operator_has_a_gpu_kernel(plural: str, key: str) -> None:
    missing = _WITHOUT_KERNEL[plural](key)
    require(not missing, f"no GPU can compute {', '.join(sorted(missing))}")


def training_with_it_gives_the_same_numbers_again(plural: str, key: str) -> None:
    """To the bit on the CPU, with one thread or two; on another device nearly those of the CPU."""
    device = mx.current_context().device_type
    wanted = _wanted(plural, key)
    once, again = _trained(wanted, device, 1), _trained(wanted, "cpu", 2)
    if device == "cpu":
        require(once == again, f"one thread gives {once}, and two give {again}")
    else:
        found, expected = ([loss for loss, _ in each if loss is not None] for each in (once, again))
        close(found, expected, ALIKE, ALIKE, f"each epoch's loss on the {device}")


def _wanted(plural: str, key: str) -> dict[str, Any]:
    """A small trial with the part in it."""
    if plural == "augmentations":
        return {**TINY, "transform": {"name": "plain", "augment": [key]}}
    if plural == "backbones":
        if backbones.get(key).preprocessing is None:
            raise Skip("it takes features")
        larger = {"data": {**TINY["data"], "size": 64}, "transform": "plain"}
        return {**TINY, **larger, "backbone": {"name": key, "pretrained": "none"}}
    return {**TINY, registry.kind(plural).setting: [key] if plural == "regularizers" else key}


def _trained(wanted: dict[str, Any], device: str, threads: int) -> list[tuple[Any, Any]]:
    from ..training import train

    trial = with_a_size(lambda size: config.trial({**wanted, "batch_size": size, "device": device}))
    with tempfile.TemporaryDirectory() as store, mx.cpu():  # a trial puts what it must on its device itself
        record = train(trial, store, threads=threads)
    return [(entry.get("loss"), entry.get("metrics")) for entry in record.epochs]


@check("miners")
def the_rows_that_it_keeps_are_rows_of_the_batch(key: str) -> None:
    for labels in (LABELS, np.zeros(8, int), np.arange(8)):
        found = _kept(key, labels)
        wanted = {"pairs": 4, "triplets": 3}[registry.kind("miners").get(key).gives]
        require(len(found) == wanted, f"it gives {len(found)} arrays of rows, not {wanted}")
        outside = [rows for rows in found if not ((rows >= 0) & (rows < len(labels))).all()]
        require(not outside, f"rows are {outside}, and the batch has {len(labels)}")


@check("miners")
def the_same_seed_keeps_the_same(key: str) -> None:
    once, again = _kept(key, LABELS), _kept(key, LABELS)
    require(all(map(np.array_equal, once, again)), "two runs with one seed differ")


def _kept(key: str, labels: np.ndarray) -> tuple[np.ndarray, ...]:
    mx.random.seed(1)
    x = np.random.default_rng(0).normal(size=(len(labels), 4)).astype(np.float32)
    return registry.kind("miners").create(key).mine(x, labels)


def _regularized(key: str, x: np.ndarray, dtype: str = "float32") -> tuple[float, np.ndarray]:
    term = registry.kind("regularizers").create(key, weight=1.0)
    term.dtype = dtype
    points, labels = nd.array(x, dtype=dtype), nd.array(LABELS, dtype=dtype)
    points.attach_grad()
    with autograd.record():
        value = term.hybrid_forward(nd, points, labels)
    value.backward()
    require(value.shape == (1,), f"it returns an array {value.shape}, and should return one number, (1,)")
    return float(value.asscalar()), points.grad.asnumpy()


@check("regularizers")
def its_gradient_is_its_slope(key: str) -> None:
    x = np.random.default_rng(0).normal(size=(len(LABELS), 4))
    _, gradient = _regularized(key, x, "float64")
    step = np.random.default_rng(1).normal(size=x.shape)
    ends = [_regularized(key, x + sign * 1e-6 * step, "float64")[0] for sign in (1, -1)]
    close((gradient * step).sum(), (ends[0] - ends[1]) / 2e-6, 1e-4, 1e-7, "the gradient")


@check("regularizers")
def extreme_embeddings_give_finite_numbers(key: str) -> None:
    x = np.random.default_rng(0).normal(size=(len(LABELS), 4))
    for extreme in (0 * x, 0 * x + 1, 100 * x):
        value, gradient = _regularized(key, extreme)
        require(np.isfinite(value) and np.isfinite(gradient).all(), "the value or its gradient is not finite")


def _sampler(key: str) -> Any:
    return with_a_size(lambda size: samplers.create(key, np.repeat(np.arange(16), 6), size, seed=3))


def _batches(key: str, epoch: int) -> list[np.ndarray]:
    view = SimpleNamespace(
        embeddings=lambda: np.random.default_rng(5).normal(size=(96, 8)).astype(np.float32),
        proxies=lambda: np.random.default_rng(6).normal(size=(16, 8)).astype(np.float32),
    )
    return [np.asarray(rows) for rows in _sampler(key).batches(epoch, view)]


@check("samplers")
def a_batch_has_the_right_rows(key: str) -> None:
    for rows in _batches(key, 0):
        right = rows.ndim == 1 and rows.dtype.kind in "iu"
        require(right, f"a batch is an array {rows.shape} of {rows.dtype}")
        require(((rows >= 0) & (rows < 96)).all(), "a batch has rows that are not there")


@check("samplers")
def an_epoch_has_the_same_batches_whenever_it_is_asked_for(key: str) -> None:
    first, _, again = (_batches(key, epoch) for epoch in (2, 1, 2))
    require(all(map(np.array_equal, first, again)), "the batches of an epoch differ from call to call")


@check("samplers")
def an_epoch_is_as_long_as_it_says(key: str) -> None:
    right = len(_batches(key, 0)) == _sampler(key).length(0)
    require(right, "length(epoch) is not the number of its batches")


def _images() -> np.ndarray:
    return np.random.default_rng(2).integers(0, 256, (6, 40, 40, 3)).astype(np.uint8)


@check("transforms")
def blocks_are_images_of_one_size(key: str) -> None:
    transform, rows = transforms.create(key), np.array([4, 0, 2])
    test = transform.test(_images(), rows)
    for block in (transform.train(_images(), rows, np.random.default_rng(0)), test):
        right = block.dtype == np.uint8 and block.ndim == 4 and len(block) == 3
        require(right, f"a block is {block.shape} {block.dtype}")
    require(test.shape[1:3] == tuple(transform.test_shape(_images())), "test_shape is wrong")


@check("transforms")
def an_image_does_not_depend_on_those_beside_it(key: str) -> None:
    transform, images, others = transforms.create(key), _images(), _images()
    others[:3] = 255 - others[:3]
    one, other = (
        transform.train(each, np.arange(6), np.random.default_rng(0))[3:] for each in (images, others)
    )
    require(np.array_equal(one, other), "an image is drawn otherwise when another beside it changes")


@check("augmentations")
def it_changes_a_block_in_place(key: str) -> None:
    blocks = [_images(), _images()]
    for block in blocks:
        registry.kind("augmentations").create(key)(block, np.random.default_rng(7))
    require(np.array_equal(blocks[0], blocks[1]), "one generator gives two results")


@check("optimizers")
def it_goes_downhill(key: str) -> None:
    rule = registry.kind("optimizers").create(key, lr=0.01, weight_decay=0.0)
    weight = nd.array([1.0, -2.0, 3.0])
    state = [nd.zeros(3) for _ in range(rule.slots)]
    for step in range(1, 21):
        rule.update(nd, weight, 2 * weight, state, rule.lr, 0.0, step)
    after = weight.asnumpy()
    nearer = np.isfinite(after).all() and (after**2).sum() < 14
    require(nearer, f"twenty steps on a bowl lead from (1, -2, 3) to {after}")


@check("schedules")
def every_multiplier_is_a_number_from_0(key: str) -> None:
    schedule = registry.kind("schedules").create(key)
    values = [schedule.scale(epoch, 5, step, 4) for epoch in range(1, 6) for step in range(4)]
    require(np.isfinite(values).all() and min(values) >= 0, f"the multipliers are {values}")


@check("protocols")
def no_fold_trains_on_what_it_keeps_back(key: str) -> None:
    protocol = registry.kind("protocols").create(key)
    folds = protocol.folds(40)
    number = protocol.trainings
    require(len(folds) == number, f"there are {len(folds)} folds, and trainings says {number}")
    for fold in folds:
        require(not set(fold.train) & set(fold.kept), "a class is trained on and kept back")
        require({*fold.train, *fold.kept} <= set(range(40)), "a class is not one of the training classes")


def _of_metric(rule: Callable[[metrics.Metric], None]) -> Check:
    return update_wrapper(lambda key: rule(metrics.get(key.replace("@K", "@1"))), rule)


_OWN["metrics"] = [_of_metric(rule) for rule in of_metrics.CHECKS]


@check("data")
def its_splits_share_no_class(key: str) -> None:
    try:
        splits = [data.load(key, split) for split in data.SPLITS]
    except UserError as problem:
        raise Skip(str(problem)) from None
    for one in splits:
        require(len(one.labels) == len(one.images), f"{one.describe()} has {len(one.labels)} labels")
        counted = set(one.labels.tolist()) == set(range(one.num_classes))
        require(counted, "labels do not count the classes from 0")
    require(not set(splits[0].class_names) & set(splits[1].class_names), "a class is in both splits")


@check("backbones")
def it_gives_as_many_features_as_it_says(key: str) -> None:
    """Operator by operator and as a graph, and on a GPU those of the CPU."""
    record = backbones.get(key)
    if record.preprocessing is None:
        raise Skip("it takes features")
    network = backbones.create(key)
    images = nd.random.normal(shape=(2, 3, record.preprocessing.size, record.preprocessing.size))
    plain = network(images)
    right = plain.shape == (2, record.features)
    require(right, f"it gives {plain.shape}, and its record says {record.features} features")
    network.hybridize()
    close(network(images).asnumpy(), plain.asnumpy(), 1e-4, 1e-5, "what its graph gives")
    if plain.context.device_type != "cpu":
        network.collect_params().reset_ctx(mx.cpu())
        on_cpu = network(images.as_in_context(mx.cpu())).asnumpy()
        close(plain.asnumpy(), on_cpu, 2e-3, 2e-3 * np.abs(on_cpu).max(), "what it gives on the device")
