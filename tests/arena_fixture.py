"""Arenas as their experiments leave them, made of scores drawn with known spreads."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import reports_fixture
from variance_fixture import NOISES, scores

DATA = {
    "name": "frozen",
    "of": {"name": "grocery"},
    "backbone": "resnet50_v1",
    "pretrained": "imagenet",
    "size": 224,
}
METHODS = ("margin", "npairs", "proxy_nca", "triplet", "contrastive")


def finals(levels, noise="all", seed=0, fall=1.0, untrained=40.0, **design):
    """Records of the methods with these levels of R@1 in percent. Test classes choose an epoch ``fall`` above the last one,
    and the one set beforehand is half as far above."""
    drawn = scores(np.random.default_rng(seed), list(levels.values()), NOISES[noise], **design)
    return [
        record(method, run, value, fall, untrained)
        for method, values in zip(levels, drawn.values())
        for run, value in values.items()
    ]


def record(method, run, value, fall=1.0, untrained=40.0, **changes):
    division, search, seed = run
    made = reports_fixture.record(method, seed, value / 100, noise=0.0, **changes)
    made.id = f"{method}-d{division}-r{search}-s{seed}"
    made.config["data"] = {**DATA, "of": {**DATA["of"], "division": division}}
    made.config["search"] = search
    made.config["optimizer"]["lr"] = 0.001 * search + 0.0001 * len(method)  # what a search chose
    results = {
        which: at(made.epochs[-1], value + up)
        for which, up in [("last", 0), ("beforehand", fall / 2), ("best", fall)]
    }
    made.results = {"untrained": at(made.epochs[0], untrained), **results}
    return made


def at(entry, score):
    """The entry with this R@1 in percent, and figures of its training embeddings that follow it."""
    measured = reports_fixture._metrics(score / 100)
    training = {"rho_spectrum@2": 0.8 - score / 200, "density_ratio": 0.3 + score / 300}
    return {**entry, "metrics": measured, "measured_on": "test", "training": training, "weights": []}


def keep(store, records):
    for one in records:
        folder = Path(store) / one.id
        folder.mkdir(parents=True)
        (folder / "record.json").write_text(json.dumps(asdict(one)))
    return store


def search(folder, by_length, number=1):
    """The records of searches whose best scores at every length are these fractions: {method: {share: score}}."""
    for method, found in by_length.items():
        reached = [
            {"id": f"{method}-{share}", "status": "finished", "value": value}
            for share, value in found.items()
        ]
        content = {
            "title": "",
            "number": number,
            "config": {"method": method, "data": DATA, "protocol": {"criterion": "MAP@R"}},
            "rungs": [{"trials": 3, "length": share, "folds": 1} for share in found],
            "tried": [
                {"number": 0, "values": {"optimizer.lr": 0.001}, "reached": reached},
                {"number": 1, "values": {"optimizer.lr": 0.01}, "reached": [{**reached[0], "value": 0.01}]},
                {"number": 2, "values": {"optimizer.lr": 0.02}, "reached": [{"id": "x", "status": "failed"}]},
            ],
        }
        path = Path(folder) / str(number) / method / "search.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content))
