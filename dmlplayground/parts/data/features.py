"""Features that any framework has computed, in the place of images: methods compared on a frozen network."""

import zipfile
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...base import array_files, files, optional
from ...base.errors import UserError, unknown
from . import KIND
from .shared.catalogue import ROLES, Classes, Entry, Number, catalogue, divide
from .shared.dataset import Dataset

COLUMNS = ("features", "labels", "split")


def settings(path: str, **_: Any) -> dict[str, Any]:
    """What a trial on these features does by default: its network is the one that made them. The width of a file that does
    not exist is unknown; loading the data set then fails with a message."""
    file = files.expanded(path)
    width = {"features": read(file).features.shape[1]} if file.is_file() else {}
    return {"backbone": {"name": "identity", **width}, "transform": "plain"}


@KIND.register(title="Features of any framework", also=("embeddings", "frozen"), settings=settings)
def load(
    split: str, *, path: str, train: Classes = 0.5, test: Classes | None = None, seed: Number | None = None
) -> Dataset:
    """Rows of numbers, each with its class, computed from images by some network. A trial on them trains a head and a
    loss in seconds, on any machine; its backbone is ``identity``.

    path: a .npz with the arrays ``features`` (N, width) and ``labels`` (N,), numbers or words, and if wanted ``split``
        (N,): train, test, query or gallery; or a Parquet file with columns of these names (needs pyarrow).
    """
    table = read(files.expanded(path))
    said = enumerate(zip(table.labels, table.split))
    entries = [Entry(str(row), label, role) for row, (label, role) in said]
    if not any(table.split):
        entries = divide(entries, train, test, "data set features", seed)
    found = catalogue("features", split, Path(path).parent, entries)
    rows = np.array([int(file) for file in found.files])
    return Dataset("features", split, table.features[rows], found.labels, found.class_names, found.queries)


class FeatureTable(NamedTuple):
    features: np.ndarray  # (N, width) float32
    labels: tuple[str, ...]
    split: tuple[str, ...]  # '' throughout where nothing is said


def read(path: Path) -> FeatureTable:
    """The content of a file of features, checked."""
    if not path.is_file():
        raise UserError(f"data set features: there is no file {path}.")
    look = path.stat()
    return _read(path, look.st_mtime_ns, look.st_size)


@lru_cache(maxsize=2)  # both splits, and the configuration's look at the width, read the same file
def _read(path: Path, *_: int) -> FeatureTable:
    columns = _parquet(path) if path.suffix == ".parquet" else _npz(path)
    try:
        features = np.asarray(columns["features"], np.float32)
    except (TypeError, ValueError):
        features = np.zeros(0, np.float32)
    labels, split = np.asarray(columns["labels"]), np.asarray(columns.get("split", [""] * len(features)))
    if features.ndim != 2 or labels.shape != features.shape[:1] or split.shape != features.shape[:1]:
        raise UserError(
            f"data set features: {path} needs features (N, width), labels (N,) and, if at all, split (N,), "
            f"not {features.shape}, {labels.shape} and {split.shape}."
        )
    if not features.size or not np.isfinite(features).all():
        what = "numbers that are not finite" if features.size else "no features"
        raise UserError(f"data set features: {path} holds {what}.")
    roles = tuple(map(str, split))
    known = {"", *(role for each in ROLES.values() for role in each)}
    for role in sorted(set(roles) - known):
        raise unknown(f"data set features: {path} has the split", role, known - {""})
    return FeatureTable(features, tuple(map(_word, labels.tolist())), roles)


def _word(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _npz(path: Path) -> dict[str, Any]:
    try:
        with files.opened(path) as file, np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in _columns(path, arrays.files)}
    except (zipfile.BadZipFile, *array_files.DAMAGE) as problem:
        raise UserError(f"data set features: {path} is not a .npz of plain arrays: {problem}.") from None


def _parquet(path: Path) -> dict[str, Any]:
    pyarrow, parquet = optional.load("pyarrow"), optional.load("pyarrow.parquet")
    try:
        table = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as problem:
        raise UserError(f"{path} is not a Parquet file, or is damaged: {problem}.") from None
    return {name: table.column(name).to_pylist() for name in _columns(path, table.column_names)}


def _columns(path: Path, names: Collection[str]) -> list[str]:
    """Those that are read, of the arrays that the file has."""
    for name in COLUMNS[:2]:
        if name not in names:
            raise UserError(
                f"data set features: {path} has no array {name!r}; its arrays are {', '.join(sorted(names)) or 'none'}."
            )
    return [name for name in COLUMNS if name in names]
