"""The page: one HTML file that needs nothing else. Tables are HTML; figures and trials are data that ``page.js`` draws."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..records import Record
from .cells import Arena, Cell, Problem, flatten
from .figures import Figure, position
from .glance import Answer
from .statistics import Summary
from .tables import Quoted, Seconds, Table, text

CURVES = ("R@1", "NMI")


@dataclass
class Section:
    """All that is shown of one arena."""

    arena: Arena
    answers: list[Answer]
    tables: list[Table]
    figures: list[Figure]


@dataclass
class Page:
    title: str
    about: str
    store: str
    sections: list[Section]
    notes: list[str] = field(default_factory=list)


def render(page: Page) -> str:
    here = Path(__file__).parent
    body = [
        _header(page),
        *(_section(section, number) for number, section in enumerate(page.sections)),
        _trials(page),
    ]
    content = {"store": page.store, "figures": _figures(page.sections), "cells": _cells(page.sections)}
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(page.title)}</title>
<style>
{(here / "page.css").read_text(encoding="utf-8")}</style>
</head>
<body>
<main>
{"".join(body)}
</main>
<dialog id="trial"></dialog>
<div id="tip" role="status" hidden></div>
<script type="application/json" id="data">{embedded(content)}</script>
<script>
{(here / "page.js").read_text(encoding="utf-8")}</script>
</body>
</html>
"""


def escape(content: Any) -> str:
    return html.escape(str(content))


