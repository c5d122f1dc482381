"""What the options of the methods do: each against the slow reference, the released code's own forms, and the
identities that tie one method to another.
"""

import mxnet as mx
import numpy as np
import pytest
from mxnet import nd

from dmlplayground import methods
from dmlplayground.base.errors import UserError
from dmlplayground.trial.conformance.losses import Case, assert_slopes, block_labels, parameters, unit

VARIANTS = [
    ("triplet_semihard", {"margin": 0.2}),
    ("lifted_structure", {"margin": 0.3}),
    ("npairs", {"l2_reg": 0.1}),
    ("npairs", {"l2_reg": 0.1, "symmetric": True}),
    ("angular", {"alpha": 36.0, "l2_reg": 0.1}),
    ("angular", {"alpha": 55.0, "l2_reg": 0.1, "symmetric": True}),
    ("angular", {"npairs_weight": 2.5, "symmetric": True}),
    ("npairs", {"negatives": "all", "l2_reg": 0.1}),
    ("angular", {"negatives": "all", "l2_reg": 0.1}),
    ("angular", {"negatives": "all", "npairs_weight": 1.0, "angular_weight": 2.0, "unit_angles": True}),
    ("angular", {"npairs_weight": 1.0, "angular_weight": 2.0, "unit_angles": True}),
    ("prototypical", {"supports": 1}),
    ("proxy_triplet", {"margin": 0.1, "scale": 3.0}),
    ("proxy_triplet", {"margin": -0.1}),
    ("proxy_nca", {"scale": 1.0, "temperature": 0.25}),
    ("proxy_nca", {"label_smoothing": 0.1}),
    ("proxy_nca", {"exclude_positive": False, "label_smoothing": 0.1}),
    ("proxy_softmax", {"temperature": 0.5, "label_smoothing": 0.0}),
    ("ranked_list", {"margin": 0.9, "alpha": 1.0, "temperature": 0.0}),
    ("ranked_list", {"margin": 0.2, "alpha": 1.6, "temperature": 300.0}),
    ("ranked_list", {"detach_weights": False}),
    ("ranked_list", {"negative_weight": 0.3}),
    ("margin", {"margin": 0.5, "beta": 0.9, "nu": 0.3}),
    ("margin", {"learn_beta": False, "beta": 0.7, "nu": 0.3}),
    ("margin", {"per_class": False, "nu": 0.3}),
    ("structured_clustering", {"gamma": 5.0}),
    ("structured_clustering", {"gamma": 0.0}),
    ("structured_clustering", {"refine": 0}),
    ("dreml", {"scale": 2.0, "temperature": 0.5}),
    ("dreml", {"static_proxies": True}),
    ("dreml", {"meta_classes": 2, "class_map": "independent"}),
    # Beside others, each method of the Reality Check at what it found best on CUB.
    ("contrastive", {"pos_margin": -0.2, "neg_margin": 0.3841}),
    ("contrastive", {"pos_margin": 0.5, "neg_margin": 1.2}),
    ("contrastive", {"pos_margin": 0.5, "average": "all"}),
    ("triplet", {"margin": 0.0961}),
    ("triplet", {"margin": 0.4, "squared": True, "average": "all"}),
    ("triplet", {"margin": -0.1}),
    ("nt_xent", {"temperature": 0.0091}),
    ("nt_xent", {"temperature": 0.0091, "floor": 1e-20}),
    ("nt_xent", {"temperature": 0.5}),
    ("proxy_nca", {"scale": 13.98**0.5, "exclude_positive": False, "init_std": 1.0}),
    ("proxy_softmax", {"temperature": 0.1087, "label_smoothing": 0.0, "init_std": 1.0}),
    ("margin", {"mining": "all", "margin": 0.0878, "beta": 0.7839, "per_class": False}),
    ("margin", {"mining": "all", "margin": 0.0779, "beta": 0.9797}),
    ("cosface", {"margin": 0.6182, "scale": 100.0}),
    ("cosface", {"margin": 0.1, "scale": 8.0, "init": "uniform"}),
    ("cosface", {"margin": 0.1, "scale": 8.0, "label_smoothing": 0.2}),
    ("arcface", {"margin": 23.23, "scale": 100.0, "monotonic": False}),
    ("arcface", {"margin": 90.0, "scale": 8.0, "monotonic": False}),
    ("arcface", {"margin": 90.0, "scale": 8.0}),
    ("arcface", {"margin": 90.0, "scale": 8.0, "label_smoothing": 0.1}),
    ("fast_ap", {"bins": 17}),
    ("fast_ap", {"bins": 3}),
    ("snr_contrastive", {"pos_margin": 0.3265, "neg_margin": 0.8446}),
    ("snr_contrastive", {"pos_margin": 1.0, "neg_margin": 3.0}),
    ("snr_triplet", {"margin": 1.0}),
    ("snr_triplet", {"margin": -0.1}),
    ("multi_similarity", {"alpha": 0.01, "beta": 50.6, "base": 0.5625}),
    ("multi_similarity", {"alpha": 17.97, "beta": 75.66, "base": 0.7763}),
    ("multi_similarity", {"skip_incomplete": True}),
    ("soft_triple", {"scale": 78.02, "gamma": 58.95, "tau": 0.3755, "margin": 0.4308, "average_pairs": True}),
    ("soft_triple", {"centers": 2, "scale": 8.0, "tau": 2.0}),
    ("soft_triple", {"centers": 1}),
    ("soft_triple", {"tau": 0.0}),
    ("soft_triple", {"centers": 2, "scale": 8.0, "label_smoothing": 0.1}),
    ("circle", {"margin": 0.25, "scale": 8.0}),
    ("circle", {"form": "classes", "margin": 0.25, "scale": 32.0}),
    ("circle", {"form": "classes"}),
    ("sphereface", {"margin": 1}),
    ("sphereface", {"margin": 3, "scale": 2.0}),
    ("sphereface", {"margin": 3, "scale": 2.0, "label_smoothing": 0.1}),
    ("large_margin_softmax", {"margin": 2, "scale": 0.5}),
    ("large_margin_softmax", {"margin": 3}),
    ("large_margin_softmax", {"margin": 3, "label_smoothing": 0.3}),
    ("tuplet_margin", {"margin": 20.0, "scale": 8.0}),
    ("tuplet_margin", {"margin": 0.0}),
    ("proxy_anchor", {"margin": 0.3, "alpha": 8.0}),
    ("proxy_anchor", {"margin": 0.0, "alpha": 64.0}),
    ("generalized_lifted", {"pos_margin": 0.3, "neg_margin": 2.0}),
    ("generalized_lifted", {"skip_lone": True}),
    ("supcon", {"temperature": 0.07}),
    ("supcon", {"temperature": 1.0}),
    ("smooth_ap", {"temperature": 0.1}),
    ("smooth_ap", {"temperature": 1.0}),
    ("recall_at_k", {"ks": [1, 3], "temperature": 0.5, "rank_temperature": 0.1}),
    ("recall_at_k", {"ks": [4], "rank_temperature": 0.1, "count_query": True}),
    ("histogram", {"nodes": 11}),
    ("histogram", {"nodes": 2}),
    ("quadruplet", {"margin": 1.0, "second_margin": 0.5}),
    ("quadruplet", {"mining": "all"}),
]


