"""The built-in data set and what carries it: data sets by name, their value, the cache, contact sheets."""

import hashlib
import os
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from dmlplayground import cli, data
from dmlplayground.base import seeds
from dmlplayground.base.errors import UserError
from dmlplayground.parts.data import Dataset
from dmlplayground.parts.data.shared import cache, characters
from dmlplayground.parts.data.shared.dataset import contact_sheet

SMALL = {"classes": 24, "images_per_class": 9, "size": 32}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A cache for this file's tests alone."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(kept, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(kept))
    cache._say_once.cache_clear()


def both(**options) -> list[Dataset]:
    return [data.load("glyphs", split, **options) for split in data.SPLITS]


def fingerprint(dataset: Dataset) -> str:
    parts = [
        np.ascontiguousarray(dataset.images).tobytes(),
        dataset.labels.tobytes(),
        repr(dataset.class_names).encode(),
    ]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def nearest_is_right(dataset: Dataset) -> float:
    """R@1 of raw pixels."""
    points = np.asarray(dataset.images, np.float32).reshape(len(dataset), -1)
    points -= points.mean(axis=1, keepdims=True)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    alike = points @ points.T
    np.fill_diagonal(alike, -np.inf)
    return float(np.mean(dataset.labels[alike.argmax(axis=1)] == dataset.labels))


# Data sets by name


