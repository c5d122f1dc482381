"""The published data sets: read as they are released, prepared from archives or folders, fetched,
verified."""

import hashlib
import http.server
import io
import shutil
import tarfile
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import data_fixture as fixture
import numpy as np
import pytest

from dmlplayground import cli, data
from dmlplayground.base.errors import UserError
from dmlplayground.parts.data.shared import archives, preparing, releases

PUBLISHED = {
    "cub200": {"train": (5864, 100), "test": (5924, 100)},
    "cars196": {"train": (8054, 98), "test": (8131, 98)},
    "sop": {"train": (59551, 11318), "test": (60502, 11316)},
    "inshop": {"train": (25882, 3997), "query": (14218, 3985), "gallery": (12612, 3985)},
    "grocery": {"train": (3051, 41), "query": (1061, 40), "gallery": (1309, 40)},
}
MINIATURES = {
    "cub200": fixture.cub,
    "cars196": fixture.cars,
    "sop": fixture.products,
    "inshop": fixture.clothes,
    "grocery": fixture.groceries,
}


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    monkeypatch.setenv("DMLPLAYGROUND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DMLPLAYGROUND_DATA", str(tmp_path / "data"))


@pytest.fixture(scope="module")
def miniatures(tmp_path_factory):
    made = {}
    for name, make in MINIATURES.items():
        folder = tmp_path_factory.mktemp(name)
        make(folder)
        made[name] = folder
    return made


def catalogues(name: str, folder: Path, **options) -> list:
    return [data.catalogue(name, split, root=str(folder), partial=True, **options) for split in data.SPLITS]


# Reading


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_counts(name):
    assert data.get(name).release.counts == PUBLISHED[name]


@pytest.mark.parametrize("name", PUBLISHED)
def test_splits_share_no_class_and_every_file_is_there(name, miniatures):
    train, test = catalogues(name, miniatures[name])
    assert not set(train.class_names) & set(test.class_names)
    for found in (train, test):
        assert all(found.path(row).is_file() for row in range(len(found)))
        assert len(set(found.files)) == len(found.files) == len(found.labels)
        assert found.labels.dtype == np.int32
        assert np.array_equal(np.unique(found.labels), np.arange(len(found.class_names)))
        assert (np.diff(found.labels) >= 0).all()


def test_cub200_joins_its_lists_by_number_and_halves_the_classes(miniatures):
    train, test = catalogues("cub200", miniatures["cub200"], boxes=True)
    assert train.class_names == ("001.Bird_1", "002.Bird_2", "003.Bird_3")
    assert test.class_names == ("004.Bird_4", "005.Bird_5", "006.Bird_6")
    for found in (train, test):
        for row, file in enumerate(found.files):
            assert file.split("/")[1] == found.class_names[found.labels[row]]
    assert train.boxes.tolist() == [[5.7, 4.2, 30.9, 20.5]] * 9


def test_cub200_does_not_depend_on_the_order_of_its_lines(tmp_path, miniatures):
    shutil.copytree(miniatures["cub200"], tmp_path / "other")
    path = tmp_path / "other" / "CUB_200_2011" / "image_class_labels.txt"
    path.write_text("\n".join(reversed(path.read_text().splitlines())))
    for one, other in zip(
        catalogues("cub200", miniatures["cub200"]), catalogues("cub200", tmp_path / "other")
    ):
        assert one.files == other.files and np.array_equal(one.labels, other.labels)


def test_boxes_cut_the_image(miniatures):
    options = {"root": str(miniatures["cub200"]), "partial": True, "cache": "none"}
    stored = data.Stored("none")
    whole, cut = (data.load("cub200", stored=stored, boxes=boxes, **options) for boxes in (False, True))
    assert np.array_equal(cut.images[4], whole.images[4][4:24, 5:35])


