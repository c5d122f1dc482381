"""What the embeddings look like: nearest neighbours and a map, from the samples that trials have kept."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..trial.store import snapshots
from ..trial.store.records import Record
from .grouping import Arena, Cell

BUDGET = 2_400_000  # characters of the page that pictures may take; a trial's are 30,000 to 70,000
COMPONENTS = (
    "Test images of {classes} classes drawn at random, on the two principal components of their embeddings "
    "({share:.0%} of the variance)."
)
TSNE = "The same images placed by t-SNE: neighbours stay near, distances beyond them mean nothing."
LEFT_OUT = "Pictures of {} are left out: the page would grow too large."


@dataclass(frozen=True)
class Picture:
    """One trial's samples."""

    label: str
    seed: int
    content: dict[str, Any]

    @property
    def sheet(self) -> str:
        return base64.b64encode(self.content["sheet"].tobytes()).decode()


def of_arena(arena: Arena, store: Path) -> list[Picture]:
    """The samples of every method at its best setting: those of the seed nearest to the mean, not of the luckiest one."""
    found = []
    for cell in arena.champions():
        record = _typical(cell)
        content = snapshots.load(store / record.id, record.id)
        if content:
            found.append(Picture(cell.label, record.seed, content))
    return found


def _typical(cell: Cell) -> Record:
    score = cell.score  # made of all of its records
    return min(cell.records, key=lambda record: abs(score.values[record.seed] - score.mean))


def within_budget(groups: Iterable[list[Picture]]) -> tuple[list[list[Picture]], list[str]]:
    """The pictures that the page has room for, and the labels of the others."""
    left = BUDGET
    kept: list[list[Picture]] = []
    dropped = []
    for pictures in groups:
        kept.append([])
        for picture in pictures:
            if len(picture.sheet) <= left:
                left -= len(picture.sheet)
                kept[-1].append(picture)
            else:
                dropped.append(picture.label)
    return kept, dropped


def strips(picture: Picture) -> str:
    """The queries with their nearest neighbours, as HTML. All images are cut from one sheet."""
    names, right = picture.content["names"], picture.content["right"]
    rows = []
    for row, (classes, flags) in enumerate(zip(names, right)):
        marks = ["query", *("right" if flag else "wrong" for flag in flags)]
        cells = "".join(
            f'<i class={mark} style="--x:{column};--y:{row}" title="{html.escape(f"{mark}: {name}")}"></i>'
            for column, (mark, name) in enumerate(zip(marks, classes))
        )
        rows.append(f"<div>{cells}</div>")
    size = f"--columns:{right.shape[1] + 1};--rows:{len(right)}"
    sheet = f"--sheet:url(data:image/jpeg;base64,{picture.sheet})"
    return f'<div class=strips style="{size};{sheet}">{"".join(rows)}</div>'


def maps(picture: Picture) -> list[tuple[str, dict[str, Any]]]:
    """Every map of the picture: what it shows, and its points by class for the page to draw."""
    content = picture.content
    shown = [(COMPONENTS.format(classes=len(content["map_names"]), share=content["share"]), content["map"])]
    if "tsne" in content:
        shown.append((TSNE, content["tsne"]))
    return [(about, _flat_map(picture, points)) for about, points in shown]


def _flat_map(picture: Picture, points: np.ndarray) -> dict[str, Any]:
    labels, names = picture.content["map_labels"], picture.content["map_names"]
    return {
        "kind": "map",
        "title": f"{picture.label}: map of {len(names)} classes",
        "series": [
            {"name": name, "x": points[labels == i, 0].tolist(), "y": points[labels == i, 1].tolist()}
            for i, name in enumerate(names)
        ],
    }
