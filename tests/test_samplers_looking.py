"""Samplers that look at the memory of embeddings: their laws, against slow programs written from the definitions."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlplayground import samplers
from dmlplayground.base import seeds
from dmlplayground.base.errors import UserError
from dmlplayground.parts.samplers import coreset_d2, distance_matching, frechet_matching, greedy_coreset

LOOKING = [name for name in samplers.names() if samplers.get(name).needs == ("embeddings",)]
STUDY = ["coreset_d2", "distance_matching", "frechet_matching", "greedy_coreset"]


def shown(memory: np.ndarray) -> SimpleNamespace:
    return SimpleNamespace(embeddings=lambda: memory)


def clusters(seed: int = 0, classes: int = 30, per_class: int = 12, width: int = 8):
    """Labels and unit embeddings of images near their class's centre."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(classes), per_class))
    points = rng.normal(size=(classes, width))[labels] + 0.4 * rng.normal(size=(len(labels), width))
    return labels, (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def nearest_gap(points: np.ndarray) -> float:
    """The mean distance of every point from the nearest other."""
    distances = np.linalg.norm(points[:, None] - points, axis=2) + 1e9 * np.eye(len(points))
    return float(distances.min(axis=1).mean())


# --- what all of them promise ----------------------------------------------------------------------------------------


def test_those_of_the_study_are_among_them():
    assert set(STUDY) <= set(LOOKING)


@pytest.mark.parametrize("name", LOOKING)
def test_every_batch_is_a_function_of_seed_epoch_and_memory(name):
    labels, memory = clusters()
    options = {"pool": 60} if name in STUDY else {}
    one, same, other = (
        samplers.create(name, labels, 20, iterations=4, seed=seed, **options) for seed in (1, 1, 2)
    )
    first = [one.batches(epoch, shown(memory)) for epoch in (0, 3)]
    first = [np.stack(list(batches)) for batches in first]
    assert np.array_equal(first[1], np.stack(list(same.batches(3, shown(memory)))))
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], np.stack(list(other.batches(0, shown(memory)))))
    assert not np.array_equal(first[0], np.stack(list(one.batches(0, shown(memory[::-1])))))


@pytest.mark.parametrize("name", LOOKING)
def test_they_refuse_to_draw_without_embeddings(name):
    with pytest.raises(UserError, match=f"{name} needs"):
        next(samplers.create(name, clusters()[0], 20).batches(0, None))