def test_cars196_from_annotations_and_from_folders(tmp_path, miniatures):
    annotated = catalogues("cars196", miniatures["cars196"], boxes=True)
    assert annotated[0].class_names == ("001.Maker Model 1", "002.Maker Model 2")
    assert annotated[1].class_names == ("003.Maker Model 3", "004.Maker Model 4")
    assert annotated[0].boxes[0].tolist() == [10, 5, 30, 20]  # from pixels counted from 1, the last included
    for found in annotated:
        for row in range(len(found)):
            number = int(Path(found.files[row]).stem) - 1
            assert found.class_names[found.labels[row]].startswith(f"{1 + number % 4:03d}.")
            target = tmp_path / "cars196" / str(1 + number % 4) / f"{number}.jpg"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(found.path(row), target)
    rearranged = catalogues("cars196", tmp_path)
    for one, other in zip(annotated, rearranged):
        assert [one.path(row).read_bytes() for row in range(6)] == [
            other.path(row).read_bytes() for row in range(6)
        ]
        assert np.array_equal(one.labels, other.labels)
    with pytest.raises(UserError, match="no boxes"):
        catalogues("cars196", tmp_path, boxes=True)


def test_sop_officially_in_halves_and_by_directory(miniatures):
    train, test = catalogues("sop", miniatures["sop"])
    assert train.class_names == ("1", "2", "3", "4", "5") and test.class_names == ("6", "7", "8")
    for found in (train, test):
        for row, file in enumerate(found.files):
            assert Path(file).name.startswith(f"700{found.class_names[found.labels[row]]}_")
    train, test = catalogues("sop", miniatures["sop"], division="halves")
    assert train.class_names == ("1", "2", "3", "4") and test.class_names == ("5", "6", "7", "8")
    for found in (train, test):
        for row, file in enumerate(found.files):
            assert Path(file).name.startswith(f"700{found.class_names[found.labels[row]]}_")
    train, test = catalogues("sop", miniatures["sop"], division="directory")
    assert train.class_names == ("7002", "7004", "7006", "7008") and {
        f.split("/")[0] for f in train.files
    } == {"bicycle_final"}
    assert test.class_names == ("7001", "7003", "7005", "7007")


@pytest.mark.parametrize("division", ["official", "halves", "directory"])
def test_an_incomplete_sop_is_refused_however_it_is_divided(miniatures, division):
    with pytest.raises(
        UserError, match="not a complete sop .*the release has 59,551 images of 11,318 classes"
    ):
        data.load("sop", "train", root=str(miniatures["sop"]), division=division)


def test_inshop_has_queries_and_a_gallery(miniatures):
    train, test = catalogues("inshop", miniatures["inshop"])
    assert train.queries is None and len(train) == 8
    assert len(test) == 12 and test.queries.sum() == 6
    for row, file in enumerate(test.files):
        assert test.queries[row] == (Path(file).name[:2] in ("00", "01"))
    loaded = data.load("inshop", "test", root=str(miniatures["inshop"]), partial=True)
    assert np.array_equal(loaded.queries, test.queries) and "6 of them queries" in loaded.describe()
    part = loaded.subset([2])
    assert part.queries.tolist() == test.queries[test.labels == 2].tolist()


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_part_of_a_release_is_used_only_when_asked_for(name, miniatures):
    for split in data.SPLITS:
        with pytest.raises(UserError, match="not a complete .*partial: true"):
            data.load(name, split, root=str(miniatures[name]))


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_missing_data_set_says_how_to_prepare_it(name, tmp_path):
    with pytest.raises(UserError) as caught:
        data.load(name)
    message = str(caught.value)
    assert f"data prepare {name} --from {data.get(name).release.archives[0].name}" in message
    assert str(tmp_path / "data" / name) in message and "\n" not in message
    assert ("data fetch" in message) == (name in ("cub200", "sop", "grocery"))


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("cub200", "CUB_200_2011/images.txt", "1 a.jpg\n2\n"),
        ("cub200", "CUB_200_2011/image_class_labels.txt", "1 one\n"),
        ("sop", "Stanford_Online_Products/Ebay_test.txt", "image_id class_id super_class_id path\n1 2\n"),
        ("cars196", "cars_annos.mat", "no matrices"),
    ],
)
def test_a_garbled_list_is_one_sentence(name, file, content, tmp_path, miniatures):
    shutil.copytree(miniatures[name], tmp_path / "other")
    (tmp_path / "other" / file).write_text(content)
    with pytest.raises(UserError, match=rf"looks like {name} \(.*\), but cannot be read: "):
        catalogues(name, tmp_path / "other")


