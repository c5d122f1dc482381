"""Musgrave, Belongie and Lim 2020: networks before training (tables 1 and 2), and means over ten runs with half of their
95 % intervals (tables 4 to 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .quotes import KIND, UNTRAINED, Not, Quote, Score

METRICS = ("R@1", "RP", "MAP@R")
OUTCOMES = ("joined", "separate")  # "concatenated" and "separated" there: three columns each

# fmt: off
TABLE_4 = {
    "pretrained": ((51.05, None), (24.85, None), (14.21, None), (50.54, None), (25.12, None), (14.53, None)),
    "contrastive": ((68.13, 0.31), (37.24, 0.28), (26.53, 0.29), (59.73, 0.4), (31.98, 0.29), (21.18, 0.28)),
    "triplet": ((64.24, 0.26), (34.55, 0.24), (23.69, 0.23), (55.76, 0.27), (29.55, 0.16), (18.75, 0.15)),
    "nt_xent": ((66.61, 0.29), (35.96, 0.21), (25.09, 0.22), (58.12, 0.23), (30.81, 0.17), (19.87, 0.16)),
    "proxy_nca": ((65.69, 0.43), (35.14, 0.26), (24.21, 0.27), (57.88, 0.3), (30.16, 0.22), (19.32, 0.21)),
    "margin": ((63.6, 0.48), (33.94, 0.27), (23.09, 0.27), (54.78, 0.3), (28.86, 0.18), (18.11, 0.17)),
    "margin_per_class": ((64.37, 0.18), (34.59, 0.16), (23.71, 0.16), (55.56, 0.16), (29.32, 0.15), (18.51, 0.13)),
    "normalized_softmax": ((65.65, 0.3), (35.99, 0.15), (25.25, 0.13), (58.75, 0.19), (31.75, 0.12), (20.96, 0.11)),
    "cosface": ((67.32, 0.32), (37.49, 0.21), (26.7, 0.23), (59.63, 0.36), (31.99, 0.22), (21.21, 0.22)),
    "arcface": ((67.5, 0.25), (37.31, 0.21), (26.45, 0.2), (60.17, 0.32), (32.37, 0.17), (21.49, 0.16)),
    "fast_ap": ((63.17, 0.34), (34.2, 0.2), (23.53, 0.2), (55.58, 0.31), (29.72, 0.16), (19.09, 0.16)),
    "snr_contrastive": ((66.44, 0.56), (36.56, 0.34), (25.75, 0.36), (58.06, 0.39), (31.21, 0.28), (20.43, 0.28)),
    "multi_similarity": ((65.04, 0.28), (35.4, 0.12), (24.7, 0.13), (57.6, 0.24), (30.84, 0.13), (20.15, 0.14)),
    "multi_similarity_with_miner": ((67.73, 0.18), (37.37, 0.19), (26.52, 0.18), (59.41, 0.3), (31.93, 0.15), (21.01, 0.14)),
    "soft_triple": ((67.27, 0.39), (37.34, 0.19), (26.51, 0.2), (59.94, 0.33), (32.12, 0.14), (21.31, 0.14)),
}
TABLE_5 = {
    "pretrained": ((46.89, None), (13.77, None), (5.91, None), (43.27, None), (13.37, None), (5.64, None)),
    "contrastive": ((81.78, 0.43), (35.11, 0.45), (24.89, 0.5), (69.8, 0.38), (27.78, 0.34), (17.24, 0.35)),
    "triplet": ((79.13, 0.42), (33.71, 0.45), (23.02, 0.51), (65.68, 0.58), (26.67, 0.36), (15.82, 0.36)),
    "nt_xent": ((80.99, 0.54), (34.96, 0.38), (24.4, 0.41), (68.16, 0.36), (27.66, 0.23), (16.78, 0.24)),
    "proxy_nca": ((83.56, 0.27), (35.62, 0.28), (25.38, 0.31), (73.46, 0.23), (28.9, 0.22), (18.29, 0.22)),
    "margin": ((81.16, 0.5), (34.82, 0.31), (24.21, 0.34), (68.24, 0.35), (27.25, 0.19), (16.4, 0.2)),
    "margin_per_class": ((80.04, 0.61), (33.78, 0.51), (23.11, 0.55), (67.54, 0.6), (26.68, 0.4), (15.88, 0.39)),
    "normalized_softmax": ((83.16, 0.25), (36.2, 0.26), (26.0, 0.3), (72.55, 0.18), (29.35, 0.2), (18.73, 0.2)),
    "cosface": ((85.52, 0.24), (37.32, 0.28), (27.57, 0.3), (74.67, 0.2), (29.01, 0.11), (18.8, 0.12)),
    "arcface": ((85.44, 0.28), (37.02, 0.29), (27.22, 0.3), (72.1, 0.37), (27.29, 0.17), (17.11, 0.18)),
    "fast_ap": ((78.45, 0.52), (33.61, 0.54), (23.14, 0.56), (65.08, 0.36), (26.59, 0.36), (15.94, 0.34)),
    "snr_contrastive": ((82.02, 0.48), (35.22, 0.43), (25.03, 0.48), (69.69, 0.46), (27.55, 0.25), (17.13, 0.26)),
    "multi_similarity": ((85.14, 0.29), (38.09, 0.19), (28.07, 0.22), (73.77, 0.19), (29.92, 0.16), (19.32, 0.18)),
    "multi_similarity_with_miner": ((83.67, 0.34), (37.08, 0.31), (27.01, 0.35), (71.8, 0.22), (29.44, 0.21), (18.86, 0.2)),
    "soft_triple": ((84.49, 0.26), (37.03, 0.21), (27.08, 0.21), (73.69, 0.21), (29.29, 0.16), (18.89, 0.16)),
}
TABLE_6 = {
    "pretrained": ((50.71, None), (25.97, None), (23.44, None), (47.25, None), (23.84, None), (21.36, None)),
    "contrastive": ((73.12, 0.2), (47.29, 0.24), (44.39, 0.24), (69.34, 0.26), (43.41, 0.28), (40.37, 0.28)),
    "triplet": ((72.65, 0.28), (46.46, 0.38), (43.37, 0.37), (67.33, 0.34), (40.94, 0.39), (37.7, 0.38)),
    "nt_xent": ((74.22, 0.22), (48.35, 0.26), (45.31, 0.25), (69.88, 0.19), (43.51, 0.21), (40.31, 0.2)),
    "proxy_nca": ((75.89, 0.17), (50.1, 0.22), (47.22, 0.21), (71.3, 0.2), (44.71, 0.21), (41.74, 0.21)),
    "margin": ((70.99, 0.36), (44.94, 0.43), (41.82, 0.43), (65.78, 0.34), (39.71, 0.4), (36.47, 0.39)),
    "margin_per_class": ((72.36, 0.3), (46.41, 0.4), (43.32, 0.41), (67.56, 0.42), (41.37, 0.48), (38.15, 0.49)),
    "normalized_softmax": ((75.67, 0.17), (50.01, 0.22), (47.13, 0.22), (71.65, 0.14), (45.32, 0.17), (42.35, 0.16)),
    "cosface": ((75.79, 0.14), (49.77, 0.19), (46.92, 0.19), (70.71, 0.19), (43.56, 0.21), (40.69, 0.21)),
    "arcface": ((76.2, 0.27), (50.27, 0.38), (47.41, 0.4), (70.88, 1.51), (44.0, 1.26), (41.11, 1.22)),
    "fast_ap": ((72.59, 0.26), (46.6, 0.29), (43.57, 0.28), (68.13, 0.25), (42.06, 0.25), (38.88, 0.25)),
    "snr_contrastive": ((73.4, 0.09), (47.43, 0.13), (44.54, 0.13), (69.45, 0.1), (43.34, 0.12), (40.31, 0.12)),
    "multi_similarity": ((74.5, 0.24), (48.77, 0.32), (45.79, 0.32), (70.43, 0.33), (44.25, 0.38), (41.15, 0.38)),
    "multi_similarity_with_miner": ((75.09, 0.17), (49.51, 0.2), (46.55, 0.2), (71.25, 0.15), (45.19, 0.16), (42.1, 0.16)),
    "soft_triple": ((76.12, 0.17), (50.21, 0.18), (47.35, 0.19), (70.88, 0.2), (43.83, 0.2), (40.92, 0.2)),
}
# fmt: on

TABLES = {"cub200": ("table 4", TABLE_4), "cars196": ("table 5", TABLE_5), "sop": ("table 6", TABLE_6)}

ALL = {"mining.name": "all"}  # all triplets, of a loss that has a miner of its own

# A row's name there, and the method and options that make it here.
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "contrastive": ("Contrastive", {"method.name": "contrastive"}),
    "triplet": ("Triplet", {"method.name": "triplet"}),
    "nt_xent": ("NT-Xent", {"method.name": "nt_xent"}),
    "proxy_nca": ("ProxyNCA", {"method.name": "proxy_nca", "method.exclude_positive": False}),
    "margin": ("Margin", {"method.name": "margin", "method.per_class": False, **ALL}),
    "margin_per_class": ("Margin / class", {"method.name": "margin", "method.per_class": True, **ALL}),
    "normalized_softmax": ("N. Softmax", {"method.name": "proxy_softmax"}),
    "cosface": ("CosFace", {"method.name": "cosface"}),
    "arcface": ("ArcFace", {"method.name": "arcface"}),
    "fast_ap": ("FastAP", {"method.name": "fast_ap"}),
    "snr_contrastive": ("SNR Contrastive", {"method.name": "snr_contrastive"}),
    "multi_similarity": ("MS", {"method.name": "multi_similarity"}),
    "multi_similarity_with_miner": (
        "MS+Miner",
        {"method.name": "multi_similarity", "mining.name": "multi_similarity"},
    ),
    "soft_triple": ("SoftTriple", {"method.name": "soft_triple"}),
}
PRETRAINED = "pretrained"  # one value each, features by PCA to 512 and 128: no training stands behind it

# Tables 1 and 2, by network: a column each for the data sets of TABLES.
R1_OF_PRETRAINED = {
    "googlenet": (41.1, 33.9, 45.2),
    "inception_bn_caffe": (51.1, 46.9, 50.7),
    "resnet50_v1b": (48.7, 43.5, 52.9),
}
NMI_OF_RANDOM = {
    "googlenet": (23.6, 19.1, 81.2),
    "inception_bn_caffe": (18.5, 13.7, 73.1),
    "resnet50_v1b": (21.3, 16.7, 80.8),
}
OF_ANOTHER_TRAINING = "the weights there are torchvision's, here gluoncv's"
HOW_THEY_BEGAN = "the study does not say how its weights were drawn, or whether features were reduced"

NONE: tuple[Any, ...] = (None, [])

# What its evaluations share.
MEASURED = {
    "transform.name": "reality_check",
    "evaluation.distance": "euclidean",
    "data.boxes": (False, None),
    "data.partial": (False, None),
}
VALIDATED = {
    "backbone.name": "inception_bn_caffe",
    "backbone.pretrained": Not("none"),
    "embed_dim": 128,
    "protocol.name": "validated",
    "protocol.folds": 4,
    "protocol.only": (None, 4),
    "protocol.criterion": "MAP@R",
    **MEASURED,
}
# What its trainings share; a row may say otherwise of its miner.
TRAINED = {
    "batch_size": 32,
    "epochs": 1000,  # at most
    "ensemble.members": 1,
    "optimizer.name": "rmsprop",
    "freeze_batchnorm": ("statistics", True),  # its code does the one, its text says the other
    "memory.size": None,
    "mining.name": (None, "all"),
}
DIVIDED = {"sop": {"data.division": "halves"}}
AS_IT_CAME = {"method.name": UNTRAINED, "head.reduction": "components"}


@KIND.register(
    title="Musgrave, Belongie, Lim: A Metric Learning Reality Check (ECCV 2020)",
    also=("reality check", "powerful benchmarker"),
    year=2020,
    protocol="validated",
    metrics={"R@1": "P@1", "RP": "RP", "MAP@R": "MAP@R"},
    warning="Its intervals count ten repeats and the winning trial of the search.",
)
def quotes() -> Iterator[Quote]:
    """P@1, which is R@1, R-precision and MAP@R of fourteen losses on three data sets, of four folds' models joined and apart,
    and of the network before training; R@1 and NMI of three networks before training."""
    for data, (source, table) in TABLES.items():
        for row, values in table.items():
            yield from _row(source, data, row, values)
    for place, data in enumerate(TABLES):
        for network, r1 in R1_OF_PRETRAINED.items():
            doubt = OF_ANOTHER_TRAINING if network == "googlenet" else ""
            yield _network("table 1", data, network, Not("none"), {"R@1": Score(r1[place], doubt=doubt)})
        for network, nmi in NMI_OF_RANDOM.items():
            score = Score(nmi[place], doubt=HOW_THEY_BEGAN)
            yield _network("table 2", data, network, "none", {"NMI": score})


def _row(source: str, data: str, row: str, values: tuple) -> Iterator[Quote]:
    shared = {"data.name": data, **DIVIDED.get(data, {}), **VALIDATED}
    if row == PRETRAINED:
        label, runs, conditions = "Pretrained", None, {**AS_IT_CAME, **shared}
    else:
        label, method = ROWS[row]
        runs, conditions = 10, {**shared, **TRAINED, **method}
        if row != "snr_contrastive":  # the weight of its regularizer was searched
            conditions["regularizers"] = NONE
    for outcome, three in zip(OUTCOMES, (values[:3], values[3:])):
        scores = {metric: Score(mean, half) for metric, (mean, half) in zip(METRICS, three)}
        yield Quote(source, conditions, scores, runs, outcome, label=label)


def _network(source: str, data: str, network: str, weights: Any, scores: dict[str, Score]) -> Quote:
    """A network before training, whose features are reduced to 512 numbers."""
    conditions = {
        **AS_IT_CAME,
        "data.name": data,
        **DIVIDED.get(data, {}),
        "backbone.name": network,
        "backbone.pretrained": weights,
        "embed_dim": 512,
        "protocol.name": "paper",
        **MEASURED,
    }
    return Quote(source, conditions, scores, label="Pretrained" if weights != "none" else "Random")
