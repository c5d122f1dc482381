"""Networks as they come: their features by principal components, scored without training anything."""

import numpy as np
import pytest

import dmlplayground as dml
from dmlplayground import config, metrics
from dmlplayground.base.errors import UserError
from dmlplayground.parts.metrics.shared.engine import embeddings
from dmlplayground.sweeps import grid
from dmlplayground.trial.training import models
from dmlplayground.trial.training.run import Learner

TRIAL = {
    "method": "contrastive",
    "data": {"name": "glyphs", "classes": 16, "images_per_class": 6, "size": 24},
    "epochs": 0,
    "batch_size": 8,
    "embed_dim": 8,
    "head": {"reduction": "components"},
    "evaluation": {"clustering": False},
}


def similarities(rows):
    return rows @ rows.T


def by_hand(rows, count):
    """Scale every column, and take the singular vectors of the whole."""
    spread = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)
    left, values, _ = np.linalg.svd(rows, full_matrices=False)
    scores = (left * values)[:, :count]
    return scores / np.linalg.norm(scores, axis=1, keepdims=True)


@pytest.mark.parametrize("count", [1, 3, 7, 9])
def test_components_are_those_of_a_singular_value_decomposition(monkeypatch, count):
    monkeypatch.setattr(embeddings, "STANDARDISED", 11)  # several blocks, the last of them short
    random = np.random.default_rng(0)
    rows = (random.normal(size=(40, 7)) @ random.normal(size=(7, 7)) * 5 + 3).astype(np.float32)
    rows[:, 2] = 0.25  # says nothing
    found = embeddings.principal_components(rows, count)
    assert found.shape == (40, min(count, 7))
    np.testing.assert_allclose(
        similarities(found), similarities(by_hand(rows.astype(float), count)), atol=1e-5
    )


def test_copies_side_by_side_change_nothing():
    rows = np.random.default_rng(1).normal(size=(30, 6)).astype(np.float32)
    once, twice = (embeddings.principal_components(np.tile(rows, (1, times)), 4) for times in (1, 2))
    np.testing.assert_allclose(similarities(once), similarities(twice), atol=1e-5)


def test_a_validated_trial_scores_its_features_at_both_widths(tmp_path):
    """Separated: by embed_dim components. Concatenated: by as many for each of four folds. Nothing is learned."""
    record = dml.train({**TRIAL, "protocol": "validated"}, store=tmp_path)
    trial = config.trial({**TRIAL, "protocol": "validated"})
    test, transform = models.data_of(trial, "test")
    learners = [Learner(trial, 6, models.devices(trial), (fold, 0)) for fold in range(4)]
    assert not any(list(learner.network.head.collect_params()) for learner in learners)
    features = np.concatenate([models.outputs(learner, test, transform) for learner in learners], axis=1)
    assert features.shape == (len(test), 4 * 128)
    for result, wide, count in ((record.results["separate"][0], 128, 8), (record.results["joined"], 512, 32)):
        reduced = embeddings.principal_components(features[:, :wide], count)
        expected = metrics.evaluate(reduced, test.labels, clustering=False)
        assert result["metrics"] == pytest.approx(expected, abs=1e-9)
    assert [entry["epoch"] for entry in record.epochs] == [0] * 4
    with pytest.raises(UserError, match="images are reduced together there"):
        dml.load(tmp_path / record.id, which="joined")


def test_there_is_nothing_to_train():
    with pytest.raises(UserError, match="head.reduction components .* epochs must be 0"):
        config.trial({**TRIAL, "epochs": 1})


@pytest.mark.parametrize(
    ("table", "weights", "metric"), [("table1", "imagenet", "R@1"), ("table2", "none", "NMI")]
)
def test_tables_of_untrained_networks(table, weights, metric):
    trials = grid.load(f"musgrave2020/{table}")[0].trials()
    assert {(trial.data["name"], trial.backbone["name"]) for trial in trials} == {
        (data, network)
        for data in ("cub200", "cars196", "sop")
        for network in ("googlenet", "inception_bn_caffe", "resnet50_v1b")
    }
    for trial in trials:
        assert (trial.epochs, trial.embed_dim, trial.head.reduction) == (0, 512, "components")
        assert (trial.backbone["pretrained"], trial.transform["name"]) == (weights, "reality_check")
        assert metric in metrics_of(trial)


def metrics_of(trial):
    return [metric.key for metric in metrics.of_trial(vars(trial.evaluation))]