# Preparing


def tarred(folder: Path, path: Path) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for file in sorted(folder.iterdir()):
            archive.add(file, file.name)
    return path


def zipped(folder: Path, path: Path) -> Path:
    return Path(shutil.make_archive(str(path.with_suffix("")), "zip", folder))


@pytest.mark.parametrize("pack", [tarred, zipped])
@pytest.mark.parametrize("name", PUBLISHED)
def test_prepared_from_an_archive_or_a_folder_it_is_the_same(name, pack, tmp_path, miniatures, capsys):
    archive = pack(miniatures[name], tmp_path / "release.zip")
    command = ["data", "prepare", name, "--allow-partial", "--from"]
    assert cli.main([*command, str(archive)]) == 0
    first = capsys.readouterr().out
    assert (
        f"{name} is prepared: " in first
        and "images: train" in first
        and str(tmp_path / "data" / name) in first
    )
    assert cli.main([*command, str(archive)]) == 0
    assert "already prepared" in capsys.readouterr().out
    assert cli.main([*command, str(miniatures[name]), "--root", str(tmp_path / "elsewhere")]) == 0
    for one, other in zip(catalogues(name, tmp_path / "data"), catalogues(name, tmp_path / "elsewhere")):
        assert one.files == other.files and np.array_equal(one.labels, other.labels)
    assert (tmp_path / "elsewhere" / name).is_symlink()
    assert not [path for path in (tmp_path / "data").iterdir() if path.name != name]


def test_prepared_from_several_files_or_the_folder_they_were_downloaded_to(tmp_path, miniatures, monkeypatch):
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    shutil.copy(miniatures["cars196"] / "cars_annos.mat", downloads)
    with tarfile.open(downloads / "car_ims.tgz", "w:gz") as archive:
        archive.add(miniatures["cars196"] / "car_ims", "car_ims")
    release = data.get("cars196").release
    preparing.prepare(release, sorted(downloads.iterdir()), str(tmp_path / "a"), allow_partial=True)
    preparing.prepare(release, [downloads], str(tmp_path / "b"), allow_partial=True)
    for one, other in zip(catalogues("cars196", tmp_path / "a"), catalogues("cars196", tmp_path / "b")):
        assert len(one) == 6 and one.files == other.files


def test_what_is_missing_or_unreadable_is_reported_and_nothing_is_left(tmp_path, miniatures, capsys):
    broken = tmp_path / "broken"
    shutil.copytree(miniatures["cub200"], broken)
    images = sorted((broken / "CUB_200_2011" / "images").rglob("*.jpg"))
    images[0].unlink()
    images[1].write_bytes(images[1].read_bytes()[:300])
    assert cli.main(["data", "prepare", "cub200", "--from", str(broken)]) == 2
    message = capsys.readouterr().err
    assert f"{images[0].name} is missing" in message and images[1].name in message
    assert "test: 9 images of 3 classes, and the release has 5,924 images of 100 classes" in message
    assert cli.main(["data", "prepare", "cub200", "--allow-partial", "--from", str(broken)]) == 2
    assert images[1].name in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_of_a_part_only_what_is_there_counts(tmp_path, miniatures, capsys):
    part = tmp_path / "part"
    shutil.copytree(miniatures["cub200"], part)
    shutil.rmtree(part / "CUB_200_2011" / "images" / "002.Bird_2")
    next((part / "CUB_200_2011" / "images" / "006.Bird_6").iterdir()).unlink()
    assert cli.main(["data", "prepare", "cub200", "--from", str(part)]) == 2
    assert cli.main(["data", "prepare", "cub200", "--allow-partial", "--from", str(part)]) == 0
    assert "train 6 images of 2 classes, test 8 images of 3 classes" in capsys.readouterr().out
    train, test = (data.load("cub200", split, partial=True) for split in data.SPLITS)
    assert train.class_names == ("001.Bird_1", "003.Bird_3") and len(train) == 6 and len(test) == 8


