"""A trained network put to use: dml.load, embeddings of any images, search, thresholds, files for other programs."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mxnet import sym
from PIL import Image
from trained_fixture import TRIAL

import dmlplayground as dml
from dmlplayground import cli
from dmlplayground.base import files
from dmlplayground.base.errors import UserError
from dmlplayground.parts.backbones.shared import onnx_graph
from dmlplayground.serving import card, matching, mxnet_files, results_sheet
from dmlplayground.serving import image_inputs as pictures
from dmlplayground.serving.index import Found, Index
from dmlplayground.serving.neighbours import distances


@pytest.fixture(scope="module")
def model(trained):
    return dml.load(trained)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Test images of the data set as files: three of each of six classes, a folder for every class."""
    folder = tmp_path_factory.mktemp("photos")
    dataset = dml.data.load("glyphs", split="test", size=32, classes=40)
    for label in range(6):
        (folder / f"class{label}").mkdir()
        for number, row in enumerate(np.flatnonzero(dataset.labels == label)[:3]):
            Image.fromarray(np.asarray(dataset.images[int(row)])).save(
                folder / f"class{label}" / f"{number}.png"
            )
    return folder


# --- embedding ----------------------------------------------------------------------------------------------


def test_files_arrays_and_data_sets_have_the_same_embeddings(model, photos):
    dataset = dml.data.load("glyphs", split="test", size=32, classes=40)
    rows = np.flatnonzero(dataset.labels == 2)[:3]
    by_data = model.embed(dataset)
    assert by_data.shape == (len(dataset), 16) == (len(dataset), model.width)
    arrays = [np.asarray(dataset.images[int(row)]) for row in rows]
    files = [photos / "class2" / f"{number}.png" for number in range(3)]
    for given in (files, list(map(str, files)), photos / "class2", arrays, np.stack(arrays)):
        np.testing.assert_allclose(model.embed(given), by_data[rows], rtol=1e-5, atol=1e-6)


def test_pictures_of_any_size_are_resized_as_the_trials_test_images(model):
    large = np.random.default_rng(0).integers(0, 256, (50, 70, 3)).astype(np.uint8)
    np.testing.assert_array_equal(model.embed([large]), model.embed([model.stored.apply(large)]))


@pytest.mark.parametrize(
    "given, message",
    [
        ([], "there are no images to embed"),
        (np.zeros((2, 32, 32), np.uint8), r"arrays \(H, W, 3\) of uint8"),
        (np.zeros((2, 32, 32, 3)), r"arrays \(H, W, 3\) of uint8"),
        ("nowhere", "there is no file or folder nowhere"),
        (["nowhere.jpg"], "nowhere.jpg"),
    ],
)
def test_what_cannot_be_embedded_is_named(model, given, message):
    with pytest.raises(UserError, match=message):
        model.embed(given)


def test_a_folder_without_images_and_a_broken_file_are_named(model, tmp_path):
    with pytest.raises(UserError, match="there are no images in"):
        model.embed(tmp_path)
    (tmp_path / "a.png").write_bytes(b"not an image")
    with pytest.raises(UserError, match="cannot read the image .*a.png"):
        model.embed(tmp_path)


# --- search -------------------------------------------------------------------------------------------------


def test_found_are_the_nearest_but_not_the_query_itself(model, photos):
    index = model.search(photos)
    assert len(index) == 18 and index.memory == 18 * 16 * 4
    paths = pictures.images_in(photos)
    embeddings = model.embed(paths).astype(np.float64)
    for row in (0, 7):
        away = np.linalg.norm(embeddings - embeddings[row], axis=1)
        expected = [other for other in np.argsort(away, kind="stable") if other != row][:4]
        (found,) = index.find(paths[row], count=4)
        assert [hit.name for hit in found] == [str(paths[other]) for other in expected]
        np.testing.assert_allclose([hit.distance for hit in found], away[expected], rtol=1e-5, atol=1e-6)
        assert [hit.label for hit in found] == [paths[other].parent.name for other in expected]
        assert index.find(paths[row], count=1, copies=True)[0][0].name == str(paths[row])


