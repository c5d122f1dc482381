"""An index: embedded images to search in. The search is exact; it is a product of matrices, done in blocks."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from ..base import array_files, files, optional
from ..base.errors import UserError
from . import image_inputs
from .distances import distances

if TYPE_CHECKING:
    from .model import Model

ENDINGS = (".npy", ".parquet")  # of the files that an index is kept in
BLOCK = 4096  # rows of the gallery that are compared at once
WEIGHTS = b"dmlplayground weights"  # the key of a .parquet that tells which model made it


class Found(NamedTuple):
    """One image of the gallery that a search has found."""

    name: str
    distance: float
    label: str  # its class; '' if unknown


@dataclass(frozen=True)
class Rows:
    """What an index knows of each image."""

    embeddings: np.ndarray  # (N, E) float32
    names: tuple[str, ...]
    classes: tuple[str, ...]
    digests: tuple[str, ...]

    def __add__(self, other: Rows) -> Rows:
        return Rows(
            np.concatenate([self.embeddings, other.embeddings]),
            self.names + other.names,
            self.classes + other.classes,
            self.digests + other.digests,
        )


class Index:
    """Embedded images of one model. It can be searched, grown, saved and loaded again."""

    def __init__(self, model: Model, rows: Optional[Rows] = None):
        self.model = model
        self.rows = rows or Rows(np.zeros((0, model.width), np.float32), (), (), ())

    def __len__(self) -> int:
        return len(self.rows.names)

    def __repr__(self) -> str:
        return f"Index({len(self)} images, {self.memory / 1e6:.1f} MB, of {self.model})"

    @property
    def memory(self) -> int:
        """Bytes that the embeddings take."""
        return self.rows.embeddings.nbytes

    def add(self, gallery: image_inputs.Given) -> None:
        """Add images: files, a folder, arrays or a data set. Files that are already in it are skipped."""
        new = self._embedded(gallery)
        known = set(zip(self.rows.names, self.rows.digests))
        fresh = [row for row, key in enumerate(zip(new.names, new.digests)) if key not in known]
        self.rows = self.rows + Rows(
            new.embeddings[fresh],
            *(tuple(each[row] for row in fresh) for each in (new.names, new.classes, new.digests)),
        )

    def find(self, queries: image_inputs.Given, count: int = 10, copies: bool = False) -> list[list[Found]]:
        """For every query the ``count`` nearest images, nearest first; equally near ones in the gallery's order.

        The query's own file and its copies are left out, and only the first of several copies of an image is shown;
        with ``copies`` all of them are.
        """
        asked = self._embedded(queries)
        return [
            self._nearest(embedding, digest, count, copies)
            for embedding, digest in zip(asked.embeddings, asked.digests)
        ]

    def copies(self) -> list[list[str]]:
        """The names of images that are the same to the byte, group by group."""
        groups = defaultdict(list)
        for name, digest in zip(self.rows.names, self.rows.digests):
            groups[digest].append(name)
        return [names for names in groups.values() if len(names) > 1]

    def save(self, path: str | Path) -> list[Path]:
        """Write the index as ``.npy`` with a ``.json`` that says which row is which file, or as ``.parquet``."""
        path = Path(path)
        check_ending(path)
        if path.suffix == ".parquet":
            return [self._save_parquet(path)]
        manifest = path.with_suffix(".json")
        described = {
            "model": str(self.model.source),
            "weights": self.model.digest,
            "distance": self.model.distance,
            "files": list(self.rows.names),
            "classes": list(self.rows.classes),
            "digests": list(self.rows.digests),
        }
        with files.replacing_all() as begin:
            np.save(begin(path, "wb"), self.rows.embeddings, allow_pickle=False)
            files.dump_json(described, begin(manifest))
        return [path, manifest]

    @classmethod
    def load(cls, path: str | Path, model: Model) -> Index:
        """A saved index, to be searched with the model that made it; another one is refused."""
        path = Path(path)
        rows, weights = _read_parquet(path) if path.suffix == ".parquet" else _read_npy(path)
        if rows.embeddings.shape[1:] != (model.width,):
            raise UserError(
                f"{path} has {rows.embeddings.shape[1]} numbers an image and the model gives {model.width}: "
                "the index was made by another model."
            )
        if weights not in ("", model.digest):  # none in files of earlier versions
            raise UserError(
                f"{path} was made by a network with other weights than {model.source}: embed the images with this one."
            )
        return cls(model, rows)

    def _embedded(self, given: image_inputs.Given) -> Rows:
        pictures = image_inputs.read(given, self.model.stored)
        embeddings = self.model.embed_dataset(pictures.dataset)
        return Rows(embeddings, pictures.names, pictures.classes, pictures.digests())

    def _nearest(self, query: np.ndarray, digest: str, count: int, copies: bool) -> list[Found]:
        points, kind = self.rows.embeddings, self.model.distance
        measured = [
            distances(query, points[start : start + BLOCK], kind) for start in range(0, len(self), BLOCK)
        ]
        away = np.concatenate(measured) if measured else np.zeros(0)
        found: list[Found] = []
        shown = set() if copies else {digest}
        for row in _in_order(away):
            if len(found) == count:
                break
            if not copies and self.rows.digests[row] in shown:
                continue
            shown.add(self.rows.digests[row])
            found.append(Found(self.rows.names[row], float(away[row]), self.rows.classes[row]))
        return found

    def _save_parquet(self, path: Path) -> Path:
        pyarrow, parquet = optional.load("pyarrow"), optional.load("pyarrow.parquet")
        width = self.rows.embeddings.shape[1]
        flat = pyarrow.array(np.asarray(self.rows.embeddings, np.float32).ravel())
        columns = {
            "file": list(self.rows.names),
            "class": list(self.rows.classes),
            "digest": list(self.rows.digests),
            "embedding": pyarrow.FixedSizeListArray.from_arrays(flat, width),
        }
        table = pyarrow.table(columns).replace_schema_metadata({WEIGHTS: self.model.digest})
        with files.replacing(path, "wb") as file:
            parquet.write_table(table, file)
        return path


def check_ending(path: Path) -> None:
    """Refuse a file that no index can be written to."""
    if path.suffix not in ENDINGS:
        raise UserError(f"embeddings are written to a {' or a '.join(ENDINGS)}, not to {path}.")


def _in_order(away: np.ndarray) -> Any:
    """Rows from near to far: the first thousand at once, the rest only if they are needed."""
    some = min(1000, len(away))
    if some < len(away):
        edge = np.partition(away, some - 1)[some - 1]
        near = np.flatnonzero(away <= edge)
        yield from near[np.argsort(away[near], kind="stable")]
        rest = np.flatnonzero(away > edge)
        yield from rest[np.argsort(away[rest], kind="stable")]
    else:
        yield from np.argsort(away, kind="stable")


def _read_npy(path: Path) -> tuple[Rows, str]:
    manifest = files.read_json(path.with_suffix(".json"))
    try:
        embeddings = np.load(path, allow_pickle=False)
        names = tuple(map(str, manifest["files"]))
        blank = [""] * len(names)
        rows = Rows(
            np.asarray(embeddings, np.float32),
            names,
            tuple(manifest.get("classes", blank)),
            tuple(manifest.get("digests", names)),
        )
    except array_files.DAMAGE as problem:
        raise UserError(f"{path} and its .json are not an index written by 'embed': {problem}.") from None
    return _checked(rows, path), str(manifest.get("weights", ""))


def _read_parquet(path: Path) -> tuple[Rows, str]:
    pyarrow, parquet = optional.load("pyarrow"), optional.load("pyarrow.parquet")
    try:
        table = parquet.read_table(path)
        columns = [tuple(table.column(name).to_pylist()) for name in ("file", "class", "digest")]
        embeddings = np.array(table.column("embedding").to_pylist(), np.float32)
    except (OSError, KeyError, ValueError, pyarrow.ArrowException) as problem:
        raise UserError(f"{path} is not an index written by 'embed': {problem}.") from None
    weights = (table.schema.metadata or {}).get(WEIGHTS, b"")
    return _checked(Rows(embeddings, *columns), path), weights.decode()


def _checked(rows: Rows, path: Path) -> Rows:
    lengths = {len(rows.names), len(rows.classes), len(rows.digests), len(rows.embeddings)}
    if len(lengths) > 1 or rows.embeddings.ndim != 2:
        raise UserError(f"{path} has {len(rows.embeddings)} rows, and names {len(rows.names)} files.")
    if not np.isfinite(rows.embeddings).all():
        raise UserError(f"{path} holds numbers that are not finite: nothing can be searched in it.")
    return rows
