"""The settings of the study of training strategies, written down from its list of runs: never copied from our own files.

SETTINGS holds each row"s options under the study"s names; SHARED is what all rows have.
"""

import math

SETTINGS = {
    "angular": {
        "loss": "angular",
        "mining": "npair",
        "alpha_degrees": 45,
        "angular_weight": 2,
        "l2": 0.005,
        "unit_output": False,
    },
    "arcface": {"loss": "arcface", "margin_rad": 0.5, "scale": 16, "weight_lr": 0.0005},
    "contrastive_distance": {"loss": "contrastive", "mining": "distance", "pos_margin": 0, "neg_margin": 1},
    "generalized_lifted": {
        "loss": "lifted",
        "mining": "lifted",
        "margin": 1,
        "l2": 0.005,
        "unit_output": False,
    },
    "histogram": {"loss": "histogram", "bins": {"cub200": 65, "cars196": 65, "sop": 11}},
    "multi_similarity": {"loss": "multisimilarity", "alpha": 2, "beta": 40, "base": 0.5, "epsilon": 0.1},
    "margin_b0.6_distance": {
        "loss": "margin",
        "mining": "distance",
        "margin": 0.2,
        "beta_init": 0.6,
        "beta_lr": 0.0005,
        "nu": 0,
    },
    "margin_b1.2_distance": {
        "loss": "margin",
        "mining": "distance",
        "margin": 0.2,
        "beta_init": 1.2,
        "beta_lr": 0.0005,
        "nu": 0,
    },
    "npair": {"loss": "npair", "mining": "npair", "l2": 0.005, "unit_output": False},
    "proxy_nca": {"loss": "proxynca", "proxy_lr": 0.0005, "scale": 3},
    "quadruplet_distance": {"loss": "quadruplet", "mining": "distance", "margin1": 0.2, "margin2": 0.2},
    "snr_distance": {"loss": "snr", "mining": "distance", "margin": 0.2, "reg": 0},
    "soft_triple": {
        "loss": "softtriplet",
        "centres": 2,
        "delta": 0.01,
        "gamma_as_passed": 0.1,
        "scale": 8,
        "tau": 0.2,
        "weight_lr": 1e-05,
    },
    "normalized_softmax": {
        "loss": "softmax",
        "temperature": 0.05,
        "weight_lr": {"cub200": 1e-05, "cars196": 1e-05, "sop": 0.002},
    },
    "triplet_distance": {"loss": "triplet", "mining": "distance", "margin": 0.2},
    "triplet_random": {"loss": "triplet", "mining": "random", "margin": 0.2},
    "triplet_semihard": {"loss": "triplet", "mining": "semihard", "margin": 0.2},
    "triplet_softhard": {"loss": "triplet", "mining": "softhard", "margin": 0.2},
    "rho_contrastive_distance": {
        "loss": "contrastive",
        "mining": "rho_distance",
        "pos_margin": 0,
        "neg_margin": 1,
        "swap_probability": {"cub200": 0.4, "cars196": 0.35, "sop": 0.15},
    },
    "rho_margin_b0.6_distance": {
        "loss": "margin",
        "mining": "rho_distance",
        "margin": 0.2,
        "beta_init": 0.6,
        "beta_lr": 0.0005,
        "nu": 0,
        "swap_probability": {"cub200": 0.4, "cars196": 0.35, "sop": 0.15},
    },
    "rho_margin_b1.2_distance": {
        "loss": "margin",
        "mining": "rho_distance",
        "margin": 0.2,
        "beta_init": 1.2,
        "beta_lr": 0.0005,
        "nu": 0,
        "swap_probability": {"cub200": 0.35, "cars196": 0.35, "sop": 0.15},
    },
    "rho_snr_distance": {
        "loss": "snr",
        "mining": "rho_distance",
        "margin": 0.2,
        "reg": 0.005,
        "swap_probability": {"cub200": 0.3, "cars196": 0.35, "sop": 0.15},
    },
    "rho_triplet_distance": {
        "loss": "triplet",
        "mining": "rho_distance",
        "margin": 0.2,
        "swap_probability": {"cub200": 0.4, "cars196": 0.35, "sop": 0.15},
    },
}
MISSING = [("proxy_nca", "sop"), ("soft_triple", "sop")]

SHARED = {
    "backbone.name": "resnet50_v1b", "embed_dim": 128, "head.bias": True, "head.normalize": True,
    "head.init": "fan_in",  # uniform within 1 / sqrt(2048) for 2048 -> 128
    "head.layer_norm": False, "head.weight_norm": False, "head.dropout": 0.0,
    "freeze_batchnorm": "statistics", "frozen_epochs": 0,
    "sampler.name": "per_class", "sampler.n": 2, "sampler.replacement": True, "batch_size": 112, "iterations": None,
    "optimizer.name": "adam", "optimizer.lr": 1e-5, "optimizer.weight_decay": 4e-4, "optimizer.epsilon": 1e-8,
    "optimizer.clip": None, "groups.head.lr_mult": 1.0, "schedule.name": "constant",
    "transform.name": "training_strategies", "protocol.name": "per_metric", "evaluation.distance": "euclidean",
}  # fmt: skip
EPOCHS = {"cub200": 150, "cars196": 150, "sop": 100}

METHODS = {
    "npair": "npairs", "lifted": "generalized_lifted", "multisimilarity": "multi_similarity", "proxynca": "proxy_nca",
    "snr": "snr_triplet", "softtriplet": "soft_triple", "softmax": "proxy_softmax",
}  # fmt: skip
MINERS = {"distance": "distance_weighted"}  # of the others the names agree
OPTIONS = {
    "alpha_degrees": "method.alpha", "angular_weight": "method.angular_weight", "scale": "method.scale",
    "pos_margin": "method.pos_margin", "neg_margin": "method.neg_margin", "bins": "method.nodes", "alpha": "method.alpha",
    "beta": "method.beta", "base": "method.base", "epsilon": "mining.epsilon", "margin": "method.margin",
    "beta_init": "method.beta", "beta_lr": "groups.loss.lr", "nu": "method.nu", "proxy_lr": "groups.loss.lr",
    "margin1": "method.margin", "margin2": "method.second_margin", "centres": "method.centers", "delta": "method.margin",
    "gamma_as_passed": "method.gamma", "tau": "method.tau", "weight_lr": "groups.loss.lr",
    "temperature": "method.temperature", "swap_probability": "mining.p",
}  # fmt: skip


def expected(row: str, data: str) -> dict:
    """What the study says of a row, by our dotted keys."""
    given = dict(SETTINGS[row])
    said = {**SHARED, "epochs": EPOCHS[data], "head.normalize": given.pop("unit_output", True)}
    loss, mining = given.pop("loss"), given.pop("mining", None)
    if loss == "lifted":
        given["neg_margin"] = given.pop("margin")
    if loss == "arcface":
        said["method.margin"] = math.degrees(given.pop("margin_rad"))
    if "l2" in given:  # the mean norm, not its square
        said["regularizers"] = [{"name": "embedding_norm", "power": 1, "weight": given.pop("l2")}]
    if given.pop("reg", 0):
        said["regularizers"] = [{"name": "zero_mean", "weight": 0.005}]
    if mining not in (None, "npair", "lifted"):  # a loss over all others mines nothing
        said["mining.name"] = MINERS.get(mining, mining)
    for name, value in given.items():
        said[OPTIONS[name]] = value[data] if isinstance(value, dict) else value
    return said


def method(row: str) -> str:
    loss = SETTINGS[row]["loss"]
    return METHODS.get(loss, loss)