def test_of_copies_one_is_found(model, photos, tmp_path):
    original, twin = photos / "class1" / "0.png", tmp_path / "twin.png"
    twin.write_bytes(original.read_bytes())
    index = model.search(photos)
    index.add([twin])
    assert index.copies() == [[str(original), str(twin)]]
    (found,) = index.find(photos / "class1" / "1.png", count=30)
    assert len(found) == 17  # 19 images, less the query and the second copy
    assert str(twin) not in [hit.name for hit in found]
    (for_twin,) = index.find(twin, count=30)
    assert {str(original), str(twin)}.isdisjoint(hit.name for hit in for_twin)
    assert len(index.find(twin, count=30, copies=True)[0]) == 19


def test_a_damaged_image_of_a_folder_is_left_out(model, photos, tmp_path, capsys):
    whole, folder = model.search(photos), tmp_path / "photos"
    shutil.copytree(photos, folder)
    cut = (folder / "class1" / "0.png").read_bytes()[:60]
    (folder / "class1" / "00.png").write_bytes(cut)
    (folder / "empty.jpg").write_bytes(b"")
    index = model.search(folder)
    told = re.findall(r"cannot read the image \S*/(\S+): .* It is left out\.", capsys.readouterr().err)
    assert sorted(told) == ["00.png", "empty.jpg"]
    np.testing.assert_array_equal(index.rows.embeddings, whole.rows.embeddings)
    assert index.rows.digests == whole.rows.digests
    assert index.add(folder) == 0
    with pytest.raises(UserError, match="cannot read the image .*00.png"):
        index.add([folder / "class1" / "00.png"])


def test_files_are_read_once_for_pixels_and_digest(model, photos, monkeypatch):
    read = []
    true = files.read_bytes
    monkeypatch.setattr(files, "read_bytes", lambda path: read.append(str(path)) or true(path))
    index = model.search(photos)
    assert sorted(read) == sorted(index.rows.names) and len(read) == 18
    assert index.rows.digests[5] == hashlib.sha256(Path(index.rows.names[5]).read_bytes()).hexdigest()


@pytest.mark.parametrize("suffix", [".index", ".npy", ".parquet"])
def test_an_index_is_saved_and_grown(model, photos, tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    first = model.search(photos / "class0")
    path = first.save(tmp_path / f"index{suffix}")[0]
    grown = Index.open(path, model)
    grown.add(photos)
    assert len(grown) == 18  # those of class0 were there already
    whole = model.search(photos)
    query = photos / "class4" / "2.png"
    names = lambda found: sorted(hit.name for hit in found)  # noqa: E731
    assert names(grown.find(query, 17)[0]) == names(whole.find(query, 17)[0])


def test_known_images_are_not_embedded_again_and_other_spellings_add_nothing(
    model, photos, tmp_path, monkeypatch
):
    index = model.index(photos)
    index.save(tmp_path / "photos.index")
    index = Index.open(tmp_path / "photos.index", model)
    embedded = []
    true = model.embed_dataset
    monkeypatch.setattr(
        model, "embed_dataset", lambda data, *rest: embedded.append(len(data)) or true(data, *rest)
    )
    link = tmp_path / "link"
    link.symlink_to(photos)
    monkeypatch.chdir(photos)
    for spelling in (photos, photos / ".." / photos.name, link, ".", "class1", Path("class1") / "0.png"):
        assert index.add(spelling) == 0
    (tmp_path / "class1").mkdir()
    (tmp_path / "class1" / "copy.png").write_bytes((photos / "class1" / "0.png").read_bytes())
    assert index.add(tmp_path / "class1") == 1  # a copy with a name of its own
    assert embedded == [] and len(index) == 19
    np.testing.assert_array_equal(index.rows.embeddings[-1], index.rows.embeddings[3])
    Image.new("RGB", (32, 32), "red").save(tmp_path / "class1" / "new.png")
    assert index.add(tmp_path / "class1") == 1 and embedded == [1]


def test_images_without_names_are_numbered(model):
    index = Index.make(model)
    pictures = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3)).astype(np.uint8)
    assert index.add(pictures[:2]) == 2 and index.add(pictures[2:]) == 1
    assert list(index.rows.names) == ["0", "1", "2"]
    away, names = index.search(pictures[1:], k=1)
    assert names == [["1"], ["2"]] and np.allclose(away, 0, atol=1e-3)


