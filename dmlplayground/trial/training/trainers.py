"""The optimizers of a model in training: a ``gluon.Trainer`` for each part, which has its own rate, and what concerns all."""

from collections.abc import Mapping, Sequence
from typing import Any

import mxnet as mx
from mxnet import gluon, nd

from ...parts import optimizers
from ..config import Trial, optimizer_of


class Updates(mx.optimizer.Optimizer):
    """Our optimizer, in the form that Gluon's trainer calls."""

    def __init__(self, rule: optimizers.Optimizer):
        super().__init__(learning_rate=rule.lr, wd=rule.weight_decay)
        self.rule = rule

    def create_state(self, index: int, weight: nd.NDArray) -> tuple[nd.NDArray, ...]:
        return tuple(nd.zeros_like(weight) for _ in range(self.rule.slots))

    def update(self, index: int, weight: nd.NDArray, grad: nd.NDArray, state: tuple[nd.NDArray, ...]) -> None:
        self._update_count(index)
        if self.rescale_grad != 1:
            grad = grad * self.rescale_grad
        lr, weight_decay = self._get_lr(index), self._get_wd(index)
        self.rule.update(nd, weight, grad, state, lr, weight_decay, self._index_update_count[index])


class PartTrainer:
    """The trainer of the backbone, the head or the loss: steps, the learning rate, and its state as arrays."""

    def __init__(self, parameters: dict[str, gluon.Parameter], trial: Trial, group: str):
        self.parameters = {name: p for name, p in parameters.items() if p.grad_req != "null"}
        self.rule = optimizers.create(**optimizer_of(trial.optimizer, trial.groups, group))
        self.group = getattr(trial.groups, group)
        self.clip_norm: float | None = self.group.get("clip_norm")  # of this part's gradients alone
        self.steps = 0
        for parameter in self.parameters.values():
            parameter.lr_mult = _of_name(self.group["lr_mult_by_name"], parameter.name)
            parameter.wd_mult = _of_name(self.group["wd_mult_by_name"], parameter.name)
        self._trainer: Any = self._create() if self.parameters else None

    def _create(self) -> gluon.Trainer:
        parameters = list(self.parameters.values())
        contexts = parameters[0].list_ctx()
        if len(contexts) == 1:
            return gluon.Trainer(parameters, Updates(self.rule), kvstore=None)
        store = "device" if contexts[0].device_type == "gpu" else "local"
        return gluon.Trainer(parameters, Updates(self.rule), kvstore=store, update_on_kvstore=False)

    def scale(self, scale: float) -> None:
        """Set the learning rate to this fraction of its full value."""
        if self._trainer is not None:
            self._trainer.set_learning_rate(self.rule.lr * self.group["lr_mult"] * scale)

    def gather(self) -> None:
        """Add up the gradients of all devices."""
        if self._trainer is not None:
            self._trainer.allreduce_grads()

    def update(self, divisor: float = 1) -> None:
        """Move the weights by the gathered gradients over ``divisor``."""
        if self._trainer is not None:
            self._trainer.update(divisor)
            self.steps += 1

    # The updaters keep a tuple of arrays for each parameter, and the optimizer counts the updates (Adam's bias
    # correction reads the count). Gluon would pickle all that; arrays can be read back without executing anything.

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"steps": self.steps}
        if self.steps:
            for device, updater in enumerate(self._trainer._updaters):
                for index, name in enumerate(self.parameters):
                    for slot, array in enumerate(updater.states[index]):
                        state[f"{name}/{device}/{slot}"] = array.asnumpy()
        return state

    def load_state(self, state: dict[str, Any]) -> None:
        self.steps = int(state["steps"])
        if not self.steps:
            return
        optimizer = self._trainer.optimizer
        for device, updater in enumerate(self._trainer._updaters):
            for index, (name, parameter) in enumerate(self.parameters.items()):
                weight = parameter.list_data()[device]
                updater.states[index] = optimizer.create_state_multi_precision(index, weight)
                updater.states_synced[index] = True
                for slot, array in enumerate(updater.states[index]):
                    array[:] = state[f"{name}/{device}/{slot}"]
                optimizer._set_current_context(weight.context.device_id)
                optimizer._index_update_count[index] = self.steps
        optimizer.num_update = self.steps


def _of_name(multipliers: Mapping[str, float], name: str) -> float:
    """The multiplier of the last of the pieces that the name contains."""
    return ([1.0] + [value for piece, value in multipliers.items() if piece in name])[-1]


def step(parts: Sequence[PartTrainer], clip_norm: float | None, divisor: float = 1) -> None:
    """One step of all parts with the gradients over ``divisor``, shortened where they are longer than they may be."""
    for part in parts:
        part.gather()
    together = [part for part in parts if part.clip_norm is None]
    if clip_norm is not None:
        shorten(_gradients(together), clip_norm * divisor)
    for part in parts:
        if part.clip_norm is not None:
            shorten(_gradients([part]), part.clip_norm * divisor)
        part.update(divisor)


def _gradients(parts: Sequence[PartTrainer]) -> list[list[nd.NDArray]]:
    return [parameter.list_grad() for part in parts for parameter in part.parameters.values()]


def shorten(gradients: Sequence[Sequence[nd.NDArray]], limit: float) -> None:
    """Scale the gradients (of each parameter, its copies on the devices) so that their joint length is at most
    ``limit``. The length is computed on the device; nothing waits for it."""
    if not gradients:
        return
    first = gradients[0][0].context
    squares = [copies[0].astype("float32").square().sum().as_in_context(first) for copies in gradients]
    scale = (limit / (nd.add_n(*squares).sqrt() + 1e-12)).clip(0, 1)
    for copies in gradients:
        for gradient in copies:
            gradient *= scale.as_in_context(gradient.context).astype(gradient.dtype)


class WeightAverage:
    """A moving average of the parameters that learn, the newest weighing most.

    The running statistics of batch-norm are an average already, and MXNet writes them in the backward pass, where
    nothing that reads them at once is made to wait for it.
    """

    def __init__(self, parameters: Mapping[str, gluon.Parameter], decay: float):
        self.parameters = {name: p for name, p in parameters.items() if p.grad_req != "null"}
        self.decay = decay
        self.steps = 0
        self.arrays = {name: parameter.list_data()[0].copy() for name, parameter in self.parameters.items()}

    def update(self) -> None:
        self.steps += 1
        decay = min(self.decay, (1 + self.steps) / (10 + self.steps))
        for name, parameter in self.parameters.items():
            self.arrays[name] += (1 - decay) * (parameter.list_data()[0] - self.arrays[name])

    def exchange(self) -> None:
        """Swap the averages and the weights; doing it twice changes nothing."""
        for name, parameter in self.parameters.items():
            weights = parameter.list_data()[0].copy()
            parameter.set_data(self.arrays[name])
            self.arrays[name] = weights

    def state(self) -> dict[str, Any]:
        return {"steps": self.steps, **{name: array.asnumpy() for name, array in self.arrays.items()}}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.steps = int(state["steps"])
        for name, array in self.arrays.items():
            array[:] = state[name]
