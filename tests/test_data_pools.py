"""Grocery, icons, and frozen features: images that are read once, however their classes are divided."""

import tarfile

import data_fixture as fixture
import numpy as np
import pytest

import dmlplayground as dml
from dmlplayground import cli, config, data
from dmlplayground.base import opencv
from dmlplayground.base.errors import UserError
from dmlplayground.parts.backbones.shared import engines
from dmlplayground.parts.data import icons as icons_set
from dmlplayground.parts.data.shared import cache, releases


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DMLPLAYGROUND_DATA", str(tmp_path / "data"))


@pytest.fixture
def grocery(tmp_path):
    fixture.groceries(tmp_path / "data" / "grocery")
    return {"name": "grocery", "partial": True}


def loaded(split="train", **options):
    return data.load(**options, split=split, stored=data.Stored("none"))


# Grocery


def test_grocery_divides_classes_by_number_and_images_of_the_test_classes_by_visit(grocery):
    train, test = (data.catalogue(**grocery, split=split) for split in data.SPLITS)
    assert train.class_names == ("Anjou", "Kaiser", "Zucchini") and train.parents == (
        "Pear",
        "Pear",
        "Zucchini",
    )
    assert test.class_names == ("Conference", "Milk") and test.parents == ("Pear", "Milk")
    assert len(train) == 18 and len(test) == 12
    assert [bool(query) for query in test.queries] == ["/test/" in file for file in test.files]
    part = loaded(**grocery).subset([2, 0])
    assert part.class_names == ("Zucchini", "Anjou") and part.parents == ("Zucchini", "Pear")


def test_a_search_may_have_the_reserved_classes_alone(grocery):
    """They are for training in every division, and the test classes of a division are the same with or without the others."""
    for division in range(4):
        given = {**grocery, "division": division, "reserved": 2}
        whole, alone = (data.catalogue(**given, only_reserved=alone) for alone in (False, True))
        assert len(alone.class_names) == 2 and set(alone.class_names) < set(whole.class_names)
        tests = [
            data.catalogue(**given, only_reserved=one, split="test").class_names for one in (False, True)
        ]
        assert tests[0] == tests[1] and not set(tests[0]) & set(alone.class_names)


def test_every_division_is_another_half_and_reads_no_image_again(grocery, capsys):
    halves = set()
    for division in range(6):
        train, test = (loaded(split, **grocery, division=division) for split in data.SPLITS)
        assert train.num_classes == 3 and not set(train.class_names) & set(test.class_names)
        assert train.class_names == loaded(**grocery, division=division).class_names
        halves.add(train.class_names)
        for found, split in ((train, "train"), (test, "test")):
            files = data.catalogue(**grocery, split=split, division=division)
            live = data.load(
                **grocery, split=split, division=division, cache="none", stored=data.Stored("none")
            )
            assert all(np.array_equal(found.images[row], live.images[row]) for row in range(len(files)))
    assert len(halves) > 3
    assert capsys.readouterr().err.count("decoding 30 images of grocery") == 1
    with pytest.raises(UserError, match="division must not be negative, not -1"):
        data.catalogue(**grocery, division=-1)


def test_images_are_brought_to_a_size(grocery):
    assert loaded(**grocery, size=20).images.shape == (18, 20, 20, 3)
    assert loaded(**grocery).images.shape == (18, 48, 48, 3)


def test_a_release_is_checked_by_all_of_its_content(grocery, tmp_path):
    release = data.get("grocery").release
    folder = release.find(tmp_path / "data" / "grocery")
    entries = release.entries(folder)
    whole = releases.checksum(folder, entries)
    assert whole == releases.checksum(folder, entries[::-1])
    assert whole != releases.checksum(folder, [entries[0]._replace(label="x"), *entries[1:]])
    (folder / entries[3].file).write_bytes(b"other")
    assert whole != releases.checksum(folder, entries)


def test_verify_compares_the_content_with_what_was_published(grocery, tmp_path, monkeypatch, capsys):
    release = data.get("grocery").release
    folder = release.find(tmp_path / "data" / "grocery")
    entries = release.entries(folder)
    made = {"content": releases.checksum(folder, entries), "counts": releases.counts(entries)}
    for field, value in made.items():
        monkeypatch.setitem(vars(release), field, value)
    assert cli.main(["data", "verify", "grocery"]) == 0
    assert "content of all images is the published one" in capsys.readouterr().out
    fixture.picture(folder / entries[3].file, 999, (48, 48))
    assert cli.main(["data", "verify", "grocery"]) == 1
    assert "not all those that were published" in capsys.readouterr().out


# Icons


@pytest.fixture
def icons(tmp_path, monkeypatch):
    """The made collection, prepared with the manifest that the script writes of it."""
    pytest.importorskip("resvg_py")
    base = fixture.icon_sets(tmp_path / "collection")
    known = {"content": "", "copies": ["set12/star"], "sets": {}, "train": [0, 0], "test": [0, 0]}
    monkeypatch.setattr(icons_set, "MANIFEST", known)
    archive = tmp_path / "icon-sets-2.2.535.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(base, arcname="package")
    return archive