@pytest.mark.parametrize(("key", "options"), VARIANTS, ids=[f"{key}-{'-'.join(o)}" for key, o in VARIANTS])
@pytest.mark.parametrize("seed", range(2))
def test_options_change_the_value_as_they_change_the_references(key, options, seed):
    case = Case(key, classes=5, width=4, seed=seed, options=options)
    assert case.value() == pytest.approx(case.expected(), rel=2e-5, abs=2e-5)


@pytest.mark.parametrize(("key", "options"), VARIANTS, ids=[f"{key}-{'-'.join(o)}" for key, o in VARIANTS])
def test_gradients_with_these_options_are_the_slopes_of_the_references(key, options):
    assert_slopes(Case(key, classes=5, width=4, seed=6, dtype="float64", options=options), seed=6)


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("npairs", {"l2_reg": -1.0}),
        ("angular", {"alpha": 90.0}),
        ("angular", {"npairs_weight": -1.0}),
        ("angular", {"angular_weight": 0.0}),
        ("angular", {"negatives": "all", "symmetric": True}),
        ("npairs", {"negatives": "all", "symmetric": True}),
        ("prototypical", {"supports": 0}),
        ("proxy_triplet", {"scale": 0.0}),
        ("proxy_nca", {"temperature": 0.0}),
        ("proxy_nca", {"label_smoothing": 1.0}),
        ("proxy_nca", {"released_sign": True}),
        ("proxy_softmax", {"temperature": -0.05}),
        ("margin", {"cutoff": 1.5}),
        ("margin", {"nonzero_cutoff": 2.0}),
        ("margin", {"nu": -0.1}),
        ("margin", {"beta_by": "row"}),
        ("ranked_list", {"temperature": -1.0}),
        ("ranked_list", {"alpha": 0.0}),
        ("ranked_list", {"negative_weight": -0.1}),
        ("structured_clustering", {"refine": -1}),
        ("structured_clustering", {"gamma": -1.0}),
        ("dreml", {"meta_classes": 1}),
        ("dreml", {"class_map": "even"}),
        ("contrastive", {"average": "some"}),
        ("nt_xent", {"temperature": 0.0}),
        ("nt_xent", {"floor": 1.0}),
        ("cosface", {"scale": 0.0}),
        ("cosface", {"init_std": 0.0}),
        ("arcface", {"label_smoothing": -0.1}),
        ("soft_triple", {"label_smoothing": 1.0}),
        ("arcface", {"margin": 180.0}),
        ("sphereface", {"margin": 0}),
        ("soft_triple", {"centers": 0}),
        ("soft_triple", {"gamma": 0.0}),
        ("proxy_anchor", {"alpha": 0.0}),
        ("circle", {"form": "rows"}),
        ("multi_similarity", {"beta": 0.0}),
        ("fast_ap", {"bins": 0}),
        ("histogram", {"nodes": 1}),
        ("smooth_ap", {"temperature": 0.0}),
        ("recall_at_k", {"ks": []}),
        ("recall_at_k", {"ks": [0]}),
    ],
)
def test_impossible_values_are_refused_by_name(key, options):
    with pytest.raises(UserError, match=key):
        methods.loss(key, num_classes=4, embed_dim=4, **options)


