"""What holds for every method: its value and gradient against its slow reference, and what mathematics demands of any loss."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd

from ...base import memory
from ...parts import methods, metrics
from .. import config
from . import Skip, close, refuses, require
from .losses import Case, assert_slopes, block_labels, parameters, reference_of, reordering

CHECKS: list[Callable[[str], None]] = []


def check(function: Callable[[str], None]) -> Callable[[str], None]:
    CHECKS.append(function)
    return function


@check
def the_record_names_the_paper_and_makes_a_trial(key: str) -> None:
    record = methods.get(key)
    named = str(record.year) in record.paper
    require(named, f"the paper {record.paper!r} does not name the year {record.year}")
    require("L = " in record.notes, "the docstring has no formula, a line with: L = ")
    trial = config.trial({"method": key})
    assert trial.sampler["name"] == record.sampler["name"]
    assert set(record.options) == set(trial.method) - {"name"}


@check
def every_option_has_a_type_and_a_published_value(key: str) -> None:
    for name, option in methods.get(key).options.items():
        assert option.type is not None, name
        filled = methods.loss(key, num_classes=4, embed_dim=4, **{name: option.default})
        assert filled.key == key


@check
def value_is_that_of_the_reference(key: str) -> None:
    if reference_of(key) is None:
        raise Skip("it has no slow reference")
    for seed in range(4):
        case = Case(key, classes=4 + seed, width=2 + 2 * seed, seed=seed)
        close(case.value(), case.expected(), 2e-5, 2e-5)


@check
def value_on_points_placed_by_hand(key: str) -> None:
    case = Case(key)
    angles = np.radians([0, 12, 31, 75, 97, 118, 170, 201, 229, 263, 301, 342, 350])[: len(case.x)]
    x = np.zeros_like(case.x)
    x[:, 0], x[:, 1] = np.cos(angles), np.sin(angles)
    close(case.value(x), case.expected(x), 2e-5, 2e-5)


@check
def gradients_are_the_slopes_of_the_reference(key: str) -> None:
    """Along random directions in embeddings and parameters, in float64, with all that is constant held."""
    for seed in range(2):
        assert_slopes(Case(key, seed=10 + seed, dtype="float64"), seed)


@check
def hybridised_equals_imperative(key: str) -> None:
    case = Case(key)
    plain, plain_gradients = case.value_and_gradients()
    for static in (False, True):
        case.loss.hybridize(static_alloc=static, static_shape=static)
        for _ in range(2):  # the second call runs the graph that the first one built
            value, gradients = case.value_and_gradients()
            close(value, plain, 1e-6)
            for name, gradient in gradients.items():
                np.testing.assert_allclose(gradient, plain_gradients[name], rtol=1e-4, atol=1e-6)


@check
def a_hybridised_loss_takes_batches_of_any_size(key: str) -> None:
    case, larger = Case(key, classes=6), Case(key, classes=6, seed=1)
    case.loss.hybridize(static_alloc=True, static_shape=True)
    fewer = larger.labels < 4
    for rows in (fewer, slice(None), fewer):
        x, labels = larger.x[rows], larger.labels[rows]
        close(case.value(x, labels), case.expected(x, labels), 2e-5, 2e-5)


@check
def a_loss_can_be_part_of_a_larger_graph(key: str) -> None:
    case = Case(key)

    class Network(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.loss = case.loss

        def hybrid_forward(self, F: Any, x: Any, labels: Any) -> Any:
            return self.loss(2 * x, labels)

    network = Network()
    network.hybridize()
    x, labels = nd.array(case.x / 2), nd.array(case.labels, dtype="int32")
    mx.random.seed(3)
    if case.loss.loss.host is not None:
        with refuses(f"{key}.*larger graph"):
            network(x, labels)
    else:
        close(network(x, labels).asscalar(), case.value(), 1e-5)


@check
def labels_of_any_type(key: str) -> None:
    for dtype in ("int8", "uint8", "int32", "int64", "float32"):
        case = Case(key)
        expected = case.value()
        mx.random.seed(3)
        assert case.loss(nd.array(case.x), nd.array(case.labels, dtype=dtype)).asscalar() == expected


@check
def the_order_of_rows_does_not_matter(key: str) -> None:
    case = Case(key, dtype="float64")
    if case.samples:
        raise Skip("each order draws its own negatives")
    order = reordering(case.sampler, case.labels, np.random.default_rng(5))
    value, gradients = case.value_and_gradients()
    again, reordered = case.value_and_gradients(case.x[order], case.labels[order])
    close(again, value)
    np.testing.assert_allclose(reordered["x"], gradients["x"][order], atol=1e-9)


@check
def the_names_of_classes_do_not_matter(key: str) -> None:
    """Classes renumbered, and with them whatever the loss, or its embedding, holds one of for each."""
    case = Case(key, classes=5, dtype="float64")
    if "quadruplets" in case.wanted:
        raise Skip("its draws go by the order of the classes")
    value = case.value()
    names = np.array([3, 0, 4, 2, 1])
    for name, array in case.arrays().items():
        if array.shape[0] == case.classes:
            renamed = np.empty_like(array)
            renamed[names] = array
            parameters(case.loss)[name].set_data(nd.array(renamed, dtype="float64"))
    x = case.x
    if case.record.head.get("to_classes"):
        x = np.empty_like(case.x)
        x[:, names] = case.x
    close(case.value(x, names[case.labels]), value)


@check
def nothing_to_compare_gives_the_references_value_and_a_finite_gradient(key: str) -> None:
    """In batches without any positive, without any negative, and of the fewest rows."""
    case = Case(key)
    rows = 2 if case.sampler == "pairs" else 1
    few = case.x[: case.classes], np.arange(case.classes) // rows
    for x, labels in (few, (case.x, np.zeros_like(case.labels)), (case.x[:rows], case.labels[:rows])):
        value, gradients = case.value_and_gradients(x, labels)
        close(value, case.expected(x, labels), 2e-5, 2e-5)
        for gradient in gradients.values():
            assert np.isfinite(gradient).all()
        if value == 0:
            assert not gradients["x"].any()


@check
def extreme_embeddings_give_finite_numbers(key: str) -> None:
    def twice(x: np.ndarray, sign: int) -> np.ndarray:
        """The first half of the rows, and the same or the opposite rows."""
        half = len(x) // 2
        return np.concatenate([x[:half], sign * x[:half], x[2 * half :]])

    rounded = [lambda x: 100 * x, lambda x: twice(x, 1)]  # not the reference's values but for rounding
    for change in (*rounded, lambda x: twice(x, -1), lambda x: 0 * x + x[0], lambda x: 0 * x):
        case = Case(key, width=8)
        x = change(case.x)
        for hybrid in (False, True):
            case.loss.hybridize(hybrid, static_alloc=hybrid, static_shape=hybrid)
            value, gradients = case.value_and_gradients(x)
            finite = np.isfinite(value) and all(np.isfinite(each).all() for each in gradients.values())
            require(finite, "the value or a gradient is not finite")
        if change not in rounded:
            close(value, case.expected(x), 1e-4, 1e-3)


@check
def embeddings_that_are_not_finite_show_in_the_loss(key: str) -> None:
    """So the trainer sees that the model has diverged, and where."""
    for value in (np.nan, np.inf):
        case = Case(key, width=8)
        x = case.x.copy()
        x[1] = value
        assert not np.isfinite(case.loss(nd.array(x), nd.array(case.labels, dtype="int32")).asscalar())


@check
def no_value_of_the_batch_is_waited_for(key: str) -> None:
    case = Case(key)
    if case.loss.loss.host is not None:
        raise Skip("this one computes on the host, and says so")

    def refuse(*_: object) -> None:
        raise AssertionError("the loss waits for its numbers")

    x, labels = nd.array(case.x), nd.array(case.labels, dtype="int32")
    x.attach_grad()
    case.loss.hybridize(static_alloc=True, static_shape=True)
    waiting: Any = dict.fromkeys(("asnumpy", "asscalar", "wait_to_read"), refuse)
    with mock.patch.multiple(nd.NDArray, **waiting), autograd.record():
        value = case.loss(x, labels)
        value.backward()


@check
def memory_stays_within_a_few_matrices_of_the_batch(key: str) -> None:
    if mx.current_context().device_type != "cpu":
        raise Skip("it is the CPU's memory that is measured")
    rows, pairs = 512, methods.get(key).sampler["name"] == "pairs"
    labels = np.arange(rows) // 2 if pairs else np.arange(rows) % 64
    width = rows if pairs else 64
    loss = methods.loss(key, num_classes=width, embed_dim=width)
    loss.hybridize(static_alloc=True, static_shape=True)
    x = nd.random.normal(shape=(rows, width)) / 8
    x.attach_grad()
    before = peak_memory()
    with autograd.record():
        value = loss(x, nd.array(labels, dtype="int32"))
    value.backward()
    nd.waitall()
    matrices = 50 if hasattr(loss.loss, "blocks") else 40  # those that find B x B x B numbers do it in blocks
    assert peak_memory() - before < matrices * 4 * rows**2  # B x B x B numbers at once would be 512


def peak_memory() -> int:
    """The process's largest resident size since the last call, in bytes; reading it starts anew."""
    peak = memory.peak() or 0
    Path("/proc/self/clear_refs").write_text("5")
    return peak


