"""The graph of every loss, miner, regularizer and memory uses only operators that have a GPU kernel.

Nobody who develops this has a GPU at hand; those who use it have.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_methods_options import VARIANTS

from dmlplayground import methods, mining, regularizers

# isort: split
import mxnet as mx

LINES = Path(__file__).with_name("gpu_operators.txt").read_text().splitlines()
KERNELS = {line for line in LINES if not line.startswith("#")}
CASES = [(key, {}) for key in methods.names()] + [(key, dict(options)) for key, options in VARIANTS]


def operators(objective) -> set[str]:
    """Those in the graph of an objective, as it is when a batch has 8 rows."""
    names = ["embeddings", "labels"]
    if objective.loss.host is not None:
        names += ["found", "own", "push"]  # what its search hands to the graph
    elif objective.ring is not None:
        names += ["rows", "row_labels", "filled", "places"]
    own = {name: getattr(objective, name).var() for name in objective.loss.weights}
    objective.loss.check(8, objective.loss.embed_dim)
    graph = objective.hybrid_forward(mx.sym, *map(mx.sym.var, names), **own)
    return {node["op"] for node in json.loads(graph.tojson())["nodes"]} - {"null"}


def without_kernel(key, options=None, **parts) -> set[str]:
    made = methods.loss(key, num_classes=6, embed_dim=6, **parts, **(options or {}))
    found = operators(made)
    assert len(found) > 3
    return found - KERNELS


@pytest.mark.parametrize(("key", "options"), CASES)
def test_every_loss(key, options):
    assert not without_kernel(key, options)


@pytest.mark.parametrize("name", mining.names())
@pytest.mark.parametrize("key", ["proxy_nca", "contrastive", "triplet", "quadruplet"])
def test_every_miner(key, name):
    """With losses of rows, pairs and triplets, and one that draws of its own."""
    assert not without_kernel(key, mining=name)


@pytest.mark.parametrize("name", regularizers.names())
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_every_regularizer(name, power):
    options = {"power": power} if "power" in regularizers.get(name).options else {}
    assert not without_kernel("contrastive", regularizers=[{"name": name, **options}])


@pytest.mark.parametrize("form", ["authors", "alone", "library"])
@pytest.mark.parametrize("key", [key for key, found in methods.combinations().items() if found.with_memory])
def test_every_memory(key, form):
    assert not without_kernel(key, memory={"size": 16, "form": form})


def test_an_operator_without_a_kernel_is_found(monkeypatch):
    monkeypatch.setitem(globals(), "KERNELS", KERNELS - {"dot"})
    assert without_kernel("nt_xent") == {"dot"}
