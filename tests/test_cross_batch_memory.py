"""The cross-batch memory against slots filled in a loop, over batches enough to wrap around."""

import importlib
import inspect

import numpy as np
import pytest
from reference._tuples import all_triplets
from reference.memory import Memory

from dmlplayground import config, methods, mining
from dmlplayground.base.errors import UserError
from dmlplayground.trial.conformance.losses import parameters, unit

# isort: split
import mxnet as mx
from mxnet import autograd, gluon, nd

from dmlplayground.trial.training.learner import Learner

SIZE, ROWS, CLASSES, WIDTH = 20, 8, 4, 3
READERS = [key for key in methods.names() if methods.get(key).reads in ("pairs", "triplets")]
NEEDED = {"pairs": "on_pairs", "triplets": "on_triplets"}  # of a reference: the loss of given tuples


def of_given_tuples(key):
    reference = importlib.import_module(f"reference.{key}")
    return hasattr(reference, NEEDED[methods.get(key).reads])


TAKERS = [key for key in READERS if key != "quadruplet"]
COMPARED = [key for key in TAKERS if of_given_tuples(key)]
FORMS = ("authors", "alone", "library")


def batches(count=5, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        labels = rng.integers(0, CLASSES, ROWS)
        labels[:4] = [0, 0, 1, 2]
        yield unit(rng.normal(size=(ROWS, WIDTH))), labels


def made(key, form="authors", static=True, mining=None, start=0, weight=1.0):
    # Margin and its like draw negatives of their own accord; here all triplets are compared.
    reads = methods.get(key).reads
    mining = mining or ("all" if reads == "triplets" else None)
    memory = {"size": SIZE, "form": form, "start": start, "weight": weight}
    mx.random.seed(1)
    loss = methods.loss(key, num_classes=CLASSES, embed_dim=WIDTH, mining=mining, memory=memory)
    loss.cast("float64")
    if static:
        loss.hybridize(static_alloc=True, static_shape=True)
    return loss


def value_and_gradient(loss, x, labels):
    rows = nd.array(x, dtype="float64")
    rows.attach_grad()
    with autograd.record():
        value = loss(rows, nd.array(labels))
    value.backward()
    return value.asscalar(), rows.grad.asnumpy()


def of_batch(key, x, labels, parameters, **options):
    """The batch's own loss, by the loss's reference."""
    reference = importlib.import_module(f"reference.{key}")
    if key == "margin":
        options["triplets"] = all_triplets(labels)
    return reference.value(x, labels, parameters, **options)


def held(key, x, rows):
    """What the slope takes for constant, at these rows of the batch and of the batch with the memory."""
    form = importlib.import_module(f"reference.{key}").value
    weighs = key == "circle" or "weighing" in inspect.signature(form).parameters
    return ({"weighing": x}, {"weighing": rows}) if weighs else ({}, {})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", COMPARED)
def test_values_and_gradients_are_those_of_slots_in_a_loop(key, form):
    loss, slots, reads = made(key, form, weight=0.7), Memory(SIZE), methods.get(key).reads
    own = {name: parameter.data().asnumpy() for name, parameter in parameters(loss).items()}
    rng = np.random.default_rng(9)

    def expected(x, labels, at):
        of_own, of_all = held(key, at, slots.joined(at, labels)[0])
        value = 0.7 * slots.value(key, reads, x, labels, form, parameters=own, **of_all)
        return value + (of_batch(key, x, labels, own, **of_own) if form == "authors" else 0)

    for x, labels in batches():
        slots.write(x, labels)
        value, gradient = value_and_gradient(loss, x, labels)
        assert value == pytest.approx(expected(x, labels, x), rel=1e-9, abs=1e-12)
    if form == "library" and key not in ("circle", "multi_similarity", "nt_xent", "supcon"):
        return  # a row lies where its own copy does: the reference has a kink there
    # With the memory as it is now; nothing flows into it, a row's own copy included.
    for _ in range(3):
        direction = rng.normal(size=x.shape)
        ends = [expected(x + step * direction, labels, x) for step in (1e-6, -1e-6)]
        slope = (ends[0] - ends[1]) / 2e-6
        assert (gradient * direction).sum() == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_imperative_and_static_graphs_agree_and_a_start_changes_the_graph():
    plain, static = (made("contrastive", start=2, static=flag) for flag in (False, True))
    alone = methods.loss("contrastive", num_classes=CLASSES, embed_dim=WIDTH)
    alone.cast("float64")
    for number, (x, labels) in enumerate(batches()):
        value, gradient = value_and_gradient(static, x, labels)
        again, same = value_and_gradient(plain, x, labels)
        assert value == pytest.approx(again, rel=1e-12)
        np.testing.assert_allclose(gradient, same, atol=1e-12)
        batch = value_and_gradient(alone, x, labels)[0]
        assert (value == pytest.approx(batch, rel=1e-12)) == (number < 2)


def multi_similarity(rows, positives, negatives, epsilon=0.1):
    """The miner's definition: negatives nearer than the farthest positive, and the reverse."""
    u = unit(rows)

    def kept(pairs, others, passes):
        found = []
        for a, j in pairs:
            ends = [u[a] @ u[k] for b, k in others if b == a]
            if ends and passes(u[a] @ u[j], ends):
                found.append((a, j))
        return found

    near = kept(positives, negatives, lambda s, far: s - epsilon < max(far))
    return near, kept(negatives, positives, lambda s, close: s + epsilon > min(close))


def test_a_miner_sees_the_batch_against_the_memory():
    loss, slots = made("contrastive", "alone", mining="multi_similarity"), Memory(SIZE)
    every, kept = [], []
    for x, labels in batches():
        slots.write(x, labels)
        value, _ = value_and_gradient(loss, x, labels)
        kept.append(slots.value("contrastive", "pairs", x, labels, "alone", mined=multi_similarity))
        every.append(slots.value("contrastive", "pairs", x, labels, "alone"))
        assert value == pytest.approx(kept[-1], rel=1e-9)
    assert kept != every


@pytest.mark.parametrize("miner", mining.names())
@pytest.mark.parametrize("key", ["contrastive", "margin"])
def test_every_miner_goes_with_a_memory_or_refuses_it_in_one_line(key, miner):
    if mining.get(miner).build.in_batch:
        with pytest.raises(UserError, match=f"^miner {miner}: it takes no memory: [^\n]+$"):
            made(key, mining=miner)
        return
    loss = made(key, mining=miner)
    for x, labels in batches():
        value, gradient = value_and_gradient(loss, x, labels)
        assert np.isfinite(value) and np.isfinite(gradient).all()


def test_it_waits_for_nothing(monkeypatch):
    loss = made("multi_similarity", "library")
    (x, labels), *_ = batches()
    rows, labels = nd.array(x, dtype="float64"), nd.array(labels)

    def refuse(*_):
        raise AssertionError("the memory waits for its numbers")

    for name in ("asnumpy", "asscalar", "wait_to_read"):
        monkeypatch.setattr(nd.NDArray, name, refuse)
    rows.attach_grad()
    for _ in range(4):
        with autograd.record():
            value = loss(rows, labels)
        value.backward()


# --- training ----------------------------------------------------------------------------------------------------


def learner(**memory):
    given = {"method": "contrastive", "batch_size": 12, "embed_dim": 8, "memory": {"size": 30, **memory}}
    made = Learner(config.trial(given), 6, [mx.cpu()])
    made.begin_epoch(1)
    return made


def images(number):
    rng = np.random.default_rng(number)
    return rng.integers(0, 256, (12, 32, 32, 3)).astype(np.uint8), np.repeat(np.arange(6), 2).astype(np.int32)


@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("before", [2, 5])
def test_a_learner_goes_on_bit_for_bit(start, before):
    whole, first, second = (learner(start=start) for _ in range(3))
    for number in range(before):
        first.step([images(number)])
    second.load_state(first.state())
    for number in range(before, before + 4):
        second.step([images(number)])
    for number in range(before + 4):
        whole.step([images(number)])
    expected, found = whole.state(), second.state()
    assert set(expected) == set(found) and "memory:rows" in found
    for name, array in expected.items():
        np.testing.assert_array_equal(array, found[name], err_msg=name)


def test_looking_at_the_health_of_embeddings_remembers_nothing():
    looked = learner()
    step = looked.step([images(0)])
    before = looked.loss.state()
    looked.health(step.embeddings[0], step.labels[0])
    for name, array in looked.loss.state().items():
        np.testing.assert_array_equal(array, before[name])


# --- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [key for key in methods.names() if key not in TAKERS])
def test_losses_of_the_batch_and_of_rows_refuse_a_memory_in_one_line(key):
    with pytest.raises(UserError, match=f"^method {key}: it takes no memory: [^\n]+$"):
        methods.loss(key, num_classes=4, embed_dim=4, memory={"size": 8})
    with pytest.raises(UserError, match=f"^method {key}: it takes no memory"):
        config.trial({"method": key, "memory": {"size": 512}})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"size": 0}, "memory: size must be at least 1"),
        ({"size": 64, "form": "other"}, "form"),
        ({"size": 64, "start": -1}, "memory: start must not be negative"),
        ({"size": 64, "weight": 0.0}, "memory: weight must be above 0"),
        ({"size": 63}, "memory: size must be at least that of a batch, 64, not 63"),
        ({"sise": 64}, "sise"),
    ],
)
def test_what_cannot_be_is_refused(given, said):
    with pytest.raises(UserError, match=said):
        config.trial({"method": "contrastive", "batch_size": 64, "memory": given})


def test_a_memory_is_no_part_of_a_larger_graph():
    class Network(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.loss = made("contrastive")

        def hybrid_forward(self, F, x, labels):
            return self.loss(x, labels)

    network = Network()
    network.hybridize()
    with pytest.raises(UserError, match="its memory lasts from call to call"):
        network(nd.zeros((4, WIDTH), dtype="float64"), nd.arange(4))


def test_a_trial_without_a_memory_keeps_its_name():
    plain = config.trial({"method": "contrastive"})
    assert config.trial({"method": "contrastive", "memory": {"size": None}}).id == plain.id
    assert config.trial({"method": "contrastive", "memory": {"size": 512}}).id != plain.id
