"""``dmlplayground doctor --full``: every part at work for a few steps on every device of this machine.

A grid a kind in ``experiments/parts`` trains each part once; a part that is in no grid takes the place of another there.
All networks are tried too. A device counts as good for a part if

* the loss and its gradients, computed as training does it, are those of the same loss in double precision on the CPU,
  computed operator by operator: that finds wrong kernels and wrongly joined graphs alike;
* the losses of the first steps are those that the CPU has come to, and the weights have moved;
* what a network makes of images is what it makes of them on the CPU, operator by operator.
"""

from __future__ import annotations

import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count, islice
from typing import Any, Optional

import mxnet as mx
import numpy as np
from mxnet import autograd, nd

from ...base import layout, registry
from ...base.errors import UserError
from ...parts import backbones
from ...sweeps import grid
from ...trial import config
from ...trial.config import Trial
from ...trial.training import learner, train
from ...trial.training.feed import Feed
from ...trial.training.learner import Learner, Step
from ...trial.training.lr_finder import first_fold

STEPS = 3
SEED = 3  # of MXNet's generator before a loss is computed, so that a loss that draws draws the same
CLOSE = 2e-3  # relative difference that single precision may make
ALIKE = 0.05  # relative difference of the losses of a few steps, in which rounding errors grow
FEW = {"data": {"classes": 64, "images_per_class": 6, "size": 24}, "iterations": STEPS, "epochs": 1}
NETWORK: dict[str, Any] = {
    "method": "npairs",
    "data": {"name": "glyphs", "classes": 32, "images_per_class": 4, "size": 64},
    "transform": "plain",
    "batch_size": 8,
    "iterations": STEPS,
    "head": {"normalize": True},
}


class Wrong(Exception):
    """A part did something wrong; the message says what."""


@dataclass
class Outcome:
    """What became of one part on one device."""

    kind: str
    name: str
    device: str
    seconds: float
    fault: str = ""
    result: str = ""


@dataclass
class Rehearsals:
    """The rehearsals on the devices of this machine; the CPU comes first, for the others are held against it."""

    devices: Sequence[str]
    losses: dict[tuple[str, str], list[float]] = field(default_factory=dict)  # of a part's steps on the CPU

    def outcomes(self, wanted: Optional[Callable[[str, str], bool]] = None) -> Iterator[Outcome]:
        """One by one, as they end; only those ``wanted`` by kind and name, if that is given."""
        for device in self.devices:
            for kind, name, rehearse in self._rehearsals(device):
                if wanted is None or wanted(kind, name):
                    yield _outcome(kind, name, device, rehearse)

    def _rehearsals(self, device: str) -> Iterator[tuple[str, str, Callable[[], str]]]:
        for kind in ("methods", "miners", "regularizers", "samplers", "optimizers", "schedules"):
            for name, trial in _trained_once(kind, device):
                yield kind, name, partial(self._steps, kind, name, trial)
        for name in backbones.names():
            if backbones.get(name).preprocessing is not None:
                yield "backbones", name, partial(self._network, name, device)
        for name in ("mixed precision", "two devices"):
            yield "devices", name, partial(self._variant, name, device)
        for kind in ("transforms", "augmentations", "protocols"):
            for name, trial in _trained_once(kind, device, batch_size=20):
                yield kind, name, partial(_trained, trial)

    # --- a few steps -------------------------------------------------------------------------------------------------

    def _steps(self, kind: str, name: str, trial: Trial) -> str:
        feed, one = first_fold(trial)
        before = one.weights()
        last = self._train(kind, name, feed, one)
        after = one.weights()
        if all((before[key] == after[key]).all() for key in before):
            raise Wrong("no weight has moved")
        return _same_in_double_precision(one, _twin(feed), last)

    def _train(self, kind: str, name: str, feed: Feed, one: Learner) -> Step:
        """The last of a few steps, whose losses must be finite, and those of the CPU."""
        losses = []
        for batches in islice(chain.from_iterable(feed.batches(epoch) for epoch in count(1)), STEPS):
            step = one.step(batches)
            feed.seen([step])
            losses.append(float(step.loss.asscalar()))
        if not np.isfinite(losses).all():
            raise Wrong(f"the losses of the first steps are {losses}")
        _differ("the losses of the first steps", losses, self.losses.setdefault((kind, name), losses), ALIKE)
        return step

    # --- networks ----------------------------------------------------------------------------------------------------

    def _network(self, name: str, device: str) -> str:
        trial = config.trial(_on(device, {**NETWORK, "backbone": {"name": name, "pretrained": "none"}}))
        feed, one = first_fold(trial)
        step = self._train("backbones", name, feed, one)
        began = time.perf_counter()
        for batches in islice(feed.batches(2), STEPS):
            step = one.step(batches)
        step.loss.wait_to_read()
        rate = STEPS * trial.batch_size / (time.perf_counter() - began)
        images = next(feed.batches(3))[0][0]
        _differ("its embeddings", one.embed([images]), _by_operators(one, _twin(feed), images), CLOSE)
        return f"{rate:.0f}"

    # --- devices -----------------------------------------------------------------------------------------------------

    def _variant(self, name: str, device: str) -> str:
        change: dict[str, dict[str, Any]] = {
            "two devices": {"devices": 2},
            "mixed precision": {"amp": "bfloat16" if device == "cpu" else True},
        }
        if name == "two devices" and 0 < mx.context.num_gpus() < 2 and device == "gpu":
            return "left out: there is one"
        # With running statistics, for otherwise each device normalises its own part of the batch by itself.
        alike = {**NETWORK, "backbone": {"name": "conv4", "pretrained": "none"}, "freeze_batchnorm": True}
        losses = []
        for changes in ({}, change[name]):
            trial = config.trial(_on(device, {**alike, **changes}))
            feed, one = first_fold(trial)
            losses.append([float(one.step(batches).loss.asscalar()) for batches in feed.batches(1)])
        _differ(f"with {name} the losses of the first steps", losses[1], losses[0], ALIKE)
        return ""


