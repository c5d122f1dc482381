"""An index: embedded images, or vectors of any origin, to search in. The search is exact."""

import hashlib
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..base import optional
from ..base.errors import UserError, unknown
from ..parts.metrics.shared.engine.embeddings import DISTANCES
from . import index_file, neighbours
from .index_file import Rows
from .neighbours import as_seen

if TYPE_CHECKING:
    from . import image_inputs
    from .model import Model

PORTION = 4096  # images that are embedded before the index is saved, if it is to be saved on the way
PAUSE = 30  # seconds between two such savings, at least


class Found(NamedTuple):
    """One image of the gallery that a search has found."""

    name: str
    distance: float
    label: str  # its class; '' if unknown


class Index:
    """Embedded images of one model, or vectors. It can be searched, grown, saved and opened again.

    >>> index = dml.Index.make(2)
    >>> index.add([[0, 0], [3, 4], [6, 8]], ["a", "b", "c"])
    3
    >>> index.search([[0, 1]], k=2)
    (array([[1.        , 4.24264069]]), [['a', 'b']])
    """

    def __init__(self, model: "Model | None", saved: index_file.Saved):
        self.model, self.rows, self.distance = model, saved.rows, saved.about["distance"]
        # Which model made it, where it is not loaded.
        self._source, self._weights = saved.about.get("model", ""), saved.about.get("weights", "")
        self._stored = saved.file
        self._codes: neighbours.Codes | None = None

    @classmethod
    def make(cls, model_or_width: "Model | int", distance: str | None = None) -> "Index":
        """An empty index: of a model's embeddings, with its distance, or of vectors with so many numbers."""
        model = None if isinstance(model_or_width, (int, np.integer)) else model_or_width
        width = int(model_or_width) if model is None else model.width  # type: ignore[arg-type]
        if width < 1:
            raise UserError(f"vectors have at least one number, not {width}.")
        distance = distance or ("euclidean" if model is None else model.distance)
        if distance not in DISTANCES:
            raise unknown("distance", distance, DISTANCES)
        rows = Rows(np.zeros((0, width), np.float32), (), (), ())
        return cls(model, index_file.Saved(rows, {"distance": distance}))

    @classmethod
    def open(cls, path: str | Path, model: "Model | None" = None) -> "Index":
        """A saved index. An ``.index`` is not read before it is searched, and then only what the search looks at.

        ``model``: the one that made it; another one is refused. Without it, vectors can be searched for, but no images.
        """
        saved = index_file.read(Path(path))
        weights, distance = (saved.about.get(name, "") for name in ("weights", "distance"))
        if model is not None:
            width = saved.rows.embeddings.shape[1]
            if model.width != width:
                raise UserError(
                    f"{path} has {width} numbers an image and the model gives {model.width}: the index was made by another model."
                )
            if weights not in ("", model.digest):  # none in files of earlier versions
                raise UserError(
                    f"{path} was made by a network with other weights than {model.source}: embed the images with this one."
                )
            distance = distance if weights else model.distance
        distance = distance if distance in DISTANCES else DISTANCES[0]
        return cls(model, saved._replace(about={**saved.about, "distance": distance}))

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
        given: "image_inputs.Given | Sequence[Sequence[float]]",
        names: Sequence[str] | None = None,
        classes: Sequence[str] | None = None,
        keep: Path | None = None,
    ) -> int:
        """Add images (files, a folder, arrays or a data set) or vectors (N, E). Returns how many are new.

        Images are known by their content: one that is in the index is not embedded again, and adds nothing if its file
        is the same or has the same name in a folder of the same name. A copy with another name is an entry of its own.
        What is damaged in a folder is left out, with a warning.
        ``names`` and ``classes`` say what each is called, where files and folders do not. ``keep``: an ``.index`` to
        save to every now and then.
        """
        if (vectors := _as_vectors(given)) is not None:
            vectors, own_names, own_classes = self._checked(vectors), None, ("",) * len(vectors)
        else:
            from . import image_inputs

            pictures = image_inputs.read(given, self._loaded().stored, damaged=True)  # type: ignore[arg-type]
            own_names, own_classes = None if pictures.numbered else pictures.names, pictures.classes
        same: Callable[[str, str], bool] = str.__eq__
        count, before = len(own_classes), len(self)
        if names is None and own_names is not None:
            names, same = own_names, _same_place
        elif names is None:
            names = [str(before + number) for number in range(count)]
        names = _checked_names(names, count, "names")
        classes = _checked_names(own_classes if classes is None else classes, count, "classes")
        if vectors is not None:
            digests = tuple(hashlib.sha256(vector.tobytes()).hexdigest() for vector in vectors)
            self._append(Rows(vectors, names, classes, digests), same)
            return len(self) - before
        pictures = pictures._replace(names=names, classes=classes)
        due = time.monotonic() + PAUSE
        portion = PORTION if keep else max(count, 1)
        for start in range(0, count, portion):
            self._append(self._embedded(pictures.take(range(start, min(start + portion, count)))), same)
            if keep and (begun := time.monotonic()) > due:
                self.save(keep)
                due = time.monotonic() + max(PAUSE, 20 * (time.monotonic() - begun))
        return len(self) - before

    def remove(self, names: str | Iterable[str]) -> int:
        """Take out the entries with these names. Returns how many they were."""
        wanted = set(map(str, [names] if isinstance(names, (str, Path)) else names))
        if missing := wanted - set(self.rows.names):
            raise UserError(f"the index has no entry {min(missing)!r}.")
        before = len(self)
        self._become(self.rows.take([row for row, name in enumerate(self.rows.names) if name not in wanted]))
        return before - len(self)

    def copies(self) -> list[list[str]]:
        """The names of images that are the same to the byte, group by group."""
        groups = (rows for rows in self._by_digest().values() if len(rows) > 1)
        return [[self.rows.names[row] for row in rows] for rows in groups]

    def _append(self, rows: Rows, same: Callable[[str, str], bool]) -> None:
        """Add what is not in it yet: an entry of the same content whose name is the same."""
        known = self._by_digest()
        fresh = [
            row
            for row, (name, digest) in enumerate(zip(rows.names, rows.digests))
            if not any(same(self.rows.names[other], name) for other in known.get(digest, ()))
        ]
        self._become(self.rows + rows.take(fresh))

    def _embedded(self, pictures: "image_inputs.Pictures") -> Rows:
        """Images whose content is known are not embedded again."""
        known, model = self._by_digest(), self._loaded()
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
                    embeddings[row] = self.rows.embeddings[known[digest][:1]][0]
        rows = Rows(self._checked(embeddings), pictures.names, pictures.classes, digests)
        sound = pictures.sound()
        return rows if len(sound) == len(digests) else rows.take(sound)

    def _by_digest(self) -> dict[str, list[int]]:
        found = defaultdict(list)
        for row, digest in enumerate(self.rows.digests):
            found[digest].append(row)
        return found

    def _become(self, rows: Rows) -> None:
        self.rows, self._stored, self._codes = rows, None, None

    def _checked(self, vectors: np.ndarray) -> np.ndarray:
        if vectors.ndim != 2 or vectors.shape[1] != self.width:
            held = f"this index holds vectors of {self.width} numbers"
            raise UserError(f"{held}, not an array of shape {vectors.shape}.")
        with np.errstate(over="ignore"):
            vectors = np.ascontiguousarray(vectors, np.float32)
        if not np.isfinite(vectors).all():
            row = int(np.argmin(np.isfinite(vectors).all(axis=1)))
            raise UserError(f"vector {row} holds a number that is not finite in float32 (NaN or infinity).")
        return vectors

    # --- searching ------------------------------------------------------------------------------------------

    def search(
        self, queries: "image_inputs.Given | Sequence[Sequence[float]]", k: int = 10, expand: int = 0
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
        self, queries: "image_inputs.Given", count: int = 10, copies: bool = False, expand: int = 0
    ) -> list[list[Found]]:
        """For every query the ``count`` nearest images, nearest first; equally near ones in the gallery's order.

        The query's own file and its copies are left out, and only the first of several copies of an image is shown;
        with ``copies`` all of them are.
        """
        from . import image_inputs

        model, found = self._loaded(), []
        pictures = image_inputs.read(queries, model.stored)
        vectors = model.embed_dataset(pictures.dataset)
        near = self.nearest(vectors, count + 8, expand)
        for vector, digest, away, rows in zip(vectors, pictures.digests(), *near):
            own = None if copies else digest
            while len(shown := self._shown(own, away, rows)) < count and len(rows) < len(self):
                (away,), (rows,) = self.nearest(vector, 4 * len(rows), expand)
            found.append(shown[:count])
        return found

    def _shown(self, own: str | None, away: np.ndarray, rows: np.ndarray) -> list[Found]:
        """Of these rows the first of each content, and none of a query's ``own``; without that, all."""
        found, seen = [], {own}
        for distance, row in zip(away.tolist(), rows.tolist()):
            digest = self.rows.digests[row]
            if own is None or digest not in seen:
                seen.add(digest)
                found.append(Found(self.rows.names[row], distance, self.rows.classes[row]))
        return found

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

    def _in_eight_bits(self) -> neighbours.Codes | None:
        if self._codes is None:
            stored = self._stored
            self._codes = stored.codes() if stored else neighbours.encode(self.rows.embeddings, self.distance)
        return self._codes

    # --- files ----------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> list[Path]:
        """Write the index. Returns the files.

        ``.index``: one file, opened without reading it. ``.npy`` with a ``.json`` beside it that says which row is which
        file, and ``.parquet``, are for other programs.
        """
        path, source, weights = Path(path), self._source, self._weights
        index_file.check_ending(path)
        if self.model is not None:
            source, weights = str(self.model.source), self.model.digest
        about = {"model": source, "weights": weights, "distance": self.distance}
        codes = self._in_eight_bits() if path.suffix == ".index" else None
        return index_file.FORMS[path.suffix][1](path, self.rows, about, codes)

    def check(self) -> None:
        """Read all of an index that was opened, and refuse it if it is damaged. (A search checks what it reads.)"""
        if self._stored is not None:
            self._stored.check()

    def to_faiss(self) -> Any:
        """The same vectors as a graph for faiss, which finds most neighbours, in less time. (The package faiss-cpu.)

        Its distances are squared; cosine distances are searched as those of vectors at unit length.
        """
        graph = optional.load("faiss").IndexHNSWFlat(self.width, 32)
        graph.hnsw.efConstruction, graph.hnsw.efSearch = 100, 64
        graph.add(as_seen(np.asarray(self.rows.embeddings), self.distance).astype(np.float32))
        return graph

    def _loaded(self) -> "Model":
        if self.model is None:
            raise UserError(
                "images are embedded by the model that made the index; open it with "
                f"dml.Index.open(path, dml.load({self._source!r}))."
                if self._source
                else "this index holds vectors of no model: give vectors, not images."
            )
        return self.model


def _as_vectors(given: Any) -> np.ndarray | None:
    """Vectors as an array; None if these are images."""
    if hasattr(given, "asnumpy"):
        given = given.asnumpy()
    is_array = isinstance(given, np.ndarray)
    if not is_array and not (isinstance(given, (list, tuple)) and given):
        return None
    first = np.asarray(given[0] if len(given) else given)
    if first.ndim > 1 + (len(given) == 0) or first.dtype.kind not in "fiub":
        return None
    try:
        return np.atleast_2d(np.asarray(given, None if is_array else np.float64))
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
