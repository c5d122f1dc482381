"""Where published weights come from: a list of homes for each network, tried in order.

A home is a download with a checksum, or a package from the package index. Downloads are kept where MXNet keeps its own,
``$MXNET_HOME/models`` or ``~/.mxnet/models``, under their published names: what was fetched before, or put there by
hand, is found. Files are kept as they come; ``formats`` and ``parameter_names`` convert them when they are loaded.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import shutil
import tarfile
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ... import download, files
from ...errors import UserError

ZOO = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"


class Unavailable(Exception):
    """A home that does not have the file just now; the message is the reason."""


class Home(Protocol):
    """One place to have weights from."""

    @property
    def note(self) -> str:
        """How these weights differ from those of the first home, if they do."""

    def describe(self) -> str: ...

    def find(self) -> Path | None:
        """The file, if it is on this machine already; a UserError if it is damaged."""

    def fetch(self) -> Path:
        """The file, fetched now, or ``Unavailable``."""

    def by_hand(self) -> str:
        """What a user can do without us."""


class Homes:
    """All homes of a network's weights, the best one first."""

    def __init__(self, *homes: Home):
        self.homes = homes

    def describe(self) -> str:
        return self.homes[0].describe()

    def path(self, network: str) -> Path:
        """The file of weights: one that is here, or else from the first home that has it."""
        for home in self.homes:
            found = home.find()
            if found is not None:
                return self._chosen(home, found, network)
        reasons = []
        for home in self.homes:
            try:
                return self._chosen(home, home.fetch(), network)
            except Unavailable as reason:
                reasons.append(f"  {reason}")
        ways = dict.fromkeys(f"  {home.by_hand()}" for home in self.homes)
        raise UserError(
            "\n".join(
                [
                    f"the ImageNet weights of {network} could not be fetched:",
                    *reasons,
                    "Any of these helps:",
                    *ways,
                    "  give another file of weights with backbone.pretrained=FILE, or train from scratch with "
                    "backbone.pretrained=none",
                ]
            )
        )

    def _chosen(self, home: Home, path: Path, network: str) -> Path:
        if home.note:
            warnings.warn(f"the weights of {network} are from {path}: {home.note}", stacklevel=3)
        return path


def folder() -> Path:
    return Path(os.environ.get("MXNET_HOME") or "~/.mxnet").expanduser() / "models"


@dataclass(frozen=True)
class Download:
    """A file on the web, bare or in a ``.zip`` or ``.tar.gz``. ``name`` is the file's, in the archive and on this
    machine. ``digest`` is the checksum of what is downloaded, ``content`` that of the file itself (SHA-256, its first
    eight digits, or SHA-1, by their lengths)."""

    url: str
    name: str
    digest: str = ""
    content: str = ""
    note: str = ""

    @property
    def target(self) -> Path:
        return folder() / self.name

    def describe(self) -> str:
        return f"download ({self.url.split('/')[2]})"

    def by_hand(self) -> str:
        file = self.url.rpartition("/")[2]
        told = f" (it is in {file})" if file != self.name else ""
        return f"put {self.name}{told} into {self.target.parent}"

    def find(self) -> Path | None:
        if not self.target.exists():
            return None
        if self.content and not download.agrees(self.target, self.content):
            raise UserError(f"{self.target} is damaged (wrong checksum); delete it and it is fetched again.")
        return self.target

    def fetch(self) -> Path:
        with _locked(self.target):
            found = self.find()  # another process may have fetched it meanwhile
            if found is None:
                self._fetch()
        return self.target

    def _fetch(self) -> None:
        partial = self.target.with_name(self.target.name + ".part")
        try:
            download.fetch(self.url, partial, self.digest or self.content)
        except download.ERRORS as problem:
            raise Unavailable(f"{self.url}: {download.reason(problem)}") from None
        try:
            with files.replacing(self.target, "wb") as file, _opened(partial, self.name) as content:
                shutil.copyfileobj(content, file, download.CHUNK)
                file.flush()
                for path, expected in ((partial, self.digest), (Path(file.name), self.content)):
                    if expected and not download.agrees(path, expected):
                        raise Unavailable(
                            f"{self.url}: this is not what was published (wrong checksum); nothing was kept"
                        )
        except (KeyError, tarfile.TarError, zipfile.BadZipFile) as problem:
            raise Unavailable(f"{self.url}: it does not hold {self.name} ({problem})") from None
        finally:
            partial.unlink()


@dataclass(frozen=True)
class Zoo:
    """Weights of a network of ``gluon`` or ``gluoncv``; the checksums are in the library's own tables."""

    library: str
    network: str
    note: str = ""

    def describe(self) -> str:
        return f"download ({self.library})"

    def by_hand(self) -> str:
        return self._download().by_hand()

    def find(self) -> Path | None:
        return self._download().find()

    def fetch(self) -> Path:
        return self._download().fetch()

    def _download(self) -> Download:
        from ..gluon_zoos import checksums

        checksum = checksums(self.library).get(self.network)
        if checksum is None:
            raise UserError(
                f"the {self.library} zoo has no weights for {self.network}; give pretrained: FILE, or none."
            )
        archive = os.environ.get("MXNET_GLUON_REPO", ZOO).rstrip("/")
        name = f"{self.network}-{checksum[:8]}"
        return Download(f"{archive}/gluon/models/{name}.zip", f"{name}.params", content=checksum)


@dataclass(frozen=True)
class Package:
    """A file inside a package from the package index."""

    package: str
    file: str
    extra: str
    note: str = ""

    def describe(self) -> str:
        return f"pip install dmlplayground[{self.extra}]"

    def by_hand(self) -> str:
        return f"pip install 'dmlplayground[{self.extra}]' (or the package {self.package} alone)"

    def find(self) -> Path | None:
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            return None
        return Path(spec.submodule_search_locations[0]) / self.file

    def fetch(self) -> Path:
        raise Unavailable(f"the package {self.package} is not installed")


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
            f"cannot write to {target.parent} ({problem.strerror}); set MXNET_HOME to another folder."
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