def devices() -> list[str]:
    """What there is to compute on here."""
    return ["cpu", "gpu"] if mx.context.num_gpus() else ["cpu"]


def _trained_once(kind: str, device: str, **changes: Any) -> Iterator[tuple[str, Trial]]:
    """The parts of a kind, each with the trial that ``experiments/parts`` has for it, made shorter; one that is not
    there (a new part of somebody's own) takes the place of another."""
    experiment, _ = grid.load(f"parts/{kind}")
    shorter = config.expand({**FEW, **changes})
    wanted = [config.merge(experiment.configuration(choice), shorter) for choice in experiment.choices()]
    known = {}
    for each in wanted:
        trial = config.trial(_on(device, each))
        known[_name(kind, trial)] = trial
    yield from known.items()
    for name in registry.kind(kind).names():
        if name not in known:
            yield name, _in_anothers_place(kind, name, [_on(device, each) for each in wanted])


def _in_anothers_place(kind: str, name: str, wanted: Sequence[dict[str, Any]]) -> Trial:
    """The first of these trials that can have this part in place of its own."""
    for each in wanted[:-1]:
        with suppress(UserError):
            return config.trial(_with(kind, name, each))
    return config.trial(_with(kind, name, wanted[-1]))


def _with(kind: str, name: str, trial: dict[str, Any]) -> dict[str, Any]:
    if kind == "augmentations":
        return {**trial, "transform": {**trial["transform"], "augment": [name]}}
    return {**trial, registry.kind(kind).setting: [name] if kind == "regularizers" else name}


def _name(kind: str, trial: Trial) -> str:
    component: Any = {
        "methods": trial.method,
        "miners": trial.mining,
        "regularizers": next(iter(trial.regularizers), None),
        "samplers": trial.sampler,
        "optimizers": trial.optimizer,
        "schedules": trial.schedule,
        "transforms": trial.transform,
        "augmentations": next(iter(trial.transform.get("augment", ())), None),
        "protocols": trial.protocol,
    }[kind]
    return component["name"]


def _on(device: str, wanted: dict[str, Any]) -> dict[str, Any]:
    return {**wanted, "device": device, "seed": 0}


def _trained(trial: Trial) -> str:
    """A whole training, evaluation and record."""
    with tempfile.TemporaryDirectory() as store:
        record = train(trial, store, quiet=True)
    values = [value for entry in record.epochs for value in entry.get("metrics", {}).values()]
    if record.status != "finished" or not values or not np.isfinite(values).all():
        raise Wrong(f"the trial ended as {record.status} with the scores {values}")
    return ""


def _outcome(kind: str, name: str, device: str, rehearse: Callable[[], str]) -> Outcome:
    began = time.perf_counter()
    fault, result = "", ""
    try:
        result = rehearse()
    except Wrong as wrong:
        fault = str(wrong)
    except Exception as error:  # whatever a broken part or device raises is a finding
        fault = traceback.format_exception_only(type(error), error)[-1].strip()
    return Outcome(kind, name, device, time.perf_counter() - began, fault, result)


