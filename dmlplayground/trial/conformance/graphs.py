"""The operators in the graph of an objective, and which of them have no GPU kernel."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import mxnet as mx

from ...parts import methods


@cache
def kernels() -> frozenset[str]:
    """The operators of MXNet 1.9.1 that a GPU has a kernel for."""
    lines = Path(__file__).with_name("gpu_operators.txt").read_text().splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def operators(objective: Any) -> set[str]:
    """Those in the graph of an objective, as it is when a batch has 8 rows."""
    names = ["embeddings", "labels"]
    if objective.loss.host is not None:
        names += ["found", "own", "push"]  # what its search hands to the graph
    elif objective.ring is not None:
        names += ["rows", "row_labels", "filled", "places"]
    own = {name: getattr(objective, name).var() for name in objective.loss.weights}
    objective.loss.check(8, objective.loss.embed_dim)
    graph = objective.hybrid_forward(mx.sym, *map(mx.sym.var, names), **own)
    return operators_of(graph)


def operators_of(graph: Any) -> set[str]:
    return {node["op"] for node in json.loads(graph.tojson())["nodes"]} - {"null"}


def without_kernel(key: str, options: Any = None, **parts: Any) -> set[str]:
    """The operators of a method, with these parts, that no GPU can compute."""
    made = methods.loss(key, num_classes=6, embed_dim=6, **parts, **(options or {}))
    return operators(made) - kernels()