@check
def every_own_parameter_moves_unless_it_is_a_constant(key: str) -> None:
    case = Case(key)
    own = parameters(case.loss)
    learned = {name: p for name, p in own.items() if p.grad_req != "null"}
    before = case.arrays()
    if not before:
        raise Skip("it has no weights of its own")
    case.value_and_gradients()
    if learned:
        gluon.Trainer(learned, "sgd", {"learning_rate": 0.1}).step(1)
    for name, array in case.arrays().items():
        assert np.array_equal(array, before[name]) == (name not in learned), name


@check
def overfits_a_dozen_points(key: str) -> None:
    """Free points, moved by the loss alone, end up nearest to points of their own class.

    Not all of them must: a softmax at a low temperature is content with little more than the right order.
    """
    few = {"label_smoothing": 0.0, "bins": 4, "centers": 1}  # as many nodes as so few points can fill
    options = {name: few[name] for name in methods.get(key).options if name in few}
    case = Case(key, width=4, seed=2, options=options)
    laid_out = {"pairs": block_labels(4, 2), "blocks": block_labels(4, 3)}
    labels = laid_out.get(case.sampler, np.tile(np.arange(4), 3))
    points = gluon.Parameter("points", shape=(len(labels), case.width))
    points.initialize(mx.init.Normal(0.5))
    points.set_data(nd.array(np.random.default_rng(8).normal(size=points.shape) / 2))
    learned = [points, *(p for p in parameters(case.loss).values() if p.grad_req != "null")]
    trainer = gluon.Trainer(learned, "adam", {"learning_rate": 0.05})
    case.loss.hybridize(static_alloc=True, static_shape=True)
    labels = nd.array(labels, dtype="int32")
    first = None
    for _ in range(150):
        with autograd.record():
            x = points.data()
            x = nd.L2Normalization(x) if case.record.head["normalize"] else x
            value = case.loss(x, labels)
        value.backward()
        trainer.step(1)
        first = value.asscalar() if first is None else first
    assert value.asscalar() < first
    # What the loss tells apart: the classes, or the groups of them that it was given.
    groups = case.arrays().get("class_map", np.arange(4))[labels.asnumpy()]
    scores = metrics.evaluate(x.asnumpy(), groups, ks=(1,), clustering=False)
    assert next(iter(scores.values())) >= 0.8


@check
def embeddings_and_labels_that_do_not_belong_together_are_refused(key: str) -> None:
    case = Case(key)
    with refuses(key):
        case.loss(nd.array(case.x), nd.array(case.labels[:-1], dtype="int32"))
    with refuses(key):
        case.loss(nd.array(case.x[:, :, None]), nd.array(case.labels, dtype="int32"))


@check
def embeddings_of_another_width_than_the_parameters_are_refused(key: str) -> None:
    case = Case(key)
    wide = np.concatenate([case.x, case.x], axis=1)
    if any(case.width in p.shape for p in parameters(case.loss).values()):
        with refuses(f"{key}: embeddings must have {case.width} columns, not {2 * case.width}"):
            case.value(wide)
