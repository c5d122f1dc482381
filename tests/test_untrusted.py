"""What comes from others: pictures, names, downloads, files of numbers and of weights, and folders of anything."""

import http.server
import io
import shutil
import tarfile
import threading
import zipfile

import numpy as np
import pytest
from data_fixture import class_folders, picture
from PIL import Image

from dmlplayground import cli, data
from dmlplayground.base import download, optional
from dmlplayground.base.errors import UserError, printable
from dmlplayground.parts.backbones.shared.weights import formats
from dmlplayground.parts.data.shared import archives, catalogue, decoding
from dmlplayground.parts.data.shared.preparing import verify
from dmlplayground.parts.transforms.shared.stored import Stored
from dmlplayground.serving import image_inputs
from dmlplayground.serving.fitting import look
from dmlplayground.trial.training import scoring

EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\n{} loop\n"


def test_no_picture_starts_ghostscript(tmp_path, monkeypatch):
    started = tmp_path / "started"
    (tmp_path / "bin").mkdir()
    gs = tmp_path / "bin" / "gs"
    gs.write_text(f"#!/bin/sh\ntouch {started}\nexit 1\n")
    gs.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setattr("PIL.EpsImagePlugin.gs_binary", None)  # it looks for the program once
    folder = class_folders(tmp_path / "own", ["a", "b"])
    (folder / "a" / "x.jpg").write_bytes(EPS)
    _, wrong = verify("folder", path=str(folder))
    assert [line for line in wrong if "a/x.jpg cannot be read: it is not an image in a known format" in line]
    assert not started.exists()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_the_formats_that_are_meant_are_read_whatever_the_file_is_called(tmp_path, kind):
    path = picture(tmp_path / "a.jpg", 1, format=kind)
    assert decoding.read(path, Stored("none")).shape == (38, 50, 3)
    assert decoding.size(path) == (38, 50)


@pytest.mark.parametrize("kind", ["PPM", "TGA", "PCX", "ICO", "PDF", "EPS"])
def test_others_are_not_tried(tmp_path, kind):
    path = picture(tmp_path / "a.jpg", 1, format=kind)
    for read in (lambda: decoding.read(path, Stored("none")), lambda: decoding.size(path)):
        with pytest.raises(decoding.Unreadable, match="known format"):
            read()


HOSTILE = "x\x1b[2J\x1b]0;PWN\x07\u202e\nerror: fake.jpg"


def test_hostile_names_are_written_out():
    assert printable(HOSTILE) == "x\\x1b[2J\\x1b]0;PWN\\x07\\u202e\\nerror: fake.jpg"
    assert printable("Schöne Grüße, 日本\u3000語 a\xa0b") == "Schöne Grüße, 日本\u3000語 a\xa0b"
    assert printable(b"\xff.jpg".decode(errors="surrogateescape")) == "\\udcff.jpg"
    assert str(UserError(f"one\ntwo {HOSTILE[:5]}")) == "one\ntwo x\\x1b[2J"


@pytest.fixture
def hostile(tmp_path):
    folder = class_folders(tmp_path / "own", [*"abcdef", HOSTILE[:-4]])
    shutil.copy(folder / "a" / "0.jpg", folder / "a" / HOSTILE)
    (folder / "b" / HOSTILE).write_bytes(b"none")
    (folder / "c" / HOSTILE.replace(".jpg", ".heic")).write_bytes(b"none")
    (folder / HOSTILE).write_bytes(b"loose")
    return folder


def test_hostile_names_do_nothing_to_a_terminal(hostile, trained, capsys):
    assert cli.main(["data", "verify", "folder", "--set", f"path={hostile}"]) == 1
    assert cli.main(["fit", str(hostile), "--dry-run"]) == 2
    assert cli.main(["embed", str(trained), str(hostile), "--out", str(hostile / "i.npy")]) == 0
    assert cli.main(["retrieve", str(trained), str(hostile / "d" / "0.jpg"), str(hostile / "a")]) == 0
    assert cli.main(["retrieve", str(trained), str(hostile / HOSTILE), str(hostile / "a")]) == 2
    out, err = capsys.readouterr()
    assert "\\x1b[2J" in out and "\\x1b[2J" in err
    assert not {"\x1b", "\x07", "\u202e"} & {*out, *err}
    assert not [line for line in f"{out}\n{err}".splitlines() if line.startswith("error: fake")]


class Liar(http.server.BaseHTTPRequestHandler):
    """Answers with the headers and the bytes that its server has; bytes without end where these are None."""

    def do_GET(self):
        self.wfile.write(b"HTTP/1.0 200 OK\r\n" + self.server.headers + b"\r\n")
        while self.server.content is None:
            self.wfile.write(bytes(1 << 16))
        self.wfile.write(self.server.content)

    def log_message(self, *_):
        pass


