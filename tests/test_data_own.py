"""Your own images: by folders and by lists, divided in every way offered, and refused clearly."""

import json
import os

import numpy as np
import pytest
from data_fixture import class_folders, picture
from hypothesis import given, settings
from hypothesis import strategies as st

from dmlplayground import config, data
from dmlplayground.base.errors import UserError
from dmlplayground.parts.data.shared import decoding
from dmlplayground.parts.data.shared.catalogue import Entry, divide, natural

CLASSES = ["2", "10", "1", "cat", "Dog"]
IN_ORDER = ["1", "2", "10", "Dog", "cat"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path):
    return class_folders(tmp_path / "own", CLASSES)


def names(name: str = "folder", **options) -> list[list[str]]:
    return [list(data.catalogue(name, split, **options).class_names) for split in data.SPLITS]


# Folders


def test_numbers_in_names_count_as_numbers():
    assert natural(CLASSES) == IN_ORDER
    assert natural(["a10b2", "a9b10", "a10b1", "a09b10"]) == ["a09b10", "a9b10", "a10b1", "a10b2"]


def test_half_of_the_classes_unless_told_otherwise(folder):
    assert names(path=str(folder)) == [IN_ORDER[:2], IN_ORDER[2:]]
    assert names(path=str(folder), train=0.7) == [IN_ORDER[:4], IN_ORDER[4:]]
    assert names(path=str(folder), train=0.4, test=0.2) == [IN_ORDER[:2], ["cat"]]


def test_classes_by_list_or_file(folder, tmp_path):
    assert names(path=str(folder), train=["cat", "10"]) == [["10", "cat"], ["1", "2", "Dog"]]
    assert names(path=str(folder), train=["cat"], test=["Dog"]) == [["cat"], ["Dog"]]
    (tmp_path / "train.txt").write_text("\ufeffDog\n\n2\n", encoding="utf-8")
    assert names(path=str(folder), train=str(tmp_path / "train.txt")) == [["2", "Dog"], ["1", "10", "cat"]]


def test_a_seed_draws_the_classes(tmp_path):
    classes = [f"{i:02d}" for i in range(20)]
    own = str(class_folders(tmp_path / "many", classes, per_class=1))
    train, test = names(path=own, seed=0)
    assert len(train) == len(test) == 10 and sorted(train + test) == classes and train == sorted(train)
    assert [train, test] == names(path=own, seed=0) != names(path=own, seed=1)
    assert train not in (classes[:10], names(path=own, seed=1)[0])
    fewer, least = names(path=own, seed=0, train=0.3, test=0.2)
    assert set(fewer) < set(train) and set(least) < set(test) and (len(fewer), len(least)) == (6, 4)
    (tmp_path / "list.csv").write_text("path,label\n" + "".join(f"many/{c}/0.jpg,{c}\n" for c in classes))
    assert names("list", path=str(tmp_path / "list.csv"), seed=0) == [train, test]


def test_a_configuration_may_hold_the_division_under_split():
    def trial(*overrides, **given):
        return config.trial({"method": "npairs", "data": {"name": "folder", "path": "x", **given}}, overrides)

    flat = trial(seed=0, train=0.7)
    assert trial(split={"seed": 0, "train": 0.7}).id == flat.id and flat.data["seed"] == 0
    assert trial("data.split.seed=0", split={"seed": 5, "train": 0.7}) == flat
    assert trial("data.split.seed=0", seed=5, train=0.7) == flat
    with pytest.raises(UserError, match=r"unknown option of data.split 'sed'. Did you mean 'seed'\?"):
        trial(split={"sed": 0})
    with pytest.raises(UserError, match=r"data.seed and data.split.seed are the same"):
        trial(split={"seed": 0}, seed=1)


@pytest.mark.slow
def test_the_record_and_the_page_name_the_classes_tested_on(tmp_path):
    import dmlplayground as dml
    from dmlplayground import reports

    own = str(class_folders(tmp_path / "own", list("abcdefgh"), per_class=4))
    record = dml.train(
        {
            "method": "proxy_nca", "data": {"name": "folder", "path": own, "seed": 3}, "backbone": "conv4",
            "transform": {"name": "paper", "resize": 32}, "batch_size": 8, "epochs": 1, "iterations": 1,
        },
        tmp_path / "runs",
    )  # fmt: skip
    tested = names(path=own, seed=3)[1]
    assert record.data["test_classes"] == tested != names(path=own)[1]
    page = reports.report(tmp_path / "runs").read_text()
    assert json.dumps(tested, separators=(",", ":")) in page


def test_folders_may_say_the_split(tmp_path):
    for split in ("train", "test"):
        class_folders(tmp_path / "own" / split, [f"{split}{i}" for i in range(2)])
    assert names(path=str(tmp_path / "own")) == [["train0", "train1"], ["test0", "test1"]]


def test_queries_and_a_gallery_by_folder(tmp_path):
    for split, classes in {"train": "ab", "query": "cd", "gallery": "cde"}.items():
        class_folders(tmp_path / "own" / split, list(classes))
    test = data.load("folder", "test", path=str(tmp_path / "own"))
    assert test.class_names == ("c", "d", "e") and test.queries.sum() == 6 and len(test) == 15
    assert set(test.labels[test.queries]) == {0, 1}


