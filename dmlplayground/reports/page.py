"""The page: one HTML file that needs nothing else. Tables are HTML; its script draws figures and trials."""

import html
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import count, repeat
from pathlib import Path
from typing import Any

from ..studies.published import Quoted
from . import embedding_pictures, figure_files, trial_details
from .answers import Answer
from .embedding_pictures import Picture
from .figures import INTERVAL, Figure
from .grouping import Arena
from .leaderboard import LEADERBOARD
from .statistics import Summary
from .tables import Column, Row, Seconds, Table, bare, text

HERE = Path(__file__).parent
Drawn = tuple[Figure, dict[str, bytes]]  # a figure with its files, by suffix


@dataclass
class Section:
    """All that is shown of one arena, or of several together."""

    title: str
    tables: list[Table]  # the first is the one to see first
    figures: list[Drawn] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)


@dataclass
class Page:
    title: str
    about: str
    store: str  # as written in the commands
    sections: list[Section]
    arenas: list[Arena]
    warnings: list[str]

    @property
    def leaderboards(self) -> list[Table]:
        tables = (table for section in self.sections for table in section.tables)
        return [table for table in tables if table.kind == LEADERBOARD]


def render(page: Page) -> str:
    cells = trial_details.of_arenas(page.arenas)
    content = {
        "store": page.store,
        "made": trial_details.shared(cells),
        "step": trial_details.thinned(cells),
        "cells": cells,
        "percent": sorted(trial_details.in_percent(cells)),
    }
    script = (HERE / "page.js").read_text(encoding="utf-8")
    below = f"""<dialog id="trial"></dialog>
<div id="tip" role="status" hidden></div>
<script type="application/json" id="data">{embedded(content)}</script>
<script>
{script}</script>
"""
    about = f'<p class="about">{escape(page.about)}</p>' if page.about else ""
    warnings = "".join(f'<p class="warning">{escape(warning)}</p>' for warning in page.warnings)
    header = f"<header><h1>{escape(page.title)}</h1>{about}{warnings}</header>"
    return document(page.title, f"{header}{''.join(map(_section, page.sections))}{TRIALS}", below)


def document(title: str, main: str, below: str = "", style: str = "") -> str:
    """A page in the style of all pages, with what it adds to that."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{(HERE / "page.css").read_text(encoding="utf-8")}{style}</style>
</head>
<body>
<main>
{main}
</main>
{below}</body>
</html>
"""


TRIALS = """
<section class="screen"><h2>Trials</h2>
<p>Every trial with its configuration, curves and health; click one to open it.</p>
<p><input type="search" id="filter" placeholder="filter, e.g. margin failed" aria-label="filter"></p>
<div class="scroll"><table id="trials" class="sortable"></table></div>
</section>"""


def escape(content: Any) -> str:
    return html.escape(str(content))


def embedded(content: Any) -> str:
    """JSON that cannot end its script element, whatever a record says."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _section(section: Section) -> str:
    first, *others = _without_repetition(section.tables)
    cards = f'<div class="cards">{"".join(map(_card, section.answers))}</div>' if section.answers else ""
    return (
        f"<section><h2>{escape(section.title)}</h2>{cards}{table_html(first)}{_figures(section.figures)}"
        f"{_pictures(section.pictures)}{''.join(map(table_html, others))}</section>"
    )


def _without_repetition(tables: list[Table]) -> Iterable[Table]:
    """The same tables, with every note only once, at its first place."""
    said: set[str] = set()
    for table in tables:
        yield replace(table, notes=[note for note in table.notes if note not in said])
        said.update(table.notes)


def _card(answer: Answer) -> str:
    details = "".join(f"<p>{escape(detail)}</p>" for detail in answer.details)
    head = f'<h3>{escape(answer.question)}</h3><p class="answer">{escape(answer.answer)}</p>'
    return f'<div class="card">{head}{details}</div>'


def _figures(drawn: Iterable[Drawn]) -> str:
    figures = "".join(
        f'<figure><div class="chart {figure.kind}" role="img" aria-label="{escape(figure.title)}">'
        f'{figure_files.inline(files[".svg"])}</div><p class="note">{escape(figure.note)}</p></figure>'
        for figure, files in drawn
    )
    return f'<div class="figures">{figures}</div><p class="note">{escape(INTERVAL)}</p>' if figures else ""


STRIPS = (
    "Every method at its best setting, the seed nearest to the mean. Queries drawn at random, each followed "
    "by its nearest neighbours: right (✓) and wrong (✗)."
)


def _pictures(found: list[Picture]) -> str:
    if not found:
        return ""
    parts = "".join(
        f'<details class="pictures"{" open" * (picture is found[0])}><summary>{escape(picture.label)} '
        f'<span class="soft">seed {picture.seed}</span></summary><div class="looks">'
        f"{embedding_pictures.strips(picture)}{''.join(embedding_pictures.maps(picture))}</div></details>"
        for picture in found
    )
    title = f'<h3>What the embeddings look like</h3><p class="note">{STRIPS}</p>'
    return f'<div class="block">{title}{parts}</div>'


def table_html(table: Table) -> str:
    heads = ""
    for column in table.columns:
        kind = ' class="num"' if column.numeric else ""
        about = f' title="{escape(column.about)}"' if column.about else ""
        heads += f'<th scope="col"{kind}{about}><button type="button">{escape(column.name)}</button></th>'
    rows = "".join(
        f'<tr class="{row.kind}">{"".join(map(_cell_html, count(), table.columns, repeat(row)))}</tr>'
        for row in table.rows
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    return (
        f'<div class="block"><h3>{escape(table.title)}</h3><div class="scroll">'
        f'<table class="sortable ranking" id="{table.name}"><thead><tr>{heads}</tr></thead>'
        f'<tbody>{rows}</tbody></table></div><ul class="notes">{notes}</ul></div>'
    )


def _cell_html(index: int, column: Column, row: Row) -> str:
    value = row.values[index]
    shown = escape(text(value)).replace("± ", "±\u00a0")  # where a line must break, before the spread
    if index in row.bold:
        shown = f"<strong>{shown}</strong>"
    if index == 0 and row.cell:
        shown = f'<a href="#" data-cell="{escape(row.cell)}">{shown}</a>'
    classes = " ".join(["num"] * column.numeric + ["quoted"] * isinstance(value, Quoted))
    hover = f' title="{escape(_hover(value))}"' if _hover(value) else ""
    label, key = escape(column.name), escape(bare(value))
    attributes = f'class="{classes}" data-label="{label}" data-key="{key}"{hover}'
    return f'<th scope="row" {attributes}>{shown}</th>' if index == 0 else f"<td {attributes}>{shown}</td>"


def _hover(value: Any) -> str:
    """The single values behind a number."""
    if isinstance(value, Summary) and value:
        seeds = ", ".join(f"seed {seed}: {one:.2f}" for seed, one in value.values.items())
        interval = "95 % interval {:.2f} to {:.2f}; ".format(*value.interval) if value.interval else ""
        return interval + seeds
    if isinstance(value, Quoted):
        return f"quoted: {value.source}" + (f"; doubtful: {value.doubt}" if value.doubt else "")
    return f"{value.value:.1f} s" if isinstance(value, Seconds) else ""