def test_an_interrupted_embed_goes_on(trained, photos, tmp_path, capsys, monkeypatch):
    from dmlplayground.serving import index as module

    monkeypatch.setattr(module, "PORTION", 5)
    monkeypatch.setattr(module, "PAUSE", 0)
    out, true = tmp_path / "photos.index", Index.save

    def killed(self, path):
        if len(self) > 10:
            raise KeyboardInterrupt
        return true(self, path)

    monkeypatch.setattr(Index, "save", killed)
    command = ["embed", str(trained), str(photos), "--out", str(out)]
    with pytest.raises(BaseException):  # noqa: B017
        cli.main(command)
        raise KeyboardInterrupt
    monkeypatch.setattr(Index, "save", true)
    capsys.readouterr()
    assert cli.main(command) == 0
    answer = capsys.readouterr().out
    (done,) = re.findall(r"goes on after (\d+) images", answer)
    assert done in ("5", "10") and f"18 images, {18 - int(done)} of them new" in answer
    assert [path.name for path in tmp_path.iterdir()] == ["photos.index"]
    whole = dml.load(trained).index(photos)
    again = Index.open(out)
    assert list(again.rows.names) == list(whole.rows.names)
    np.testing.assert_allclose(np.asarray(again.rows.embeddings), whole.rows.embeddings, rtol=1e-5, atol=1e-6)


def test_an_index_of_another_model_is_refused(model, photos, tmp_path):
    path = model.search(photos / "class0").save(tmp_path / "index.npy")[0]
    manifest = path.with_suffix(".json")
    content = json.loads(manifest.read_text())
    del content["sha256"]  # as earlier versions wrote it
    manifest.write_text(json.dumps(content))
    np.save(path, np.zeros((3, 7), np.float32))
    with pytest.raises(UserError, match="7 numbers an image and the model gives 16"):
        Index.open(path, model)
    np.save(path, np.zeros((2, 16), np.float32))
    with pytest.raises(UserError, match="has 2 rows, and names 3 files"):
        Index.open(path, model)
    path.write_bytes(b"")
    with pytest.raises(UserError, match="are not an index written by 'embed'"):
        Index.open(path, model)
    with pytest.raises(UserError, match=r"g\.json"):
        Index.open(tmp_path / "g.npy", model)


