"""What the embeddings look like: nearest neighbours and a map, from the samples that trials have kept."""

import base64
import html
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..trial.store import snapshots
from .grouping import Arena

SIDE = 320  # of a map, in its own units
BUDGET = 2_400_000  # characters of the page that pictures may take; a trial's are 30,000 to 70,000
COMPONENTS = (
    "Test images of {classes} classes drawn at random, on the two principal components of their embeddings "
    "({share:.0%} of the variance)."
)
TSNE = "The same images placed by t-SNE: neighbours stay near, distances beyond them mean nothing."
LEFT_OUT = "Pictures of {} are left out: the page would grow too large."


class Picture(NamedTuple):
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
        score = cell.score  # made of all of its records
        record = min(cell.records, key=lambda record: abs(score.values[record.seed] - score.mean))
        if content := snapshots.load(store / record.id, record.id):
            found.append(Picture(cell.label, record.seed, content))
    return found


def within_budget(arenas: Sequence[Arena], store: Path) -> tuple[list[list[Picture]], list[str]]:
    """The pictures of each arena that the page has room for, and the labels of the others."""
    left = BUDGET
    kept: list[list[Picture]] = []
    dropped = []
    for arena in arenas:
        kept.append([])
        for picture in of_arena(arena, store):
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


def maps(picture: Picture) -> Iterator[str]:
    """Every map of the picture as HTML, with what it shows."""
    content = picture.content
    yield _map(picture, "map", COMPONENTS.format(classes=len(content["map_names"]), share=content["share"]))
    if "tsne" in content:
        yield _map(picture, "tsne", TSNE)


def _map(picture: Picture, which: str, about: str) -> str:
    """Points in the colours of their classes."""
    points, labels = picture.content[which], picture.content["map_labels"]
    low, high = points.min(axis=0), points.max(axis=0)
    places = 4 + (points - low) * (SIDE / max(float((high - low).max()), 1e-9))
    width, height = places.max(axis=0) + 4
    groups, legend = "", ""
    for number, name in enumerate(map(html.escape, picture.content["map_names"])):
        own = places[labels == number]
        circles = "".join(f'<circle cx="{x:.1f}" cy="{height - y:.1f}" r="3"/>' for x, y in own)
        colour = f'style="--of:var(--c{number % 8})"'
        groups += f'<g data-tip="{name}" {colour}>{circles}</g>'
        legend += f"<span {colour}>{name}</span>"
    title = html.escape(f"{picture.label}: map of {len(picture.content['map_names'])} classes")
    return (
        f'<figure><div class="chart map" role="img" aria-label="{title}"><svg viewBox="0 0 {width:.0f} {height:.0f}">{groups}'
        f'</svg></div><p class="legend">{legend}</p><p class="note">{html.escape(about)}</p></figure>'
    )