def test_what_is_there_is_never_deleted_but_a_link_is_replaced(tmp_path, miniatures):
    archive = tarred(miniatures["cub200"], tmp_path / "birds.tgz")
    release = data.get("cub200").release
    home, elsewhere = tmp_path / "data" / "cub200", tmp_path / "elsewhere"
    preparing.prepare(release, [archive], allow_partial=True)
    next(home.rglob("*.jpg")).unlink()
    for sources in ([archive], [home], [home / "CUB_200_2011"]):
        with pytest.raises(UserError, match="rename or delete it first"):
            preparing.prepare(release, sources)
        assert "; 1 images that it lists are not" in preparing.prepare(release, sources, allow_partial=True)
    assert len(list(home.rglob("*.jpg"))) == 17
    home.rename(elsewhere)
    preparing.prepare(release, [elsewhere], allow_partial=True)
    assert home.is_symlink()
    preparing.prepare(release, [archive], allow_partial=True)
    assert not home.is_symlink() and len(list(home.rglob("*.jpg"))) == 18
    assert len(list(elsewhere.rglob("*.jpg"))) == 17


def test_a_file_with_the_name_but_not_the_checksum_of_the_published_one_is_refused(tmp_path, miniatures):
    archive = tarred(miniatures["cub200"], tmp_path / "CUB_200_2011.tgz")
    with pytest.raises(UserError, match="checksum"):
        preparing.prepare(data.get("cub200").release, [archive], allow_partial=True)


def test_another_archive_is_not_taken_for_the_release(tmp_path, miniatures):
    archive = tarred(miniatures["sop"], tmp_path / "products.tgz")
    with pytest.raises(UserError, match=r"has image_class_labels\.txt"):
        preparing.prepare(data.get("cub200").release, [archive])
    assert not list((tmp_path / "data").iterdir())


# Archives of others


def tar_with(*members: tarfile.TarInfo) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for member in members:
            content = b"content" if member.isreg() else b""
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def tar_member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return tar_with(member)


def zip_member(name: str, mode: int = 0o100644) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        info = zipfile.ZipInfo("x")
        info.filename, info.external_attr = name, mode << 16
        archive.writestr(info, b"content")
    return stream.getvalue()


ESCAPES = {
    "up, tar": (tar_member("../outside.txt"), "leads out"),
    "up and down, tar": (tar_member("images/../../outside.txt"), "leads out"),
    "absolute, tar": (tar_member("/tmp/outside.txt"), "leads out"),
    "drive, tar": (tar_member("C:outside.txt"), "leads out"),
    "link, tar": (tar_member("images", tarfile.SYMTYPE, "/etc"), "a link"),
    "hard link, tar": (tar_member("a.jpg", tarfile.LNKTYPE, "/etc/passwd"), "a link"),
    "device, tar": (tar_member("null", tarfile.CHRTYPE), "a device"),
    "pipe, tar": (tar_member("pipe", tarfile.FIFOTYPE), "a device or pipe"),
    "up, zip": (zip_member("../outside.txt"), "leads out"),
    "absolute, zip": (zip_member("/tmp/outside.txt"), "leads out"),
    "backslash, zip": (zip_member("..\\outside.txt"), "leads out"),
    "link, zip": (zip_member("images", 0o120777), "a link"),
    "pipe, zip": (zip_member("pipe", 0o010644), "a device or pipe"),
}


@pytest.mark.parametrize("case", ESCAPES)
def test_no_archive_reaches_beyond_its_folder(case, tmp_path):
    content, words = ESCAPES[case]
    archive = tmp_path / "archive"
    archive.write_bytes(content)
    before = set(tmp_path.rglob("*"))
    with pytest.raises(UserError, match=words):
        preparing.prepare(data.get("cub200").release, [archive], allow_partial=True)
    assert set(tmp_path.rglob("*")) - before <= {tmp_path / "data"}
    assert not Path("/tmp/outside.txt").exists()


@pytest.mark.parametrize("pack", [tarred, zipped])
def test_a_damaged_archive_is_an_error(pack, tmp_path, miniatures):
    archive = pack(miniatures["cub200"], tmp_path / "archive.zip")
    content = bytearray(archive.read_bytes())
    for start in range(1000, len(content) - 1000, 500):
        content[start : start + 40] = b"\xa5" * 40
    archive.write_bytes(bytes(content))
    with pytest.raises(UserError, match="cannot unpack"):
        archives.unpack(archive, tmp_path / "folder")


