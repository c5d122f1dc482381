"""Losses over all pairs that go by blocks of rows: whatever the number of rows, in little memory."""

import numpy as np
import pytest
from mxnet import autograd, nd

from dmlplayground import methods
from dmlplayground.parts.graph import pair_blocks
from dmlplayground.trial.conformance.losses import Case
from dmlplayground.trial.conformance.methods import peak_memory

by_blocks = pytest.mark.parametrize("key", ["triplet_semihard", "lifted_structure"])


@pytest.mark.parametrize("rows", range(1, 10))
@pytest.mark.parametrize("number", [1, 2, 4])
def test_blocks_hold_every_row_once(number, rows):
    matrix = nd.arange(2 * rows).reshape((rows, 2))
    parts = pair_blocks.blocks(nd, matrix, number)
    assert [part.shape for part in parts] == [(-(-rows // number), 2)] * number
    np.testing.assert_array_equal(pair_blocks.joined(nd, parts, matrix).asnumpy(), matrix.asnumpy())


@by_blocks
@pytest.mark.parametrize("rows", [*range(1, 6), *range(31, 40)])  # up to 32 are one block
def test_any_number_of_rows(key, rows):
    case = Case(key)
    rng = np.random.default_rng(rows)
    x, labels = rng.normal(size=(rows, case.width)).astype("float32"), rng.integers(0, 3, rows)
    case.loss.hybridize(static_alloc=True, static_shape=True)
    assert case.value(x, labels) == pytest.approx(case.expected(x, labels), rel=2e-5, abs=2e-5)


@by_blocks
def test_memory_is_a_few_matrices(key):
    rows, width = 1024, 16
    loss = methods.loss(key, num_classes=rows // 4, embed_dim=width)
    loss.hybridize(static_alloc=True, static_shape=True)
    x, labels = nd.random.normal(shape=(rows, width)), nd.array(np.arange(rows) // 4, dtype="int32")
    x.attach_grad()
    nd.waitall()
    before = peak_memory()
    with autograd.record():
        value = loss(x, labels)
    value.backward()
    nd.waitall()
    assert peak_memory() - before < 6.5 * 4 * rows**2