# --- what those of the study promise ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STUDY)
@given(
    st.lists(st.integers(1, 7), min_size=4, max_size=12),
    st.integers(0, 2**31),
    st.integers(1, 3),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_blocks_are_one_class_each(name, counts, seed, per_class, small):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    memory = rng.normal(size=(len(labels), 3))
    sampler = samplers.create(
        name, labels, 4 * per_class, iterations=3, seed=seed, per_class=per_class, pool=12 if small else 512
    )
    for rows in sampler.batches(0, shown(memory)):
        blocks = rows.reshape(4, per_class)
        assert (labels[blocks] == labels[blocks][:, :1]).all()
        for block in blocks:
            if np.bincount(labels)[labels[block[0]]] >= per_class:
                assert len(set(block.tolist())) == per_class or "matching" in name  # a small pool holds fewer


@pytest.mark.parametrize("name", STUDY)
def test_a_projection_is_drawn_and_changes_what_is_seen(name):
    labels, memory = clusters()
    plain, projected = (
        np.stack(list(samplers.create(name, labels, 20, iterations=6, **options).batches(0, shown(memory))))
        for options in ({}, {"projection": 2})
    )
    assert not np.array_equal(plain, projected)


@pytest.mark.parametrize("name", STUDY)
@pytest.mark.parametrize("memory", [None, np.zeros((5, 3)), np.zeros(360)])
def test_they_need_an_embedding_of_every_image(name, memory):
    sampler = samplers.create(name, clusters()[0], 20)
    with pytest.raises(UserError, match=f"{name}:? needs"):
        next(sampler.batches(0, None if memory is None else shown(memory)))


@pytest.mark.parametrize("name", [*STUDY, "near_proxies"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_told(name, bad):
    labels, memory = clusters()
    memory[7, 2] = bad
    view = SimpleNamespace(embeddings=lambda: memory, proxies=lambda: memory[:30])
    with pytest.raises(UserError, match=f"{name}: the (embeddings|proxies) hold a value that is not finite"):
        next(samplers.create(name, labels, 20, per_class=2).batches(0, view))


@pytest.mark.parametrize(
    ("options", "size", "words"),
    [
        ({"per_class": 3}, 20, "class blocks of 3"),
        ({"pool": 5}, 20, "pool must be at least 10"),
        ({"projection": 0}, 20, "projection"),
        ({"per_class": 0}, 20, "per_class"),
        ({"refresh": "never"}, 20, "one of steps, epochs"),
        ({}, 2, "at least two"),
    ],
)
@pytest.mark.parametrize("name", STUDY)
def test_what_cannot_be_planned_is_refused(name, options, size, words):
    with pytest.raises(UserError, match=words):
        samplers.create(name, clusters()[0], size, **options)


@pytest.mark.parametrize("name", STUDY)
def test_a_handful_of_images_is_enough(name):
    labels = np.array([0, 0, 1, 2])
    sampler = samplers.create(name, labels, 6, iterations=3, per_class=3)
    for rows in sampler.batches(0, shown(np.eye(4))):
        assert (np.diff(labels[rows].reshape(2, 3)) == 0).all()


# --- coresets --------------------------------------------------------------------------------------------------------


def slow_picks(pool, count, first):
    picks = [first]
    while len(picks) < count:
        best, best_gap = None, -1.0
        for i in range(len(pool)):
            gap = min(sum((a - b) ** 2 for a, b in zip(pool[i], pool[p])) for p in picks)
            if i not in picks and gap > best_gap:
                best, best_gap = i, gap
        picks.append(best)
    return picks


@given(st.integers(0, 2**31), st.integers(2, 14), st.integers(1, 4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_greedy_picks_are_those_of_the_slow_program(seed, size, width, grid):
    """On a grid many gaps are equal, and the first of them counts."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 3, (size, width)).astype(float) if grid else rng.normal(size=(size, width))
    count, first = int(rng.integers(1, size + 1)), int(rng.integers(size))
    assert greedy_coreset.pick(pool, count, first).tolist() == slow_picks(pool.tolist(), count, first)


def test_equal_points_are_still_picked_once_each():
    assert sorted(greedy_coreset.pick(np.ones((5, 2)), 5, 3).tolist()) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="6 of 5"):
        greedy_coreset.pick(np.ones((5, 2)), 6, 0)


def test_soft_picks_are_uniform_among_the_farthest():
    pool = np.concatenate([np.zeros((96, 1)), [[5.0], [6.0], [7.0], [8.0]]])
    drawn = [greedy_coreset.pick(pool, 2, 0, np.random.default_rng(seed))[1] for seed in range(3000)]
    # The 97th percentile of 100 gaps lies just above the fourth largest.
    assert set(drawn) == {97, 98, 99}
    assert np.abs(np.bincount(drawn)[97:] / 3000 - 1 / 3).max() < 0.03


def test_a_coreset_spreads_farther_than_chance():
    """As the study's sheet has it: random picks about 0.84 from the nearest other, greedy ones 1.08."""
    labels, memory = clusters(classes=100, per_class=20, width=10)
    sampler = samplers.create("greedy_coreset", labels, 112, iterations=10, seed=4)
    spread = np.mean([nearest_gap(memory[rows[::2]]) for rows in sampler.batches(0, shown(memory))])
    random = samplers.create("uniform", labels, 56, iterations=10, seed=4)
    chance = np.mean([nearest_gap(memory[rows]) for rows in random.batches(0)])
    assert spread > 1.2 * chance


def test_a_picks_company_is_uniform_among_its_classmates():
    groups = samplers.Groups(np.array([0, 1, 0, 0, 2, 0, 1]))
    rng = np.random.default_rng(0)
    company = groups.classmates(rng, np.tile([0, 1, 4], 4000), 2).reshape(4000, 3, 2)
    assert set(company[:, 0].ravel().tolist()) == {2, 3, 5} and (company[:, 0, 0] != company[:, 0, 1]).all()
    assert np.abs(np.bincount(company[:, 0].ravel())[[2, 3, 5]] / 8000 - 1 / 3).max() < 0.02
    assert (company[:, 1] == 6).all() and (company[:, 2] == 4).all()


def test_d2_chances_are_density_times_squared_distance():
    rng = np.random.default_rng(1)
    densities, gaps = rng.normal(size=9), rng.random(9)
    gaps[[2, 5]] = 0
    for power in (0.5, 1.0, 2.0):
        found = coreset_d2.chances(densities, gaps, [2], power)
        expected = [0 if i in (2, 5) else np.exp(densities[i]) * gaps[i] ** power for i in range(9)]
        assert np.allclose(found, expected / np.sum(expected))
    far = coreset_d2.chances(densities - 1e5, gaps, [2], 1.0)
    assert np.allclose(far, coreset_d2.chances(densities, gaps, [2], 1.0)), "no density is too small"
    assert np.allclose(coreset_d2.chances(densities, np.zeros(9), [2, 3], 1.0)[[0, 2, 3]], [1 / 7, 0, 0])


def test_d2_picks_by_the_density_of_the_fitted_normal_distribution():
    """The second pick's shares over many draws, with the first pick's own share, from the definition."""
    rng = np.random.default_rng(2)
    pool = rng.normal(size=(6, 2)) * [2.0, 0.5]
    inverse = np.linalg.inv(np.cov(pool.T))
    centred = pool - pool.mean(axis=0)
    density = np.array([np.exp(-0.5 * x @ inverse @ x) for x in centred])
    picks = np.array([coreset_d2.pick(pool, 2, np.random.default_rng(seed)) for seed in range(6000)])
    for first in np.unique(picks[:, 0]):
        seconds = picks[picks[:, 0] == first, 1]
        expected = density * ((pool - pool[first]) ** 2).sum(axis=1)
        shares = np.bincount(seconds, minlength=6) / len(seconds)
        assert np.allclose(shares, expected / expected.sum(), atol=4 * np.sqrt(0.25 / len(seconds)))
    draws = np.random.default_rng(3).multivariate_normal(pool.mean(axis=0), np.cov(pool.T), 200000)
    nearest = np.argmin(((draws[:, None] - pool) ** 2).sum(axis=2), axis=1)
    assert np.allclose(
        np.bincount(picks[:, 0], minlength=6) / 6000, np.bincount(nearest, minlength=6) / 200000, atol=0.02
    )


def test_d2_of_flat_and_of_equal_points():
    flat = np.random.default_rng(0).normal(size=(20, 1)) * np.ones(6)  # the covariance is singular
    assert len(set(coreset_d2.pick(flat, 8, np.random.default_rng(1)).tolist())) == 8
    assert len(set(coreset_d2.pick(np.ones((5, 3)), 5, np.random.default_rng(1)).tolist())) == 5


# --- matching --------------------------------------------------------------------------------------------------------


def slow_distance_cost(pool, candidate, mean, std, distance):
    def norm(x):
        return sum(v * v for v in x) ** 0.5

    def column_means(points):
        return [sum(column) / len(points) for column in zip(*points)]

    def column_stds(points):
        means = column_means(points)
        return [
            (sum((v - m) ** 2 for v in column) / len(points)) ** 0.5 for column, m in zip(zip(*points), means)
        ]

    def distances(points):
        return [norm([a - b for a, b in zip(x, y)]) for x, y in combinations(points, 2)]

    low, high = min(distances(pool)), max(distances(pool))

    def shares(points):
        counts = [0] * 50
        for value in distances(points):
            if low <= value <= high:
                counts[min(int((value - low) / (high - low) * 50), 49)] += 1
        return [count / max(sum(counts), 1) for count in counts]

    moved, carried = 0.0, 0.0
    for a, b in zip(shares(pool), shares(candidate)):
        carried += a - b
        moved += abs(carried) * (high - low) / 50
    gap = [a - b for a, b in zip(column_means(pool), column_means(candidate))]
    spread = [a - b for a, b in zip(column_stds(pool), column_stds(candidate))]
    return mean * norm(gap) + std * norm(spread) + distance * moved


@given(st.integers(0, 2**31), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_distance_cost_is_that_of_the_slow_program(seed, width):
    rng = np.random.default_rng(seed)
    pool = rng.normal(size=(14, width))
    candidate = pool[
        rng.integers(0, 14, 6)
    ]  # a point may come twice: its distance from itself does not count
    for weights in ({"mean": 1.0, "std": 1.0, "distance": 150.0}, {"mean": 0.0, "std": 0.0, "distance": 1.0}):
        found = distance_matching.cost(pool, candidate, **weights)
        assert found == pytest.approx(
            slow_distance_cost(pool.tolist(), candidate.tolist(), **weights), abs=1e-9
        )
    assert distance_matching.cost(pool, candidate) == distance_matching.cost(
        pool, candidate, mean=1, std=1, distance=150
    )


def test_distance_cost_by_hand():
    """Points 0, 1, 3 are 1, 2, 3 apart: bars 0, 25 and 49 of width 0.04. Those of 0, 1 are 1 apart: all in bar 0."""
    pool, candidate = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [1.0]])
    moved = 0.04 * (2 / 3 * 25 + 1 / 3 * 24)
    assert distance_matching.cost(pool, candidate, mean=0, std=0, distance=1) == pytest.approx(moved)
    means, stds = abs(4 / 3 - 1 / 2), abs(np.std([0, 1, 3]) - 1 / 2)
    assert distance_matching.cost(pool, candidate) == pytest.approx(means + stds + 150 * moved)
    assert distance_matching.cost(pool, pool) == 0
    assert distance_matching.cost(np.ones((4, 2)), np.ones((2, 2))) == 0


@given(st.integers(0, 2**31), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_frechet_cost_is_the_trace_of_the_matrix_root(seed, width):
    from scipy.linalg import sqrtm

    rng = np.random.default_rng(seed)
    pool, candidate = rng.normal(size=(20, width)), rng.normal(size=(9, width)) * 2 + 1
    first, second = (np.atleast_2d(np.cov(points.T)) for points in (pool, candidate))
    ridge = 1e-8 * np.eye(width)
    root = np.trace(sqrtm((first + ridge) @ (second + ridge))).real
    gap = ((pool.mean(axis=0) - candidate.mean(axis=0)) ** 2).sum()
    expected = gap + np.trace(first) + np.trace(second) - 2 * root
    assert frechet_matching.cost(pool, candidate) == pytest.approx(expected, abs=1e-6)


def test_frechet_cost_by_hand():
    """On a line it is (difference of means)^2 + (difference of standard deviations)^2."""
    pool, candidate = np.array([[0.0], [2.0], [4.0]]), np.array([[1.0], [2.0]])
    expected = 0.5**2 + (2 - np.sqrt(0.5)) ** 2
    assert frechet_matching.cost(pool, candidate) == pytest.approx(expected, abs=1e-6)
    few = np.random.default_rng(0).normal(size=(5, 40))  # fewer points than coordinates
    assert frechet_matching.cost(few, few) == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("name", ["distance_matching", "frechet_matching"])
def test_of_all_candidates_the_one_with_the_least_cost_is_taken(name, monkeypatch):
    labels, memory = clusters()
    sampler = samplers.create(name, labels, 12, iterations=5, pool=40, candidates=7)
    tried = []
    draw = sampler._candidates
    monkeypatch.setattr(
        sampler, "_candidates", lambda rng, pool: tried.append((pool, draw(rng, pool))) or tried[-1][1]
    )
    cost = getattr(samplers, name).cost
    for rows in sampler.batches(0, shown(memory)):
        pool, drawn = tried.pop()
        assert drawn.shape == (7, 12) and len(pool) == 40
        costs = [cost(memory[pool], memory[pool[places]]) for places in drawn]
        assert np.array_equal(rows, pool[drawn[int(np.argmin(costs))]])


@pytest.mark.parametrize("name", ["distance_matching", "frechet_matching"])
def test_pools_take_every_class_alike_and_candidates_draw_from_them_alike(name):
    labels, _ = clusters(classes=6, per_class=20)
    sampler = samplers.create(name, labels, 12, pool=40, candidates=400)
    rng = np.random.default_rng(0)
    pools = [sampler._pool(rng) for _ in range(300)]
    for pool in pools:
        counts = np.bincount(labels[pool])
        assert len(set(pool.tolist())) == 40 and counts.max() - counts.min() <= 2
        assert (labels[pool].reshape(-1, 2)[:, :1] == labels[pool].reshape(-1, 2)).all()
    uses = np.bincount(np.concatenate(pools), minlength=120)
    assert np.abs(uses / 300 - 1 / 3).max() < 0.12
    drawn = labels[pools[0][sampler._candidates(rng, pools[0])]][:, ::2]
    assert np.abs(np.bincount(drawn.ravel()) / drawn.size - 1 / 6).max() < 0.03
    twice = np.mean([len(set(row)) < 6 for row in drawn.tolist()])
    assert twice == pytest.approx(1 - np.prod([(6 - i) / 6 for i in range(6)]), abs=0.03), "with replacement"


@pytest.mark.parametrize("name", ["distance_matching", "frechet_matching"])
@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=6),
    st.integers(1, 3),
    st.integers(6, 60),
    st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_no_image_comes_twice_if_its_class_has_others_in_the_pool(name, counts, per_class, size, seed):
    """Also where a pool would hold more images of a class than there are."""
    labels = np.repeat(np.arange(len(counts)), counts)
    sampler = samplers.create(name, labels, 3 * per_class, per_class=per_class, pool=size)
    rng = np.random.default_rng(seed)
    pool = sampler._pool(rng)
    assert len(set(pool.tolist())) == len(pool) <= max(size, 2 * per_class)
    held = np.bincount(labels[pool], minlength=len(counts))
    for block in pool[sampler._candidates(rng, pool)].reshape(-1, per_class):
        assert len(set(block.tolist())) == min(per_class, held[labels[block[0]]])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("far", [0.0, 1.0, 1e16, 1e30])
def test_a_pool_with_one_distance_has_no_histogram(far):
    pool = np.array([[0.0], [far]])
    assert distance_matching.cost(pool, pool) == 0
    assert distance_matching.cost(pool, pool[:1], mean=0, std=0) == 0


# --- whole epochs ----------------------------------------------------------------------------------------------------


def slow_draw(rng, labels, classes, count, last=None):
    """Images of each of these classes, in the order of random keys, again from the start where there are too few; an
    image of ``last`` comes after all others of its class, and only where it has none."""
    members = [[i for i in range(len(labels)) if labels[i] == c] for c in classes]
    everything = max(count, *map(len, members))
    keys = rng.random((len(classes), everything))
    found = []
    for number, own in enumerate(members):
        order = sorted(range(len(own)), key=lambda place: keys[number][place])
        images = [own[place] for place in order]
        if last is not None and len(images) > 1:
            images.remove(last[number])
        found.append([images[i % len(images)] for i in range(count)])
    return found


def slow_coreset(rng, labels, memory, blocks, n, choose):
    pool = rng.choice(len(labels), min(36, len(labels)), replace=False).tolist()
    picks = [pool[place] for place in choose([memory[i] for i in pool], blocks, rng)]
    company = slow_draw(rng, labels, [labels[i] for i in picks], n - 1, last=picks)
    return [i for pick, others in zip(picks, company) for i in [pick, *others]]


def slow_matching(rng, labels, memory, blocks, n, cost):
    classes = rng.permutation(max(labels) + 1).tolist()
    wanted = min(36, len(labels)) // n
    each = -(-wanted // len(classes))
    drawn = slow_draw(rng, labels, classes[:wanted], n * each)
    whole = wanted // len(classes)
    pool = [i for images in drawn for i in images[: n * whole]]
    pool += [i for images in drawn[: wanted % len(classes)] for i in images[n * whole :]]
    names = sorted({labels[i] for i in pool})
    chosen = [names[c] for c in rng.integers(len(names), size=4 * blocks)]
    places = slow_draw(rng, [labels[i] for i in pool], chosen, n)
    flat = [pool[place] for block in places for place in block]
    candidates = [flat[i : i + blocks * n] for i in range(0, len(flat), blocks * n)]
    points = [memory[i] for i in pool]
    return min(candidates, key=lambda rows: cost(points, [memory[i] for i in rows]))


def slow_d2_picks(points, count, rng):
    """Densities by the covariance's inverse, distances one by one; drawing is NumPy's."""
    points = np.array(points)
    mean, covariance = points.mean(axis=0), np.cov(points.T)
    variances, axes = np.linalg.eigh(covariance)  # a draw of the distribution, from independent standard ones
    start = mean + sum(
        np.sqrt(v) * z * axes[:, k] for k, (v, z) in enumerate(zip(variances, rng.normal(size=3)))
    )
    picks = [int(np.argmin([np.linalg.norm(x - start) for x in points]))]
    density = [np.exp(-0.5 * (x - mean) @ np.linalg.inv(covariance) @ (x - mean)) for x in points]
    while len(picks) < count:
        gaps = [min(np.linalg.norm(x - points[p]) ** 2 for p in picks) for x in points]
        weights = np.array([d * gap for d, gap in zip(density, gaps)])
        picks.append(int(rng.choice(len(points), p=weights / weights.sum())))
    return picks


def slow_frechet(pool, candidate):
    from scipy.linalg import sqrtm

    pool, candidate = np.array(pool), np.array(candidate)
    one, other = np.cov(pool.T), np.cov(candidate.T)
    root = np.trace(sqrtm((one + 1e-8 * np.eye(3)) @ (other + 1e-8 * np.eye(3)))).real
    gap = ((pool.mean(axis=0) - candidate.mean(axis=0)) ** 2).sum()
    return gap + np.trace(one) + np.trace(other) - 2 * root


SLOW = {
    "greedy_coreset": (slow_coreset, lambda points, count, rng: slow_picks(points, count, int(rng.integers(len(points))))),
    "coreset_d2": (slow_coreset, slow_d2_picks),
    "distance_matching": (slow_matching, lambda pool, rows: slow_distance_cost(pool, rows, 1, 1, 150)),
    "frechet_matching": (slow_matching, slow_frechet),
}  # fmt: skip


@pytest.mark.parametrize("name", STUDY)
def test_an_epochs_batches_are_those_of_the_slow_program(name):
    labels, memory = clusters(seed=6, classes=9, per_class=7, width=3)
    matching = {"candidates": 4} if "matching" in name else {}
    sampler = samplers.create(name, labels, 12, iterations=3, seed=8, per_class=3, pool=36, **matching)
    whole, part = SLOW[name]
    for number, rows in enumerate(sampler.batches(2, shown(memory))):
        rng = seeds.generator(8, "batches", 2, number)
        assert rows.tolist() == whole(rng, labels.tolist(), memory.astype(float).tolist(), 4, 3, part)