@pytest.mark.parametrize("suffix", [".npy", ".parquet"])
def test_an_index_is_searched_by_the_weights_that_made_it(trained, model, photos, tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = model.search(photos / "class0").save(tmp_path / f"index{suffix}")[0]
    exported = dml.load(model.export(tmp_path / "network")[0])
    assert len(Index.open(path, exported)) == 3  # the same weights
    other = dml.load(trained)
    weights = next(iter(other.members[0].network.collect_params("head|.*dense.*weight").values()))
    weights.set_data(weights.data() + 1)
    with pytest.raises(UserError, match="by a network with other weights"):
        Index.open(path, other)


def test_an_index_of_an_earlier_version_does_not_say_its_weights(model, photos, tmp_path):
    path, manifest = model.search(photos / "class0").save(tmp_path / "index.npy")
    content = json.loads(manifest.read_text())
    del content["weights"], content["sha256"]
    manifest.write_text(json.dumps(content))
    assert repr(Index.open(path, model)).startswith("Index(3 images, 0.0 MB, of Model(")


def test_a_sheet_keeps_the_shape_of_photographs_and_shows_letters_of_many_alphabets(tmp_path):
    for name, size in (("wide", (60, 30)), ("tall", (20, 40))):
        Image.new("RGB", size, "red").save(tmp_path / f"{name}.png")
    hits = [Found(str(tmp_path / "tall.png"), 0.5, label) for label in ("\u04a5", "\u04a6")]
    sheet = np.asarray(results_sheet.draw([tmp_path / "wide.png"], [hits]))
    red = (sheet == (255, 0, 0)).all(axis=2)
    cell, gap = results_sheet.CELL, results_sheet.GAP
    starts = [gap + column * (cell + gap) for column in range(3)]
    widths = [np.ptp(red[:, start : start + cell].any(axis=0).nonzero()[0]) + 1 for start in starts]
    heights = [np.ptp(red[:, start : start + cell].any(axis=1).nonzero()[0]) + 1 for start in starts]
    assert (widths, heights) == ([128, 64, 64], [64, 128, 128])
    one, other = (sheet[gap + cell + 1 :, start : start + 40] for start in starts[1:])
    assert not np.array_equal(one, other)  # two letters, not two boxes


def test_distances_of_each_kind():
    points, query = np.array([[1.0, 0.1], [10.0, 0.0], [-1.0, 2.0], [1.0, 0.1]]), np.array([1.0, 0.0])
    np.testing.assert_allclose(distances(query, points, "euclidean"), [0.1, 9, np.sqrt(8), 0.1])
    cosines = np.array([1 / np.sqrt(1.01), 1, -1 / np.sqrt(5), 1 / np.sqrt(1.01)])
    np.testing.assert_allclose(distances(query, points, "cosine"), 1 - cosines)
    np.testing.assert_array_equal(distances(query, points, "hamming"), [1, 0, 2, 1])


# --- match or no match --------------------------------------------------------------------------------------


def test_a_threshold_keeps_its_promise():
    rng = np.random.default_rng(0)
    classes = [str(number) for number in np.repeat(np.arange(12), 6)]
    points = rng.normal(size=(12, 4))[np.repeat(np.arange(12), 6)] * 2 + rng.normal(size=(72, 4))
    away = np.linalg.norm(points[:, None] - points, axis=2)
    upper = np.triu_indices(72, 1)
    same = np.equal.outer(classes, classes)[upper]
    for share in (0.0, 0.01, 0.1):
        found = matching.calibrate(points, classes, "euclidean", share, "here")
        accepted = away[upper] <= found.distance
        assert found.pairs == 72 * 71 / 2
        assert found.false_accepts == pytest.approx(accepted[~same].mean()) and found.false_accepts <= share
        assert found.false_rejects == pytest.approx(1 - accepted[same].mean())
        # One more pair of different classes would be too many.
        next_one = np.sort(away[upper][~same & ~accepted])[0]
        assert (away[upper][~same] <= next_one).mean() > share


def test_a_threshold_needs_pairs_of_both_kinds(model, photos):
    with pytest.raises(UserError, match="has none of one class"):
        matching.calibrate(np.eye(3), ["a", "b", "c"], "euclidean", 0.01, "here")
    with pytest.raises(UserError, match="has none of different classes"):
        model.threshold(photos / "class0")
    with pytest.raises(UserError, match="at least 0 and below 1"):
        model.threshold(photos, false_accepts=1.5)


def test_the_trials_own_test_images_set_a_threshold(model):
    found = model.threshold()
    assert "on glyphs (test classes)" in str(found) and 0 < found.distance < 2 and found.false_accepts <= 0.01


def test_validation_classes_set_the_threshold_of_folds(tmp_path):
    few = {"name": "glyphs", "size": 24, "classes": 16, "images_per_class": 6}
    short = {**TRIAL, "data": few, "batch_size": 4, "epochs": 1, "iterations": 2}
    validated = {**short, "protocol": {"name": "validated", "folds": 2}}
    model = dml.load(tmp_path / dml.train(validated, store=tmp_path).id)
    found = model.threshold(false_accepts=0.1)
    limits, accepted = [], []
    for member, kept in zip(model.members, (range(4, 8), range(4))):  # fold 0 trains on the first half
        images = dml.data.load(**few, split="train").subset(kept)
        points = member.embed([images.images[:]]).astype(np.float64)
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        away = np.linalg.norm(points[:, None] - points, axis=2)
        different = away[np.triu(np.not_equal.outer(images.labels, images.labels))]
        allowed = int(0.1 * len(different))
        limits.append(
            np.sort(different)[[allowed - 1, allowed]]
        )  # the last pair accepted, the first that is not
        accepted.append(different <= limits[-1][0])
    lowest, highest = np.hypot(*limits)
    assert lowest - 1e-6 <= found.distance < highest
    assert found.false_accepts == pytest.approx(np.concatenate(accepted).mean(), abs=1e-4)
    assert "the validation classes of glyphs, the networks of each fold alone" in str(found)


@pytest.mark.parametrize("kind", ["euclidean", "cosine", "hamming"])
def test_joined_networks_match_only_what_one_of_them_matches(kind):
    parts = np.random.default_rng(0).normal(size=(3, 60, 5))
    parts /= np.linalg.norm(parts, axis=2, keepdims=True)
    classes = np.repeat(range(12), 5)
    alone = [matching.calibrate(part, classes, kind, 0.05, "here") for part in parts]
    found = matching.joined(alone, kind, "here")
    side_by_side = np.concatenate(parts, axis=1)
    for row in range(60):
        near = distances(side_by_side[row], side_by_side, kind) <= found.distance
        near_for = [distances(part[row], part, kind) <= each.distance for part, each in zip(parts, alone)]
        assert not (near & ~np.any(near_for, axis=0)).any()
        assert (near | ~np.all(near_for, axis=0)).all()
    assert found.pairs == 3 * 60 * 59 / 2 and found.same == 3 * 12 * 10
    assert found.false_accepts == pytest.approx(np.mean([each.false_accepts for each in alone]))


# --- the command line ---------------------------------------------------------------------------------------


def test_embed_and_retrieve(trained, photos, tmp_path, capsys):
    out = tmp_path / "photos.npy"
    assert cli.main(["embed", str(trained), str(photos), "--out", str(out)]) == 0
    manifest = json.loads(out.with_suffix(".json").read_text())
    embeddings = np.load(out)
    assert embeddings.shape == (18, 16) and manifest["files"][0].endswith("class0/0.png")
    assert manifest["classes"][0] == "class0"

    query, picture = photos / "class3" / "1.png", tmp_path / "found.png"
    command = ["retrieve", str(trained), str(query), str(out), "--count", "4", "--picture", str(picture)]
    capsys.readouterr()
    assert cli.main(command) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    row = manifest["files"].index(str(query))
    away = np.linalg.norm(embeddings - embeddings[row], axis=1)
    expected = [other for other in np.argsort(away, kind="stable") if other != row][:4]
    assert [line[2] for line in lines[:4]] == [manifest["files"][other] for other in expected]
    assert [line[1] for line in lines[:4]] == [manifest["classes"][other] for other in expected]
    width, height = Image.open(picture).size
    assert width > 4 * height

    command[3] = str(photos)  # the folder itself: the same answer
    assert cli.main(command[:6]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == lines[:4]
    assert cli.main([*command[:6], "--match", "--false-accepts", "0.2"]) == 0
    answer = capsys.readouterr().out
    assert cli.main([*command[:6], "--false-accepts", "0.2"]) == 0
    assert capsys.readouterr().out == answer
    told, *rows = answer.splitlines()
    limit = float(told.split("distance of ")[1].split(":")[0])
    for line in rows:
        assert ("no match" in line) == (float(line.split()[0]) > limit)


def test_embed_adds_to_an_index(trained, photos, tmp_path, capsys):
    first, both = tmp_path / "first.npy", tmp_path / "both.npy"
    assert cli.main(["embed", str(trained), str(photos / "class0"), "--out", str(first)]) == 0
    assert (
        cli.main(["embed", str(trained), str(photos / "class1"), "--out", str(both), "--add-to", str(first)])
        == 0
    )
    assert "6 images" in capsys.readouterr().out and np.load(both).shape == (6, 16)


# --- files for other programs -------------------------------------------------------------------------------


def test_an_exported_network_is_read_by_plain_mxnet_and_by_us(trained, tmp_path, photos):
    model = dml.load(trained)
    written = model.export(tmp_path / "out" / "network")
    assert json.loads(written[0].read_text())["input"]["height"] == 32
    names = ["network.json", "network-symbol.json", "network-0000.params", "network.md"]
    assert [path.name for path in written] == names
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
            np.load(tmp_path / "embeddings.npy"), model.members[0].embed([images]), rtol=1e-5, atol=1e-6
        )

    ours, theirs = (dml.load(target).embed(photos) for target in (trained, written[0]))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_every_member_of_an_ensemble_is_exported(tmp_path):
    given = {**TRIAL, "epochs": 1, "ensemble": {"members": 2}}
    record = dml.train(given, store=tmp_path)
    written = dml.load(tmp_path / record.id, "last").export(tmp_path / "both")
    assert len(written) == 6
    members = mxnet_files.read(written[0])
    assert [member.width for member in members] == [16, 16]
    images = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3)).astype(np.uint8)
    first, second = (member.embed([images]) for member in members)
    assert not np.allclose(first, second)


