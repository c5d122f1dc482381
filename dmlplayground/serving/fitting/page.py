"""The page of a ladder, for an owner of pictures: how good the search is, examples, what it needs, what to do next."""

from __future__ import annotations

import base64
import io
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np
from PIL import Image, ImageOps

from ... import reports
from ...base import files, layout
from ...parts import data, metrics, protocols
from ...parts.transforms.shared.stored import Stored
from ...reports.page import escape, table_html
from ...reports.tables import Column, Row, Seconds, Table
from ...serving.distances import unit
from ...trial.store.records import Record
from ..judge import NAMES, Judgement, judge
from ..matching import Threshold
from ..model import Model
from .ladder import Ladder

EXAMPLES, FOUND, PIXELS = 6, 5, 112  # rows of right and of wrong searches, images in a row, of a side
WORDS = ("first image right", "all images of the class first")  # what the scores say to an owner of pictures


@dataclass(frozen=True)
class Delivered:
    """What was delivered, measured on the test classes."""

    model: Model
    record: Record
    judgement: Judgement
    neighbours: np.ndarray  # of each test image, the places of the nearest others
    paths: list[Path]
    threshold: Threshold
    embedding: float  # seconds for one image
    search: float  # and to compare it with a thousand others


def delivered(model: Model, record: Record) -> Delivered:
    """Measure what a trial delivers on images of classes that it has not seen."""
    options = {key: value for key, value in model.trial.data.items() if key != "name"}
    catalogue = data.catalogue(model.trial.data["name"], "test", **options)
    dataset = data.load(model.trial.data["name"], "test", stored=model.stored, **options)
    rows = unit(model.embed_dataset(dataset))
    alike = rows @ rows.T if len(rows) <= 5000 else rows[:5000] @ rows.T
    np.fill_diagonal(alike, -np.inf)
    nearest = np.argsort(-alike, axis=1, kind="stable")[:, :FOUND]
    paths = [catalogue.path(row) for row in range(len(catalogue))]
    image = dataset.images[0]
    thousand = np.resize(rows, (1000, rows.shape[1]))
    return Delivered(
        model,
        record,
        judge(rows, dataset.labels),
        nearest,
        paths,
        model.threshold(),
        _median(lambda: model.embed([image])),
        _median(lambda: thousand @ rows[0]),
    )


def _median(work: Any) -> float:
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken[1:])


def table(ladder: Ladder) -> Table:
    """The ladder: every rung with its seconds and its scores, what is delivered in bold."""
    columns = [
        Column("step", numeric=False),
        *(Column(f"{name} (95 % interval)") for name in NAMES),
        Column("time"),
    ]
    rows = []
    for rung in ladder.rungs:
        shown = [_interval(rung.scores[name], rung.intervals[name]) for name in NAMES]
        rows.append(
            Row([rung.name, *shown, Seconds(rung.seconds)], bold={0} if rung is ladder.best else set())
        )
    notes = [f"{name}: {words}, in percent." for name, words in zip(NAMES, WORDS)]
    notes.append("Measured on images of classes that no step was trained on. Bold (*): delivered.")
    if any(rung.worse for rung in ladder.rungs):
        below = [rung.name for rung in ladder.rungs if rung.worse]
        notes.append(f"Not delivered, for they are worse than the untouched network: {', '.join(below)}.")
    if ladder.reason:
        notes.append(f"{ladder.reason[0].upper()}{ladder.reason[1:]}.")
    return Table("ladder", "The ladder", f"{len(ladder.rungs)} steps", columns, rows, notes)


def _interval(score: float, ends: Sequence[float]) -> str:
    return f"{100 * score:.1f} ({100 * ends[0]:.1f} to {100 * ends[1]:.1f})"


