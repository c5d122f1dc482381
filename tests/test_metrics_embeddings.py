"""Metrics of the embeddings themselves: the spectrum and the density, against plain loops and on degenerate sets."""

import math

import numpy as np
import pytest
from reference import metrics as reference

from dmlplayground import metrics
from dmlplayground.base.errors import UserError


def with_singular_values(values, rows=40, dim=None, seed=0):
    """A matrix (rows, dim) that has these singular values, and zeros beyond them."""
    dim = dim or len(values)
    random = np.random.default_rng(seed)
    left = np.linalg.qr(random.normal(size=(rows, len(values))))[0]
    right = np.linalg.qr(random.normal(size=(dim, dim)))[0][:, : len(values)]
    return left * values @ right.T


@pytest.mark.parametrize("k", [1, 2, 4, -1, -2, -4])
def test_rho_is_that_of_the_singular_values(k):
    values = [9.0, 4.0, 3.0, 2.5, 1.0, 0.25]
    found = metrics.rho_spectrum(with_singular_values(values), k)
    assert found == pytest.approx(reference.rho(values, k), rel=1e-9)
    assert metrics.get(f"rho_spectrum@{k}").measure(with_singular_values(values), None) == found


def test_rho_by_default_is_the_studys_two():
    points = with_singular_values([5.0, 2.0, 1.0])
    assert metrics.rho_spectrum(points) == metrics.rho_spectrum(points, k=2)


def test_rho_zero_is_the_spectrum_itself():
    np.testing.assert_allclose(
        metrics.rho_spectrum(with_singular_values([6.0, 3.0, 1.0]), 0), [0.6, 0.3, 0.1], rtol=1e-9
    )


def test_rho_without_the_last_value_as_the_study_computes_it():
    values = [6.0, 3.0, 2.0, 1.0]
    points = with_singular_values(values)
    assert metrics.rho_spectrum(points, 2, truncated=True) == pytest.approx(reference.rho(values[:3], 2))
    assert metrics.get("rho_truncated@2").measure(points, None) == metrics.rho_spectrum(
        points, truncated=True
    )


def test_rho_of_degenerate_embeddings_is_infinite_not_noise():
    flat = with_singular_values([3.0, 2.0, 1.0], dim=5)
    noise = with_singular_values([3.0, 2.0, 1.0, 1e-11])
    for points in (flat, noise, flat.astype(np.float64) * 1e8):
        assert metrics.rho_spectrum(points, 1) == metrics.rho_spectrum(points, 2) == math.inf
        q = np.array([3, 2, 1]) / 6
        expected = np.sum(q * np.log((points.shape[1]) * q))
        assert metrics.rho_spectrum(points, -1) == pytest.approx(expected, rel=1e-9)
    for k in (1, -1):
        assert metrics.rho_spectrum(np.zeros((6, 3)), k) == math.inf
    assert metrics.rho_spectrum(np.zeros((6, 3)), 0).tolist() == [0.0, 0.0, 0.0]


def test_rho_is_not_centred_and_blind_to_scale_and_rotation():
    points = np.random.default_rng(0).normal(size=(300, 6)) + 2.0
    rho = metrics.rho_spectrum(points, 1)
    assert rho == pytest.approx(reference.rho(np.linalg.svd(points)[1].tolist(), 1))
    assert metrics.rho_spectrum(7 * points, 1) == pytest.approx(rho)
    assert metrics.rho_spectrum(points @ np.linalg.qr(points[:6])[0], 1) == pytest.approx(rho)
    assert metrics.rho_spectrum(points - points.mean(axis=0), 1) != pytest.approx(rho, rel=0.1)


def test_rho_in_blocks_is_rho_in_one_piece(monkeypatch):
    points = np.random.default_rng(1).normal(size=(500, 8))
    whole = metrics.rho_spectrum(points)
    monkeypatch.setattr("dmlplayground.parts.metrics.shared.engine.embeddings.SLICE", 24)
    assert metrics.rho_spectrum(points) == pytest.approx(whole, rel=1e-12)


def test_rho_of_fewer_rows_than_dimensions_has_as_many_values_as_rows():
    points = np.random.default_rng(2).normal(size=(4, 9))
    assert len(metrics.rho_spectrum(points, 0)) == 4
    with pytest.raises(UserError, match="no singular value left"):
        metrics.rho_spectrum(points, 5)


def test_density_is_that_of_plain_loops():
    random = np.random.default_rng(3)
    points, labels = random.normal(size=(60, 5)), random.integers(7, size=60) * 10
    intra, inter = reference.density(points.tolist(), labels.tolist())
    found = metrics.density(points, labels)
    assert found == pytest.approx({"intra": intra, "inter": inter, "ratio": intra / inter})
    for name, value in found.items():
        assert metrics.get(f"density_{name}").measure(points, labels) == value


def test_density_leaves_lone_classes_out_of_intra_alone():
    points, labels = [[1, 0], [0, 1], [-1, 0]], [0, 0, 1]
    half = math.sqrt(0.5)
    assert metrics.density(points, labels) == pytest.approx(
        {"intra": 1.0, "inter": 1 + half, "ratio": 1 / (1 + half)}
    )


def test_density_of_one_point_has_the_studys_floor_under_its_ratio():
    found = metrics.density(np.ones((6, 3)), [0, 0, 1, 1, 2, 2])
    assert found == pytest.approx({"intra": 0.0, "inter": 0.0, "ratio": 0.0}, abs=1e-6)


def three_discs(distance):
    """Three classes of 100 points each, spread evenly over unit discs whose centres are ``distance`` apart."""
    k = np.arange(100) + 0.5
    discs = []
    for i, centre in enumerate([(0, 0), (distance, 0), (distance / 2, distance * math.sqrt(3) / 2)]):
        radius, angle = np.sqrt(k / 100), k * math.pi * (3 - math.sqrt(5)) + i
        discs.append(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1) + centre)
    return np.concatenate(discs), np.repeat(np.arange(3), 100)


@pytest.mark.parametrize(
    ("distance", "expected"),
    [
        (2.0, (100, 100, 98, 81.36, 76.03)),
        (2.2, (100, 100, 100, 86.14, 82.64)),
        (2.5, (100, 100, 100, 91.59, 89.93)),
        (4.0, (100, 100, 100, 100, 100)),
    ],
)
def test_the_reality_checks_first_figure(distance, expected):
    """NMI, F1 and R@1 cannot tell these spaces apart; R-precision and MAP@R can."""
    found = metrics.evaluate(*three_discs(distance))
    shown = [100 * found[name] for name in ("NMI", "F1", "R@1", "RP", "MAP@R")]
    assert shown == pytest.approx(expected, abs=0.0051)