def test_an_export_with_a_missing_part_is_refused(trained, tmp_path):
    written = dml.load(trained).export(tmp_path / "network")
    written[2].unlink()
    with pytest.raises(UserError, match="are not an exported network"):
        mxnet_files.read(written[0])
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(UserError, match="does not describe an exported network"):
        mxnet_files.read(tmp_path / "other.json")


ONNX_TRIALS = {
    "conv4": {},
    "ensemble": {"ensemble": {"members": 2}},
    "folds": {"protocol": {"name": "validated", "folds": 2}},
    "layers": {
        "head": {
            "layer_norm": True,
            "weight_norm": True,
            "normalize": True,
            "bottleneck": [24],
            "pooling": "average+max",
        }
    },
    "inception_bn": {"backbone": {"name": "inception_bn", "pretrained": "none"}},
    "resnet50_v1b": {"backbone": {"name": "gluoncv:resnet50_v1b", "pretrained": "none"}},
    "resnet50_v2": {"backbone": {"name": "resnet50_v2", "pretrained": "none"}},
    "efficientnet_lite0": {"backbone": {"name": "efficientnet_lite0", "pretrained": "none"}},
}


def onnx_model(case, tmp_path):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    few = {"name": "glyphs", "size": 64, "classes": 40, "images_per_class": 4}
    trial = {**TRIAL, "epochs": 1, "iterations": 1, "data": few}
    record = dml.train({**trial, **ONNX_TRIALS[case]}, store=tmp_path)
    return dml.load(tmp_path / record.id)