@pytest.mark.parametrize("key", ["proxy_triplet", "proxy_nca", "proxy_softmax", "discriminative"])
def test_proxies_of_one_class_are_refused(key):
    with pytest.raises(UserError, match=f"{key}.*num_classes must be at least 2"):
        methods.loss(key, num_classes=1, embed_dim=4)


@pytest.mark.parametrize("key", ["npairs", "angular"])
def test_an_odd_number_of_rows_is_not_pairs(key):
    case = Case(key)
    with pytest.raises(UserError, match=f"{key}.*even number of rows, not 7"):
        case.value(case.x[:7], case.labels[:7])


# --- the released code's forms -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "options"),
    [("proxy_softmax", {}), ("proxy_nca", {"exclude_positive": False, "label_smoothing": 0.1})],
)
def test_the_released_sign_is_the_natural_one_with_opposite_proxies(key, options):
    natural, released = Case(key, options=options), Case(key, options={**options, "released_sign": True})
    value, gradients = natural.value_and_gradients()
    parameters(released.loss)["proxies"].set_data(-parameters(natural.loss)["proxies"].data())
    again, mirrored = released.value_and_gradients()
    assert again == pytest.approx(value)
    np.testing.assert_allclose(mirrored["x"], gradients["x"], atol=1e-6)
    np.testing.assert_allclose(mirrored["proxies"], -gradients["proxies"], atol=1e-6)


def test_ranked_list_weights_are_constants_of_the_gradient_or_not():
    detached, differentiated = (Case("ranked_list", options={"detach_weights": d}) for d in (True, False))
    value, gradients = detached.value_and_gradients()
    again, others = differentiated.value_and_gradients()
    assert again == value
    assert not np.allclose(others["x"], gradients["x"])


def test_differentiated_ranked_list_weights_have_the_slope_of_the_reference():
    case = Case("ranked_list", dtype="float64", options={"detach_weights": False})
    gradient = case.value_and_gradients()[1]["x"]
    direction = np.random.default_rng(0).normal(size=case.x.shape)
    ends = [case.expected(case.x + step * direction) for step in (1e-6, -1e-6)]
    assert (gradient * direction).sum() == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5)


def meta_classes(draw: str, seed: int, classes=100, groups=12) -> np.ndarray:
    mx.random.seed(seed)
    loss = methods.loss("dreml", num_classes=classes, embed_dim=groups, class_map=draw)
    return loss.class_map.data().asnumpy().astype(int)


def test_meta_classes_are_dealt_evenly_or_drawn_independently():
    for seed in range(5):
        counts = np.bincount(meta_classes("balanced", seed), minlength=12)
        assert set(counts) == {8, 9}
    counts = np.concatenate([np.bincount(meta_classes("independent", s), minlength=12) for s in range(40)])
    assert counts.mean() == pytest.approx(100 / 12)
    assert counts.var() == pytest.approx(100 * (1 / 12) * (11 / 12), rel=0.2)


def test_every_member_groups_the_classes_anew_and_the_same_seed_alike():
    assert not np.array_equal(meta_classes("balanced", 1), meta_classes("balanced", 2))
    np.testing.assert_array_equal(meta_classes("balanced", 1), meta_classes("balanced", 1))


# --- identities --------------------------------------------------------------------------------------------


