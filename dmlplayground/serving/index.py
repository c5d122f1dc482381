"""An index: embedded images, or vectors of any origin, to search in. The search is exact."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import numpy as np

from ..base import array_files, files, optional
from ..base.errors import UserError, unknown, warn
from . import index_file, neighbours
from .distances import as_seen

if TYPE_CHECKING:
    from . import image_inputs
    from .model import Model

ENDINGS = (".index", ".npy", ".parquet")  # of the files that an index is kept in
DISTANCES = ("euclidean", "cosine", "hamming")
PORTION = 4096  # images that are embedded before the index is saved, if it is to be saved on the way
PAUSE = 30  # seconds between two such savings, at least
WEIGHTS = b"dmlplayground weights"  # the key of a .parquet that tells which model made it


class Found(NamedTuple):
    """One image of the gallery that a search has found."""

    name: str
    distance: float
    label: str  # its class; '' if unknown


@dataclass(frozen=True)
class Rows:
    """What an index knows of each image."""

    embeddings: Any  # (N, E) float32
    names: Sequence[str]
    classes: Sequence[str]
    digests: Sequence[str]  # of its content: SHA-256, in hexadecimal

    def __add__(self, other: Rows) -> Rows:
        embeddings = np.concatenate([np.asarray(each.embeddings, np.float32) for each in (self, other)])
        return Rows(embeddings, *((*one, *two) for one, two in zip(self._texts(), other._texts())))

    def take(self, kept: Sequence[int]) -> Rows:
        lists = (list(each) for each in self._texts())
        return Rows(
            np.asarray(self.embeddings)[np.asarray(kept, np.int64)],
            *(tuple(each[row] for row in kept) for each in lists),
        )

    def _texts(self) -> tuple[Sequence[str], ...]:
        return self.names, self.classes, self.digests


class Index:
    """Embedded images of one model, or vectors. It can be searched, grown, saved and opened again.

    >>> index = dml.Index.make(2)
    >>> index.add([[0, 0], [3, 4], [6, 8]], ["a", "b", "c"])
    3
    >>> index.search([[0, 1]], k=2)
    (array([[1.        , 4.24264069]]), [['a', 'b']])
    """

    def __init__(
        self, model: Optional[Model], rows: Rows, distance: str, weights: str = "", source: str = ""
    ):
        self.model = model
        self.rows = rows
        self.distance = distance
        self._weights, self._source = weights, source  # which model made it, where it is not loaded
        self._stored: Optional[index_file.IndexFile] = None  # the file that the rows are in
        self._codes: Optional[neighbours.Codes] = None
        self._coded = False

    @classmethod
    def make(cls, model_or_width: Union[Model, int], distance: Optional[str] = None) -> Index:
        """An empty index: of a model's embeddings, with its distance, or of vectors with so many numbers."""
        model = None if isinstance(model_or_width, (int, np.integer)) else model_or_width
        width = int(model_or_width) if model is None else model.width  # type: ignore[arg-type]
        if width < 1:
            raise UserError(f"vectors have at least one number, not {width}.")
        distance = distance or ("euclidean" if model is None else model.distance)
        if distance not in DISTANCES:
            raise unknown("distance", distance, DISTANCES)
        return cls(model, Rows(np.zeros((0, width), np.float32), (), (), ()), distance)

    @classmethod
    def open(cls, path: Union[str, Path], model: Optional[Model] = None) -> Index:
        """A saved index. An ``.index`` is not read before it is searched, and then only what the search looks at.

        ``model``: the one that made it; another one is refused. Without it, vectors can be searched for, but no images.
        """
        path = Path(path)
        check_ending(path)
        index = {".index": _open, ".npy": _read_npy, ".parquet": _read_parquet}[path.suffix](path)
        if model is not None:
            index._belong_to(model, str(path))
        return index

    def __len__(self) -> int:
        return len(self.rows.names)

    def __repr__(self) -> str:
        origin = f", of {self.model or self._source}" if self.model or self._source else ""
        return f"Index({len(self)} images, {self.memory / 1e6:.1f} MB{origin})"

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return int(self.rows.embeddings.shape[1])

    @property
    def memory(self) -> int:
        """Bytes that the embeddings take."""
        return 4 * len(self) * self.width

    # --- what is in it --------------------------------------------------------------------------------------

    def add(
        self,
        given: Union[image_inputs.Given, Sequence[Sequence[float]]],
        names: Optional[Sequence[str]] = None,
        classes: Optional[Sequence[str]] = None,
        keep: Optional[Path] = None,
    ) -> int:
        """Add images (files, a folder, arrays or a data set) or vectors (N, E). Returns how many are new.

        Images are known by their content: one that is in the index is not embedded again, and adds nothing if its file
        is the same or has the same name in a folder of the same name. A copy with another name is an entry of its own.
        ``names`` and ``classes`` say what each is called, where files and folders do not. ``keep``: an ``.index`` to
        save to every now and then.
        """
        vectors = _as_vectors(given)
        if vectors is not None:
            return self._add_vectors(vectors, names, classes)
        from . import image_inputs

        model = self._loaded()
        pictures = image_inputs.read(given, model.stored)  # type: ignore[arg-type]
        own = names is None and not pictures.numbered
        if names is None and pictures.numbered:
            names = [str(len(self) + number) for number in range(len(pictures.names))]
        count = len(pictures.names)
        pictures = pictures._replace(
            names=pictures.names if names is None else _checked_names(names, count, "names"),
            classes=pictures.classes if classes is None else _checked_names(classes, count, "classes"),
        )
        known = self._by_digest()
        before, saved, pause = len(self), time.monotonic(), float(PAUSE)
        portion = PORTION if keep else max(count, 1)
        for start in range(0, count, portion):
            self._add_pictures(model, pictures.take(range(start, min(start + portion, count))), known, own)
            if keep and time.monotonic() - saved > pause:
                begun = time.monotonic()
                self.save(keep)
                saved = time.monotonic()
                pause = max(PAUSE, 20 * (saved - begun))
        return len(self) - before

    def remove(self, names: Union[str, Iterable[str]]) -> int:
        """Take out the entries with these names. Returns how many they were."""
        wanted = {names} if isinstance(names, (str, Path)) else set(names)
        wanted = {str(name) for name in wanted}
        if missing := wanted - set(self.rows.names):
            raise UserError(f"the index has no entry {min(missing)!r}.")
        before = len(self)
        self._become(self.rows.take([row for row, name in enumerate(self.rows.names) if name not in wanted]))
        return before - len(self)

    def copies(self) -> list[list[str]]:
        """The names of images that are the same to the byte, group by group."""
        groups = defaultdict(list)
        for name, digest in zip(self.rows.names, self.rows.digests):
            groups[digest].append(name)
        return [names for names in groups.values() if len(names) > 1]

    def _add_vectors(self, vectors: np.ndarray, names: Any, classes: Any) -> int:
        vectors, count = self._checked(vectors), len(vectors)
        own = names if names is not None else [str(len(self) + number) for number in range(count)]
        new = Rows(
            vectors,
            _checked_names(own, count, "names"),
            _checked_names(classes if classes is not None else [""] * count, count, "classes"),
            tuple(hashlib.sha256(vector.tobytes()).hexdigest() for vector in vectors),
        )
        known = set(zip(self.rows.names, self.rows.digests))
        fresh = [row for row, key in enumerate(zip(new.names, new.digests)) if key not in known]
        self._become(self.rows + new.take(fresh))
        return len(fresh)

    def _add_pictures(
        self, model: Model, pictures: image_inputs.Pictures, known: dict[str, list[int]], own_names: bool
    ) -> None:
        """Images whose content is ``known`` are not embedded again; ``known`` is brought up to date."""
        same = _same_place if own_names else str.__eq__
        if not known:  # all are to be embedded: then each file is read once
            embeddings, digests = model.embed_dataset(pictures.dataset), pictures.digests()
        else:
            digests = pictures.digests()
            unseen = [row for row, digest in enumerate(digests) if digest not in known]
            embeddings = np.empty((len(digests), self.width), np.float32)
            if unseen:
                embeddings[unseen] = model.embed_dataset(pictures.take(unseen).dataset)
            for row, digest in enumerate(digests):
                if digest in known:
                    embeddings[row] = np.asarray(self.rows.embeddings[known[digest][:1]])[0]
        embeddings, names = self._checked(embeddings), self.rows.names
        fresh = [
            row
            for row, (name, digest) in enumerate(zip(pictures.names, digests))
            if not any(same(names[other], name) for other in known.get(digest, ()))
        ]
        for place, row in enumerate(fresh, len(self)):
            known.setdefault(digests[row], []).append(place)
        self._become(self.rows + Rows(embeddings, pictures.names, pictures.classes, digests).take(fresh))

    def _by_digest(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, digest in enumerate(self.rows.digests):
            found.setdefault(digest, []).append(row)
        return found

    def _become(self, rows: Rows) -> None:
        self.rows, self._stored, self._codes, self._coded = rows, None, None, False

    def _checked(self, vectors: np.ndarray) -> np.ndarray:
        if vectors.ndim != 2 or vectors.shape[1] != self.width:
            raise UserError(
                f"this index holds vectors of {self.width} numbers, not an array of shape {vectors.shape}."
            )
        with np.errstate(over="ignore"):
            vectors = np.ascontiguousarray(vectors, np.float32)
        if not np.isfinite(vectors).all():
            row = int(np.argmin(np.isfinite(vectors).all(axis=1)))
            raise UserError(f"vector {row} holds a number that is not finite in float32 (NaN or infinity).")
        return vectors

    # --- searching ------------------------------------------------------------------------------------------

    def search(
        self, queries: Union[image_inputs.Given, Sequence[Sequence[float]]], k: int = 10, expand: int = 0
    ) -> tuple[np.ndarray, list[list[str]]]:
        """The ``k`` nearest of each query: distances (Q, k) and names, nearest first; equally near ones in the order in
        which they were added.

        ``queries``: vectors (Q, E), or images. ``expand``: search once more, with the mean of the query and so many of the
        nearest (query expansion; ``Model.gain_of_expansion`` measures what that brings).
        """
        vectors = _as_vectors(queries)
        if vectors is None:
            vectors = self._loaded().embed(queries)  # type: ignore[arg-type]
        away, rows = self.nearest(vectors, k, expand)
        return away, [[self.rows.names[row] for row in near] for near in rows.tolist()]

    def find(
        self, queries: image_inputs.Given, count: int = 10, copies: bool = False, expand: int = 0
    ) -> list[list[Found]]:
        """For every query the ``count`` nearest images, nearest first; equally near ones in the gallery's order.

        The query's own file and its copies are left out, and only the first of several copies of an image is shown;
        with ``copies`` all of them are.
        """
        from . import image_inputs

        model = self._loaded()
        pictures = image_inputs.read(queries, model.stored)
        vectors = model.embed_dataset(pictures.dataset)
        digests = pictures.digests()
        near = zip(*self.nearest(vectors, count + 8, expand))
        return [
            self._shown(vector, digest, count, copies, expand, *each)
            for vector, digest, each in zip(vectors, digests, near)
        ]

    def nearest(self, vectors: np.ndarray, k: int, expand: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Distances and numbers of the ``k`` nearest rows of each vector."""
        vectors = self._checked(np.atleast_2d(vectors))
        if k < 1 or expand < 0:
            raise UserError(
                f"a search gives at least one, and expands by no less than none; not {k} and {expand}."
            )
        if expand:
            vectors = self._expanded(vectors, expand)
        return neighbours.nearest(vectors, self.rows.embeddings, self.distance, k, self._in_eight_bits())

    def _expanded(self, vectors: np.ndarray, expand: int) -> np.ndarray:
        if self.distance == "hamming":
            raise UserError("bits have no mean: an index with the distance hamming cannot expand queries.")
        _, rows = self.nearest(vectors, expand)
        seen = as_seen(vectors, self.distance)
        near = as_seen(self.rows.embeddings[rows.ravel()], self.distance).reshape(*rows.shape, -1)
        return ((seen + near.sum(axis=1)) / (1 + rows.shape[1])).astype(np.float32)

    def _in_eight_bits(self) -> Optional[neighbours.Codes]:
        if not self._coded:
            if self._stored is not None:
                self._codes = neighbours.Codes.read(self._stored)
            else:
                self._codes = neighbours.encode(self.rows.embeddings, self.distance)
            self._coded = True
        return self._codes

    def _shown(
        self,
        vector: np.ndarray,
        digest: str,
        count: int,
        copies: bool,
        expand: int,
        away: np.ndarray,
        rows: np.ndarray,
    ) -> list[Found]:
        """The first ``count`` of these rows that are to be shown, or of more, if these are not enough."""
        found: list[Found] = []
        shown = set() if copies else {digest}
        for distance, row in zip(away.tolist(), rows.tolist()):
            if not copies:
                if self.rows.digests[row] in shown:
                    continue
                shown.add(self.rows.digests[row])
            found.append(Found(self.rows.names[row], distance, self.rows.classes[row]))
        if len(found) < count and len(rows) < len(self):
            more = self.nearest(vector, 4 * len(rows), expand)
            return self._shown(vector, digest, count, copies, expand, *(each[0] for each in more))
        return found[:count]

    # --- files ----------------------------------------------------------------------------------------------

    def save(self, path: Union[str, Path]) -> list[Path]:
        """Write the index. Returns the files.

        ``.index``: one file, opened without reading it. ``.npy`` with a ``.json`` beside it that says which row is which
        file, and ``.parquet``, are for other programs.
        """
        path = Path(path)
        check_ending(path)
        about = {"model": self._model_path(), "weights": self._digest(), "distance": self.distance}
        return {".index": self._save, ".npy": self._save_npy, ".parquet": self._save_parquet}[path.suffix](
            path, about
        )

    def check(self) -> None:
        """Read all of an index that was opened, and refuse it if it is damaged. (A search checks what it reads.)"""
        if self._stored is not None:
            self._stored.check()

    def to_faiss(self) -> Any:
        """The same vectors as a graph for faiss, which finds most neighbours, in less time. (The package faiss-cpu.)

        Its distances are squared; cosine distances are searched as those of vectors at unit length.
        """
        faiss = optional.load("faiss")
        graph = faiss.IndexHNSWFlat(self.width, 32)
        graph.hnsw.efConstruction, graph.hnsw.efSearch = 100, 64
        graph.add(as_seen(np.asarray(self.rows.embeddings), self.distance).astype(np.float32))
        return graph

    def _save(self, path: Path, about: dict[str, Any]) -> list[Path]:
        codes = self._in_eight_bits()
        arrays = {
            "embeddings": np.asarray(self.rows.embeddings, np.float32),
            **{
                name: array
                for kind in ("names", "classes", "digests")
                for name, array in index_file.Texts.arrays(kind, getattr(self.rows, kind)).items()
            },
            **({} if codes is None else codes.arrays()),
        }
        index_file.write(path, about, arrays)
        return [path]

    def _save_npy(self, path: Path, about: dict[str, Any]) -> list[Path]:
        manifest = path.with_suffix(".json")
        described = {
            **about,
            "files": list(self.rows.names),
            "classes": list(self.rows.classes),
            "digests": list(self.rows.digests),
        }
        embeddings = np.asarray(self.rows.embeddings, np.float32)
        described["sha256"] = _checksum(embeddings, described)
        with files.replacing_all() as begin:
            np.save(begin(path, "wb"), embeddings, allow_pickle=False)
            files.dump_json(described, begin(manifest))
        return [path, manifest]

    def _save_parquet(self, path: Path, about: dict[str, Any]) -> list[Path]:
        pyarrow, parquet = optional.load("pyarrow"), optional.load("pyarrow.parquet")
        flat = pyarrow.array(np.asarray(self.rows.embeddings, np.float32).ravel())
        columns = {
            "file": list(self.rows.names),
            "class": list(self.rows.classes),
            "digest": list(self.rows.digests),
            "embedding": pyarrow.FixedSizeListArray.from_arrays(flat, self.width),
        }
        told = {WEIGHTS: about["weights"], b"model": about["model"], b"distance": about["distance"]}
        table = pyarrow.table(columns).replace_schema_metadata(told)
        with files.replacing(path, "wb") as file:
            parquet.write_table(table, file, write_page_checksum=True)
        return [path]

    # --- its model ------------------------------------------------------------------------------------------

    def _loaded(self) -> Model:
        if self.model is None:
            raise UserError(
                "images are embedded by the model that made the index; open it with "
                f"dml.Index.open(path, dml.load({self._source!r}))."
                if self._source
                else "this index holds vectors of no model: give vectors, not images."
            )
        return self.model

    def _belong_to(self, model: Model, name: str) -> None:
        if self.width != model.width:
            raise UserError(
                f"{name} has {self.width} numbers an image and the model gives {model.width}: "
                "the index was made by another model."
            )
        if self._weights not in ("", model.digest):  # none in files of earlier versions
            raise UserError(
                f"{name} was made by a network with other weights than {model.source}: embed the images with this one."
            )
        self.model = model
        if not self._weights:
            self.distance = model.distance

    def _digest(self) -> str:
        return self._weights if self.model is None else self.model.digest

    def _model_path(self) -> str:
        return self._source if self.model is None else str(self.model.source)


def check_ending(path: Path) -> None:
    """Refuse a file that no index can be written to."""
    if path.suffix not in ENDINGS:
        raise UserError(f"an index is an .index, a .npy or a .parquet, not {path}.")


def _as_vectors(given: Any) -> Optional[np.ndarray]:
    """Vectors as an array; None if these are images."""
    if hasattr(given, "asnumpy"):
        given = given.asnumpy()
    if not isinstance(given, (np.ndarray, list, tuple)):
        return None
    first = given[0] if len(given) else ()
    if isinstance(given, np.ndarray):
        numbers = given.ndim <= 2 and given.dtype.kind in "fiub"
    else:
        numbers = np.ndim(first) < 2 and np.asarray(first).dtype.kind in "fiub" and len(given) > 0
    if not numbers:
        return None
    try:
        return np.atleast_2d(np.asarray(given, np.float64 if np.asarray(first).dtype.kind != "f" else None))
    except ValueError:
        raise UserError("vectors must be rows of numbers, all of one length.") from None


def _checked_names(names: Sequence[Any], count: int, kind: str) -> tuple[str, ...]:
    if isinstance(names, str) or len(names) != count:
        raise UserError(f"there are {count} entries to add, and {len(names)} {kind}.")
    return tuple(map(str, names))


def _same_place(one: str, other: str) -> bool:
    """Whether two paths mean one file, or files of the same name in folders of the same name."""
    ends = [Path(os.path.normpath(path)).parts[-2:] for path in (one, other)]
    return (len(ends[0]) == 2 and ends[0] == ends[1]) or os.path.realpath(one) == os.path.realpath(other)


def _checksum(embeddings: np.ndarray, described: dict[str, Any]) -> str:
    rest = {name: value for name, value in described.items() if name != "sha256"}
    whole = hashlib.sha256(np.ascontiguousarray(embeddings).tobytes())
    whole.update(json.dumps(rest, sort_keys=True).encode())
    return whole.hexdigest()


def _open(path: Path) -> Index:
    stored = index_file.IndexFile(path)
    about = stored.about
    texts = (index_file.Texts(stored, kind) for kind in ("names", "classes", "digests"))
    rows = Rows(index_file.StoredRows(stored, "embeddings"), *texts)
    index = Index(None, rows, about["distance"], about["weights"], about["model"])
    index._stored = stored
    return index


def _read_npy(path: Path) -> Index:
    manifest = files.read_json(path.with_suffix(".json"))
    try:
        embeddings = np.asarray(np.load(path, allow_pickle=False), np.float32)
        names = tuple(map(str, manifest["files"]))
        classes = tuple(manifest.get("classes", [""] * len(names)))
        rows = Rows(embeddings, names, classes, tuple(manifest.get("digests", names)))
        checksum = manifest.get("sha256")
    except array_files.DAMAGE as problem:
        raise UserError(f"{path} and its .json are not an index written by 'embed': {problem}.") from None
    _check_rows(rows, path)
    if checksum is None:
        warn(
            f"{path} has no checksum, so damage to it would not be noticed: embed the images again to an .index."
        )
    elif checksum != _checksum(embeddings, manifest):
        raise UserError(
            f"{path} and its .json do not belong together, or one is damaged: embed the images again."
        )
    distance, weights, source = (str(manifest.get(name, "")) for name in ("distance", "weights", "model"))
    return Index(None, rows, distance if distance in DISTANCES else DISTANCES[0], weights, source)


def _read_parquet(path: Path) -> Index:
    pyarrow, parquet = optional.load("pyarrow"), optional.load("pyarrow.parquet")
    try:
        table = parquet.read_table(path, page_checksum_verification=True)
        columns = [tuple(table.column(name).to_pylist()) for name in ("file", "class", "digest")]
        column = table.column("embedding").combine_chunks()
        embeddings = np.asarray(column.flatten(), np.float32).reshape(len(column), -1)
    except (OSError, KeyError, ValueError, pyarrow.ArrowException) as problem:
        raise UserError(f"{path} is not an index written by 'embed': {problem}.") from None
    told = {name: text.decode() for name, text in (table.schema.metadata or {}).items()}
    rows = Rows(embeddings, *columns)
    _check_rows(rows, path)
    return Index(
        None, rows, told.get(b"distance", DISTANCES[0]), told.get(WEIGHTS, ""), told.get(b"model", "")
    )


def _check_rows(rows: Rows, path: Path) -> None:
    lengths = {len(getattr(rows, each.name)) for each in fields(rows)}
    if len(lengths) > 1 or rows.embeddings.ndim != 2:
        raise UserError(f"{path} has {len(rows.embeddings)} rows, and names {len(rows.names)} files.")
    if not np.isfinite(rows.embeddings).all():
        raise UserError(f"{path} holds numbers that are not finite: nothing can be searched in it.")
