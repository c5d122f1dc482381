"""The graph of every loss, miner, regularizer and memory uses only operators that have a GPU kernel.

Nobody who develops this has a GPU at hand; those who use it have.
"""

from __future__ import annotations

import pytest
from test_methods_options import VARIANTS

from dmlplayground import methods, mining, regularizers
from dmlplayground.trial.conformance import graphs
from dmlplayground.trial.conformance.graphs import without_kernel

CASES = [(key, {}) for key in methods.names()] + [(key, dict(options)) for key, options in VARIANTS]


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
    known = graphs.kernels()
    monkeypatch.setattr(graphs, "kernels", lambda: known - {"dot"})
    assert len(graphs.operators(methods.loss("nt_xent", num_classes=6, embed_dim=6))) > 3
    assert without_kernel("nt_xent") == {"dot"}
