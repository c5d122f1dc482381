"""The references judged by arithmetic: values found by hand, and identities that tie one loss to another."""

import ast
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from reference import (
    angular,
    discriminative,
    dreml,
    lifted_structure,
    margin,
    npairs,
    prototypical,
    proxy_nca,
    proxy_softmax,
    proxy_triplet,
    ranked_list,
    structured_clustering,
    triplet_semihard,
)

FILES = Path(__file__).with_name("reference").glob("*.py")
LOSSES = sorted(file for file in FILES if "\ndef value(" in file.read_text() or file.stem == "_arithmetic")


def column(*values):
    """Points on a line, as embeddings of one dimension."""
    return np.array(values, dtype=np.float64)[:, None]


def gaussian(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def on_sphere(*shape, seed=0):
    points = gaussian(*shape, seed=seed)
    return points / np.linalg.norm(points, axis=-1, keepdims=True)


@pytest.mark.parametrize("path", LOSSES, ids=lambda path: path.stem)
def test_a_reference_stands_alone(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        assert not {name.split(".")[0] for name in names} - {"__future__", "collections", "math", "numpy"}


# Nothing valid in the batch: zero.


@pytest.mark.parametrize("labels", [[0, 1, 2, 3], [0, 0, 0, 0]], ids=["no positives", "no negatives"])
@pytest.mark.parametrize("loss", [triplet_semihard, lifted_structure, structured_clustering])
def test_pair_losses_are_zero_without_pairs_to_compare(loss, labels):
    assert loss.value(gaussian(4, 3), labels) == pytest.approx(0, abs=1e-12)


def test_other_losses_are_zero_without_anything_to_compare():
    one_pair, one_class = gaussian(2, 3), {"proxies": gaussian(1, 3)}
    assert npairs.value(one_pair, [0, 0], l2_reg=0) == 0
    assert angular.value(one_pair, [0, 0], l2_reg=0) == 0
    assert prototypical.value(one_pair, [0, 1]) == 0
    assert ranked_list.value(column(0, 5), [0, 1]) == 0
    assert margin.value(one_pair, [0, 1], {"beta": [1.2, 1.2]}, triplets=([], [], [])) == 0
    for loss in (proxy_triplet, proxy_nca, proxy_softmax):
        assert loss.value(one_pair, [0, 0], one_class) == 0


# Pairs and triplets.


def test_triplet_semihard_by_hand():
    # Squared distances. 0 -> 1: semi-hard 2.25, 3 + 1 - 2.25. 1 -> 0: semi-hard 4, zero.
    # 1.5 -> 3: no negative is strictly farther than 2.25, so the farthest, 2.25 itself: 3.
    # 3 -> 1.5: semi-hard 4, 3 + 2.25 - 4.
    value = triplet_semihard.value(column(0, 1, 1.5, 3), [0, 0, 1, 1], margin=3)
    assert value == pytest.approx((1.75 + 0 + 3 + 1.25) / 4)


def test_triplet_semihard_counts_the_pairs_that_are_far_enough_apart():
    assert triplet_semihard.value(column(0, 1, 9, 9.5), [0, 0, 1, 1]) == 0
    assert triplet_semihard.value(np.zeros((4, 2)), [0, 0, 1, 1], margin=0.7) == pytest.approx(0.7)


def test_lifted_structure_by_hand_with_one_positive_pair():
    # J = 1 + log(e^(1-3) + e^(1-2)) = log(1 + 1/e).
    value = lifted_structure.value(column(0, 1, 3), [0, 0, 1])
    assert value == pytest.approx(math.log(1 + 1 / math.e) ** 2 / 2)


def test_lifted_structure_averages_over_pairs_and_not_over_both_orders():
    # A copy of the same three points, too far off to count as negatives, doubles both the sum and the pairs.
    once = lifted_structure.value(column(0, 1, 3), [0, 0, 1])
    twice = lifted_structure.value(column(0, 1, 3, 1000, 1001, 1003), [0, 0, 1, 2, 2, 3])
    assert twice == pytest.approx(once)


def test_ranked_list_by_hand():
    # Rows 0 and 1: positive at 1, beyond 0.8 by 0.2; one negative at 0.5, inside 1.2 by 0.7.
    # Row 2: two negatives at 0.5. Row 3 has no loss and is not counted.
    value = ranked_list.value(column(0, 1, 0.5, 50), [0, 0, 1, 2])
    assert value == pytest.approx((0.9 + 0.9 + 0.7) / 3)


def test_ranked_list_weighs_the_nearer_negative_more():
    # Row 0 sees negatives at 0.2 and 0.7; rows 1 and 2 see it, and each other as positives 0.9 apart.
    x, labels = column(0, 0.2, -0.7), [0, 1, 1]

    def expected(t):
        near, far = math.exp(t * 1.0), math.exp(t * 0.5)
        pull = 0.9 - 0.8
        return ((near * 1.0 + far * 0.5) / (near + far) + (pull + 1.0) + (pull + 0.5)) / 3

    for t in (0.0, 1.0, 10.0):
        assert ranked_list.value(x, labels, temperature=t) == pytest.approx(expected(t))


def test_ranked_list_with_its_weights_held_differs_only_away_from_the_point():
    x, labels = gaussian(9, 4, seed=1) * 0.4, np.repeat([0, 1, 2], 3)
    assert ranked_list.value(x, labels, weighing=x) == ranked_list.value(x, labels)
    moved = x.copy()
    moved[0] += 0.01
    assert ranked_list.value(moved, labels, weighing=x) != ranked_list.value(moved, labels)


def test_margin_by_hand():
    # beta 1: near hinge [0.9 - 1 + 0.2] = 0.1, far hinge [1 - 1.1 + 0.2] = 0.1.
    # beta 2: near hinge [1 - 2 + 0.2] = 0, far hinge [2 - 3 + 0.2] = 0.
    x, labels = column(0, 0.9, -1.1, 10, 11, 13), [0, 0, 1, 1, 1, 0]
    triplets = ([0, 3], [1, 4], [2, 5])
    by_class = margin.value(x, labels, {"beta": [1.0, 2.0]}, triplets=triplets)
    assert by_class == pytest.approx((0.1 + 0.1) / 2)
    regularised = margin.value(x, labels, {"beta": [1.0, 2.0]}, triplets=triplets, nu=0.5)
    assert regularised == pytest.approx((0.1 + 0.1 + 0.5 * (1 + 2)) / 2)


def test_margin_with_one_beta_is_margin_with_equal_betas():
    x, labels, triplets = on_sphere(4, 3), [0, 0, 1, 1], ([0, 1, 2], [1, 0, 3], [2, 3, 0])
    equal = margin.value(x, labels, {"beta": [0.9, 0.9]}, triplets=triplets, nu=0.1)
    assert margin.value(x, labels, {"beta": [0.9]}, triplets=triplets, nu=0.1) == equal
    fixed = margin.value(x, labels, {}, triplets=triplets, learn_beta=False, beta=0.9, nu=0.1)
    assert fixed == margin.value(x, labels, {"beta": [0.9]}, triplets=triplets)


def test_distance_weighted_law_on_the_circle_and_on_the_sphere():
    # On the sphere in three dimensions distances have density d / 2, so the weight is 1 / d;
    # on the circle it is sqrt(1 - d^2 / 4).
    # Row 0 sees negatives at 60 degrees (d = 1), 20 (floored to 0.5) and 120 (beyond 1.4).
    angles = np.radians([0, 5, 60, 20, 120])
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    sphere = np.pad(circle, ((0, 0), (0, 1)))
    labels = [0, 0, 1, 1, 1]
    for x, weights in ((sphere, [1.0, 2.0]), (circle, [math.sqrt(0.75), math.sqrt(0.9375)])):
        law = margin.negative_probabilities(x, labels)[0]
        np.testing.assert_allclose(law, np.array([0, 0, *weights, 0]) / sum(weights))


def test_distance_weighted_law_falls_back_to_uniform_and_never_meets_the_own_class():
    x = np.array([[1.0, 0], [1, 0], [-1, 0], [0, -1]])
    np.testing.assert_allclose(margin.negative_probabilities(x, [0, 0, 1, 1])[0], [0, 0, 0.5, 0.5])
    assert not margin.negative_probabilities(x, [0, 0, 0, 0]).any()
    labels = np.repeat(np.arange(5), 4)
    law = margin.negative_probabilities(on_sphere(20, 512), labels)
    np.testing.assert_allclose(law.sum(axis=1), 1)
    assert not law[labels[:, None] == labels].any()


# Anchors and positives.


def interleave(anchors, positives):
    return np.stack([anchors, positives], axis=1).reshape(-1, anchors.shape[1])


def test_npairs_by_hand():
    x = interleave(np.eye(2), np.eye(2))
    cross_entropy = math.log(1 + math.exp(-1))
    assert npairs.value(x, [0, 0, 1, 1], l2_reg=0.25) == pytest.approx(cross_entropy + 0.25 * 2)
    symmetric = npairs.value(x, [0, 0, 1, 1], l2_reg=0.25, symmetric=True)
    assert symmetric == pytest.approx(
        cross_entropy + 0.25 * 2
    )  # the regularizer whole, as the released code has it


def test_npairs_shares_the_target_among_pairs_of_one_class():
    assert npairs.value(interleave(np.eye(2), np.eye(2)), [7, 7, 7, 7], l2_reg=0) == pytest.approx(
        math.log(1 + math.exp(-1)) + 0.5
    )


def test_npairs_and_angular_are_log_one_plus_a_sum_over_negatives():
    a, p, labels = gaussian(6, 4, seed=1), gaussian(6, 4, seed=2), np.repeat(np.arange(6), 2)
    t = math.tan(math.radians(36)) ** 2
    similarity, angle = 0.0, 0.0
    for i in range(6):
        negatives = [p[j] for j in range(6) if j != i]
        similarity += math.log1p(sum(math.exp(a[i] @ n - a[i] @ p[i]) for n in negatives)) / 6
        f = [4 * t * (a[i] + p[i]) @ n - 2 * (1 + t) * a[i] @ p[i] for n in negatives]
        angle += math.log1p(sum(map(math.exp, f))) / 6
    assert npairs.value(interleave(a, p), labels, l2_reg=0) == pytest.approx(similarity)
    assert angular.value(interleave(a, p), labels, alpha=36, l2_reg=0) == pytest.approx(angle)


@pytest.mark.parametrize("loss", [npairs, angular])
def test_the_symmetric_form_is_the_mean_of_both_directions(loss):
    a, p, labels = gaussian(5, 3, seed=1), gaussian(5, 3, seed=2), [0, 0, 1, 1, 2, 2, 3, 3, 1, 1]
    there, back = (loss.value(x, labels, l2_reg=0) for x in (interleave(a, p), interleave(p, a)))
    both = loss.value(interleave(a, p), labels, l2_reg=0, symmetric=True)
    assert both == pytest.approx((there + back) / 2)


def test_angular_mixes_in_npairs():
    x, labels = gaussian(8, 3), np.repeat(np.arange(4), 2)
    pure, mixed = (angular.value(x, labels, l2_reg=0.1, npairs_weight=w) for w in (0, 2.5))
    assert mixed - pure == pytest.approx(2.5 * npairs.value(x, labels, l2_reg=0))
    regularizer = pure - angular.value(x, labels, l2_reg=0)
    assert regularizer == pytest.approx(0.1 * (x**2).sum() / 4)


# Prototypes and proxies.


def test_prototypical_by_hand():
    # Prototypes at 0 and 2; the query at 0.5 is 0.25 and 2.25 away, squared.
    x, labels = column(-1, 2, 1, 0.5), [4, 9, 4, 4]
    assert prototypical.value(x, labels, supports=2) == pytest.approx(math.log(1 + math.exp(-2)))


def test_prototypical_reads_both_layouts_and_several_episodes():
    x, labels = gaussian(12, 3), np.repeat([0, 1, 2], 4)
    first_supports = [0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11]
    expected = prototypical.value(x, labels, supports=2)
    assert prototypical.value(x[first_supports], labels[first_supports], supports=2) == pytest.approx(
        expected
    )
    other = gaussian(12, 3, seed=1)
    twice = prototypical.value(np.concatenate([x, other]), np.tile(labels, 2), supports=2, episodes=2)
    assert twice == pytest.approx((expected + prototypical.value(other, labels, supports=2)) / 2)


def test_prototypical_with_unit_prototypes_is_proxy_nca_over_them():
    prototypes, queries = on_sphere(3, 5, seed=1), gaussian(4, 5, seed=2)
    x, labels = np.concatenate([prototypes, queries]), [0, 1, 2, 2, 0, 1, 1]
    over_proxies = proxy_nca.value(
        queries, labels[3:], {"proxies": 7 * prototypes}, scale=1.0, exclude_positive=False
    )
    assert prototypical.value(x, labels, supports=1) == pytest.approx(over_proxies)


def test_proxy_triplet_by_hand():
    # Corners of the unit cube are sqrt(2) apart: own proxy 0, every other 2 (times the squared scale).
    proxies = {"proxies": 5 * np.eye(4)}
    assert proxy_triplet.value(np.eye(4), range(4), proxies) == 0
    assert proxy_triplet.value(np.eye(4), range(4), proxies, margin=3) == pytest.approx(3 * (3 - 2))
    assert proxy_triplet.value(np.eye(4), [1, 0, 3, 2], proxies, margin=0, scale=2) == pytest.approx(4 * 2)


def test_a_zero_proxy_stays_at_the_origin():
    # Squared, the row is 2 from its own proxy and from the third, 1 from the zero one.
    value = proxy_triplet.value(np.eye(3)[:1], [0], {"proxies": [[0, 1, 0], [0, 0, 0], [0, 0, 1]]}, margin=0)
    assert value == pytest.approx(2 - 1)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_proxy_nca_with_its_own_proxy_is_proxy_softmax_on_the_sphere(smoothing):
    # |s u - s p|^2 = 2 s^2 - 2 s^2 u.p: a softmax of u.p at temperature T / (2 s^2).
    x, labels, parameters = on_sphere(5, 3), [0, 3, 1, 2, 3], {"proxies": gaussian(4, 3, seed=1)}
    nca = proxy_nca.value(
        x, labels, parameters, scale=3, temperature=2, exclude_positive=False, label_smoothing=smoothing
    )
    softmax = proxy_softmax.value(x, labels, parameters, temperature=2 / 18, label_smoothing=smoothing)
    assert nca == pytest.approx(softmax)


def test_proxy_nca_including_its_own_proxy_is_softplus_of_excluding_it():
    x, parameters = on_sphere(1, 3), {"proxies": gaussian(4, 3, seed=1)}
    excluded, included = (proxy_nca.value(x, [2], parameters, exclude_positive=e) for e in (True, False))
    assert included == pytest.approx(math.log1p(math.exp(excluded)))


def test_proxy_nca_by_hand():
    # Own proxy at 0, the other two at 2 (times 9): log(2 exp(-18)).
    value = proxy_nca.value(np.eye(3), range(3), {"proxies": np.eye(3)})
    assert value == pytest.approx(math.log(2) - 18)
    smoothed = proxy_nca.value(np.eye(3), range(3), {"proxies": np.eye(3)}, label_smoothing=0.2)
    assert smoothed == pytest.approx(0.2 * 18 + math.log(2) - 18)


@pytest.mark.parametrize("loss", [proxy_nca, proxy_softmax])
def test_smoothing_mixes_the_labels_linearly(loss):
    x, parameters = on_sphere(1, 3), {"proxies": gaussian(4, 3, seed=1)}
    options = {"exclude_positive": False} if loss is proxy_nca else {}
    one_hot = [loss.value(x, [k], parameters, label_smoothing=0.0, **options) for k in range(4)]
    smoothed = loss.value(x, [1], parameters, label_smoothing=0.3, **options)
    assert smoothed == pytest.approx(0.7 * one_hot[1] + 0.1 * (one_hot[0] + one_hot[2] + one_hot[3]))
    uniform = loss.value(x, [1], parameters, label_smoothing=0.75, **options)
    assert uniform == pytest.approx(sum(one_hot) / 4)


def test_proxy_softmax_prefers_the_own_proxy():
    parameters = {"proxies": np.eye(3)}
    right, wrong = (proxy_softmax.value(np.eye(3), labels, parameters) for labels in ([0, 1, 2], [1, 2, 0]))
    assert right < wrong
    plain = proxy_softmax.value(np.eye(3), range(3), parameters, temperature=0.5, label_smoothing=0)
    assert plain == pytest.approx(math.log(1 + 2 * math.exp(-2)))


def test_dreml_is_proxy_nca_over_meta_classes():
    x, proxies = on_sphere(5, 3), gaussian(2, 3, seed=1)
    value = dreml.value(x, [0, 1, 2, 3, 0], {"class_map": [1, 0, 0, 1], "proxies": proxies})
    assert value == pytest.approx(proxy_nca.value(x, [1, 0, 0, 1, 1], {"proxies": proxies}))


def test_dreml_with_static_proxies_is_softmax_over_the_embedding():
    logits, class_map = np.array([[1.0, 2.0], [0.5, -1.0]]), {"class_map": [0, 1, 0]}
    value = dreml.value(logits, [1, 2], class_map, static_proxies=True)
    assert value == pytest.approx((math.log1p(math.exp(-1)) + math.log1p(math.exp(-1.5))) / 2)


def test_discriminative_on_the_corners_and_in_closed_form():
    # On its own corner a row is 0 from it and 2 from every other, squared: -2 / 3 for any number of classes.
    assert discriminative.value(np.eye(5), range(5)) == pytest.approx(-2 / 3)
    assert discriminative.value(np.eye(3), [1, 2, 0]) == pytest.approx(2 - (0 + 2) / 6)
    # For a unit row |x - e_k|^2 = 2 - 2 x_k.
    x, y = on_sphere(1, 4), 2
    others = x.sum() - x[0, y]
    assert discriminative.value(x, [y]) == pytest.approx(4 / 3 - 2 * x[0, y] + 2 * others / 9)


# Structured clustering.


def largest_violation(x, labels, gamma):
    """The inner maximum by trying every set of medoids."""
    D = structured_clustering.distances(x)
    sets = itertools.combinations(range(len(labels)), len(set(labels)))
    best = max(structured_clustering.violation(D, labels, list(medoids), gamma) for medoids in sets)
    return max(0.0, best - structured_clustering.best_energy(D, labels))


def test_nmi_by_hand():
    nmi = structured_clustering.nmi
    assert nmi([0, 0, 1, 1], [5, 5, 2, 2]) == pytest.approx(1)
    assert nmi([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(0)
    assert nmi([0, 0, 1, 1], [0, 0, 0, 0]) == 0
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    expected = (entropy - 0.5 * math.log(2)) / math.sqrt(entropy * math.log(2))
    assert nmi([0, 0, 1, 1], [0, 0, 0, 1]) == pytest.approx(expected)


@pytest.mark.parametrize("refine", [0, 5])
@pytest.mark.parametrize("seed", range(8))
def test_structured_clustering_never_exceeds_the_true_maximum(seed, refine):
    x, labels = on_sphere(9, 3, seed=seed), [0, 0, 0, 1, 1, 1, 2, 2, 2]
    value = structured_clustering.value(x, labels, refine=refine)
    assert 0 <= value <= largest_violation(x, labels, gamma=1.0) + 1e-9


def test_structured_clustering_reaches_the_true_maximum_where_the_best_medoids_are_plain():
    # Two tight groups whose labels cut across them: the medoids 0.1 and 10.1 give F = -0.4, while each class
    # pays 0.2 + 9.9 for its own. Knowing the group, a label is one of two with odds 1 : 2.
    x, labels = column(0, 0.1, 0.2, 10, 10.1, 10.2), [0, 1, 0, 1, 0, 1]
    value = structured_clustering.value(x, labels, gamma=3.0)
    assert value == pytest.approx(largest_violation(x, labels, gamma=3.0))
    unexplained = -(math.log(1 / 3) / 3 + 2 * math.log(2 / 3) / 3) / math.log(2)
    assert value == pytest.approx(20.2 - 0.4 + 3 * unexplained)


def test_structured_clustering_is_zero_for_separated_classes_and_for_classes_of_one():
    x = np.repeat(np.eye(3) * 50, 4, axis=0) + gaussian(12, 3)
    assert structured_clustering.value(x, np.repeat([3, 1, 2], 4)) == 0
    assert structured_clustering.value(gaussian(5, 3), range(5)) == 0


def test_refinement_moves_the_medoids_to_the_middle_of_their_clusters():
    # 0.9 and 1 serve the first cluster equally well, 9 and 9.1 the second: the first row of equals is taken.
    x, labels = column(0, 0.9, 1, 3, 9, 9.1), [0, 0, 0, 0, 1, 1]
    D = structured_clustering.distances(x)
    medoids = structured_clustering.refined(D, labels, [3, 4], gamma=0.0)
    assert medoids == [1, 4]
    assert structured_clustering.energy(D, medoids) > structured_clustering.energy(D, [3, 4])


def test_coincident_medoids_keep_themselves():
    D = structured_clustering.distances(column(0, 0, 0, 4))
    assert structured_clustering.assign(D, [1, 0, 3]) == [1, 0, 0, 2]