# Fetching, from a server on this machine


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        start = int((self.headers.get("Range") or "bytes=0-")[len("bytes=") : -1])
        self.server.starts.append(start)
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(self.server.content) - start))
        self.end_headers()
        self.wfile.write(self.server.content[start : start + self.server.most])

    def log_message(self, *_):
        pass


@pytest.fixture
def served(miniatures, tmp_path):
    """A release like CUB's, whole as it is, at an address of this machine."""
    content = tarred(miniatures["cub200"], tmp_path / "birds.tgz").read_bytes()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.content, server.most, server.starts = content, len(content), []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/birds.tgz"
        server.release = replace(
            data.get("cub200").release,
            counts={"train": releases.Count(9, 3), "test": releases.Count(9, 3)},
            archives=(releases.Archive("birds.tgz", url, hashlib.md5(content).hexdigest()),),
        )
        yield server
        server.shutdown()


def test_fetched_once_and_prepared(served):
    assert "18 images: train 9 images of 3 classes, test 9" in preparing.fetch(served.release)
    assert "already prepared" in preparing.fetch(served.release)
    assert served.starts == [0]


def test_an_interrupted_download_goes_on_where_it_ended(served, tmp_path):
    served.most = 5000
    with pytest.raises(UserError, match="what has arrived is kept") as caught:
        preparing.fetch(served.release)
    assert "data prepare cub200 --from birds.tgz" in str(caught.value)
    served.most = len(served.content)
    preparing.fetch(served.release)
    assert served.starts == [0, 5000]


def test_a_download_with_the_wrong_checksum_is_not_kept(served, tmp_path):
    served.content = served.content[:-1] + b"x"
    with pytest.raises(UserError, match="checksum"):
        preparing.fetch(served.release)
    assert not list((tmp_path / "data" / "downloads").iterdir())


@pytest.mark.parametrize("name", ["cars196", "inshop"])
def test_without_an_address_fetch_says_what_to_do(name, capsys):
    assert cli.main(["data", "fetch", name]) == 2
    message = capsys.readouterr().err
    assert "no public address" in message and f"data prepare {name} --from" in message


# Verifying and showing


