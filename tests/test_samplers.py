"""Batch samplers: what each promises, for any data and any seed."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlplayground import samplers
from dmlplayground.base.errors import UserError

sizes = st.lists(st.integers(1, 9), min_size=2, max_size=12)
seeds = st.integers(0, 2**31)


def labels_of(counts, seed=0):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts)).astype(np.int32)


class Shown:
    """A view of these proxies and embeddings."""

    def __init__(self, proxies, embeddings=None):
        self.proxies = lambda: proxies
        self.embeddings = lambda: embeddings


def view_of(labels):
    rng = np.random.default_rng(1)
    return Shown(rng.normal(size=(labels.max() + 1, 8)), rng.normal(size=(len(labels), 5)))


def batches(name, labels, size, epoch=0, **options):
    sampler = samplers.create(name, labels, size, **options)
    return list(sampler.batches(epoch, view_of(labels)))


@pytest.mark.parametrize("name", ["blocks", "near_proxies"])
@given(counts=sizes, seed=seeds, per_class=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_blocks_are_one_class_each_and_repeat_an_image_only_when_they_must(name, counts, seed, per_class):
    labels = labels_of(counts, seed)
    classes = len(counts)
    for rows in batches(name, labels, classes * per_class, iterations=3, seed=seed, per_class=per_class):
        blocks = rows.reshape(classes, per_class)
        found = labels[blocks]
        assert (found == found[:, :1]).all()
        assert len(set(found[:, 0])) == classes
        for block, label in zip(blocks, found[:, 0]):
            uses = Counter(block.tolist())
            assert len(uses) == min(per_class, counts[label])
            assert max(uses.values()) - min(uses.values()) <= 1


@given(sizes, seeds)
@settings(max_examples=40, deadline=None)
def test_pairs_are_interleaved_and_distinct(counts, seed):
    labels = labels_of(counts, seed)
    for rows in batches("pairs", labels, 2 * len(counts), iterations=3, seed=seed):
        anchors, positives = rows[0::2], rows[1::2]
        assert (labels[anchors] == labels[positives]).all()
        assert len(set(labels[anchors])) == len(counts)
        alone = np.asarray(counts)[labels[anchors]] == 1
        assert ((anchors == positives) == alone).all()


def test_the_chance_of_one_image_twice():
    labels = np.repeat(np.arange(50), 10)
    rows = np.concatenate(batches("pairs", labels, 100, iterations=100, same_image=0.3))
    share = (rows[0::2] == rows[1::2]).mean()
    assert 0.27 < share < 0.33
    assert (rows[0::2] == rows[1::2]).mean() != 1
    always = batches("pairs", labels, 100, iterations=1, same_image=1.0)[0]
    assert (always[0::2] == always[1::2]).all()


@given(sizes, seeds, st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_episodes_give_supports_then_queries_of_the_same_classes(counts, seed, supports, queries):
    labels, classes = labels_of(counts, seed), len(counts)
    size = classes * (supports + queries)
    for rows in batches(
        "episodes", labels, size, iterations=2, seed=seed, supports=supports, queries=queries
    ):
        first, then = labels[rows[: classes * supports]], labels[rows[classes * supports :]]
        assert (first == np.repeat(first[::supports], supports)).all()
        assert (then == np.repeat(first[::supports], queries)).all()
        for label in set(first.tolist()):
            used = rows[labels[rows] == label]
            assert len(set(used.tolist())) == min(len(used), counts[label])


@given(st.integers(1, 60), st.integers(1, 20), seeds, st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_rolled_passes_show_every_image_equally_often(size, batch, seed, epochs):
    sampler = samplers.create("shuffled", np.zeros(size, np.int32), batch, seed=seed)
    rows = [rows for epoch in range(epochs) for rows in sampler.batches(epoch)]
    assert all(len(r) == batch for r in rows)
    assert [sampler.length(epoch) for epoch in range(epochs)] == [
        len(list(sampler.batches(e))) for e in range(epochs)
    ]
    uses = np.bincount(np.concatenate(rows), minlength=size)
    assert uses.max() - uses.min() <= 1
    if size >= batch:
        assert epochs * size - uses.sum() < batch  # nothing is lost but the batch still open


@pytest.mark.parametrize(("last", "shown"), [("drop", 20), ("keep", 23)])
def test_the_last_batch_dropped_or_kept(last, shown):
    sampler = samplers.create("shuffled", np.zeros(23, np.int32), 5, last=last)
    rows = np.concatenate(list(sampler.batches(0)))
    assert len(rows) == len(set(rows.tolist())) == shown


def test_uniform_draws_differ_within_a_batch():
    for rows in batches("uniform", np.zeros(30, np.int32), 20, iterations=5):
        assert len(set(rows.tolist())) == 20


@pytest.mark.parametrize("name", samplers.names())
def test_an_epoch_is_a_pure_function_of_seed_and_number(name):
    labels = labels_of([12] * 20)
    view = view_of(labels)
    sampler = samplers.create(name, labels, 20, iterations=4, seed=5)
    once = [list(sampler.batches(epoch, view)) for epoch in (0, 1, 2)]
    again = samplers.create(name, labels, 20, iterations=4, seed=5)
    assert np.array_equal(once[2], list(again.batches(2, view)))  # without having drawn the epochs before
    assert np.array_equal(once[0], list(again.batches(0, view)))
    assert not np.array_equal(once[0], once[1])
    other = samplers.create(name, labels, 20, iterations=4, seed=6)
    assert not np.array_equal(once[0], list(other.batches(0, view)))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if "embeddings" in samplers.get(name).needs else ())
        for name in samplers.names()
    ],
)
def test_every_image_and_every_class_has_its_turn_alike(name):
    """Drawn often enough, images of classes of one size come equally often, but for chance (200 times, by 14)."""
    labels = labels_of([6] * 10)
    view = Shown(np.eye(10), np.eye(60))  # all equally far apart
    sampler = samplers.create(name, labels, 20, iterations=600, seed=3)
    uses = np.bincount(np.concatenate(list(sampler.batches(0, view))), minlength=60)
    assert uses.sum() == 12000 and uses.min() > 140 and uses.max() < 260


@pytest.mark.parametrize("replacement", [False, True])
def test_samples_per_class_with_and_without_replacement(replacement):
    """With replacement every image of a block is drawn from the whole class, and every class from all of them."""
    labels = np.repeat(np.arange(5), [4] * 5)
    rows = np.stack(batches("per_class", labels, 6, iterations=6000, seed=2, n=2, replacement=replacement))
    blocks = rows.reshape(-1, 3, 2)
    assert (labels[blocks[..., 0]] == labels[blocks[..., 1]]).all()
    same_image = (blocks[..., 0] == blocks[..., 1]).mean()
    distinct = np.mean([len(set(found)) == 3 for found in labels[blocks[..., 0]].tolist()])
    assert same_image == pytest.approx(0.25 if replacement else 0, abs=0.01)
    assert distinct == pytest.approx(5 * 4 * 3 / 5**3 if replacement else 1, abs=0.02)
    assert np.abs(np.bincount(rows.ravel()) / rows.size - 1 / 20).max() < 0.005


def test_a_random_batch_ends_with_another_image_of_one_of_its_classes():
    labels = np.array([0] * 8 + [1] * 2 + [2])
    rows = np.stack(batches("random_pair", labels, 3, iterations=20000, seed=3))
    first, last = rows[:, :2], rows[:, 2]
    shared = labels[first] == labels[last][:, None]
    assert shared.any(axis=1).all()
    assert np.abs(np.bincount(labels[first].ravel()) / first.size - 1 / 3).max() < 0.01, (
        "classes alike, not images"
    )
    anchors = rows[shared.sum(axis=1) == 1]
    held = (anchors[:, 2:] == anchors[:, :2]).any(axis=1)
    assert (labels[anchors[held, 2]] == 2).all(), "only an image alone in its class comes again"
    assert held.any() and (labels[anchors[~held, 2]] != 2).all()
    # Of two classes drawn, either gives the last image as often.
    one_two = rows[(labels[first] == [0, 1]).all(axis=1)]
    assert (labels[one_two[:, 2]] == 0).mean() == pytest.approx(0.5, abs=0.03)


@given(sizes, seeds, st.integers(1, 4), st.integers(2, 9), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_lists_of_passes_are_cut_as_the_reality_check_cuts_them(counts, seed, per_class, size, listed):
    """Replayed from the definition: whole passes to a list, the remainder dropped, lists without regard to epochs."""
    labels = labels_of(counts, seed)
    one = per_class * len(counts)
    passes = max(1, listed // one)
    if passes * one < size:
        with pytest.raises(UserError, match="raise listed"):
            samplers.create("class_passes", labels, size, per_class=per_class, listed=listed)
        return
    sampler = samplers.create(
        "class_passes", labels, size, iterations=7, seed=seed, per_class=per_class, listed=listed
    )
    whole = [rows for epoch in range(4) for rows in sampler.batches(epoch)]
    per_list = passes * one // size
    for start in range(0, len(whole), per_list):
        rows = np.concatenate(whole[start : start + per_list])
        for begin in range(0, len(rows), one):
            part = labels[rows[begin : begin + one]]
            full = part[: len(part) // per_class * per_class].reshape(-1, per_class)
            assert (full == full[:, :1]).all(), "some images of one class, then of the next"
            assert len(set(full[:, 0].tolist())) == len(full), "every class once in a pass"
        for begin in range(0, len(rows) - per_class + 1, per_class):
            block = rows[begin : begin + per_class]
            if counts[labels[block[0]]] >= per_class:
                assert len(set(block.tolist())) == per_class
    if (
        len(whole) >= 2 * per_list and sampler.passes > 1 and sum(counts) > 12
    ):  # few images may well be drawn alike
        first, second = (np.concatenate(whole[start : start + per_list]) for start in (0, per_list))
        assert not np.array_equal(first, second)


def test_passes_draw_small_classes_with_replacement():
    labels = np.repeat([0, 1], [3, 40])
    rows = np.concatenate(batches("class_passes", labels, 8, iterations=4000, per_class=4))
    small = rows[labels[rows] == 0].reshape(-1, 4)
    assert np.mean([len(set(block)) == 1 for block in small.tolist()]) == pytest.approx(1 / 27, abs=0.01)


def test_labels_may_leave_out_numbers():
    for rows in batches("pairs", np.repeat([3, 7, 20], 4), 4, iterations=5):
        assert rows.max() < 12


def test_near_proxies_come_with_chances_inverse_to_their_distance():
    labels = np.repeat(np.arange(4), 5)
    angles = np.deg2rad([0, 20, 60, 180])
    proxies = np.stack([np.cos(angles), np.sin(angles)], axis=1) * [
        [1],
        [5],
        [0.1],
        [2],
    ]  # lengths do not count
    sampler = samplers.create("near_proxies", labels, 4, iterations=8000, seed=0, per_class=2)
    drawn = labels[np.stack(list(sampler.batches(0, Shown(proxies))))][:, ::2]
    assert abs(np.bincount(drawn[:, 0]) / len(drawn) - 0.25).max() < 0.02
    seconds = drawn[drawn[:, 0] == 0, 1]
    inverse = 1 / (2 * np.sin(angles[1:] / 2))
    assert np.allclose(
        np.bincount(seconds, minlength=4)[1:] / len(seconds), inverse / inverse.sum(), atol=0.03
    )


def test_equal_proxies_are_no_division_by_zero():
    labels = np.repeat(np.arange(6), 3)
    sampler = samplers.create("near_proxies", labels, 6, iterations=5, per_class=2)
    for rows in sampler.batches(0, Shown(np.zeros((6, 3)))):
        assert len(set(labels[rows].tolist())) == 3


@pytest.mark.parametrize("proxies", [None, np.zeros((5, 3)), np.zeros(6)])
def test_near_proxies_needs_a_proxy_for_every_class(proxies):
    sampler = samplers.create("near_proxies", np.repeat(np.arange(6), 3), 6, iterations=5, per_class=2)
    with pytest.raises(UserError, match="near_proxies:? needs"):
        next(sampler.batches(0, None if proxies is None else Shown(proxies)))


def test_another_process_draws_the_same():
    program = (
        "import numpy as np; from dmlplayground import samplers\n"
        "s = samplers.create('blocks', np.repeat(np.arange(9), 7), 15, iterations=3, seed=11)\n"
        "print(np.concatenate(list(s.batches(4))).tolist())"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    sampler = samplers.create("blocks", np.repeat(np.arange(9), 7), 15, iterations=3, seed=11)
    assert out.strip() == str(np.concatenate(list(sampler.batches(4))).tolist())


@pytest.mark.parametrize(
    ("name", "size", "options", "words"),
    [
        ("blocks", 12, {}, "class blocks of 5"),
        ("blocks", 500, {}, "needs 100 classes, but the training split has 9"),
        ("blocks", 5, {}, "at least two"),
        ("blocks", 4, {"per_class": 0}, "per_class"),
        ("pairs", 7, {}, "odd"),
        ("pairs", 20, {}, "needs 10 classes"),
        ("episodes", 12, {}, "5 supports and 5 queries"),
        ("episodes", 20, {"supports": 0}, "supports"),
        ("shuffled", 100, {"last": "drop"}, "last: drop"),
        ("shuffled", 10, {"last": "loose"}, "one of roll, drop, keep"),
        ("pears", 10, {}, "unknown sampler"),
    ],
)
def test_what_cannot_be_drawn_is_refused(name, size, options, words):
    with pytest.raises(UserError, match=words):
        samplers.create(name, np.repeat(np.arange(9), 7), size, **options)
