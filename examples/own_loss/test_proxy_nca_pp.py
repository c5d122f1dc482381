"""What is special to ProxyNCA++; `dmlplayground check` holds it to its reference."""

import numpy as np
import proxy_nca_pp  # noqa: F401 (registers the part)
import pytest

from dmlplayground import methods


def test_three_proxies_by_hand():
    """Logits 18 x.p of 10.8, 0 and -18, so log(1 + e^-10.8 + e^-28.8)."""
    loss = methods.loss("proxy_nca_pp", num_classes=3, embed_dim=2)
    loss.initialize()
    loss.proxies.set_data(np.array([[0.6, 0.8], [0, 1], [-1, 0]], dtype=np.float32))
    assert loss(np.array([[1.0, 0]]), np.array([0])).asscalar() == pytest.approx(2.039930e-5, rel=1e-2)
