"""For any method, by its record: a loss, a batch laid out as its sampler promises, and the value of its slow reference."""

import importlib
import inspect
import runpy
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mxnet as mx
import numpy as np
from mxnet import autograd, nd

from ...base import resources
from ...parts import methods
from ...parts.miners.shared.tuples import all_pairs, as_read
from ..training.networks import named as parameters
from . import close

SEED = 3  # of MXNet's generator, before every call: a loss that samples then draws the same


def reference_of(key: str) -> Any:
    """A method's slow reference, if any: ``tests/reference/KEY.py``, or ``FILE_reference.py`` beside a file of your own."""
    source = methods.KIND.outside.get(key)
    if source is not None:
        file = Path(source.file)
        path = file.with_name(f"{file.stem}_reference.py")
        return SimpleNamespace(**runpy.run_path(str(path))) if source.file and path.is_file() else None
    checkout = resources.checkout()
    if checkout and (tests := str(checkout / "tests")) not in sys.path:
        sys.path.append(tests)
    try:
        return importlib.import_module(f"reference.{key}")
    except ModuleNotFoundError:
        return None


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)


def block_labels(classes: int, per_class: int) -> np.ndarray:
    return np.repeat(np.arange(classes), per_class)


def labels_for(sampler: str, classes: int, rng: np.random.Generator) -> np.ndarray:
    """Four classes or so, as few rows as show everything."""
    if sampler == "pairs":
        return block_labels(classes, 2)
    if sampler == "blocks":
        return block_labels(classes, 3)
    if sampler == "episodes":
        return np.concatenate([block_labels(classes, 2), block_labels(classes, 1)])
    return np.concatenate([rng.integers(0, classes, 2 * classes), [0, 0, 1]])


