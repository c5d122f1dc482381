"""What a trial keeps to be looked at: small images of queries with their nearest neighbours, and a map of some classes.

A run collects and saves them once, at its end, from the embeddings of its test images; reports show what they find.
Queries and classes are drawn at random, so nobody picks the good ones, and all trials on a data set draw the same ones.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base import array_files, seeds
from ...base.errors import UserError, warn

if TYPE_CHECKING:
    from ...parts.data import Dataset

FILE = "samples.npz"
QUERIES, NEIGHBOURS = 12, 5
THUMB = 40  # pixels
QUALITY = 70  # of the JPEG; all pictures together take 20 to 50 kB
MAP_CLASSES, MAP_POINTS = 8, 480


def save(folder: Path, trial: str, content: Mapping[str, Any], through: Path | None = None) -> None:
    """Write what ``collect`` gave into the folder of the trial with this id."""
    arrays = {name: value for name, value in content.items() if isinstance(value, np.ndarray)}
    header = {name: value for name, value in content.items() if name not in arrays}
    array_files.write(folder / FILE, {"trial": trial, **header}, arrays, through)


def load(folder: Path, trial: str) -> dict[str, Any] | None:
    """What ``save`` wrote for the trial, or None if there is nothing usable."""
    if not (folder / FILE).exists():
        return None
    try:
        header, arrays = array_files.read(folder / FILE)
        if (whose := header.pop("trial", trial)) != trial:  # the first ones did not say
            raise UserError(f"{folder / FILE} holds the samples of another trial, {whose}.")
    except UserError as problem:
        warn(f"{problem} The pictures of this trial are left out.")
        return None
    return {**header, **arrays}


def collect(
    embeddings: np.ndarray, dataset: "Dataset", distance: str = "euclidean", seed: int = 0, tsne: bool = False
) -> dict[str, Any]:
    """The samples of these embeddings (N, E) of the images of ``dataset``.

    ``sheet``: the bytes of a JPEG; a row a query, its own picture first, then its neighbours', nearest first.
    ``right``: (queries, neighbours), 1 where the neighbour is of the query's class. ``names``: their classes.
    ``map``: (P, 2) principal components of the images of some classes; ``map_labels``: which of ``map_names`` each is of;
    ``share``: how much of their variance these hold. ``tsne``, if asked for: (P, 2), the same images placed by t-SNE.
    """
    points = _comparable(embeddings, distance)
    queries = _queries(dataset.labels, seed)
    rows = _neighbours(points, queries)
    labels = np.asarray(dataset.labels)
    return {
        "sheet": _sheet(dataset.images, rows),
        "right": (labels[rows[:, 1:]] == labels[queries][:, None]).astype(np.uint8),
        "names": [[dataset.class_names[label] for label in labels[row]] for row in rows],
        **_map(points, dataset, seed, tsne),
    }


def _comparable(embeddings: np.ndarray, distance: str) -> np.ndarray:
    """Points whose Euclidean distances rank neighbours as ``distance`` does."""
    points = np.asarray(embeddings, np.float32)
    if distance == "hamming":
        return np.sign(points)
    if distance == "cosine":
        return points / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)
    return points


def _queries(labels: np.ndarray, seed: int) -> np.ndarray:
    """Images of different classes, as far as there are enough."""
    order = seeds.generator(seed, "samples", "queries").permutation(len(labels))
    _, first = np.unique(np.asarray(labels)[order], return_index=True)
    return order[np.sort(first)[:QUERIES]]


def _neighbours(points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """A row a query: itself, then its nearest others; equals in the order of the images."""
    squares = np.einsum("ij,ij->i", points, points)
    distances = squares[:, None] - 2 * (points @ points[queries].T)
    distances[queries, np.arange(len(queries))] = -np.inf
    return np.argsort(distances, axis=0, kind="stable")[: NEIGHBOURS + 1].T


def _sheet(images: np.ndarray, rows: np.ndarray) -> np.ndarray:
    from PIL import Image, ImageOps  # here, as listings load this file

    sheet = Image.new("RGB", (rows.shape[1] * THUMB, rows.shape[0] * THUMB))
    for (row, column), index in np.ndenumerate(rows):
        picture = ImageOps.fit(Image.fromarray(np.asarray(images[index])), (THUMB, THUMB))
        sheet.paste(picture, (column * THUMB, row * THUMB))
    stream = io.BytesIO()
    sheet.save(stream, "JPEG", quality=QUALITY, optimize=True)
    return np.frombuffer(stream.getvalue(), np.uint8)


def _map(points: np.ndarray, dataset: "Dataset", seed: int, tsne: bool) -> Mapping[str, Any]:
    """The largest spreads of some classes' images, on which every method's map is drawn alike."""
    chosen = np.sort(seeds.generator(seed, "samples", "map").permutation(dataset.num_classes)[:MAP_CLASSES])
    labels = np.asarray(dataset.labels)
    rows = np.concatenate([np.flatnonzero(labels == label)[: MAP_POINTS // MAP_CLASSES] for label in chosen])
    centred = points[rows] - points[rows].mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    flat = np.zeros((len(rows), 2), np.float32)  # embeddings may have a single dimension
    flat[:, : len(values)] = (left * values)[:, :2]
    flat *= np.where(np.abs(flat).max(axis=0) == flat.max(axis=0), 1, -1)  # a component's sign is arbitrary
    total = float((values**2).sum())
    return {
        "map": flat,
        "map_labels": np.searchsorted(chosen, labels[rows]).astype(np.uint8),
        "map_names": [dataset.class_names[label] for label in chosen],
        "share": float((values[:2] ** 2).sum() / total) if total > 0 else 0.0,
        **({"tsne": _tsne(centred, flat, seed)} if tsne else {}),
    }


def _tsne(points: np.ndarray, start: np.ndarray, seed: int) -> np.ndarray:
    """The points placed by t-SNE, which begins with their principal components; those where all points are one."""
    from sklearn.manifold import TSNE

    spread = start[:, 0].std()
    if len(points) <= 3 or spread == 0:
        return start
    method = TSNE(
        perplexity=min(30, (len(points) - 1) / 3),
        init=start / spread * 1e-4,
        random_state=seeds.integer(seed, "samples", "map"),
        n_jobs=1,  # so that the same points give the same map
    )
    return method.fit_transform(points)
