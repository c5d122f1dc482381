"""Our losses beside those of pytorch-metric-learning, wherever both mean the same: values and gradients."""

import mxnet as mx
import numpy as np
import pytest
from mxnet import autograd, nd

from dmlplayground import methods

torch = pytest.importorskip("torch")
peer = pytest.importorskip("pytorch_metric_learning.losses")
distances = pytest.importorskip("pytorch_metric_learning.distances")

CLASSES, WIDTH = 5, 6
SIZES = CLASSES, WIDTH
# Our options, the library's loss, and the name of its proxies, if it has any.
CASES = {
    "contrastive": ({"neg_margin": 1.2}, lambda: peer.ContrastiveLoss(0, 1.2), None),
    "triplet": ({}, lambda: peer.TripletMarginLoss(margin=0.2), None),
    "nt_xent": ({}, lambda: peer.NTXentLoss(0.07), None),
    "cosface": ({}, lambda: peer.CosFaceLoss(*SIZES, margin=0.35, scale=64), "W"),
    "arcface": ({}, lambda: peer.ArcFaceLoss(*SIZES, margin=28.6, scale=64), "W"),
    "fast_ap": ({}, lambda: peer.FastAPLoss(10), None),
    "snr_contrastive": ({}, lambda: peer.ContrastiveLoss(0, 1, distance=distances.SNRDistance()), None),
    "snr_triplet": ({}, lambda: peer.TripletMarginLoss(margin=0.2, distance=distances.SNRDistance()), None),
    "multi_similarity": ({}, lambda: peer.MultiSimilarityLoss(2, 40, 0.5), None),
    "soft_triple": ({"tau": 0.0}, lambda: peer.SoftTripleLoss(*SIZES), "fc"),
    "circle": ({}, lambda: peer.CircleLoss(), None),
    "sphereface": ({}, lambda: peer.SphereFaceLoss(*SIZES, margin=4), "W"),
    "large_margin_softmax": ({}, lambda: peer.LargeMarginSoftmaxLoss(*SIZES, margin=4), "W"),
    "tuplet_margin": ({}, lambda: peer.TupletMarginLoss(), None),
    "proxy_anchor": ({}, lambda: peer.ProxyAnchorLoss(*SIZES), "proxies"),
    "generalized_lifted": ({}, lambda: peer.GeneralizedLiftedStructureLoss(), None),
    "supcon": ({}, lambda: peer.SupConLoss(0.1), None),
    "histogram": ({}, lambda: peer.HistogramLoss(n_bins=64), None),
}


@pytest.mark.slow
@pytest.mark.parametrize("key", CASES)
def test_value_and_gradients_are_the_librarys(key):
    options, build, proxies = CASES[key]
    rng = np.random.default_rng(4)
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    x = rng.normal(size=(len(labels), WIDTH))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    theirs = build().double()
    rows = torch.tensor(x, requires_grad=True)
    expected = theirs(rows, torch.tensor(labels))
    expected.backward()

    mx.random.seed(1)
    ours = methods.loss(key, num_classes=CLASSES, embed_dim=WIDTH, **options)
    ours.cast("float64")
    if proxies:
        weights = getattr(theirs, proxies)
        turned = weights.shape[0] == WIDTH  # a column a class, where we have a row
        given = weights.detach().numpy()
        given = given.T if turned else given
        ours.proxies.set_data(nd.array(given.reshape(ours.proxies.shape), dtype="float64"))
    embeddings = nd.array(x, dtype="float64")
    embeddings.attach_grad()
    with autograd.record():
        # The library brings embeddings to unit length itself, where ours come so from the head.
        unit = embeddings / nd.norm(embeddings, axis=1, keepdims=True)
        reads_lengths = not methods.get(key).head["normalize"]
        value = ours(embeddings if reads_lengths else unit, nd.array(labels))
    value.backward()
    assert value.asscalar() == pytest.approx(expected.item(), rel=1e-5)
    tolerance = {"rtol": 1e-4, "atol": 1e-6}
    np.testing.assert_allclose(embeddings.grad.asnumpy(), rows.grad.numpy(), **tolerance)
    if proxies:
        found = weights.grad.numpy()
        found = found.T if turned else found
        np.testing.assert_allclose(
            ours.proxies.grad().asnumpy(), found.reshape(ours.proxies.shape), **tolerance
        )