@pytest.fixture
def liar():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar) as running:
        running.handle_error = lambda *_: None  # we hang up on it
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        running.url = f"http://127.0.0.1:{running.server_port}/w.params"
        running.headers, running.content = b"", b"content"
        yield running
        running.shutdown()


@pytest.mark.parametrize("length", [b"abc", b"-5", b"9" * 5000])
def test_a_nonsensical_length_is_no_length(liar, tmp_path, length):
    liar.headers = b"Content-Length: " + length + b"\r\n"
    download.fetch(liar.url, tmp_path / "w.params")
    assert (tmp_path / "w.params").read_bytes() == b"content"


def test_no_download_is_endless(liar, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "MOST", 1 << 20)
    liar.content = None
    with pytest.raises(download.Failed, match="did not end after 1,048,576 bytes"):
        download.fetch(liar.url, tmp_path / "w.params")
    liar.headers = b"Content-Length: 9999999\r\n"
    with pytest.raises(download.Failed, match="claims to have 9,999,999 bytes"):
        download.fetch(liar.url, tmp_path / "w.params")
    assert not list(tmp_path.iterdir())


def zipped(content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("w.params", content)
    return stream.getvalue()


def damaged(kind: str) -> bytes:
    noise = np.random.default_rng(0).bytes(50_000)
    if kind == "lzma":
        packed = zipped(bytes(range(256)) * 50, zipfile.ZIP_LZMA)
        return packed[:60] + b"\xff" * 30 + packed[90:]
    if kind == "method":
        return zipped(noise).replace(b"\x14\x00\x00\x00\x08\x00", b"\x14\x00\x00\x00\x63\x00")
    if kind == "encrypted":
        return zipped(noise).replace(b"\x14\x00\x00\x00\x08\x00", b"\x14\x00\x01\x00\x08\x00")
    if kind == "deflate":
        packed = zipped(noise)
        return packed[:60] + b"\xff" * 30 + packed[90:]
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo("w.params")
        member.size = len(noise)
        archive.addfile(member, io.BytesIO(noise))
    return stream.getvalue()[:30_000]


@pytest.mark.parametrize("kind", ["lzma", "method", "encrypted", "deflate", "cut tar.gz"])
def test_a_damaged_archive_is_one_line_and_nothing_is_kept(tmp_path, kind):
    archive, target = tmp_path / "archive", tmp_path / "out" / "w.params"
    archive.write_bytes(damaged(kind))
    with pytest.raises(UserError, match="cannot unpack"):
        archives.unpack(archive, tmp_path / "unpacked")
    with pytest.raises(download.Failed, match="cannot be unpacked"):
        download.extract(archive, "w.params", target)
    assert not archive.exists() and not list(target.parent.iterdir())


def test_an_archive_does_not_fill_the_disk(tmp_path):
    archive, target = tmp_path / "archive", tmp_path / "out" / "w.params"
    archive.write_bytes(zipped(bytes(70 << 20)))
    with pytest.raises(download.Failed, match="far larger than the archive"):
        download.extract(archive, "w.params", target)
    assert not list(target.parent.iterdir())


def test_a_deep_header_of_weights(tmp_path):
    header = b'{"a":' * 100_000
    path = tmp_path / "deep.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(UserError, match=r"deep\.safetensors is not a \.safetensors file, or is damaged"):
        formats.read(path)


@pytest.mark.parametrize("kind", ["cut tar.gz", "deep", "bits", "list"])
def test_a_damaged_package_of_weights(tmp_path, kind):
    path, stream = tmp_path / "model.tgz", io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        content = {"deep": b"[" * 100_000, "list": b"[1]"}.get(kind, b"{}" + bytes(90_000))
        member = tarfile.TarInfo("package/model.json")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    packed = stream.getvalue()
    packed = packed[:40] + b"\xff" * 20 + packed[60:] if kind == "bits" else packed
    path.write_bytes(damaged(kind) if kind == "cut tar.gz" else packed)
    with pytest.raises(UserError, match=r"model\.tgz is not a package of TensorFlow\.js, or is damaged"):
        formats.read(path)


@pytest.mark.parametrize("shape", [(-5, 8), (10**12, 8), (10**30, 8)])
def test_a_lying_header_of_numbers(tmp_path, shape):
    from dmlplayground.parts.data import features
    from dmlplayground.serving import index_file

    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f4", "fortran_order": False, "shape": shape})
    (tmp_path / "a.npy").write_bytes(stream.getvalue() + bytes(160))
    (tmp_path / "a.json").write_text('{"files": ["a"]}')
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for name in ("features", "labels"):
            archive.write(tmp_path / "a.npy", f"{name}.npy")
    for read, name in ((scoring._array, "a.npy"), (index_file.read_npy, "a.npy"), (features.read, "a.npz")):
        with pytest.raises(UserError, match=name):
            read(tmp_path / name)


@pytest.mark.parametrize(
    "variable", ["DMLPLAYGROUND_CACHE", "XDG_CACHE_HOME", "DMLPLAYGROUND_DATA", "XDG_DATA_HOME", "MXNET_HOME"]
)
def test_the_home_of_nobody(monkeypatch, variable, capsys):
    for name in ("DMLPLAYGROUND_CACHE", "DMLPLAYGROUND_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "~nosuchuser/place")
    command = {"MXNET": ["weights", "homes", "resnet50_v2"]}.get(variable[:5], ["data", "prepare", "cub200"])
    command = ["clean"] if "CACHE" in variable else command
    if command[0] == "data":
        command += ["--from", "nothing"]
    assert cli.main(command) == 2
    assert "error: ~nosuchuser/place: there is no such user" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["folder", "list", "features", "parquet"])
def test_data_in_the_home_of_nobody(name):
    with pytest.raises(UserError, match="no such user"):
        data.load(name, path="~nosuchuser/own")


@pytest.mark.parametrize("part", ["-symbol.json", "-0000.params"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.95])
def test_an_export_that_was_cut(trained, tmp_path, part, share, capsys):
    assert cli.main(["export", str(trained), str(tmp_path / "net")]) == 0
    capsys.readouterr()
    path = tmp_path / f"net{part}"
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert (
        cli.main(["embed", str(tmp_path / "net.json"), str(tmp_path), "--out", str(tmp_path / "i.npy")]) == 2
    )
    (line,) = capsys.readouterr().err.splitlines()
    assert "are not an exported network, or are damaged: " in line and "Traceback" not in line


def test_a_folder_of_everything_is_no_data_set(tmp_path, monkeypatch):
    monkeypatch.setattr(catalogue.Walk, "LOOKED", 50)
    class_folders(tmp_path / "own", list("abcdef"))
    for number in range(200):
        (tmp_path / "own" / "b" / f"{number}.txt").touch()
    looked = []
    monkeypatch.setattr(
        catalogue, "is_image", lambda *given, real=catalogue.is_image: looked.append(1) or real(*given)
    )
    for refused in (
        lambda: look.look(tmp_path / "own"),
        lambda: data.catalogue("folder", path=str(tmp_path / "own")),
    ):
        with pytest.raises(
            UserError, match=r"is no data set: . of the first .. files in it are images\. Give"
        ):
            refused()
    assert len(looked) < 250  # it stopped early, both times
    assert len(image_inputs.images_in(tmp_path / "own")) == 18  # to be embedded, they may lie anywhere


def test_what_is_left_out_of_a_folder_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        catalogue, "SUFFIXES", tuple(end for end in catalogue.SUFFIXES if end not in catalogue.HEIC)
    )
    monkeypatch.setattr(catalogue.is_image, "__defaults__", (catalogue.SUFFIXES,))
    folder = class_folders(tmp_path / "own", list("abcd"))
    (folder / "a" / "phone.HEIC").touch()
    (folder / "empty").mkdir()
    (folder / ".git").mkdir()
    for number in range(5):
        picture(folder / f"loose{number}.jpg", number)
    assert len(data.catalogue("folder", "train", path=str(folder))) == 6
    told = sorted(capsys.readouterr().err.splitlines())
    assert told == [
        f"warning: left out of {folder}: a/phone.HEIC (in HEIC: pip install 'dmlplayground[heic]').",
        f"warning: left out of {folder}: empty (without images).",
        f"warning: left out of {folder}: loose0.jpg, loose1.jpg, loose2.jpg and 2 more (in no folder of a class).",
    ]


def test_pictures_of_phones_are_read_where_their_reader_is_installed(tmp_path):
    pytest.importorskip("pillow_heif", reason=optional.PACKAGES["pillow_heif"].install)
    pixels = np.zeros((24, 40, 3), np.uint8)
    pixels[:, 20:] = 200
    (tmp_path / "own" / "a").mkdir(parents=True)
    Image.fromarray(pixels).save(tmp_path / "own" / "a" / "1.HEIC", format="HEIF", quality=90)
    (path,) = image_inputs.images_in(tmp_path / "own")
    found = decoding.read(path, Stored("none"))
    assert decoding.size(path) == (24, 40)
    assert np.abs(found.astype(int) - pixels).mean() < 5