RUN = """
import sys, numpy as np, onnxruntime
options = onnxruntime.SessionOptions()
options.log_severity_level = 2
session = onnxruntime.InferenceSession(sys.argv[1], options)
for name in sys.argv[2:]:
    np.save(name + ".embedded.npy", session.run(["embeddings"], {"images": np.load(name)})[0])
assert "mxnet" not in sys.modules and "dmlplayground" not in sys.modules
"""


def run_onnx(path, folder, *batches):
    """The graph's embeddings of batches, by a process that has never heard of MXNet; any warning is a failure."""
    names = []
    for number, batch in enumerate(batches):
        names.append(str(folder / f"{number}.npy"))
        np.save(names[-1], batch)
    result = subprocess.run(
        [sys.executable, "-I", "-c", RUN, str(path), *names], capture_output=True, text=True, cwd=folder
    )
    assert result.returncode == 0 and "[W:onnxruntime" not in result.stderr, result.stderr
    return [np.load(f"{name}.embedded.npy") for name in names]


def test_an_onnx_graph_turns_channels_round():
    """As the first layer of networks does whose weights are of images in BGR."""
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    planes = sym.transpose(sym.var(onnx_graph.INPUT, dtype="uint8"), axes=(0, 3, 1, 2))
    graph = onnx_graph.convert(sym.reverse(planes.astype("float32"), axis=1), {}, 8, 9)
    images = np.random.default_rng(0).integers(0, 256, (2, 8, 9, 3)).astype(np.uint8)
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {onnx_graph.INPUT: images})
    np.testing.assert_array_equal(found, images.transpose(0, 3, 1, 2)[:, ::-1])


