"""Labels that a loss cannot read are refused: without waiting while one trains, with a look at them otherwise."""

import numpy as np
import pytest

from dmlplayground import methods
from dmlplayground.base.errors import UserError

X = np.eye(4, dtype="float32")


@pytest.mark.parametrize("key", ["proxy_nca", "proxy_softmax", "proxy_triplet", "margin"])
@pytest.mark.parametrize("wrong", [7, -1, 1.5])
def test_labels_beyond_the_classes_are_refused(key, wrong):
    loss = methods.loss(key, num_classes=3, embed_dim=4)
    assert np.isfinite(loss(X, np.array([0, 1, 2.0, 0])).asscalar())
    with pytest.raises(UserError, match=f"{key}: labels are whole numbers from 0 to 2"):
        loss(X, np.array([0, 1, wrong, 0]))


@pytest.mark.parametrize("key", ["npairs", "angular"])
def test_rows_that_are_no_pairs_are_refused(key):
    loss = methods.loss(key, num_classes=3, embed_dim=4)
    assert np.isfinite(loss(X, np.array([1, 1, 0, 0])).asscalar())
    with pytest.raises(UserError, match=f"{key} reads pairs"):
        loss(X, np.array([0, 1, 0, 1]))
