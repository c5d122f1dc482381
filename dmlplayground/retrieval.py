"""Trained networks put to use: embeddings of any folder of images, and the nearest of them to a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from . import export, files, transforms
from .data import Dataset, decoding
from .data.catalogue import Catalogue, is_image, natural
from .data.images import Live
from .errors import UserError
from .transforms import Stored

CELL, GAP, LINE = 128, 6, 14  # pixels, in the picture of what was found


@dataclass(frozen=True)
class Gallery:
    """Embedded images: (N, E) numbers, the files they belong to, and how near is measured."""

    embeddings: np.ndarray
    files: tuple[Path, ...]
    distance: str

    def save(self, path: Path, model: object) -> tuple[Path, Path]:
        """``path`` as .npy, and beside it a manifest that says which row is which file."""
        path, manifest = path.with_suffix(".npy"), path.with_suffix(".json")
        with files.replacing(path, "wb") as file:
            np.save(file, self.embeddings, allow_pickle=False)
        rows = [str(file) for file in self.files]
        files.write_json(manifest, {"model": str(model), "distance": self.distance, "files": rows})
        return path, manifest

    @classmethod
    def load(cls, path: Path) -> Gallery:
        manifest = files.read_json(path.with_suffix(".json"))
        try:
            embeddings = np.load(path, mmap_mode="r", allow_pickle=False)
            gallery = cls(embeddings, tuple(map(Path, manifest["files"])), manifest["distance"])
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise UserError(f"{path} and its .json are no gallery that embed wrote: {problem}.") from None
        if embeddings.shape[:1] != (len(gallery.files),):
            raise UserError(
                f"{path} has {len(embeddings)} rows, and its manifest names {len(gallery.files)} files."
            )
        return gallery


class Model:
    """The networks of a trial, or exported ones."""

    def __init__(self, target: Path, which: str = "best", engine: str = "float32"):
        from .backbones.engines import Engine
        from .training import scoring

        self.members: Sequence[Any] = (
            export.read(target) if target.suffix == ".json" else scoring.learners(target, which)
        )
        for member in self.members:
            member.extractor = Engine(member.network, engine)
        self.trial = self.members[0].trial

    def embed(self, paths: Sequence[Path]) -> Gallery:
        """The images in these files, prepared as the trial's test images are."""
        from .training import models

        transform = transforms.create(**self.trial.transform)
        names = tuple(str(path) for path in paths)
        catalogue = Catalogue(
            "files", "test", Path(), names, np.zeros(len(names), np.int32), ("all",), cached=False
        )
        dataset = Dataset(
            "files", "test", Live(catalogue, self._stored(transform)), catalogue.labels, catalogue.class_names
        )
        return Gallery(
            models.embed(self.members, dataset, transform), tuple(paths), self.trial.evaluation.distance
        )

    def _stored(self, transform: transforms.Transform) -> Stored:
        """Pictures come in all sizes; where the trial's data had one of its own, they get that."""
        size = self.trial.data.get("size")
        if transform.stored_for_test.resize == "none" and isinstance(size, int):
            return Stored("squash", size)
        return transform.stored_for_test


def images_in(folder: Path) -> list[Path]:
    """All images of a folder and the folders in it, in the order of their names."""
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}.")
    found = {str(path): path for path in folder.rglob("*") if is_image(path)}
    if not found:
        raise UserError(f"there are no images in {folder} (known: {', '.join(decoding.SUFFIXES)}).")
    return [found[name] for name in natural(found)]


def nearest(query: np.ndarray, gallery: Gallery, count: int) -> list[tuple[Path, float]]:
    """The ``count`` images nearest to a query (E,), with their distances; equal ones in the gallery's
    order."""
    if query.shape != gallery.embeddings.shape[1:]:
        raise UserError(
            f"the query has {query.shape[0]} numbers and the gallery {gallery.embeddings.shape[1]}: "
            "they are of different models."
        )
    distances = _distances(query, np.asarray(gallery.embeddings), gallery.distance)
    order = np.argsort(distances, kind="stable")[:count]
    return [(gallery.files[row], float(distances[row])) for row in order]


def _distances(query: np.ndarray, points: np.ndarray, kind: str) -> np.ndarray:
    if kind == "hamming":
        return ((points > 0) != (query > 0)).sum(axis=1).astype(float)
    if kind == "cosine":
        return 1 - _unit(points) @ _unit(query)
    return np.linalg.norm(points - query, axis=1)


def _unit(points: np.ndarray) -> np.ndarray:
    return points / np.maximum(np.linalg.norm(points, axis=-1, keepdims=True), 1e-12)


def picture(query: Path, found: Sequence[tuple[Path, float]]) -> Image.Image:
    """The query and what was found, in a row, with distances."""
    captions = ["query", *(f"{distance:.3f}" for _, distance in found)]
    paths = [query, *(path for path, _ in found)]
    sheet = Image.new("RGB", (len(paths) * (CELL + GAP) + GAP, CELL + LINE + 2 * GAP), "white")
    drawing = ImageDraw.Draw(sheet)
    for column, (path, caption) in enumerate(zip(paths, captions)):
        left = GAP + column * (CELL + GAP)
        sheet.paste(Image.fromarray(decoding.read(path, Stored("squash", CELL))), (left, GAP))
        drawing.text((left, GAP + CELL + 2), caption, fill="black")
    return sheet
