"""The fourteen objectives of the Reality Check as its recipe makes them for birds, loss, miner and regularizer together:
against slow references, in the study's batches and in those in which there is little to compare."""

import numpy as np
import pytest
from recipe_musgrave2020 import TUNED
from reference import _tuples

from dmlplayground import config, hyperparams
from dmlplayground.trial.conformance.losses import Case, assert_slopes, unit

CLASSES, WIDTH = 5, 6
LABELS = {
    "usual": np.repeat(np.arange(4), 4),
    "one image a class": np.array([3, 1, 4, 0, 2, 1, 3, 0]),  # a list of 32 x 1 may hold a class twice
    "lone rows": np.array([0, 0, 0, 1, 2, 2, 3]),
    "no positives": np.arange(CLASSES),
    "one class": np.zeros(6, int),
    "one row": np.array([2]),
}
NOTHING = {  # where the value is zero to the last bit
    "triplet": {"no positives", "one class", "one row"},
    "nt_xent": {"no positives", "one class", "one row"},
    "margin": {"no positives", "one class", "one row"},
    "margin_per_class": {"no positives", "one class", "one row"},
    "fast_ap": {"no positives", "one row"},
}


class Row(Case):
    """A row of the study's table as a case; its reference is put together from those of its parts."""

    def __init__(self, row: str, batch: str):
        given = hyperparams.load(row, dataset="cub200", study="musgrave2020")
        trial = config.trial(given)
        method = {name: value for name, value in trial.method.items() if name != "name"}
        self.mined, self.terms = trial.mining or {}, trial.regularizers
        options = {**method, "mining": trial.mining, "regularizers": trial.regularizers}
        super().__init__(trial.method["name"], CLASSES, WIDTH, 7, "float64", options)
        self.labels = LABELS[batch]
        self.x = unit(np.random.default_rng(2).normal(size=(len(self.labels), WIDTH)) + 0.4)

    def constants(self, x=None, labels=None):
        labels = self.labels if labels is None else labels
        return {"triplets": _tuples.all_triplets(labels)} if "triplets" in self.wanted else {}

    def expected(self, x=None, labels=None, arrays=None, **held):
        x, labels = (self.x if x is None else x), (self.labels if labels is None else labels)
        if self.mined.get("name") == "multi_similarity":
            options = {name: value for name, value in self.options.items() if name in self.wanted}
            value = self.reference.on_pairs(x, labels, {}, *kept(x, labels, self.mined["epsilon"]), **options)
        else:
            value = super().expected(x, labels, arrays, **(held or self.constants(x, labels)))
        return value + sum(term["weight"] * np.abs(x.sum(axis=1)).mean() for term in self.terms)


def kept(x, labels, epsilon):
    """What the study's library keeps: a row is a positive of itself, at a similarity of 1."""
    similarity, rows = x @ x.T, range(len(x))
    positives, negatives = [], []
    for a in rows:
        same = [j for j in rows if labels[j] == labels[a]]
        other = [j for j in rows if labels[j] != labels[a]]
        if other:
            negatives += [(a, n) for n in other if similarity[a, n] + epsilon > min(similarity[a, same])]
            positives += [(a, p) for p in same if similarity[a, p] - epsilon < max(similarity[a, other])]
    return [list(side) for pairs in (positives, negatives) for side in (zip(*pairs) if pairs else ((), ()))]


@pytest.mark.parametrize("batch", LABELS)
@pytest.mark.parametrize("row", TUNED)
def test_values_and_gradients(row, batch):
    case = Row(row, batch)
    value, gradients = case.value_and_gradients()
    assert value == pytest.approx(case.expected(), rel=1e-6, abs=1e-9)
    if batch in NOTHING.get(row, ()):
        assert value == 0
        assert not any(gradient.any() for gradient in gradients.values())
    assert_slopes(case, seed=3)


@pytest.mark.parametrize("row", TUNED)
def test_equal_rows_are_finite_in_single_precision(row):
    case = Row(row, "usual")
    case.dtype = "float32"
    case.loss.cast("float32")
    for x in (np.tile(case.x[:1], (len(case.x), 1)), np.repeat(case.x[::4], 4, axis=0)):
        value, gradients = case.value_and_gradients(x)
        assert np.isfinite(value)
        assert all(np.isfinite(gradient).all() for gradient in gradients.values())