def test_only_images_count(folder):
    (folder / "cat" / "notes.txt").write_text("miaow")
    (folder / "cat" / ".hidden.jpg").write_bytes(b"")
    picture(folder / "cat" / "more" / "4.PNG", 4, format="PNG")
    found = data.catalogue("folder", "test", path=str(folder))
    assert [file for file in found.files if file.startswith("cat")] == [
        "cat/0.jpg", "cat/1.jpg", "cat/2.jpg", "cat/more/4.PNG"
    ]  # fmt: skip


def test_a_trial_can_be_configured_with_it(folder):
    options = {"name": "folder", "path": str(folder), "train": ["cat", "10"]}
    trial = config.trial({"method": "npairs", "data": options, "batch_size": 4})
    assert trial.data == {
        "name": "folder",
        "path": str(folder),
        "train": ["cat", "10"],
        "test": None,
        "seed": None,
        "cache": "disk",
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"train": 1.5}, "between 0 and 1"),
        ({"train": 0}, "between 0 and 1"),
        ({"train": ["cow"]}, "'cow', which is not a class"),
        ({"train": []}, "is empty"),
        ({"train": ["cat"], "test": ["cat", "1"]}, "share 1 classes, such as cat"),
        ({"train": "nowhere.txt"}, "nowhere.txt"),
        ({"path": "absent"}, "no folder absent"),
        ({"cache": "memory"}, "disk, none"),
    ],
)
def test_what_cannot_be_divided_is_refused(folder, options, words):
    with pytest.raises(UserError, match=words):
        data.catalogue("folder", **{"path": str(folder), **options})


def test_an_empty_folder_is_refused(tmp_path):
    (tmp_path / "own").mkdir()
    with pytest.raises(UserError, match="no images"):
        data.catalogue("folder", path=str(tmp_path / "own"))


@given(st.integers(2, 40), st.floats(0.01, 0.99))
@settings(max_examples=50, deadline=None)
def test_a_share_leaves_classes_on_both_sides(count, share):
    divided = divide([Entry(f"{i}.jpg", str(i)) for i in range(count)], share, None, "set")
    training = [entry.split for entry in divided].count("train")
    assert 1 <= training < count and abs(training - share * count) <= 1
    assert {entry.split for entry in divided} == {"train", "test"}


# Lists


def csv(tmp_path, text: str) -> str:
    for i in range(8):
        picture(tmp_path / "pictures" / f"{i}.jpg", i, (40, 30))
    (tmp_path / "list.csv").write_text(text)
    return str(tmp_path / "list.csv")


def test_a_csv_of_paths_and_labels(tmp_path):
    rows = [f"pictures/{i}.jpg,class {i // 2}" for i in range(8)]
    path = csv(tmp_path, "\n".join(["path,label", *rows]))
    assert names("list", path=path) == [["class 0", "class 1"], ["class 2", "class 3"]]
    train = data.load("list", path=path)
    assert train.labels.tolist() == [0, 0, 1, 1] and train.images.shape == (4, 256, 256, 3)


def test_a_csv_with_splits_and_boxes_in_any_order_of_columns(tmp_path):
    text = "split, label, path, box\ntest,b,pictures/0.jpg,1 2 10 12\ntrain,a,pictures/1.jpg,0 0 5 6\n"
    text += f"test,b,{tmp_path}/pictures/2.jpg,3 4 7 8\n,c,pictures/3.jpg,\n"
    path = csv(tmp_path, text)
    found = data.load("list", "test", path=path, boxes=True, stored=data.Stored("none"))
    assert found.images.image(0).shape == (12, 10, 3) and found.images.image(1).shape == (8, 7, 3)
    whole = data.load("list", "test", path=path, stored=data.Stored("none"))
    assert np.array_equal(found.images[0], whole.images[0][2:14, 1:11])
    assert names("list", path=path) == [["a"], ["b"]]