def test_verify_finds_broken_images_and_a_damaged_cache(tmp_path, miniatures, capsys):
    folder = tmp_path / "birds"
    shutil.copytree(miniatures["cub200"], folder)
    options = [f"--set={key}" for key in (f"root={folder}", "partial=true")]
    dataset = data.load("cub200", root=str(folder), partial=True)
    assert cli.main(["data", "verify", "cub200", *options]) == 0
    assert "whole" in capsys.readouterr().out

    (pixels,) = (tmp_path / "cache" / "images").glob("cub200-train-*/pixels.npy")
    content = bytearray(pixels.read_bytes())
    content[-1] ^= 1
    pixels.write_bytes(bytes(content))
    assert cli.main(["data", "verify", "cub200", *options]) == 1
    assert "was damaged" in capsys.readouterr().out and not pixels.exists()
    assert np.array_equal(data.load("cub200", root=str(folder), partial=True).images[0], dataset.images[0])

    broken = next(folder.rglob("*.jpg"))
    content = broken.read_bytes()
    broken.write_bytes(content[: len(content) * 3 // 4] + b"\xff\xd9")  # cut, and closed as if it were whole
    assert cli.main(["data", "verify", "cub200", *options]) == 1
    assert f"{broken.name} cannot be read" in capsys.readouterr().out
    broken.write_bytes(content[:200])
    assert cli.main(["data", "verify", "cub200", *options]) == 1
    assert broken.name in capsys.readouterr().out


def test_show_draws_a_contact_sheet_without_making_a_cache(tmp_path, miniatures):
    command = ["data", "show", "cub200", "--set", f"root={miniatures['cub200']}", "--set", "partial=true"]
    assert cli.main([*command, "--out", str(tmp_path / "sheet.png"), "--classes", "2"]) == 0
    from PIL import Image

    assert Image.open(tmp_path / "sheet.png").size == (3 * 130 + 2, 2 * 130 + 2)  # three images a class
    assert not (tmp_path / "cache").exists()


def test_data_sets_samplers_and_transforms_are_listed(capsys):
    for command, words in {
        "data": ["cub200", "cars196", "sop", "inshop", "folder", "list", "parquet", "5,864", "division"],
        "samplers": ["near_proxies", "per_class=5", "same_image", "supports"],
        "transforms": ["reality_check", "crop=0.875", "squash=256"],
    }.items():
        assert cli.main([command]) == 0
        listed = capsys.readouterr().out
        for word in words:
            assert word in listed


# Layouts in which Cars196 circulates


def _pictures(found) -> list[list[bytes]]:
    """The bytes of each class's images, in no particular order."""
    return [
        sorted(found.path(row).read_bytes() for row in np.flatnonzero(found.labels == label))
        for label in range(len(found.class_names))
    ]


@pytest.mark.parametrize("doubled", [True, False])
@pytest.mark.parametrize("labels_in_devkit", [True, False])
def test_cars196_as_kaggle_and_torchvision_have_it(tmp_path, miniatures, doubled, labels_in_devkit):
    """The same classes, splits, images and boxes as the original layout, which they are another arrangement of."""
    fixture.cars_of_kaggle(tmp_path / "cars", doubled, labels_in_devkit)
    original = catalogues("cars196", miniatures["cars196"], boxes=True)
    found = catalogues("cars196", tmp_path / "cars", boxes=True)
    for one, other in zip(original, found):
        assert one.class_names == other.class_names
        assert _pictures(one) == _pictures(other)
        assert np.array_equal(one.boxes, other.boxes)


@pytest.mark.parametrize("divided", [True, False])
def test_cars196_by_the_names_of_classes(tmp_path, divided):
    train, test = catalogues("cars196", fixture.cars_by_name(tmp_path / "cars", divided))
    assert train.class_names == ("Acura TL Sedan 2012", "Eagle Talon Hatchback 1998")
    assert test.class_names == ("FIAT 500 Abarth 2012", "smart fortwo Convertible 2012")
    assert len(train) == len(test) == 6
    assert all(found.path(row).is_file() for found in (train, test) for row in range(len(found)))


def test_prepare_names_the_layout_it_found(tmp_path, capsys):
    for name, make in {
        "Kaggle's and torchvision's layout, 12 images": fixture.cars_of_kaggle,
        "the original layout, 12 images": fixture.cars,
        "folders called by class names, 12 images": fixture.cars_by_name,
    }.items():
        (tmp_path / name).mkdir()
        make(tmp_path / name)
        command = ["data", "prepare", "cars196", "--allow-partial", "--root", str(tmp_path / name / "root")]
        assert cli.main([*command, "--from", str(tmp_path / name)]) == 0
        assert name in capsys.readouterr().out


@pytest.mark.parametrize(
    "missing", ["devkit/cars_meta.mat", "devkit/cars_train_annos.mat", "cars_test_annos_withlabels.mat"]
)
def test_prepare_names_what_is_missing(tmp_path, capsys, missing):
    folder = fixture.cars_of_kaggle(tmp_path / "cars")
    (folder / missing).unlink()
    assert cli.main(["data", "prepare", "cars196", "--allow-partial", "--from", str(folder)]) == 2
    said = capsys.readouterr().err
    assert "looks like cars196 (Kaggle's and torchvision's layout), but cannot be read" in said
    assert f"{missing.rpartition('/')[2]} is missing" in said
    assert (
        cli.main(["data", "prepare", "cars196", "--from", str(tmp_path)]) == 2
    )  # an image is missing, by name
    capsys.readouterr()


def test_an_archive_that_unpacks_to_far_more_than_itself_is_stopped(tmp_path):
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.txt", b"0" * (50 << 20))
    with pytest.raises(UserError, match="would unpack to far more"):
        archives.unpack(bomb, tmp_path / "folder")
    assert sum(path.stat().st_size for path in (tmp_path / "folder").iterdir()) < 80 << 20


def test_over_ftp_a_data_set_has_a_sha256():
    for name in PUBLISHED:
        for archive in data.get(name).release.archives:
            assert not archive.url or archive.url.startswith("https:") or len(archive.digest) == 64
