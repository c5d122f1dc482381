"""Records made by hand, as a run writes them: seeded random numbers in every field that a report reads."""

import copy

import numpy as np

from dmlplayground.trial.config import upgraded
from dmlplayground.trial.store.records import Record

CONFIG = {
    "method": {"name": "npairs"},
    "data": {"name": "glyphs", "classes": 200, "size": 64},
    "backbone": {"name": "conv4"},
    "embed_dim": 64,
    "sampler": {"name": "pairs", "same_image": 0.1},
    "transform": {"name": "paper"},
    "batch_size": 128,
    "epochs": 8,
    "optimizer": {"name": "adam", "lr": 0.0001},
    "schedule": {"factor": 0.5, "steps": [4]},
    "ensemble": {"members": 1, "order": "sequential"},
    "protocol": {"name": "paper"},
    "evaluation": {"ks": [1, 2, 4, 8, 16], "clustering": True, "distance": "euclidean", "every": 1},
    "device": "auto",
    "seed": 0,
}
METRICS = ("R@1", "R@2", "R@4", "R@8", "R@16", "RP", "MAP@R", "NMI", "NMI_geometric", "AMI", "F1")
HEIGHTS = (1.0, 1.2, 1.35, 1.5, 1.6, 0.5, 0.35, 1.1, 1.15, 0.8, 0.45)  # of the metrics, in units of R@1


def configuration(method: str = "npairs", seed: int = 0, **changes) -> dict:
    config = copy.deepcopy(CONFIG)
    config["seed"] = seed
    config["method"] = {"name": method, **({"l2_reg": 0.0005} if method == "npairs" else {})}
    for key, value in changes.items():
        part, _, option = key.partition("__")
        if option:
            config[part][option] = value
        else:
            config[part] = {"name": value} if part in ("data", "backbone") else value
    if config["protocol"]["name"] == "validated":
        config["protocol"] = {"folds": 4, "patience": None, "criterion": "MAP@R", **config["protocol"]}
    return upgraded(config)


def record(
    method: str = "npairs",
    seed: int = 0,
    level: float = 0.4,
    noise: float = 0.01,
    status: str = "finished",
    **changes,
) -> Record:
    """A trial whose R@1 climbs from 0.05 to about ``level``, with ``noise`` between epochs and seeds."""
    config = configuration(method, seed, **changes)
    detail = "-".join(str(value) for value in changes.values())
    made = Record(
        f"{method}-{config['data']['name']}-{detail}-s{seed}".replace("--", "-"), config, status=status
    )
    random = np.random.default_rng([seed, *method.encode()])
    validated = config["protocol"]["name"] == "validated"
    for fold in range(config["protocol"]["folds"] if validated else 1):
        made.epochs += _epochs(config, fold, level, noise, random)
    made.seconds = float(random.uniform(20, 40))
    made.started = "2024-01-02T03:04:05Z"
    made.versions = {"dmlplayground": "0.1", "mxnet": "1.9.1", "numpy": "1.26.4"}
    made.machine = {"system": "Linux", "processor": "A processor", "cores": 2, "omp_threads": "1"}
    made.data = {
        "train": "glyphs (train): 4500 images of 100 classes",
        "test": "glyphs (test): 4500 images of 100 classes",
    }
    if status == "finished":
        made.results = _validated(made, level, random) if validated else _paper(made)
    elif status == "failed":
        made.error = (
            "Traceback (most recent call last):\n  ...\nDiverged: the loss is nan at step 7 of epoch 3"
        )
    return made


def _metrics(r1: float) -> dict[str, float]:
    return {metric: float(np.clip(r1 * height, 0, 1)) for metric, height in zip(METRICS, HEIGHTS)}


def _epochs(config: dict, fold: int, level: float, noise: float, random: np.random.Generator) -> list[dict]:
    validated = config["protocol"]["name"] == "validated"
    own = random.normal(0, noise)
    entries = []
    for epoch in range(config["epochs"] + 1):
        r1 = (
            0.05 + (level - 0.05) * (1 - np.exp(-0.7 * epoch)) + (own + random.normal(0, noise)) * (epoch > 0)
        )
        entry = {
            "fold": fold,
            "member": 0,
            "epoch": epoch,
            "measured_on": "validation" if validated else "test",
        }
        entry |= {"metrics": _metrics(r1), "evaluation_seconds": 0.3}
        if epoch:
            entry |= {
                "loss": float(2 * np.exp(-0.3 * epoch) + random.uniform(0, 0.05)),
                "learning_rate": 0.0001,
            }
            entry |= {"steps": 20, "seconds": float(random.uniform(1, 2))}
            entry["health"] = {
                "positive_distance": float(0.6 + 0.05 * random.normal()),
                "negative_distance": float(1.0 + 0.03 * epoch),
                "active_share": float(np.exp(-0.1 * epoch)),
                "embedding_norm": 1.0,
                "gradient_norm": float(np.exp(-0.2 * epoch)),
            }
        entries.append(entry)
    return entries


def _paper(made: Record) -> dict:
    best = max(made.epochs[1:], key=lambda entry: entry["metrics"]["R@1"])
    return {
        "untrained": made.epochs[0],
        "best": {**best, "weights": ["fold0-member0.best.npz"]},
        "last": {**made.epochs[-1], "weights": ["fold0-member0.last.npz"]},
    }


def _validated(made: Record, level: float, random: np.random.Generator) -> dict:
    separate = []
    for fold in range(made.config["protocol"]["folds"]):
        entries = [entry for entry in made.epochs if entry["fold"] == fold and entry["epoch"]]
        chosen = max(entries, key=lambda entry: entry["metrics"]["MAP@R"])
        metrics = _metrics(level - 0.03 + random.normal(0, 0.005))
        weights = [f"fold{fold}-member0.best.npz"]
        separate.append({**chosen, "validation": chosen["metrics"], "metrics": metrics, "weights": weights})
    joined = {
        "metrics": _metrics(level - 0.01 + random.normal(0, 0.005)),
        "measured_on": "test",
        "weights": [],
    }
    return {"untrained": made.epochs[0], "separate": separate, "joined": joined}


def grid(seeds: int = 5) -> list[Record]:
    """Two close methods, a single run, one failed at a seed, one at all; both protocols for two methods."""
    levels = {"margin": 0.45, "npairs": 0.445, "proxy_nca": 0.38, "triplet_semihard": 0.3}
    made = [record(method, seed, level) for method, level in levels.items() for seed in range(seeds)]
    made += [record("angular", 0, 0.4)]
    made += [
        record("lifted_structure", seed, 0.35, status="failed" if seed == 1 else "finished")
        for seed in range(3)
    ]
    made += [record("ranked_list", seed, status="failed") for seed in range(2)]
    made += [
        record(method, seed, levels[method], protocol__name="validated")
        for method in ("margin", "npairs")
        for seed in range(3)
    ]
    return made
