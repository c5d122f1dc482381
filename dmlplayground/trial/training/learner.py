"""A learner: one network with its loss and its optimizers. It takes batches to learn from and images to embed."""

import dataclasses
from collections.abc import Callable, Iterable
from itertools import cycle
from typing import Any, NamedTuple

import mxnet as mx
import numpy as np
from mxnet import autograd, nd
from mxnet.contrib.amp.loss_scaler import LossScaler

from ...base import registry, seeds
from ...parts import methods, schedules
from ...parts.backbones.shared.engines import extract
from ...parts.backbones.shared.weights import loading
from ..config import Trial
from . import networks, trainers
from .networks import Mixed, named
from .trainers import PartTrainer, WeightAverage

Batch = tuple[np.ndarray, np.ndarray]


class StepResult(NamedTuple):
    """What a step leaves on the device: the mean loss of its batches, and each batch's embeddings and labels."""

    loss: nd.NDArray
    embeddings: list[nd.NDArray]
    labels: list[nd.NDArray]


class Learner:
    """Network, loss and optimizers of a trial; ``place`` (fold, member) distinguishes the learners of one trial.

    The network and the loss are each one static graph. They are two, not one, so that a batch split over several
    devices is gathered before the loss, and the health figures can look at the embeddings.
    """

    def __init__(
        self,
        trial: Trial,
        num_classes: int,
        contexts: list[mx.Context],
        place: tuple[int, int] = (0, 0),
        pretrained: bool = True,  # False: the weights are about to be loaded anyway
    ):
        mx.random.seed(seeds.integer(trial.seed, "initialisation", *place))
        self.trial = trial
        self.fold = place[0]
        self.contexts = contexts
        # Small gradients vanish in float16. So the loss is multiplied by a large number before it goes backward, and the
        # gradients are divided by it in the step. A step whose gradients have overflowed is left out.
        self.scaler = LossScaler() if trial.amp is True else None
        self.network = networks.network(trial, num_classes, pretrained)
        self.loss = methods.loss(
            trial.method["name"],
            num_classes=num_classes,
            embed_dim=self.network.head.width,
            mining=trial.mining,
            regularizers=trial.regularizers,
            memory=dataclasses.asdict(trial.memory),
            unit_rows=trial.head.normalize and trial.head.reduction == "linear",
            **registry.split(trial.method)[1],
        )
        if trial.freeze_batchnorm:
            networks.freeze_batchnorm(self.network.backbone, learned=trial.freeze_batchnorm == "statistics")
        self.network.collect_params().reset_ctx(contexts)
        self.loss.collect_params().reset_ctx(contexts[0])
        blocks = {"backbone": self.network.backbone, "head": self.network.head, "loss": self.loss}
        self.parts = {group: PartTrainer(named(block), trial, group) for group, block in blocks.items()}
        self.schedule = schedules.create(**trial.schedule)
        decay = trial.ema.decay
        self.average = None if decay is None else WeightAverage(self._parameters(), decay)
        if trial.accumulate > 1:
            for parameter in self.learned():
                parameter.grad_req = "add"
        self.network.hybridize(static_alloc=True, static_shape=True)
        # What batches go through: in training, and to be embedded (where another engine may take its place).
        self.in_training: Callable = Mixed(self.network, trial.amp) if trial.amp else self.network
        self.extractor: Callable = self.network
        self.loss.hybridize(static_alloc=True, static_shape=True)

    @property
    def width(self) -> int:
        return self.network.head.width

    def learned(self) -> list:
        return [parameter for part in self.parts.values() for parameter in part.parameters.values()]

    def begin_epoch(self, epoch: int, steps: int = 1) -> None:
        """Prepare for the epoch (counted from 1), which has ``steps`` steps."""
        self.epoch, self.steps, self.steps_done = epoch, steps, 0
        for part in self.parts.values():
            part.rule.begin_epoch(epoch)
        self._set_rates()
        frozen = ["backbone"] if epoch <= self.trial.frozen_epochs else []
        self.active = [part for name, part in self.parts.items() if name not in frozen]

    def _set_rates(self) -> None:
        """Set the learning rates that the schedule has for the next step."""
        self.scale_rates(self.schedule.scale(self.epoch, self.trial.epochs, self.steps_done, self.steps))

    def scale_rates(self, factor: float) -> None:
        """Multiply every part's learning rate by this factor."""
        self.scale = factor
        for part in self.parts.values():
            part.scale(factor)

    def step(self, batches: list[Batch]) -> StepResult:
        """One update from the mean loss of the batches, without waiting for the device."""
        if self.trial.accumulate > 1:
            for parameter in self.learned():
                parameter.zero_grad()
        total, outputs, targets = None, [], []
        for images, labels in batches:
            self.loss.loss.check_labels(labels)
            labels = on_device(self.contexts[0], labels)
            with autograd.record():
                embeddings = self.forward(images)
                loss = self.loss(embeddings, labels)
                if len(batches) > 1:
                    loss = loss / len(batches)
                scaled = loss if self.scaler is None else loss * self.scaler.loss_scale
            scaled.backward()
            total = loss if total is None else total + loss
            outputs.append(embeddings)
            targets.append(labels)
        self._update()
        self.steps_done += 1
        if self.schedule.moves == "step":
            self._set_rates()
        return StepResult(total, outputs, targets)

    def _update(self) -> None:
        divisor = 1 if self.scaler is None else self.scaler.loss_scale
        if self.scaler is not None and self.scaler.has_overflow(self.learned()):
            return
        trainers.step(self.active, self.trial.optimizer["clip_norm"], divisor)
        if self.average is not None:
            self.average.update()

    def forward(self, images: np.ndarray) -> nd.NDArray:
        """Embeddings of a block of images to train on, computed in equal parts on the devices and gathered on the first."""
        shares = zip(self.contexts, np.split(images, len(self.contexts)))
        outputs = [self.in_training(on_device(context, share)) for context, share in shares]
        if len(outputs) == 1:
            return outputs[0]
        return nd.concat(*[output.as_in_context(self.contexts[0]) for output in outputs], dim=0)

    def health(self, embeddings: nd.NDArray, labels: nd.NDArray) -> dict[str, Any]:
        """Of a batch: mean distances within and between classes, the share of rows that the loss moves, and norms."""
        points = embeddings.detach()
        points.attach_grad()
        with self.loss.memory_held(), autograd.record():
            value = self.loss(points, labels)
        # A row where it is zero takes part in no active term of any method.
        gradient = autograd.grad([value], [points])[0].asnumpy()
        points, labels = embeddings.asnumpy().astype(np.float64), labels.asnumpy()
        squares = (points**2).sum(axis=1)
        distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0))
        same = labels[:, None] == labels
        positive, negative = same & ~np.eye(len(labels), dtype=bool), ~same
        norms = [float(p.list_grad()[0].norm().asscalar()) for p in self.learned()]
        return {
            "positive_distance": float(distances[positive].mean()) if positive.any() else None,
            "negative_distance": float(distances[negative].mean()) if negative.any() else None,
            "active_share": float((np.abs(gradient).max(axis=1) > 0).mean()),
            "embedding_norm": float(np.sqrt(squares).mean()),
            "gradient_norm": float(np.sqrt(np.square(norms).sum())),
        }

    def embed(self, blocks: Iterable[np.ndarray]) -> np.ndarray:
        """Embeddings of all images, (N, width) float32, without dropout and with the running batch-norm statistics; by
        the average of the weights where one is kept."""
        placed = (on_device(context, block) for context, block in zip(cycle(self.contexts), blocks))
        if self.average is None:
            return extract(self.extractor, placed, self.width)
        self.average.exchange()
        try:
            return extract(self.extractor, placed, self.width)
        finally:
            self.average.exchange()

    def _parameters(self) -> dict[str, mx.gluon.Parameter]:
        """Everything that decides embeddings and loss, by its place."""
        blocks = {"network": self.network, "loss": self.loss}
        return {f"{key}.{name}": own for key, block in blocks.items() for name, own in named(block).items()}

    def weights(self) -> dict[str, np.ndarray]:
        """The weights as they are trained, as arrays."""
        return {name: parameter.list_data()[0].asnumpy() for name, parameter in self._parameters().items()}

    def load_weights(self, weights: dict[str, np.ndarray]) -> None:
        own = self._parameters()
        loading.check(own, weights, "the trial's file of weights")
        for name, parameter in own.items():
            parameter.set_data(nd.array(weights[name], dtype=weights[name].dtype))
        if self.average is not None:
            self.average = WeightAverage(own, self.average.decay)

    def state(self) -> dict[str, np.ndarray]:
        """``weights``, their average, and the state of optimizers and loss: everything needed to continue exactly."""
        held: dict[str, Any] = {part: trainer.state() for part, trainer in self.parts.items()}
        held.update(weights=self.weights(), memory=self.loss.state())
        if self.average is not None:
            held["average"] = self.average.state()
        return {f"{part}:{name}": np.asarray(one) for part, own in held.items() for name, one in own.items()}

    def load_state(self, state: dict[str, np.ndarray]) -> None:
        self.load_weights(_part(state, "weights"))
        for part, trainer in self.parts.items():
            trainer.load_state(_part(state, part))
        self.loss.load_state(_part(state, "memory"))
        if self.average is not None:
            self.average.load_state(_part(state, "average"))


def weights_in(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The weights to evaluate and keep when this state was taken: their average where one is kept."""
    average = _part(state, "average")
    return {name: average.get(name, array) for name, array in _part(state, "weights").items()}


def _part(state: dict[str, np.ndarray], part: str) -> dict[str, np.ndarray]:
    start = f"{part}:"
    return {key[len(start) :]: array for key, array in state.items() if key.startswith(start)}


def on_device(context: mx.Context, array: np.ndarray) -> nd.NDArray:
    """The array on a device. A CPU reads it in place, since MXNet's own copy of a block is slow."""
    if context.device_type == "cpu":
        return nd.from_numpy(np.require(array, requirements=["C", "O"])).as_in_context(context)
    return nd.array(array, ctx=context, dtype=array.dtype)