@pytest.mark.slow
@pytest.mark.parametrize("case", ONNX_TRIALS)
def test_an_onnx_graph_gives_our_embeddings(case, tmp_path):
    model = onnx_model(case, tmp_path)
    path, _ = model.export(tmp_path / "network", "onnx")
    assert path.name == "network.onnx"
    rng = np.random.default_rng(1)
    batches = [rng.integers(0, 256, (count, 64, 64, 3)).astype(np.uint8) for count in (3, 1)]
    for batch, found in zip(batches, run_onnx(path, tmp_path, *batches)):
        expected = model.embed(batch)
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() < 2e-5 * np.abs(expected).max()


@pytest.mark.slow
def test_an_onnx_graph_refuses_other_sizes_and_resizes_if_it_shall(tmp_path):
    model = onnx_model("conv4", tmp_path)
    fixed, _ = model.export(tmp_path / "fixed", "onnx")
    free, _ = model.export(tmp_path / "free.onnx", "onnx", resize=True)
    rng = np.random.default_rng(1)
    smooth = rng.integers(0, 256, (2, 6, 8, 3)).repeat(15, 1).repeat(15, 2).astype(np.uint8)  # 90 x 120
    with pytest.raises(AssertionError, match="Got invalid dimensions"):
        run_onnx(fixed, tmp_path, smooth)
    expected = model.embed(smooth)
    (found,) = run_onnx(free, tmp_path, smooth)
    assert (
        np.abs(found - expected).max() < 2e-3 * np.abs(expected).max()
    )  # pixels may differ by one grey level


@pytest.mark.slow
@pytest.mark.parametrize("transform", ["released", "paper"])
def test_resizing_inside_the_graph_by_other_transforms(tmp_path, transform):
    pytest.importorskip("onnxruntime")
    for label in range(4):
        for number in range(3):
            folder = tmp_path / "data" / f"c{label}"
            folder.mkdir(parents=True, exist_ok=True)
            pixels = (
                np.random.default_rng(9 * label + number)
                .integers(0, 256, (5, 7, 3))
                .repeat(20, 0)
                .repeat(20, 1)
            )
            Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{number}.png")
    trial = {
        **TRIAL,
        "data": {"name": "folder", "path": str(tmp_path / "data")},
        "batch_size": 4,
        "iterations": 1,
    }
    options = {"released": {"size": 64}, "paper": {"resize": 72}}[transform]
    record = dml.train(
        {**trial, "epochs": 1, "transform": {"name": transform, **options}}, store=tmp_path / "runs"
    )
    model = dml.load(tmp_path / "runs" / record.id)
    path, _ = model.export(tmp_path / "network", "onnx", resize=True)
    images = (
        np.random.default_rng(3).integers(0, 256, (2, 5, 8, 3)).repeat(40, 1).repeat(40, 2).astype(np.uint8)
    )
    expected = model.embed(images)
    (found,) = run_onnx(path, tmp_path, images)
    assert np.abs(found - expected).max() < 5e-3 * np.abs(expected).max()


