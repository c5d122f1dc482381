"""The optimisers of a trial: one ``gluon.Trainer`` for each part of the model, since the parts learn at their own rates."""

from __future__ import annotations

from typing import Any

import mxnet as mx
from mxnet import gluon, nd

from ..config import Group, Optimizer


@mx.optimizer.register
class PlainRMSProp(mx.optimizer.Optimizer):
    """RMSProp with ordinary momentum on the scaled gradient; MXNet's own has momentum only in its centred form."""

    def __init__(self, rho=0.9, momentum=0.0, epsilon=1e-7, **kwargs):
        super().__init__(**kwargs)
        self.rho = rho
        self.momentum = momentum
        self.epsilon = epsilon

    def create_state(self, index, weight):
        return nd.zeros_like(weight), nd.zeros_like(weight)  # mean square, velocity

    def update(self, index, weight, grad, state):
        self._update_count(index)
        grad = grad * self.rescale_grad + self._get_wd(index) * weight
        if self.clip_gradient is not None:
            grad = grad.clip(-self.clip_gradient, self.clip_gradient)
        square, velocity = state
        square[:] = self.rho * square + (1 - self.rho) * grad**2
        velocity[:] = self.momentum * velocity + grad / (square.sqrt() + self.epsilon)
        weight -= self._get_lr(index) * velocity


def build(config: Optimizer) -> mx.optimizer.Optimizer:
    shared: dict[str, Any] = {
        "learning_rate": config.lr,
        "wd": config.weight_decay,
        "clip_gradient": config.clip,
    }
    if config.name == "adam":
        # lazy_update is for sparse gradients and would skip weight decay on rows without any
        return mx.optimizer.Adam(
            beta1=config.beta1, beta2=config.beta2, epsilon=config.epsilon, lazy_update=False, **shared
        )
    if config.name == "sgd":
        return mx.optimizer.SGD(momentum=config.momentum, lazy_update=False, **shared)
    return PlainRMSProp(rho=config.rho, momentum=config.momentum, epsilon=config.epsilon, **shared)


class PartTrainer:
    """The trainer of the backbone, the head or the loss: steps, the epoch's learning rate, and its state as arrays."""

    def __init__(self, parameters: dict[str, gluon.Parameter], group: Group, base: Optimizer):
        self.parameters = {name: p for name, p in parameters.items() if p.grad_req != "null"}
        self.config = group.optimizer(base)
        self.lr_mult = group.lr_mult
        self.steps = 0
        for parameter in self.parameters.values():
            for piece, multiplier in group.lr_mult_by_name.items():
                if piece in parameter.name:
                    parameter.lr_mult = multiplier
        self._trainer: Any = self._create() if self.parameters else None

    def _create(self) -> gluon.Trainer:
        parameters = list(self.parameters.values())
        contexts = parameters[0].list_ctx()
        if len(contexts) == 1:
            return gluon.Trainer(parameters, build(self.config), kvstore=None)
        store = "device" if contexts[0].device_type == "gpu" else "local"
        return gluon.Trainer(parameters, build(self.config), kvstore=store, update_on_kvstore=False)

    def begin_epoch(self, epoch: int, scale: float) -> None:
        if self._trainer is None:
            return
        self._trainer.set_learning_rate(self.config.lr * self.lr_mult * scale)
        if isinstance(self._trainer.optimizer, PlainRMSProp):
            self._trainer.optimizer.rho = self.config.rho * self.config.rho_decay ** (epoch - 1)

    def step(self, divisor: float = 1) -> None:
        """Update with the gradients over ``divisor``."""
        if self._trainer is not None:
            self._trainer.step(divisor)
            self.steps += 1

    # The updaters keep None, one array or a tuple of arrays for each parameter, and the optimizer counts the updates
    # (Adam's bias correction reads the count). Gluon would pickle all that; arrays can be read back without executing
    # anything.

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"steps": self.steps}
        if self.steps:
            for device, updater in enumerate(self._trainer._updaters):
                for index, name in enumerate(self.parameters):
                    for slot, array in enumerate(_slots(updater.states[index])):
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
                for slot, array in enumerate(_slots(updater.states[index])):
                    array[:] = state[f"{name}/{device}/{slot}"]
                optimizer._set_current_context(weight.context.device_id)
                optimizer._index_update_count[index] = self.steps
        optimizer.num_update = self.steps


def _slots(state: Any) -> list:
    if state is None:
        return []
    return list(state) if isinstance(state, (tuple, list)) else [state]
