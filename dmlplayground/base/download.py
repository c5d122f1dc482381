"""Checked downloads: an interrupted one is continued, and only the published file reaches its place."""

import contextlib
import http.client
import lzma
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from . import files

TIMEOUT = 30  # seconds without a byte
MOST = 16 << 30  # bytes of a download: three times the largest data set that is known here
#: What damaged archives, and those packed in ways that Python does not know, raise when they are read.
BROKEN = (
    OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile, RuntimeError, ValueError
)  # fmt: skip
UNSAFE = "is not encrypted, and no SHA-256 is known to check the file by"
OTHER = "this is not what was published (wrong checksum); nothing was kept"


class Failed(Exception):
    """A download failed, or brought something else. The message is the reason."""


def fetch(url: str, target: Path, checksum: str = "") -> None:
    """Download ``url`` to ``target``; raises ``Failed``. An interrupted download is continued. Without a ``checksum`` any
    content is accepted, but not over plain http and ftp, where it can be replaced on its way: they need a full SHA-256,
    also if another address sends us on to one of these. A package of npm is fetched by npm."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if url.startswith("npm:"):
        _pack(url.partition(":")[2], target, checksum)
        return
    if not _safe(url, checksum):
        raise Failed(f"its address {UNSAFE}")
    partial = target.with_name(f"{target.name}{files.PART}")
    continued = partial.exists()
    try:
        _receive(url, partial, checksum)
    except (OSError, ValueError, http.client.HTTPException) as problem:
        raise Failed(str(getattr(problem, "reason", None) or problem)) from None
    if checksum and not files.agrees(partial, checksum):
        partial.unlink()
        if continued:  # what was there already may be of another address, or damaged
            fetch(url, target, checksum)
            return
        raise Failed(OTHER)
    partial.replace(target)


def _pack(package: str, target: Path, checksum: str) -> None:
    """The archive of a package, from the registry that npm is set up for."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".npm-") as folder:
        command = ["npm", "pack", package, "--pack-destination", folder, "--silent"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
            (packed,) = Path(folder).glob("*.tgz")
        except FileNotFoundError:
            raise Failed("npm, which would fetch it, is not installed") from None
        except (subprocess.CalledProcessError, ValueError) as problem:
            lines = (getattr(problem, "stderr", "") or str(problem)).strip().splitlines()
            raise Failed(f"npm pack {package} failed: {lines[0] if lines else problem}") from None
        if checksum and not files.agrees(packed, checksum):
            raise Failed(OTHER)
        packed.replace(target)


def _receive(url: str, partial: Path, checksum: str) -> None:
    from tqdm import tqdm
    from tqdm.utils import CallbackIOWrapper

    done = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as problem:
        if problem.code != 416:
            raise
        partial.unlink()  # there is nothing more to fetch: the file is complete, or another one, so start over
        _receive(url, partial, checksum)
        return
    with response:
        if not _safe(response.url, checksum):
            raise OSError(f"it sends us on to {response.url}, which {UNSAFE}")
        resumed = response.status == 206
        stated = response.headers.get("Content-Length") or ""  # a server may state none, or nonsense
        length = int(stated) if stated.isdecimal() and len(stated) < 20 else 0
        done = done if resumed else 0
        if done + length > MOST:
            raise OSError(f"it claims to have {length:,} bytes, more than anything that is published")
        bar = tqdm(total=done + length or None, initial=done, unit="B", unit_scale=True, disable=None)
        bar.set_description(url.rsplit("/", 1)[1])
        with bar, partial.open("ab" if resumed else "wb") as file:
            counted = CallbackIOWrapper(bar.update, file, "write")
            received = files.copy(response, counted, MOST - done)
    if done + received > MOST:
        partial.unlink()
        raise OSError(f"it did not end after {MOST:,} bytes; nothing was kept")
    if length and received < length:
        raise OSError(
            f"the connection ended after {received} of {length} bytes; the next attempt continues from there"
        )


def _safe(url: str, checksum: str) -> bool:
    """Whether nobody between the server and us can change the content unseen; files on this machine count as safe."""
    address = urllib.parse.urlsplit(url)
    encrypted = address.scheme == "https" or address.hostname in ("127.0.0.1", "::1", "localhost")
    return encrypted or len(checksum) >= 64


def extract(archive: Path, name: str, target: Path, checksum: str = "") -> None:
    """Put the file ``name`` of an archive, or the file itself where it is none, to ``target``; the archive is removed.
    Raises ``Failed`` where there is no such file, or one with another ``checksum``; then nothing is kept."""
    try:
        most = room(archive)
        with files.replacing(target, "wb") as file, _opened(archive, name) as content:
            if files.copy(content, file, most) > most:
                raise Failed(f"{name} in it is far larger than the archive; nothing was kept")
            file.flush()
            if checksum and not files.agrees(Path(file.name), checksum):
                raise Failed(OTHER)
    except KeyError as problem:
        raise Failed(f"it does not hold {name} ({problem})") from None
    except BROKEN as problem:
        raise Failed(f"{name} cannot be unpacked from it ({problem})") from None
    finally:
        archive.unlink()


def room(archive: Path) -> int:
    """The most bytes that may come out of an archive. Images and weights hardly shrink in one, and lists shrink about tenfold:
    what grows by more was made to fill disks."""
    return 20 * archive.stat().st_size + (64 << 20)


@contextlib.contextmanager
def _opened(path: Path, name: str) -> Iterator:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as zipped, zipped.open(name) as content:
            yield content
    elif tarfile.is_tarfile(path):
        with tarfile.open(path) as tarred:
            members = {Path(member.name).name: member for member in tarred if member.isfile()}
            yield tarred.extractfile(members[name])
    else:
        with path.open("rb") as bare:
            yield bare