def test_a_card_says_what_a_network_is_and_how_good(trained, tmp_path, monkeypatch):
    model = dml.load(trained)
    text = model.export(tmp_path / "network")[-1].read_text()
    test, train = (dml.data.load("glyphs", split=split, size=32, classes=40) for split in ("test", "train"))
    scores = dml.metrics.evaluate(model.embed(test), test.labels, clustering=False)
    untouched = dml.records.find(trained).results.get("untouched")
    assert f"| R@1 | {100 * scores['R@1']:.2f} % (" in text and untouched is None
    assert f"Two images {model.threshold()}." in text
    assert f"glyphs: {len(train):,} images of {train.num_classes} classes" in text
    assert "none: they were drawn at random" in text and "16 numbers" in text and trained.name in text

    monkeypatch.setattr(card.data, "load", lambda **_: (_ for _ in ()).throw(UserError("it is not here.")))
    without = model.export(tmp_path / "network")[-1].read_text()
    assert "| Not measured here: it is not here. |" in without and "16 numbers" in without


@pytest.mark.parametrize("pretrained", ["imagenet", "mine.npz"])
def test_a_card_names_the_licence_of_the_weights(pretrained):
    said = card._origin(dml.backbones.get("efficientnet_lite0"), pretrained)
    assert ("Apache-2.0" if pretrained == "imagenet" else "not known") in said


def test_an_onnx_graph_in_eight_bits_says_what_it_costs(trained, tmp_path, capsys):
    for package in ("onnx", "onnxruntime"):
        pytest.importorskip(package)
    model = dml.load(trained)
    assert cli.main(["export", str(trained), str(tmp_path / "whole"), "--format", "onnx"]) == 0
    words = ["export", str(trained), str(tmp_path / "eight"), "--format", "onnx", "--eight-bit", "--resize"]
    assert cli.main(words) == 0 and "any size" in capsys.readouterr().out
    size = (tmp_path / "eight.onnx").stat().st_size
    assert size < 0.45 * (tmp_path / "whole.onnx").stat().st_size
    test = dml.data.load("glyphs", split="test", size=32, classes=40)
    batch = np.stack([test.images[row] for row in range(len(test))])
    (found,) = run_onnx(tmp_path / "eight.onnx", tmp_path, batch)
    expected = model.embed(test)
    away = np.abs(found - expected).max() / np.abs(expected).max()
    assert 1e-4 < away < 0.2  # it is in eight bits, and near
    graph = pytest.importorskip("onnx").load(str(tmp_path / "eight.onnx")).graph
    zeros = {node.input[2] for node in graph.node if node.op_type == "QuantizeLinear"}
    kinds = {each.data_type for each in graph.initializer if each.name in zeros}
    assert kinds == {2}  # UINT8: onnxruntime computes layers before and after a shortcut in eight bits, too
    before, after = (
        100 * dml.metrics.evaluate(rows, test.labels, clustering=False)["R@1"] for rows in (expected, found)
    )
    told = (tmp_path / "eight.md").read_text()
    assert f"In eight bits R@1 goes from {before:.2f} to {after:.2f} %" in told
    assert cli.main(["export", str(trained), str(tmp_path / "x"), "--eight-bit"]) == 2
    assert "only an ONNX file can have eight bits" in capsys.readouterr().err


def test_export_from_the_command_line(trained, tmp_path, capsys):
    pytest.importorskip("onnx")
    assert cli.main(["export", str(trained), str(tmp_path / "network"), "--format", "onnx"]) == 0
    assert "It takes images (B, 32, 32, 3) of uint8" in capsys.readouterr().out
    assert cli.main(["export", str(trained), str(tmp_path / "x"), "--format", "onxx"]) == 2
    assert "unknown format 'onxx'. Did you mean 'onnx'?" in capsys.readouterr().err
    assert cli.main(["export", str(trained), str(tmp_path / "x"), "--resize"]) == 2
    assert "only an ONNX file can include the resizing" in capsys.readouterr().err
