"""The page of a ladder, for an owner of pictures: how good the search is, examples, what it needs, what to do next."""

import base64
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from ...base import files, layout
from ...parts import data, metrics, protocols
from ...parts.data.shared import decoding
from ...parts.transforms.shared.stored import Stored
from ...reports.page import document, escape, table_html
from ...reports.tables import Column, Row, Seconds, Table
from ...trial.store.records import Record
from ..judge import NAMES, judge
from ..model import Model
from ..neighbours import unit
from .ladder import Ladder, duration

EXAMPLES, FOUND, PIXELS = 6, 5, 112  # rows of right and of wrong searches, images in a row, of a side
WORDS = ("first image right", "all images of the class first")  # what the scores say to an owner of pictures
STYLE = """
.strip{display:flex;gap:6px;flex-wrap:wrap;margin:8px 0}.strip figure{margin:0;width:116px}.strip img{display:block;
border:2px solid transparent}.strip .yes img{border-color:#1a7f37}.strip .no img{border-color:#b42318}
.strip figcaption{font-size:12px;overflow-wrap:anywhere}pre{overflow-x:auto}
"""


class Delivered:
    """What a trial delivers, measured on images of classes that it has not seen."""

    def __init__(self, model: Model, record: Record):
        options = {**model.trial.data, "split": "test"}
        catalogue, dataset = data.catalogue(**options), data.load(**options, stored=model.stored)
        rows = unit(model.embed_dataset(dataset))
        alike = rows[:5000] @ rows.T
        np.fill_diagonal(alike, -np.inf)
        image, thousand = dataset.images[0], np.resize(rows, (1000, rows.shape[1]))
        self.model, self.record = model, record
        self.judgement = judge(rows, dataset.labels)
        # Of each image, the nearest others.
        self.neighbours = np.argsort(-alike, axis=1, kind="stable")[:, :FOUND]
        self.paths = [catalogue.path(row) for row in range(len(catalogue))]
        self.threshold = model.threshold()
        # Seconds for one image, and to compare it with a thousand others.
        self.embedding = duration(model.embed([image]) for _ in range(6))
        self.search = duration(thousand @ rows[0] for _ in range(6))


def table(ladder: Ladder) -> Table:
    """The ladder: every rung with its seconds and its scores, what is delivered in bold."""
    scores = [Column(f"{name} (95 % interval)") for name in NAMES]
    rows = []
    for rung in ladder.rungs:
        shown = [_interval(rung.scores[name], rung.intervals[name]) for name in NAMES]
        rows.append(Row([rung.name, *shown, Seconds(rung.seconds)], {0} if rung is ladder.best else set()))
    notes = [f"{name}: {words}, in percent." for name, words in zip(NAMES, WORDS)]
    notes.append("Measured on images of classes that no step was trained on. Bold (*): delivered.")
    if below := [rung.name for rung in ladder.rungs if rung.worse]:
        notes.append(f"Not delivered, for they are worse than the untouched network: {', '.join(below)}.")
    if ladder.reason:
        notes.append(f"{ladder.reason[0].upper()}{ladder.reason[1:]}.")
    columns = [Column("step", numeric=False), *scores, Column("time")]
    return Table("ladder", "The ladder", f"{len(ladder.rungs)} steps", columns, rows, notes)


def _interval(score: float, ends: Sequence[float]) -> str:
    return f"{100 * score:.1f} ({100 * ends[0]:.1f} to {100 * ends[1]:.1f})"


def summary(found: Delivered) -> list[str]:
    """The scores on test classes, the threshold, memory and time, in a sentence each."""
    name, match, size = NAMES[0], found.threshold, 4 * found.model.width / 1000
    low, high = found.judgement.interval(name)
    entry = found.record.results.get(protocols.UNTOUCHED)
    shown = metrics.get(name).shown(entry["metrics"][name]) if entry else ""
    before = f"; of the untouched network: {shown} %" if entry else ""
    return [
        f"On {layout.plural(len(found.paths), 'image')} of {len(set(found.judgement.labels.tolist()))} classes that it has "
        f"never seen, the first image found is of the right class in {100 * found.judgement.score(name):.1f} % of the "
        f"searches (95 % interval {100 * low:.1f} to {100 * high:.1f}){before}.",
        f"Two images match if their distance is at most {match.distance:.4f}. Then {100 * match.false_accepts:.1f} % of the "
        f"pairs of different classes match wrongly, and {100 * match.false_rejects:.1f} % of the pairs of one class are missed.",
        f"An image takes {layout.plural(found.model.width, 'number')}, {size:.1f} kB: a million of them {size:,.1f} "
        f"GB. A search takes {1000 * found.embedding:.0f} ms for the network and {1000 * found.search:.2f} ms for each thousand "
        "images.",
    ]


def write(
    out: Path, title: str, ladder: Ladder, found: Delivered, left_out: Sequence[str], commands: Sequence[str]
) -> Path:
    """Write the page. Returns its path."""
    lines = "".join(f"<li>{escape(line)}</li>" for line in left_out)
    parts = [
        f"<header><h1>{escape(title)}</h1></header>",
        *(f"<p>{escape(sentence)}</p>" for sentence in summary(found)),
        table_html(table(ladder)),
        *_examples(found),
        f"<h2>Left out</h2><ul>{lines}</ul>" if left_out else "",
        f"<h2>What to do next</h2><pre>{escape(chr(10).join(commands))}</pre>",
    ]
    with files.replacing(out / "index.html") as file:
        file.write(document(title, "".join(parts), style=STYLE))
    return out / "index.html"


def _examples(found: Delivered) -> list[str]:
    """Searches with test images drawn at random: where the nearest image is of their class, and where it is not."""
    labels = found.judgement.labels
    order = np.random.default_rng(0).permutation(len(found.neighbours))
    right = labels[found.neighbours[order, 0]] == labels[order]
    drawn = {"right": order[right], "wrong": order[~right]}
    return [
        f"<h2>Searches that are {kind}</h2>"
        + ("".join(_strip(row, found) for row in rows[:EXAMPLES]) or "<p>There is none.</p>")
        for kind, rows in drawn.items()
    ]


def _strip(row: int, found: Delivered) -> str:
    labels, path = found.judgement.labels, found.paths[row]
    figures = [_figure(path, f"searched for: {path.parent.name}", "")]
    for other in found.neighbours[row]:
        mark, kind = ("✓", "yes") if labels[other] == labels[row] else ("✗", "no")
        figures.append(_figure(found.paths[other], f"{mark} {found.paths[other].parent.name}", kind))
    return f'<div class="strip">{"".join(figures)}</div>'


def _figure(path: Path, caption: str, kind: str) -> str:
    image = ImageOps.contain(Image.fromarray(decoding.read(path, Stored("none"))), (PIXELS, PIXELS))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=80)
    source = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<figure class="{kind}"><img alt="{escape(path.parent.name)}" src="data:image/jpeg;base64,{source}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