def reordering(sampler: str, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A permutation of the rows that keeps the layout the sampler promises."""
    classes = rng.permutation(labels.max() + 1)
    if sampler == "pairs":
        return (2 * classes[:, None] + np.arange(2)).ravel()
    if sampler == "blocks":
        return np.concatenate([rng.permutation(np.flatnonzero(labels == c)) for c in classes])
    if sampler == "episodes":
        supports = (2 * classes[:, None] + rng.permutation(2)).ravel()
        return np.concatenate([supports, 2 * len(classes) + rng.permutation(classes)])
    return rng.permutation(len(labels))


@dataclass
class Case:
    """A method with a batch: ``x`` and ``labels`` as NumPy arrays, and a loss of the wanted type."""

    key: str
    classes: int = 4
    width: int = 3
    seed: int = 0
    dtype: str = "float32"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.record = methods.get(self.key)
        self.sampler = self.record.sampler["name"]
        self.options = dict(self.options)
        if "supports" in self.record.sampler:
            self.options.setdefault("supports", 2)
        rng = np.random.default_rng(self.seed)
        self.width = self.classes if self.record.head.get("to_classes") else self.width
        self.labels = labels_for(self.sampler, self.classes, rng)
        self.x = self.embeddings(rng.normal(size=(len(self.labels), self.width)))
        self.loss = self.fresh_loss(rng)

    def embeddings(self, x: np.ndarray) -> np.ndarray:
        """``x`` as the method's head would give it."""
        return (unit(x) if self.record.head["normalize"] else x).astype(self.dtype)

    def fresh_loss(self, rng: np.random.Generator) -> Any:
        mx.random.seed(SEED)
        loss = methods.loss(self.key, num_classes=self.classes, embed_dim=self.width, **self.options)
        for parameter in parameters(loss).values():
            if parameter.grad_req != "null":
                parameter.set_data(parameter.data() + nd.array(rng.normal(size=parameter.shape) / 3))
        loss.cast(self.dtype)
        return loss

    @property
    def samples(self) -> bool:
        """Whether the loss draws random numbers."""
        return bool({"triplets", "quadruplets"} & self.wanted)

    @property
    def wanted(self) -> set[str]:
        """What the reference takes; of one that hands its options on, what its form on given tuples takes."""
        forms = ("value", "on_pairs", "on_triplets")
        found = [getattr(self.reference, name) for name in forms if hasattr(self.reference, name)]
        return {name for form in found for name in inspect.signature(form).parameters}

    @cached_property
    def reference(self) -> Any:
        return reference_of(self.key)

    def value(self, x: Any = None, labels: Any = None) -> float:
        return self.value_and_gradients(x, labels)[0]

    def value_and_gradients(self, x: Any = None, labels: Any = None) -> tuple[float, dict[str, np.ndarray]]:
        """The loss, and its gradients with respect to the embeddings ("x") and the loss's own parameters."""
        x = nd.array(self.x if x is None else x, dtype=self.dtype)
        labels = nd.array(self.labels if labels is None else labels, dtype="int32")
        x.attach_grad()
        mx.random.seed(SEED)
        with autograd.record():
            value = self.loss(x, labels)
        value.backward()
        assert value.shape == (1,)
        learned = {name: p for name, p in parameters(self.loss).items() if p.grad_req != "null"}
        gradients = {"x": x.grad.asnumpy(), **{name: p.grad().asnumpy() for name, p in learned.items()}}
        return float(value.asscalar()), gradients

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: p.data().asnumpy().astype(np.float64) for name, p in parameters(self.loss).items()}

    def constants(self, x: Any = None, labels: Any = None) -> dict[str, Any]:
        """What the gradient does not see of a loss that samples, or weighs by detached weights."""
        x, labels = (self.x if x is None else x), (self.labels if labels is None else labels)
        held = {}
        if "triplets" in self.wanted:
            mx.random.seed(SEED)
            held["triplets"] = self.loss.mine(nd.array(x, dtype=self.dtype), nd.array(labels))
        if "quadruplets" in self.wanted:
            held["quadruplets"] = self.quadruplets(x, labels)
        if "weighing" in self.wanted and self.options.get("detach_weights", True):
            held["weighing"] = x.astype(np.float64)
        if "weighing_proxies" in self.wanted:
            held["weighing_proxies"] = self.arrays().get("proxies")
        return held

    def quadruplets(self, x: Any, labels: Any) -> tuple[np.ndarray, ...]:
        """What a loss that draws a fourth row draws with the others: rows a, p, n, q; q is -1 where there is none."""
        mx.random.seed(SEED)
        embeddings, labels = self.loss.read(np.asarray(x, self.dtype), np.asarray(labels))
        pairs = all_pairs(nd, embeddings, labels, self.dtype)
        found = as_read(pairs, self.loss.miner.kept(nd, pairs), "triplets")
        listed, apart, counts = self.loss.loss.draw(nd, labels, found)
        chosen = listed.weights.asnumpy().ravel() > 0
        fourth = np.where(counts.asnumpy() > 0, apart.asnumpy() % len(labels), -1)
        return (*listed.indices(), fourth.ravel()[chosen].astype(int))

    def _own(self, x: Any, labels: Any, arrays: Mapping[str, np.ndarray]) -> float:
        for name, array in arrays.items():
            parameters(self.loss)[name].set_data(nd.array(array, dtype=self.dtype))
        mx.random.seed(SEED)
        x = nd.array(x, dtype=self.dtype)
        return float(self.loss(x, nd.array(labels, dtype="int32")).asscalar())

    def expected(self, x: Any = None, labels: Any = None, arrays: Any = None, **held: Any) -> float:
        """The slow reference's value; without a reference, that of the loss itself."""
        x, labels = (self.x if x is None else x), (self.labels if labels is None else labels)
        if self.reference is None:
            return self._own(x, labels, arrays or {})
        held = held or self.constants(x, labels)
        options = {name: value for name, value in self.options.items() if name in self.wanted}
        return self.reference.value(x.astype(np.float64), labels, arrays or self.arrays(), **options, **held)


def assert_slopes(case: Case, seed: int) -> None:
    """The case's gradients are the slopes of its reference along random directions, all that is constant held."""
    _, gradients = case.value_and_gradients()
    held, arrays, step = case.constants(), case.arrays(), 1e-6
    rng = np.random.default_rng(seed)
    for name, gradient in gradients.items():
        start = case.x if name == "x" else arrays[name]
        for _ in range(4):
            direction = rng.normal(size=start.shape)
            ends = []
            for sign in (1, -1):
                moved = start + sign * step * direction
                given = {"x": moved} if name == "x" else {"arrays": {**arrays, name: moved}}
                ends.append(case.expected(**given, **held))
            slope = (ends[0] - ends[1]) / (2 * step)
            close((gradient * direction).sum(), slope, 1e-5, 1e-7, f"the gradient of {name}")