def test_json_lines_with_queries(tmp_path):
    csv(tmp_path, "")
    rows = [
        {
            "path": f"pictures/{i}.jpg",
            "label": i % 2,
            "split": ("query", "gallery")[i // 4],
            "box": [1, 1, 9, 9],
        }
        for i in range(8)
    ]
    (tmp_path / "list.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = data.catalogue("list", "test", path=str(tmp_path / "list.jsonl"), boxes=True)
    assert found.queries.sum() == 4 and found.class_names == ("0", "1")
    assert found.boxes.tolist() == [[1, 1, 9, 9]] * 8


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("path,class\na.jpg,b\n", "'class'"),
        ("path,label\na.jpg\n", "line 2 needs a path and a label"),
        ("path,label,split\na.jpg,b,dev\n", "'dev'.*gallery, query, test, train"),
        ("path,label,box\na.jpg,b,1 2 3\n", "a box is x, y, width and height"),
        ("path,label,split\na.jpg,b,train\nb.jpg,c,query\n", "either all test images are queries or gallery"),
        ("path,label\n", "no images"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused(tmp_path, text, words):
    with pytest.raises(UserError, match=words):
        data.catalogue("list", "test", path=csv(tmp_path, text))


def test_lines_that_are_no_json_and_missing_files_are_named(tmp_path):
    (tmp_path / "list.jsonl").write_text('{"path": "a.jpg", "label": 1}\nnonsense\n')
    with pytest.raises(UserError, match="line 2 is not JSON"):
        data.catalogue("list", path=str(tmp_path / "list.jsonl"))
    path = csv(tmp_path, "path,label\npictures/0.jpg,a\npictures/9.jpg,a\npictures/1.jpg,b\n")
    with pytest.raises(UserError, match=r"1 of the 2 images .* such as pictures/9\.jpg"):
        data.load("list", path=path)


@pytest.mark.parametrize(
    "box", ["-1 0 5 5", "0 0 nan 5", "0 0 inf 5", "1 1 0 5", "1 1 5 -5", "1 2 3", "1e400 0 5 5"]
)
def test_a_box_that_is_none_is_refused(tmp_path, box):
    (tmp_path / "list.csv").write_text(f"path,label,box\na.jpg,a,0 0 5 5\nb.jpg,b,{box}\n")
    with pytest.raises(UserError, match=r"list\.csv, line 3: a box is x, y, width and height in pixels"):
        data.catalogue("list", path=str(tmp_path / "list.csv"))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("list.csv", "path,label\na.jpg," + "b" * 200_000, "not valid CSV: field larger"),
        ("list.jsonl", "[" * 100_000, "line 1 is not JSON"),
        ("list.csv", "path,label\na\0.jpg,a\nb.jpg,b\n", "NUL"),
    ],
)
def test_a_hostile_list_is_one_line(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=words) as said:
        data.load("list", path=str(tmp_path / name), cache="none").images[0]
    assert "\n" not in str(said.value)


@pytest.mark.parametrize("path", ["/dev/zero", "pipe.csv"])
def test_a_list_that_is_no_file_is_refused_at_once(tmp_path, path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(UserError, match="not a file"):
        data.catalogue("list", path=str(tmp_path / path))


# Parquet


def _parquet(path, rows, names=None, image="image", label="label"):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = arrow.table({image: [row[0] for row in rows], label: [row[1] for row in rows]})
    if names:
        features = {"info": {"features": {label: {"names": names, "_type": "ClassLabel"}}}}
        table = table.replace_schema_metadata({"huggingface": json.dumps(features)})
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, path)


def test_parquet_files_of_a_hub(tmp_path, monkeypatch):
    """Two shards, numbered classes with names in the schema; the pixels are those of the files."""
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))
    contents = [picture(tmp_path / f"{n}.{'jpg' if n % 2 else 'png'}", n).read_bytes() for n in range(12)]
    names = ["zebra", "ape", "cat", "bee"]
    for shard in range(2):
        rows = [({"bytes": contents[n], "path": None}, n % 4) for n in range(6 * shard, 6 * shard + 6)]
        _parquet(tmp_path / "hub" / "data" / f"train-{shard:05d}-of-00002.parquet", rows, names)
    train, test = (data.load("parquet", split, path=str(tmp_path / "hub")) for split in data.SPLITS)
    assert train.class_names == ("0 zebra", "1 ape") and test.class_names == ("2 cat", "3 bee")
    assert len(train) == len(test) == 6
    expected = decoding.read(tmp_path / "4.png", data.Stored())
    assert np.array_equal(train.images[1], expected)  # zebras are 0, 4, 8
    before = sorted(path.name for path in (tmp_path / "cache" / "parquet").iterdir())
    data.load("parquet", path=str(tmp_path / "hub"))
    assert sorted(path.name for path in (tmp_path / "cache" / "parquet").iterdir()) == before


def test_parquet_with_columns_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))
    content = picture(tmp_path / "a.png", 1).read_bytes()
    _parquet(tmp_path / "own.parquet", [(content, kind) for kind in "abcd"], image="photo", label="target")
    found = data.catalogue("parquet", path=str(tmp_path / "own.parquet"), image="photo", train=["d"])
    assert found.class_names == ("d",)
    with pytest.raises(UserError, match="unknown column of own.parquet: 'image'.*Known: photo, target"):
        data.catalogue("parquet", path=str(tmp_path / "own.parquet"))


@pytest.mark.parametrize(
    ("row", "words"), [((None, 1), "row 0: it holds no image"), ((b"x", None), "row 0: None is not a class")]
)
def test_parquet_rows_without_an_image_or_a_class_are_named(tmp_path, monkeypatch, row, words):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))
    _parquet(tmp_path / "own.parquet", [row])
    with pytest.raises(UserError, match=words):
        data.catalogue("parquet", path=str(tmp_path / "own.parquet"))
    assert not list((tmp_path / "cache" / "parquet").iterdir())


def test_what_is_no_parquet_is_said(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 but not really PAR1")
    with pytest.raises(UserError, match="not a Parquet file"):
        data.catalogue("parquet", path=str(tmp_path / "a.parquet"))
    with pytest.raises(UserError, match="there is no Parquet file"):
        data.catalogue("parquet", path=str(tmp_path / "elsewhere"))
