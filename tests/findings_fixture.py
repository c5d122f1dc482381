"""A folder of results as the equal comparison leaves it, made of records by hand."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import reports_fixture as fixture

LEVELS = {"margin": 0.45, "npairs": 0.43, "proxy_nca": 0.38, "triplet": 0.3}
SEEDS = 3
LITE0 = {"name": "efficientnet_lite0", "pretrained": "imagenet"}
CONV4 = {"name": "conv4", "pretrained": "none"}
NETWORKS = [CONV4, LITE0, {"name": "efficientnet_lite1", "pretrained": "imagenet"}]


def record(method, seed, level, backbone=CONV4, noise=0.01, **changes):
    """With rho beside the last epoch: high where the score is low."""
    made = fixture.record(
        method,
        seed,
        level,
        noise,
        protocol__criterion="MAP@R",
        epochs=3,
        **changes,
    )
    made.config["backbone"] = dict(backbone)
    made.id = f"{made.id}-{backbone['name']}"
    for result in made.results.values():
        for entry in result if isinstance(result, list) else [result]:
            entry["training"] = {"rho_spectrum@2": 0.6 - level / 2 + 0.001 * seed, "density_ratio": 0.3}
    made.cost = {"parameters": 1000, "load": 1.5}
    for entry in made.epochs:
        entry["processor_seconds"] = 2.0
    return made


def keep(store, records):
    for one in records:
        folder = Path(store) / one.id
        folder.mkdir(parents=True)
        (folder / "record.json").write_text(json.dumps(asdict(one)))


def compared(levels=LEVELS, backbone=CONV4, seeds=SEEDS, shift=0.0, **changes):
    return [
        record(method, seed, level + shift, backbone, **changes)
        for method, level in levels.items()
        for seed in range(seeds)
    ]


def search(folder, method, rates=(0.001, 0.003, 0.01), backbone=CONV4):
    """A search over the rate, won by the second; the last was stopped early."""
    tried = []
    for number, rate in enumerate(rates):
        one = record(method, 100, 0.3, backbone, protocol__name="validated", optimizer__lr=rate)
        keep(folder / method, [one])
        pruned = number == len(rates) - 1
        tried.append(
            {
                "number": number,
                "state": "pruned" if pruned else "complete",
                "value": None if pruned else 0.1 + 0.02 * number,
                "values": {"optimizer.lr": rate},
                "by_epoch": {},
                "id": one.id,
            }
        )
    (folder / method / "search.json").write_text(json.dumps({"title": "", "tried": tried}))


def results(folder, levels=LEVELS):
    """All stores, with small numbers of everything."""
    keep(folder / "glyphs", compared(levels, optimizer__lr=0.003))
    keep(folder / "glyphs", compared(levels, protocol__name="validated", optimizer__lr=0.003))
    keep(folder / "glyphs_pretrained", compared(levels, LITE0, shift=0.1))
    few = dict(list(levels.items())[:3])
    for backbone in NETWORKS:
        keep(folder / "backbones_glyphs", compared(few, backbone))
    for method in levels:
        search(folder / "search" / "tune_glyphs", method)
        search(folder / "search" / "tune_glyphs_pretrained", method, (0.001, 0.003), LITE0)
    return folder
