"""Features of any framework in the place of images: the data set, the backbone that does nothing, the command."""

import subprocess
import sys

import numpy as np
import pytest

import dmlplayground as dml
from dmlplayground import cli, config, methods
from dmlplayground.base.errors import UserError


def clusters(classes=24, per_class=12, width=10, noise=0.7):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(classes, width))
    labels = np.repeat(np.arange(classes), per_class)
    return (centres[labels] + noise * rng.normal(size=(len(labels), width))).astype(np.float32), labels


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("features") / "some.npz"
    features, labels = clusters()
    np.savez(path, features=features, labels=labels)
    return path


def given(path, **more):
    base = {
        "method": "npairs",
        "data": {"name": "features", "path": str(path)},
        "embed_dim": 8,
        "batch_size": 12,
    }
    return {**base, "epochs": 2, "iterations": 20, "optimizer": {"lr": 1e-2}, "frozen_epochs": 0, **more}


def test_the_classes_are_divided_as_those_of_a_folder(path):
    features, labels = clusters()
    train, test = (dml.data.load("features", split, path=str(path)) for split in ("train", "test"))
    assert train.class_names == tuple(map(str, range(12))) and test.class_names == tuple(
        map(str, range(12, 24))
    )
    np.testing.assert_array_equal(train.images, features[labels < 12])
    np.testing.assert_array_equal(test.images, features[labels >= 12])
    np.testing.assert_array_equal(test.labels, labels[labels >= 12] - 12)
    part = test.subset([3, 1])
    np.testing.assert_array_equal(part.images, features[(labels == 15) | (labels == 13)])
    assert "10 features each" in test.describe()


def test_a_file_may_say_which_split_is_which(tmp_path):
    features, labels = clusters(classes=6)
    split = np.where(labels < 3, "train", np.where(np.arange(len(labels)) % 4 == 0, "query", "gallery"))
    np.savez(tmp_path / "f.npz", features=features, labels=labels.astype(float), split=split)
    test = dml.data.load("features", "test", path=str(tmp_path / "f.npz"))
    assert test.class_names == ("3", "4", "5") and test.queries.sum() == (split == "query").sum()
    np.testing.assert_array_equal(test.images[test.queries], features[split == "query"])


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    features, labels = clusters(classes=4)
    table = pyarrow.table({"features": list(features), "labels": [f"class {label}" for label in labels]})
    parquet.write_table(table, tmp_path / "f.parquet")
    train = dml.data.load("features", "train", path=str(tmp_path / "f.parquet"))
    np.testing.assert_array_equal(train.images, features[labels < 2])
    assert train.class_names == ("class 0", "class 1")


def test_a_trial_on_features_needs_nothing_but_their_file(path, tmp_path):
    trial = config.trial(given(path))
    assert trial.backbone == {"name": "identity", "features": 10, "pretrained": "none"}
    assert trial.transform == {"name": "plain"}
    record = dml.train(given(path), store=tmp_path)
    untrained, best = (record.results[which]["metrics"]["R@1"] for which in ("untrained", "best"))
    assert best > untrained + 0.02
    model = dml.load(tmp_path / record.id)
    dataset = dml.data.load("features", "test", path=str(path))
    assert model.embed(dataset).shape == (len(dataset), 8)


@pytest.mark.slow
@pytest.mark.parametrize("key", methods.names())
def test_every_method_trains_on_features(path, tmp_path, key):
    """Some batch size suits every method's sampler."""
    for size in (24, 20):
        try:
            trial = config.trial(given(path, method=key, batch_size=size, epochs=1, iterations=3))
            break
        except UserError:
            continue
    dml.train(trial, store=tmp_path)


def test_validated_protocol(path, tmp_path):
    record = dml.train(given(path, protocol={"name": "validated", "folds": 3}, epochs=1), store=tmp_path)
    assert len(record.results["separate"]) == 3


@pytest.mark.parametrize(
    "content, message",
    [
        ({"features": np.zeros((4, 3))}, "f.npz has no array 'labels'; its arrays are features"),
        (
            {"embeddings": np.zeros((4, 3)), "labels": np.zeros(4)},
            "f.npz has no array 'features'; its arrays are embeddings, labels",
        ),
        ({"features": np.zeros(4), "labels": np.zeros(4)}, r"needs features \(N, width\)"),
        ({"features": np.zeros((4, 3)), "labels": np.zeros(3)}, r"needs features \(N, width\)"),
        ({"features": np.full((4, 3), np.nan), "labels": np.zeros(4)}, "not finite"),
        ({"features": np.zeros((0, 3)), "labels": np.zeros(0)}, "holds no features"),
        (
            {"features": np.zeros((2, 3)), "labels": np.arange(2), "split": np.array(["train", "tset"])},
            "has the split 'tset'. Did you mean 'test'",
        ),
        (
            {"features": np.array([[object()]], dtype=object), "labels": np.zeros(1)},
            "not a .npz of plain arrays",
        ),
    ],
)
def test_files_that_hold_something_else(tmp_path, content, message):
    np.savez(tmp_path / "f.npz", **content)
    with pytest.raises(UserError, match=message):
        config.trial(given(tmp_path / "f.npz"))


def test_files_that_are_none(tmp_path):
    with pytest.raises(UserError, match="there is no file"):
        dml.train(given(tmp_path / "none.npz"), store=tmp_path)
    assert (
        cli.main(
            ["train", "npairs", "--set", "data.name=features", "--set", "data.path=none.npz", "--dry-run"]
        )
        == 2
    )
    (tmp_path / "f.npz").write_bytes(b"PK\3\4 but nothing more")
    with pytest.raises(UserError, match="is not a .npz"):
        config.trial(given(tmp_path / "f.npz"))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"backbone": "conv4"}, "holds features, and the backbone conv4 takes images"),
        ({"backbone": {"features": 4}}, "backbone.features is 4, and the data set features has 10"),
        ({"transform": "paper"}, "takes images, but these are features"),
    ],
)
def test_what_does_not_go_together(path, tmp_path, changes, message):
    with pytest.raises(UserError, match=message):
        dml.train(given(path, **changes), store=tmp_path)


def test_images_need_a_network(tmp_path):
    settings = {"method": "npairs", "backbone": {"name": "identity", "features": 10}, "batch_size": 8}
    with pytest.raises(
        UserError, match="the data set glyphs holds images, and the backbone identity takes features"
    ):
        dml.train({**settings, "data": {"name": "glyphs", "classes": 20, "size": 32}}, store=tmp_path)


def test_listing_needs_no_mxnet(path):
    code = (
        "import sys; from dmlplayground import config\n"
        f"config.trial({given(path)!r})\n"
        "sys.exit('mxnet' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