# --- comparisons -----------------------------------------------------------------------------------------------------


def _differ(what: str, found: Any, expected: Any, tolerance: float) -> None:
    """Raise ``Wrong`` where two arrays are further apart than the tolerance, relative to the largest of their values."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    if not np.isfinite(found).all():
        raise Wrong(f"{what}: not all finite")
    apart = float(np.abs(found - expected).max(initial=0))
    if apart > tolerance * max(float(np.abs(expected).max(initial=0)), 1e-3):
        raise Wrong(f"{what}: up to {apart:.3g} apart from what they should be")


def _twin(feed: Feed) -> Learner:
    """Another learner of the trial, on the CPU."""
    return Learner(feed.trial, feed.dataset.num_classes, [mx.cpu()], pretrained=False)


def _by_operators(one: Learner, twin: Learner, images: np.ndarray) -> np.ndarray:
    """What the learner's network makes of the images on the CPU, without a graph."""
    twin.load_weights(one.weights())
    twin.network.hybridize(active=False)
    return twin.embed([images])


def _same_in_double_precision(one: Learner, twin: Learner, step: Step) -> str:
    """Hold the loss and its gradients against the same loss in double precision."""
    embeddings, labels = step.embeddings[-1], step.labels[-1]
    twin.load_weights(one.weights())
    twin.loss.hybridize(active=False)
    twin.loss.cast("float64")
    exact = [
        _value_and_gradients(twin.loss, embeddings, labels, "float64", mx.cpu(), seed)
        for seed in (SEED, SEED + 1)
    ]
    found = _value_and_gradients(one.loss, embeddings, labels, "float32", embeddings.context, SEED)
    if exact[0][0] != exact[1][0]:
        if not all(np.isfinite(value).all() for value in [np.asarray(found[0]), *found[1].values()]):
            raise Wrong("the loss or a gradient is not finite")
        return "draws at random, so its values were looked at for being finite alone"
    _differ("the loss", found[0], exact[0][0], CLOSE)
    for key, gradient in found[1].items():
        _differ(f"the gradient of {key}", gradient, exact[0][1][key], CLOSE)
    return ""


def _value_and_gradients(
    loss: Any, embeddings: Any, labels: Any, dtype: str, context: Any, seed: int
) -> tuple[float, dict[str, np.ndarray]]:
    x = nd.array(embeddings.asnumpy(), ctx=context, dtype=dtype)
    x.attach_grad()
    mx.random.seed(seed)
    with autograd.record():
        value = loss(x, labels.as_in_context(context))
    value.backward()
    learned = {key: one for key, one in learner.named(loss).items() if one.grad_req != "null"}
    return float(value.asscalar()), {
        "the embeddings": x.grad.asnumpy(),
        **{key: one.grad().asnumpy() for key, one in learned.items()},
    }


# --- telling ---------------------------------------------------------------------------------------------------------


def tell(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """A table of the outcomes, a line a kind and device, then what is wrong, part by part."""
    found = list(outcomes)
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in found:
        groups.setdefault((outcome.kind, outcome.device), []).append(outcome)
    rows = [("parts", "device", "work", "of", "seconds")]
    for (kind, device), group in groups.items():
        good = sum(not outcome.fault for outcome in group)
        seconds = f"{sum(outcome.seconds for outcome in group):.1f}"
        rows.append((kind, device, str(good), str(len(group)), seconds))
    yield layout.columns(rows, right={2, 3, 4}, rule=True)
    for device in dict.fromkeys(outcome.device for outcome in found):
        rates = [f"{one.name} {one.result}" for one in found if one.device == device and one.result.isdigit()]
        if rates:
            yield layout.fill(
                f"Images a second in training on the {device}, {NETWORK['data']['size']} pixels, "
                f"batches of {NETWORK['batch_size']}: {', '.join(rates)}.",
                later="  ",
            )
    for outcome in found:
        if outcome.fault:
            yield layout.fill(
                f"X {outcome.kind} {outcome.name} on {outcome.device}: {outcome.fault}", later="  "
            )


def every(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Every outcome in a line, for the file."""
    for one in outcomes:
        said = one.fault or (f"{one.result} images/s" if one.result.isdigit() else one.result) or "works"
        yield f"{'X' if one.fault else ' '} {one.kind} {one.name} on {one.device}: {said} ({one.seconds:.1f} s)"