def test_glyphs_is_registered_with_its_options():
    assert "glyphs" in data.names()
    record = data.get("glyphs")
    assert record.title and "nothing is downloaded" in record.notes
    assert record.options["classes"].default == 200
    assert record.options["size"].default == 64


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("glyph",), {}, ["glyph", "Did you mean 'glyphs'"]),
        (("glyphs", "val"), {}, ["split", "'val'", "test, train"]),
        (("glyphs",), {"clases": 10}, ["'clases'", "Did you mean 'classes'", "images_per_class", "strength"]),
        (("glyphs",), {"classes": "many"}, ["classes", "whole number", "'many'"]),
        (("glyphs",), {"classes": 1}, ["classes", "from 2 to 40000", "1"]),
        (("glyphs",), {"classes": 10**7}, ["classes", "from 2 to 40000", "10000000"]),
        (("glyphs",), {"classes": 9999, "images_per_class": 9999}, ["at most 100 GB, not 1,229"]),
        (("glyphs",), {"size": 4}, ["size", "from 16 to 512", "4"]),
        (("glyphs",), {"strength": 1.5}, ["strength", "from 0 to 1", "1.5"]),
        (("glyphs",), {"images_per_class": 1}, ["images_per_class", "from 2 to 100000"]),
        (("glyphs",), {"seed": -1}, ["seed", "0 or more"]),
    ],
)
def test_bad_input_is_one_sentence_with_the_choices(arguments, options, words):
    with pytest.raises(UserError) as caught:
        data.load(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


# The value


def test_types_counts_and_labels():
    for dataset in both(**SMALL):
        assert dataset.images.shape == (len(dataset), 32, 32, 3) and dataset.images.dtype == np.uint8
        assert dataset.labels.shape == (len(dataset),) and dataset.labels.dtype == np.int32
        assert dataset.num_classes == len(dataset.class_names) == 12
        counts = np.bincount(dataset.labels)
        assert len(counts) == 12 and counts.min() >= 6 and counts.max() <= 12
        assert len(set(counts)) > 1, "natural classes are not all of one size"
        assert f"{len(dataset)} images of 12 classes" in dataset.describe()
        with pytest.raises(ValueError, match="read-only"):
            dataset.images[0] = 0


def test_splits_share_no_class():
    train, test = both(**SMALL)
    assert not set(train.class_names) & set(test.class_names)
    assert len(set(train.class_names)) == train.num_classes


def test_subset_renumbers_in_the_order_given():
    dataset = data.load("glyphs", **SMALL)
    part = dataset.subset([5, 2])
    assert part.class_names == (dataset.class_names[5], dataset.class_names[2])
    for new, old in enumerate((5, 2)):
        assert np.array_equal(part.images[part.labels == new], dataset.images[dataset.labels == old])
    assert len(part) == np.isin(dataset.labels, (2, 5)).sum()
    assert part.labels.dtype == np.int32


def test_subset_of_neighbouring_classes_copies_nothing():
    dataset = data.load("glyphs", **SMALL)
    assert np.shares_memory(dataset.subset(range(3, 8)).images, dataset.images)


@pytest.mark.parametrize("classes", [[], [1, 1], [-1], [12]])
def test_subset_refuses_classes_that_are_not_there(classes):
    with pytest.raises(UserError, match="glyphs"):
        data.load("glyphs", **SMALL).subset(classes)


def test_contact_sheet_shows_a_class_a_row():
    dataset = data.load("glyphs", **SMALL)
    sheet = np.asarray(contact_sheet(dataset, classes=3, per_class=4))
    assert sheet.shape == (3 * 34 + 2, 4 * 34 + 2, 3)
    first_of_second_class = dataset.images[np.flatnonzero(dataset.labels == 1)[0]]
    assert np.array_equal(sheet[36:68, 2:34], first_of_second_class)


# What is drawn


def test_more_classes_and_images_only_add():
    few, many = (both(**{**SMALL, "classes": n, "images_per_class": m}) for n, m in ((12, 9), (24, 15)))
    for small, large in zip(few, many):
        assert large.class_names[: small.num_classes] == small.class_names
        for label in range(small.num_classes):
            ours, theirs = small.images[small.labels == label], large.images[large.labels == label]
            shared = min(len(ours), len(theirs))
            assert np.array_equal(ours[:shared], theirs[:shared])


def test_seed_size_and_strength_matter():
    options = {**SMALL, "classes": 6}
    prints = {
        fingerprint(data.load("glyphs", **{**options, **change}))
        for change in ({}, {"seed": 1}, {"strength": 0.2})
    }
    assert len(prints) == 3
    assert (
        data.load("glyphs", **options).class_names
        != data.load("glyphs", **{**options, "seed": 1}).class_names
    )
    assert data.load("glyphs", **{**options, "size": 48}).images.shape[1:] == (48, 48, 3)


def test_strength_makes_raw_pixels_useless():
    strengths = (0, 0.4, data.get("glyphs").options["strength"].default)
    plain, middle, default = (
        data.load("glyphs", "test", **SMALL, strength=strength) for strength in strengths
    )
    assert nearest_is_right(plain) > 0.9
    assert 0.9 > nearest_is_right(middle) > nearest_is_right(default)
    assert nearest_is_right(default) < 0.3  # by chance 0.08


def test_every_picture_shows_its_character():
    """There is ink in every face of every class, and no face answers with the box of a missing glyph."""
    for character in characters.ALPHABET:
        faces = characters.faces_of(character)
        assert len(faces) >= 12
        for face in faces:
            missing = characters.ink("\U0010fffd", face, 32)
            drawn = characters.ink(character, face, 32)
            assert np.asarray(drawn).max() > 128
            assert drawn.size != missing.size or drawn.tobytes() != missing.tobytes()


def test_characters_stand_out_at_every_strength():
    for strength in (0.0, 0.5, 1.0):
        for number in range(200):
            background, ink = characters._colours(32, strength, seeds.generator(0, "test", number))
            assert abs(background.mean() - ink.mean()) > 45


def test_a_thousand_classes_with_few_images_each():
    train, test = both(classes=1200, images_per_class=2, size=16)
    assert train.num_classes == test.num_classes == 600
    assert len({*train.class_names, *test.class_names}) == 1200
    assert np.bincount(train.labels).min() == 2 and np.bincount(train.labels).max() <= 3


# No two classes alike, measured anew: other layout, threshold, faces and grid than the generator's


def plain_drawing(text: str, face: str) -> np.ndarray:
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{face}.ttf"
    canvas = Image.new("L", (260, 200))
    ImageDraw.Draw(canvas).text((40, 40), text, fill=255, font=ImageFont.truetype(str(path), 80))
    rows, columns = np.nonzero(np.asarray(canvas) > 64)
    cut = canvas.crop((columns.min(), rows.min(), columns.max() + 1, rows.max() + 1))
    return np.pad(np.asarray(cut.resize((24, 24), Image.Resampling.BILINEAR), float), 2).ravel()


def most_alike(texts: list[str]) -> tuple[float, str, str]:
    best = np.full((len(texts), len(texts)), -1.0)
    for face in ("DejaVuSans", "DejaVuSerif", "STIXGeneral"):
        have = [number for number, text in enumerate(texts) if face in characters.faces_of(text)]
        alike = np.corrcoef([plain_drawing(texts[number], face) for number in have])
        best[np.ix_(have, have)] = np.maximum(best[np.ix_(have, have)], alike)
    np.fill_diagonal(best, -1)
    first, second = np.unravel_index(best.argmax(), best.shape)
    return best[first, second], texts[first], texts[second]


@pytest.mark.parametrize("twins", ["O0", "OΟ", "OО", "lI", "l|", "sS", "cC", "xХ", "AΑ", ".•", "HН"])
def test_the_measure_knows_twins_and_the_alphabet_has_one_of_them_at_most(twins):
    assert most_alike(list(twins))[0] > 0.8
    assert len(set(twins) & set(characters.ALPHABET)) <= 1


@pytest.mark.slow
def test_the_alphabet_is_what_its_program_chooses():
    chosen = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "glyphs.py"))["alphabet"]()
    assert "".join(chosen) == characters.ALPHABET