def with_proxies(key, proxies, x, labels, **options) -> float:
    loss = methods.loss(key, num_classes=len(proxies), embed_dim=x.shape[1], **options)
    loss.proxies.set_data(nd.array(proxies))
    return loss(nd.array(x), nd.array(labels, dtype="int32")).asscalar()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_proxy_nca_with_its_own_proxy_is_proxy_softmax(smoothing):
    # |s u - s p|^2 = 2 s^2 - 2 s^2 u.p: a softmax of u.p at temperature T / (2 s^2).
    rng = np.random.default_rng(0)
    x, proxies, labels = unit(rng.normal(size=(9, 5))), rng.normal(size=(4, 5)), rng.integers(0, 4, 9)
    nca = with_proxies("proxy_nca", proxies, x, labels, exclude_positive=False, label_smoothing=smoothing)
    softmax = with_proxies("proxy_softmax", proxies, x, labels, temperature=1 / 18, label_smoothing=smoothing)
    assert nca == pytest.approx(softmax, rel=1e-5)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize(
    ("key", "options"),
    [("cosface", {"margin": 0.0}), ("arcface", {"margin": 0.0}), ("sphereface", {"margin": 1})],
)
def test_without_a_margin_they_are_proxy_softmax(key, options, smoothing):
    rng = np.random.default_rng(0)
    x, proxies, labels = unit(rng.normal(size=(9, 5))), rng.normal(size=(4, 5)), rng.integers(0, 4, 9)
    value = with_proxies(key, proxies, x, labels, scale=8.0, label_smoothing=smoothing, **options)
    softmax = with_proxies("proxy_softmax", proxies, x, labels, temperature=1 / 8, label_smoothing=smoothing)
    assert value == pytest.approx(softmax, rel=1e-5)


def test_prototypical_with_unit_prototypes_is_proxy_nca_over_them():
    rng = np.random.default_rng(1)
    prototypes, queries, labels = unit(rng.normal(size=(3, 5))), rng.normal(size=(4, 5)), [2, 0, 1, 1]
    loss = methods.loss("prototypical", num_classes=3, embed_dim=5, supports=1)
    rows = nd.array(np.concatenate([prototypes, queries]))
    value = loss(rows, nd.array([0, 1, 2, *labels], dtype="int32")).asscalar()
    nca = with_proxies("proxy_nca", prototypes, queries, labels, scale=1.0, exclude_positive=False)
    assert value == pytest.approx(nca, rel=1e-5)


def test_dreml_with_as_many_groups_as_classes_is_proxy_nca():
    case = Case("dreml", options={"meta_classes": 4})
    own = case.arrays()
    value = with_proxies("proxy_nca", own["proxies"], case.x, own["class_map"][case.labels])
    assert case.value() == pytest.approx(value, rel=1e-5)


def test_pairs_on_the_sphere_are_prototypes_of_one_support():
    # |a - p|^2 = 2 - 2 a.p, so N-pairs with every a.p doubled picks as the prototypical loss does.
    rng = np.random.default_rng(2)
    a, p, labels = unit(rng.normal(size=(5, 4))), unit(rng.normal(size=(5, 4))), np.arange(5)
    pairs, episode = np.stack([a, p], axis=1).reshape(10, 4), np.concatenate([p, a])
    npairs = methods.loss("npairs", num_classes=5, embed_dim=4, l2_reg=0.0)
    prototypical = methods.loss("prototypical", num_classes=5, embed_dim=4, supports=1)
    value = npairs(nd.array(np.sqrt(2) * pairs), nd.array(np.repeat(labels, 2), dtype="int32")).asscalar()
    again = prototypical(nd.array(episode), nd.array(np.tile(labels, 2), dtype="int32")).asscalar()
    assert value == pytest.approx(again, rel=1e-5)


def test_prototypical_reads_both_layouts():
    rng = np.random.default_rng(3)
    x, labels = rng.normal(size=(12, 3)), block_labels(3, 4)
    loss = methods.loss("prototypical", num_classes=3, embed_dim=3, supports=2)
    first_supports = [0, 1, 4, 5, 8, 9, 2, 3, 6, 7, 10, 11]
    values = [loss(nd.array(x[o]), nd.array(labels[o])).asscalar() for o in (range(12), first_supports)]
    assert values[0] == pytest.approx(values[1])


def test_discriminative_attracts_however_small_the_batch():
    """The released code's factor turns the sign around in batches of no more rows than classes."""
    case = Case("discriminative", classes=50)
    x, labels = case.x[:10], case.labels[:10]
    value, gradients = case.value_and_gradients(x, labels)
    assert case.value(x - 0.1 * gradients["x"], labels) < value
    assert (gradients["x"][np.arange(10), labels] < 0).all()
    assert case.value(np.eye(50)[labels], labels) == pytest.approx(-2 / 3)


def test_structured_clustering_keeps_still_where_the_classes_are_apart():
    rng = np.random.default_rng(4)
    x, labels = np.repeat(np.eye(3) * 50, 4, axis=0) + rng.normal(size=(12, 3)), block_labels(3, 4)
    value, gradients = Case("structured_clustering").value_and_gradients(x, labels)
    assert value == 0
    assert not gradients["x"].any()