def prepared(archive):
    release = data.get("icons").release
    from dmlplayground.parts.data.shared import preparing

    return preparing.prepare(release, [archive], allow_partial=True)


def test_classes_are_what_names_say_without_words_of_style(tmp_path):
    base = fixture.icon_sets(tmp_path)
    assert list(icons_set.collections(base)) == [f"set{number:02d}" for number in range(14)]
    classes = icons_set.classes_of(base)
    # No brands, none of three words; of `moon` too few sets have one that does not move.
    assert {name: len(sets) for name, sets in classes.items()} == {
        "bell": 14, "check-circle": 14, "home": 14, "star": 14,
    }  # fmt: skip
    assert 'd="M4 0h9v9z"' in classes["bell"]["set04"]  # not the outline
    assert 'viewBox="0 0 48 24"' in classes["home"]["set00"]
    assert len(icons_set.classes_of(base, {"set12/star", "set13/star"})["star"]) == 12
    assert "star" not in icons_set.classes_of(base, {f"set{number:02d}/star" for number in range(3)})


def test_icons_are_prepared_drawn_and_divided(icons, tmp_path):
    assert "55 images: train" in prepared(icons)
    home = tmp_path / "data" / "icons"
    assert sorted(path.name for path in home.iterdir()) == ["collections.json", "drawings", "drawings.txt"]
    train, test = (loaded(split, name="icons", size=24, partial=True) for split in data.SPLITS)
    assert train.num_classes == test.num_classes == 2 and len(train) + len(test) == 55
    assert train.images.shape[1:] == (24, 24, 3)
    both = {**dict(zip(train.class_names, [train] * 2)), **dict(zip(test.class_names, [test] * 2))}
    split, label = both["home"], both["home"].class_names.index("home")
    rows = np.flatnonzero(split.labels == label)
    # set00's rectangle of 1 x 4 on 48 x 24, drawn into the middle of 24 x 24: half as large, 6 pixels from the top
    drawing = np.asarray(split.images[int(rows[0])]).mean(axis=2)
    assert drawing[6:8, 0].max() < 200 and (np.delete(drawing, [6, 7], axis=0) == 255).all()


def test_a_class_of_the_icons_stays_in_its_half_however_many_there_are(icons):
    prepared(icons)
    few = data.catalogue("icons", classes=2, partial=True).class_names
    assert set(few) <= set(data.catalogue("icons", partial=True).class_names)
    with pytest.raises(UserError, match="classes must be from 2 to 4, not 5"):
        data.catalogue("icons", classes=5, partial=True)
    with pytest.raises(UserError, match="size must be from 16 to 1024 pixels, not 4"):
        data.catalogue("icons", size=4, partial=True)


def test_icons_that_are_skipped_are_those_that_fewer_classes_would_have(icons):
    prepared(icons)

    def names(**options):
        return {
            name
            for split in data.SPLITS
            for name in data.catalogue("icons", split, partial=True, **options).class_names
        }

    first = names(classes=2)
    assert len(first) == 2 and names(skip=2) == names() - first


def test_what_is_no_collection_is_refused(icons, tmp_path):
    with tarfile.open(icons, "w:gz") as packed:
        packed.add(fixture.clothes(tmp_path), arcname="package")
    with pytest.raises(UserError, match=r"not the collection of icon sets in its version 2.2.535"):
        prepared(icons)
    assert not (tmp_path / "data" / "icons").exists()


def test_a_drawing_that_cannot_be_read_is_named(icons, tmp_path):
    prepared(icons)
    broken = tmp_path / "data" / "icons" / "drawings" / "bell" / "set03.svg"
    broken.write_text("<svg")
    with pytest.raises(UserError, match=r"bell/set03\.svg"):
        for split in data.SPLITS:
            loaded(split, name="icons", partial=True)


def test_the_manifest_of_the_icons_adds_up():
    known = icons_set.MANIFEST
    images = known["train"][0] + known["test"][0]
    assert images == sum(one["images"] for one in known["sets"].values()) == 32_618
    assert known["train"][1] + known["test"][1] == 1_145 and len(known["sets"]) == 160
    assert {one["licence"] for one in known["sets"].values()} <= icons_set.LICENCES
    assert not [key for key in known["sets"] if icons_set.NOT_SETS.search(key)]
    assert f"{len(known['sets'])} sets" in data.get("icons").notes


# Frozen features


def test_one_pass_serves_both_splits_and_every_division(grocery, capsys):
    options = {"backbone": "conv4", "pretrained": "none", "size": 32}
    train, test = (data.load("frozen", split, of=grocery, **options) for split in data.SPLITS)
    other = data.load("frozen", "train", of={**grocery, "division": 4}, **options)
    assert capsys.readouterr().err.count("computing the conv4 features of 30 images of grocery") == 1
    assert train.images.shape == (18, 128) and test.queries.sum() == 4 and train.parents[0] == "Pear"
    assert test.class_names == ("Conference", "Milk")
    # The same as the network makes of each image by itself.
    network = dml.backbones.get("conv4").extractor("none")
    files = loaded("test", **grocery, size=32)
    for row in (0, 7, 11):
        own = network(iter([np.asarray(files.images[row])[None]]))
        np.testing.assert_allclose(test.images[row], own[0], rtol=1e-4, atol=1e-5)
    labels = {name: other.images[other.labels == label] for label, name in enumerate(other.class_names)}
    shared = next(name for name in train.class_names if name in labels)
    np.testing.assert_array_equal(
        labels[shared], train.images[train.labels == train.class_names.index(shared)]
    )