def test_no_two_characters_look_alike():
    alphabet = list(characters.ALPHABET)
    assert len(alphabet) >= 200, "the default data set needs two hundred characters"
    alike, first, second = most_alike(alphabet)
    assert alike < 0.8, f"{first} and {second} look alike"


# The cache


LOAD_BOTH = """
import hashlib, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from test_data_glyphs import SMALL, both, fingerprint
print(*map(fingerprint, both(**SMALL)))
"""


@pytest.mark.slow
def test_two_processes_at_once_draw_the_same_bytes_and_leave_one_entry_each(tmp_path):
    environment = {**os.environ, "DMLPLAYGROUND_CACHE": str(tmp_path / "new")}
    command = [sys.executable, "-c", LOAD_BOTH, str(Path(__file__).parent)]
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    printed = [process.communicate(timeout=120)[0].split() for process in running]
    assert printed[0] == printed[1] == [fingerprint(dataset) for dataset in both(**SMALL)]
    entries = [path.name for path in (tmp_path / "new").iterdir() if not path.name.endswith(".lock")]
    assert len(entries) == 2 and not any(name.startswith(".") for name in entries)


def test_arrays_are_made_once_and_then_mapped():
    made = []

    def make():
        made.append(1)
        return {"numbers": np.arange(5)}

    first, second = (cache.arrays("once", {"a": 1}, make) for _ in range(2))
    assert len(made) == 1
    assert isinstance(second["numbers"], np.memmap)
    assert np.array_equal(first["numbers"], second["numbers"])
    cache.arrays("once", {"a": 2}, make)
    assert len(made) == 2, "another key is another entry"


def test_a_damaged_entry_is_made_anew(kept):
    cache.arrays("damaged", {}, lambda: {"numbers": np.arange(5000)})
    (file,) = kept.glob("damaged-*/numbers.npy")
    file.write_bytes(file.read_bytes()[:300])
    assert np.array_equal(
        cache.arrays("damaged", {}, lambda: {"numbers": np.arange(7)})["numbers"], np.arange(7)
    )
    assert len(np.load(file)) == 7


def test_a_write_that_fails_leaves_nothing_behind(kept, monkeypatch):
    def full(file, array, **_):
        Path(file).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.warns(RuntimeWarning, match="No space left"):
        made = cache.arrays("full", {}, lambda: {"numbers": np.arange(3)})
    assert np.array_equal(made["numbers"], np.arange(3))
    assert not [path for path in kept.iterdir() if path.name.startswith("full")]


def test_an_unwritable_cache_is_said_once_and_changes_nothing(tmp_path, monkeypatch):
    expected = [fingerprint(dataset) for dataset in both(**SMALL)]
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "file" / "cache"))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert [fingerprint(dataset) for dataset in both(**SMALL)] == expected
    assert len(said) == 1 and "DMLPLAYGROUND_CACHE" in str(said[0].message)


def test_a_loaded_set_goes_into_gluons_loader():
    from mxnet import gluon

    dataset = data.load("glyphs", split="test", classes=8, images_per_class=4, size=16)
    seen = 0
    for images, labels in gluon.data.DataLoader(dataset, batch_size=5, num_workers=0):
        rows = slice(seen, seen + len(images))
        np.testing.assert_array_equal(images.asnumpy(), dataset.images[rows])
        np.testing.assert_array_equal(labels.asnumpy(), dataset.labels[rows])
        seen += len(images)
    assert seen == len(dataset)


def test_a_changed_byte_in_the_cache_is_found_and_the_pictures_are_drawn_anew(tmp_path, monkeypatch):
    """Without checksums a trial went on to another result."""
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path))
    options = {"classes": 6, "images_per_class": 3, "size": 16}
    before = np.array(data.load("glyphs", **options).images)
    path = next(path for path in tmp_path.glob("glyphs-*/images.npy"))
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(bytes(content))
    with pytest.warns(UserWarning, match="was damaged; it has been made anew"):
        assert np.array_equal(data.load("glyphs", **options).images, before)


def test_data_verify_looks_at_the_cache_of_a_built_in_set(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path))
    data.load("glyphs", classes=6, images_per_class=3, size=16)
    assert cli.main(["data", "verify", "glyphs"]) == 0
    assert "all is well" in capsys.readouterr().out
    path = next(path for path in tmp_path.glob("glyphs-*/images.npy"))
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert cli.main(["data", "verify", "glyphs"]) == 1
    assert f"cache {path.parent}: damaged" in capsys.readouterr().out
    assert not path.exists()
