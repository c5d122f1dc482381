"""The graphs of losses, regularizers and memories with other options than their defaults use only operators that have a GPU
kernel; at their defaults the checks of ``dmlplayground check`` look at them, and at miners.

Nobody who develops this has a GPU at hand; those who use it have.
"""

import pytest
from test_methods_options import VARIANTS

from dmlplayground import methods
from dmlplayground.trial.conformance import kinds
from dmlplayground.trial.conformance.kinds import without_kernel


@pytest.mark.parametrize(("key", "options"), [(key, dict(options)) for key, options in VARIANTS])
def test_every_loss(key, options):
    assert not without_kernel(key, options)


def test_a_norm_that_is_not_squared():
    assert not without_kernel("contrastive", regularizers=[{"name": "embedding_norm", "power": 1.0}])


@pytest.mark.parametrize("form", ["authors", "alone", "library"])
@pytest.mark.parametrize("key", [key for key, found in methods.combinations().items() if found.with_memory])
def test_every_memory(key, form):
    assert not without_kernel(key, memory={"size": 16, "form": form})


def test_an_operator_without_a_kernel_is_found(monkeypatch):
    known = kinds.kernels()
    monkeypatch.setattr(kinds, "kernels", lambda: known - {"dot"})
    assert len(kinds.operators(methods.loss("nt_xent", num_classes=6, embed_dim=6))) > 3
    assert without_kernel("nt_xent") == {"dot"}