def summary(found: Delivered) -> list[str]:
    """The scores on test classes, the threshold, memory and time, in a sentence each."""
    name = NAMES[0]
    low, high = found.judgement.interval(name)
    sentences = [
        f"On {layout.plural(len(found.paths), 'image')} of {len(set(found.judgement.labels.tolist()))} classes that it has "
        f"never seen, the first image found is of the right class in {100 * found.judgement.score(name):.1f} % of the "
        f"searches (95 % interval {100 * low:.1f} to {100 * high:.1f}){_untouched(found, name)}."
    ]
    width = found.model.width
    match = found.threshold
    sentences.append(
        f"Two images match if their distance is at most {match.distance:.4f}. Then {100 * match.false_accepts:.1f} % of the "
        f"pairs of different classes match wrongly, and {100 * match.false_rejects:.1f} % of the pairs of one class are missed."
    )
    sentences.append(
        f"An image takes {layout.plural(width, 'number')}, {4 * width / 1000:.1f} kB: a million of them {4 * width / 1000:,.1f} "
        f"GB. A search takes {1000 * found.embedding:.0f} ms for the network and {1000 * found.search:.2f} ms for each thousand "
        "images."
    )
    return sentences


def _untouched(found: Delivered, name: str) -> str:
    entry = found.record.results.get(protocols.UNTOUCHED)
    return f"; of the untouched network: {metrics.get(name).shown(entry['metrics'][name])} %" if entry else ""


def write(
    out: Path, title: str, ladder: Ladder, found: Delivered, left_out: Sequence[str], commands: Sequence[str]
) -> Path:
    """Write the page. Returns its path."""
    style = (Path(reports.__file__).parent / "page.css").read_text(encoding="utf-8")
    parts = [f"<p>{escape(sentence)}</p>" for sentence in summary(found)]
    parts.append(table_html(table(ladder)))
    right, wrong = _examples(found)
    parts += [
        _strips("Searches that are right", right, found),
        _strips("Searches that are wrong", wrong, found),
    ]
    if left_out:
        parts.append(
            "<h2>Left out</h2><ul>" + "".join(f"<li>{escape(line)}</li>" for line in left_out) + "</ul>"
        )
    lines = "\n".join(map(escape, commands))
    parts.append(f"<h2>What to do next</h2><pre>{lines}</pre>")
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, '
        f'initial-scale=1"><title>{escape(title)}</title><style>{style}{STYLE}</style></head>'
        f"<body><main><header><h1>{escape(title)}</h1></header>{''.join(parts)}</main></body></html>\n"
    )
    path = out / "index.html"
    with files.replacing(path) as file:
        file.write(page)
    return path


STYLE = """
.strip{display:flex;gap:6px;flex-wrap:wrap;margin:8px 0}.strip figure{margin:0;width:116px}.strip img{display:block;
border:2px solid transparent}.strip .yes img{border-color:#1a7f37}.strip .no img{border-color:#b42318}
.strip figcaption{font-size:12px;overflow-wrap:anywhere}pre{overflow-x:auto}
"""


def _examples(found: Delivered) -> tuple[list[int], list[int]]:
    """Test images, drawn at random, whose nearest image is of their class, and others."""
    labels = found.judgement.labels
    order = np.random.default_rng(0).permutation(len(found.neighbours))
    good = [int(row) for row in order if labels[found.neighbours[row][0]] == labels[row]]
    bad = [int(row) for row in order if labels[found.neighbours[row][0]] != labels[row]]
    return good[:EXAMPLES], bad[:EXAMPLES]


def _strips(title: str, rows: Iterable[int], found: Delivered) -> str:
    labels = found.judgement.labels
    strips = [
        '<div class="strip">'
        + _figure(found.paths[row], f"searched for: {found.paths[row].parent.name}")
        + "".join(
            _figure(found.paths[other], None, "yes" if labels[other] == labels[row] else "no")
            for other in found.neighbours[row]
        )
        + "</div>"
        for row in rows
    ]
    return f"<h2>{title}</h2>{''.join(strips) or '<p>There is none.</p>'}"


def _figure(path: Path, caption: Optional[str], kind: str = "") -> str:
    from ...parts.data.shared import decoding

    image = ImageOps.contain(Image.fromarray(decoding.read(path, Stored("none"))), (PIXELS, PIXELS))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=80)
    source = base64.b64encode(buffer.getvalue()).decode()
    words = {"yes": "✓ ", "no": "✗ "}.get(kind, "") + (caption or path.parent.name)
    return (
        f'<figure class="{kind}"><img alt="{escape(path.parent.name)}" src="data:image/jpeg;base64,{source}">'
        f"<figcaption>{escape(words)}</figcaption></figure>"
    )