def embedded(content: Any) -> str:
    """JSON that cannot end its script element, whatever a record says."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _header(page: Page) -> str:
    about = f"<p class=about>{escape(page.about)}</p>" if page.about else ""
    notes = "".join(f"<p class=warning>{escape(note)}</p>" for note in page.notes)
    return f"<header><h1>{escape(page.title)}</h1>{about}{notes}</header>"


def _section(section: Section, number: int) -> str:
    cards = "".join(
        f"<div class=card><h3>{escape(one.question)}</h3><p class=answer>{escape(one.answer)}</p>"
        + "".join(f"<p>{escape(detail)}</p>" for detail in one.details)
        + "</div>"
        for one in section.answers
    )
    charts = "".join(
        f'<figure><figcaption>{escape(figure.title)}</figcaption><div class=chart data-figure="{number}-{figure.name}"></div>'
        f"<p class=note>{escape(figure.note)}</p></figure>"
        for figure in section.figures
    )
    return (
        f"<section><h2>{escape(section.arena.title)}</h2><div class=cards>{cards}</div>"
        f"{''.join(table_html(table) for table in section.tables)}<div class=figures>{charts}</div></section>"
    )


def table_html(table: Table) -> str:
    heads = "".join(
        f'<th scope=col class="{"num" if column.numeric else ""}" title="{escape(column.about)}">'
        f"<button type=button>{escape(column.name)}</button></th>"
        for column in table.columns
    )
    rows = "".join(_row_html(table, row) for row in table.rows)
    notes = "".join(f"<li>{escape(note)}</li>" for note in table.notes)
    return (
        f'<div class=block><h3>{escape(table.title)}</h3><div class=scroll><table class="sortable ranking" id="{table.name}">'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div><ul class=notes>{notes}</ul></div>"
    )


def _row_html(table: Table, row) -> str:
    cells = []
    for index, (value, column) in enumerate(zip(row.values, table.columns)):
        shown = escape(text(value))
        if index in row.bold:
            shown = f"<strong>{shown}</strong>"
        if index == 0 and row.cell:
            shown = f'<a href="#" data-cell="{escape(row.cell)}">{shown}</a>'
        tag = "th scope=row" if index == 0 else "td"
        classes = " ".join(["num"] * column.numeric + ["quoted"] * isinstance(value, Quoted))
        key = sort_key(value)
        cells.append(
            f'<{tag} class="{classes}" data-label="{escape(column.name)}" data-key="{escape(key)}" title="{escape(_hover(value))}">'
            f"{shown}</{tag[:2]}>"
        )
    return f'<tr class="{row.kind}">{"".join(cells)}</tr>'


def sort_key(value: Any) -> Any:
    if isinstance(value, Summary):
        return value.mean
    return "" if value is None else getattr(value, "value", value)


def _hover(value: Any) -> str:
    """What stands behind a number."""
    if isinstance(value, Summary):
        seeds = ", ".join(f"seed {seed}: {one:.2f}" for seed, one in value.values.items())
        interval = "95 % interval {:.2f} to {:.2f}; ".format(*value.interval) if value.interval else ""
        return interval + seeds
    if isinstance(value, Quoted):
        return f"quoted: {value.source}" + (f"; doubtful: {value.doubt}" if value.doubt else "")
    return f"{value.value:.1f} s" if isinstance(value, Seconds) else ""


def _trials(page: Page) -> str:
    return (
        "<section><h2>Trials</h2><p>Every trial with its configuration, curves and health; choose one to open it.</p>"
        "<p><input type=search id=filter placeholder='filter, for instance npairs failed' aria-label='filter the trials'></p>"
        "<div class=scroll><table id=trials class=sortable></table></div></section>"
    )


# --- data for page.js ---------------------------------------------------------------------------------------------


def _figures(sections: Iterable[Section]) -> dict[str, Any]:
    return {
        f"{number}-{figure.name}": rounded(asdict(figure))
        for number, section in enumerate(sections)
        for figure in section.figures
    }


def _cells(sections: Iterable[Section]) -> list[dict[str, Any]]:
    return [_cell(cell, section.arena) for section in sections for cell in section.arena.cells]


def _cell(cell: Cell, arena: Arena) -> dict[str, Any]:
    trials = [
        *(_finished(record) for record in cell.records),
        *(_problem(problem) for problem in cell.problems),
    ]
    config = {key: value for key, value in flatten(cell.config).items() if key != "seed"}
    return {
        "key": cell.key, "label": cell.label, "arena": arena.title, "config": config, "factors": list(cell.factors),
        "trials": sorted(trials, key=lambda trial: trial["seed"]),
    }  # fmt: skip


def _finished(record: Record) -> dict[str, Any]:
    shown = {which: outcome for which, outcome in record.results.items() if which != "untrained"}
    scores = {}
    for which, outcome in shown.items():
        for number, one in enumerate(outcome if isinstance(outcome, list) else [outcome]):
            scores[f"{which} {number}" if isinstance(outcome, list) else which] = one["metrics"]
    return {**_trial(record), "scores": rounded(scores), "curves": rounded(_curves(record))}


def _trial(record: Record) -> dict[str, Any]:
    return {
        "id": record.id, "seed": record.seed, "status": record.status, "seconds": round(record.seconds, 1), "started": record.started,
        "versions": record.versions, "machine": record.machine, "data": record.data,
    }  # fmt: skip


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "id": problem.id,
        "seed": problem.config["seed"],
        "status": problem.status,
        "reason": problem.reason,
    }


def _curves(record: Record) -> dict[str, dict[str, list]]:
    """Every quantity's values by epoch: name -> fold -> points."""
    curves: dict[str, dict[str, list]] = {}
    for entry in record.epochs:
        found = {
            metric: 100 * value for metric, value in entry.get("metrics", {}).items() if metric in CURVES
        }
        if "loss" in entry:
            found["loss"] = entry["loss"]
        found.update(entry.get("health") or {})
        for quantity, value in found.items():
            if value is not None:
                curves.setdefault(quantity, {}).setdefault(f"fold {entry['fold']}", []).append(
                    [position(record, entry), value]
                )
    return curves


def rounded(content: Any) -> Any:
    """The same with five significant digits, for the page's size."""
    if isinstance(content, float):
        return float(f"{content:.5g}")
    if isinstance(content, Mapping):
        return {key: rounded(value) for key, value in content.items()}
    return [rounded(one) for one in content] if isinstance(content, list) else content
