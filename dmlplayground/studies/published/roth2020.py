"""Roth et al. 2020: the points of its figures, decoded from the vector graphics of the released repository."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .quotes import KIND, Not, Quote, Score

# fmt: off
# R@1, its deviation over five seeds, and rho; then intra, inter and ratio where they were published
RESULTS: dict[str, dict[str, tuple[float, ...]]] = {
    "angular": {
        "cub200": (62.1, 0.27, 0.226, 0.333, 1.0, 0.334),
        "cars196": (78.0, 0.32, 0.239, 0.271, 1.002, 0.271),
        "sop": (73.22, 0.07, 0.056, 0.229, 0.995, 0.23),
    },
    "arcface": {
        "cub200": (62.67, 0.67, 0.241, 0.359, 0.966, 0.372),
        "cars196": (79.16, 0.97, 0.247, 0.372, 0.967, 0.385),
        "sop": (77.71, 0.15, 0.017, 0.263, 0.99, 0.266),
    },
    "contrastive_distance": {
        "cub200": (61.5, 0.17, 0.321, 0.238, 0.682, 0.349),
        "cars196": (75.78, 0.39, 0.343, 0.223, 0.699, 0.319),
        "sop": (73.21, 0.04, 0.507, 0.175, 0.907, 0.193),
    },
    "generalized_lifted": {
        "cub200": (59.59, 0.6, 0.457, 0.21, 0.968, 0.218),
        "cars196": (72.17, 0.38, 0.555, 0.143, 0.987, 0.145),
        "sop": (75.21, 0.12, 0.429, 0.203, 0.972, 0.209),
    },
    "histogram": {
        "cub200": (60.55, 0.26, 0.382, 0.157, 0.716, 0.22),
        "cars196": (76.47, 0.38, 0.437, 0.141, 0.687, 0.206),
        "sop": (71.3, 0.1, 0.291, 0.153, 0.508, 0.302),
    },
    "multi_similarity": {
        "cub200": (62.8, 0.7, 0.155, 0.309, 0.693, 0.446),
        "cars196": (81.68, 0.19, 0.163, 0.291, 0.738, 0.394),
        "sop": (77.99, 0.09, 0.086, 0.27, 0.784, 0.345),
    },
    "margin_b0.6_distance": {
        "cub200": (62.5, 0.24, 0.31, 0.157, 0.451, 0.352),
        "cars196": (77.7, 0.32, 0.341, 0.14, 0.418, 0.339),
        "sop": (77.38, 0.11, 0.32, 0.179, 0.885, 0.202),
    },
    "margin_b1.2_distance": {
        "cub200": (63.09, 0.46, 0.179, 0.374, 0.957, 0.39),
        "cars196": (79.86, 0.33, 0.265, 0.264, 0.883, 0.3),
        "sop": (78.43, 0.07, 0.061, 0.264, 0.966, 0.273),
    },
    "npair": {
        "cub200": (61.63, 0.58, 0.317, 0.208, 0.721, 0.289),
        "cars196": (77.48, 0.28, 0.371, 0.139, 0.63, 0.22),
        "sop": (75.86, 0.08, 0.175, 0.211, 0.773, 0.273),
    },
    "proxy_nca": {
        "cub200": (62.8, 0.48, 0.212, 0.332, 0.984, 0.338),
        "cars196": (78.48, 0.58, 0.216, 0.343, 0.985, 0.348),
    },
    "quadruplet_distance": {
        "cub200": (61.71, 0.63, 0.365, 0.127, 0.483, 0.268),
        "cars196": (76.34, 0.27, 0.416, 0.129, 0.677, 0.192),
        "sop": (76.95, 0.1, 0.247, 0.221, 0.867, 0.254),
    },
    "snr_distance": {
        "cub200": (62.88, 0.18, 0.305, 0.101, 0.286, 0.36),
        "cars196": (78.69, 0.19, 0.334, 0.11, 0.429, 0.257),
        "sop": (77.61, 0.34, 0.144, 0.211, 0.743, 0.284),
    },
    "soft_triple": {
        "cub200": (60.83, 0.47, 0.303, 0.241, 0.994, 0.243),
        "cars196": (75.66, 0.46, 0.338, 0.243, 0.985, 0.247),
    },
    "normalized_softmax": {
        "cub200": (61.66, 0.33, 0.212, 0.343, 0.968, 0.355),
        "cars196": (78.91, 0.27, 0.212, 0.361, 0.957, 0.377),
        "sop": (76.92, 0.64, 0.019, 0.334, 0.977, 0.342),
    },
    "triplet_distance": {
        "cub200": (62.87, 0.35, 0.303, 0.101, 0.293, 0.351),
        "cars196": (79.13, 0.27, 0.33, 0.115, 0.483, 0.24),
        "sop": (77.39, 0.15, 0.162, 0.211, 0.693, 0.304),
    },
    "triplet_random": {
        "cub200": (58.48, 0.31, 0.464, 0.147, 0.586, 0.252),
        "cars196": (70.63, 0.43, 0.542, 0.128, 0.554, 0.231),
        "sop": (67.86, 0.14, 0.461, 0.229, 0.927, 0.247),
    },
    "triplet_semihard": {
        "cub200": (60.09, 0.49, 0.373, 0.248, 0.967, 0.257),
        "cars196": (72.51, 0.47, 0.439, 0.193, 0.973, 0.198),
        "sop": (73.61, 0.14, 0.309, 0.257, 0.915, 0.281),
    },
    "triplet_softhard": {
        "cub200": (61.61, 0.21, 0.385, 0.048, 0.197, 0.245),
        "cars196": (77.6, 0.33, 0.442, 0.045, 0.213, 0.21),
        "sop": (73.5, 0.09, 0.323, 0.086, 0.275, 0.314),
    },
    "rho_contrastive_distance": {
        "cub200": (63.57, 0.66, 0.172),
        "cars196": (81.06, 0.41, 0.199),
        "sop": (74.36, 0.11, 0.436),
    },
    "rho_margin_b0.6_distance": {
        "cub200": (64.93, 0.42, 0.203),
        "cars196": (82.37, 0.13, 0.258),
        "sop": (77.58, 0.11, 0.304),
    },
    "rho_margin_b1.2_distance": {
        "cub200": (63.32, 0.33, 0.13),
        "cars196": (81.11, 0.49, 0.162),
        "sop": (78.52, 0.1, 0.065),
    },
    "rho_snr_distance": {
        "cub200": (62.97, 0.32, 0.262),
        "cars196": (80.38, 0.35, 0.287),
        "sop": (77.69, 0.25, 0.122),
    },
    "rho_triplet_distance": {
        "cub200": (63.28, 0.18, 0.249),
        "cars196": (81.17, 0.11, 0.274),
        "sop": (77.33, 0.14, 0.146),
    },
}
# What the released code of a row does that a reader must know.
DIVISOR = "the released loss divides by the triplets with an active term, not by the active terms"
CARE = {
    "angular": "the released loss stops at any batch that repeats a class, which its own sampler makes",
    "arcface": "in the first public code the margin cancels: a softmax of scale 16 on cosines cut off at 0",
    "histogram": "with the 11 bins used for products the released code loses more than half of the range",
    "margin_b0.6_distance": DIVISOR,
    "margin_b1.2_distance": DIVISOR,
    "quadruplet_distance": "the released code does not choose the fourth image by its class",
    "soft_triple": "the released class normalises along the wrong axes, and cannot be constructed",
    "rho_margin_b0.6_distance": DIVISOR,
    "rho_margin_b1.2_distance": DIVISOR,
    "rho_snr_distance": "its released command for birds is malformed",
}
# fmt: on

DISTANCE = {"mining.name": "distance_weighted"}
RHO = {"mining.name": "rho_distance"}
# A row's method and options here.
ROWS: dict[str, dict[str, Any]] = {
    "angular": {"method.name": "angular"},
    "arcface": {"method.name": "arcface"},
    "contrastive_distance": {"method.name": "contrastive", **DISTANCE},
    "generalized_lifted": {"method.name": "generalized_lifted"},
    "histogram": {"method.name": "histogram"},
    "multi_similarity": {"method.name": "multi_similarity"},
    "margin_b0.6_distance": {"method.name": "margin", "method.beta": 0.6, **DISTANCE},
    "margin_b1.2_distance": {"method.name": "margin", "method.beta": 1.2, **DISTANCE},
    "npair": {"method.name": "npairs"},
    "proxy_nca": {"method.name": "proxy_nca"},
    "quadruplet_distance": {"method.name": "quadruplet", **DISTANCE},
    "snr_distance": {"method.name": "snr_triplet", **DISTANCE},
    "soft_triple": {"method.name": "soft_triple"},
    "normalized_softmax": {"method.name": "proxy_softmax"},
    "triplet_distance": {"method.name": "triplet", **DISTANCE},
    "triplet_random": {"method.name": "triplet", "mining.name": "random"},
    "triplet_semihard": {"method.name": "triplet", "mining.name": "semihard"},
    "triplet_softhard": {"method.name": "triplet", "mining.name": "softhard"},
    "rho_contrastive_distance": {"method.name": "contrastive", **RHO},
    "rho_margin_b0.6_distance": {"method.name": "margin", "method.beta": 0.6, **RHO},
    "rho_margin_b1.2_distance": {"method.name": "margin", "method.beta": 1.2, **RHO},
    "rho_snr_distance": {"method.name": "snr_triplet", **RHO},
    "rho_triplet_distance": {"method.name": "triplet", **RHO},
}
OF_TRAINING = ("rho_spectrum@2", "density_intra", "density_inter", "density_ratio")
SOURCE = "figures of R@1 against rho"
EPOCHS = {"cub200": 150, "cars196": 150, "sop": 100}


@KIND.register(
    title="Roth, Milbich, Sinha, Gupta, Ommer, Cohen: Revisiting Training Strategies and Generalization Performance in Deep "
    "Metric Learning (ICML 2020)",
    also=("training strategies", "revisiting dml"),
    year=2020,
    warning="Each value is the mean over five seeds of the best test epoch; several of its released losses are faulty.",
)
def quotes() -> Iterator[Quote]:
    """R@1 of eighteen losses and miners, and of five with the regularizer of rho, on three data sets; and what their
    training embeddings look like at the epoch of that R@1."""
    for row, by_data in RESULTS.items():
        for data, (recall, spread, *of_training) in by_data.items():
            conditions = {
                **ROWS[row],
                "data.name": data,
                "backbone.name": "resnet50_v1b",
                "backbone.pretrained": Not("none"),
                "embed_dim": 128,
                "batch_size": 112,
                "protocol.name": "per_metric",
                "epochs": EPOCHS[data],
                "ensemble.members": 1,
                "evaluation.distance": "euclidean",
            }
            doubt = CARE.get(row, "")
            score = Score(recall, spread=spread, doubt=doubt)
            known = {metric: Score(value, doubt=doubt) for metric, value in zip(OF_TRAINING, of_training)}
            yield Quote(SOURCE, conditions, {"R@1": score}, runs=5, outcome="maximum", label=row)
            yield Quote(SOURCE, conditions, known, runs=5, outcome="training", label=row)