def test_features_of_another_size_are_others(grocery):
    small, large = (
        data.load("frozen", "train", of=grocery, backbone="conv4", pretrained="none", size=size).images
        for size in (32, 48)
    )
    assert small.shape == large.shape and not np.array_equal(small, large)


def test_other_images_or_weights_are_other_features(grocery, tmp_path):
    options = {"of": grocery, "backbone": "conv4", "size": 32}
    before = data.load("frozen", "train", **options, pretrained="none").images
    weights = tmp_path / "conv4.params"
    from dmlplayground.parts.backbones.shared.weights import formats

    formats.write(weights, dml.backbones.create("conv4"))
    assert not np.array_equal(before, data.load("frozen", "train", **options, pretrained=str(weights)).images)
    assert len(cache.entries("frozen")) == 2
    catalogue = data.catalogue(**grocery)
    path = catalogue.path(0)
    fixture.picture(path, 999, (48, 48))
    after = data.load("frozen", "train", **options, pretrained="none").images
    assert not np.array_equal(before[0], after[0]) and np.array_equal(before[1:], after[1:])


def test_features_of_drawn_images_are_those_of_its_pixels_at_the_size():
    glyphs, options = (
        {"name": "glyphs", "classes": 8, "size": 24},
        {"backbone": "conv4", "pretrained": "none"},
    )
    for split in data.SPLITS:
        drawn = data.load(split=split, **glyphs)
        images = np.stack([opencv.resize(one, 32, 32, "cubic") for one in drawn.images])
        expected = engines.extractor("conv4", "none")(iter([images]))
        found = data.load("frozen", split, of=glyphs, size=32, **options)
        np.testing.assert_allclose(found.images, expected, rtol=1e-5, atol=1e-6)
        assert np.array_equal(found.labels, drawn.labels) and found.class_names == drawn.class_names
    of = {"name": "frozen", "of": glyphs, "size": 32, **options}
    with pytest.raises(UserError, match="the data set frozen holds features, not images"):
        data.load("frozen", "train", of=of, size=32, **options)


def test_a_trial_on_frozen_features_trains_a_head(grocery, tmp_path):
    of = {"name": "grocery", "partial": True}
    given = {
        "method": "npairs", "embed_dim": 8, "batch_size": 4, "epochs": 1, "iterations": 3, "frozen_epochs": 0,
        "data": {"name": "frozen", "of": of, "backbone": "conv4", "pretrained": "none", "size": 32},
    }  # fmt: skip
    trial = config.trial(given)
    assert trial.backbone == {"name": "identity", "features": 128, "pretrained": "none"}
    record = dml.train(given, store=tmp_path / "runs")
    assert "best" in record.results


def test_one_meaning_has_one_form_and_one_id(grocery):
    def filled(of):
        return data.get("frozen").fill({"of": of}, "data set")["of"]

    assert filled("grocery") == filled({"name": "grocery", "division": 0}) == {"name": "grocery"}
    assert filled({"name": "grocery", "division": 2}) == {"name": "grocery", "division": 2}
    with pytest.raises(UserError, match="divisoin"):
        filled({"name": "grocery", "divisoin": 2})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"of": "grocry"}, "Did you mean 'grocery'"),
        ({"of": "grocery", "backbone": "identity"}, "identity takes no images"),
        ({"of": "grocery", "size": 4}, "size must be from 16 to 1024 pixels, not 4"),
        ({"of": "grocery", "backbone": "conv4"}, "no ImageNet weights are known for conv4"),
    ],
)
def test_wrong_frozen_features_are_refused(grocery, options, message):
    if options["of"] == "grocery":
        options = {**options, "of": grocery}
    with pytest.raises(UserError, match=message):
        data.load("frozen", "train", **options)


def test_verify_checks_frozen_features(grocery, capsys):
    command = ["data", "verify", "frozen"]
    for setting in ("of.name=grocery", "of.partial=true", "backbone=conv4", "pretrained=none", "size=32"):
        command += ["--set", setting]
    assert cli.main(command) == 0
    told = capsys.readouterr().out
    assert "128 features each" in told and "whole" in told
    (entry,) = cache.entries("frozen")
    path = entry / "features.npy"
    content = bytearray(path.read_bytes())
    content[-3] ^= 255
    path.write_bytes(bytes(content))
    assert cache.remove_if_damaged(entry)


def test_a_checksum_is_remembered_until_the_file_changes(tmp_path, monkeypatch):
    path = tmp_path / "weights"
    path.write_bytes(b"one")
    first = cache.digest(path)
    monkeypatch.setattr(cache.files, "digest", lambda *_: "read again")
    assert cache.digest(path) == first
    path.write_bytes(b"other")
    assert cache.digest(path) == "read again"
