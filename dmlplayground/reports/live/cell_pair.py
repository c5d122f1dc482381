"""Two cells of a store side by side: which settings differ, and whether their scores differ by more than noise."""

import html
from pathlib import Path

from ...base.errors import unknown
from .. import grouping, page, usable_records
from ..compare import of_cells
from ..tables import Column, Row, Table


def body(store: Path, left: str, right: str) -> str:
    """The page's content for the cells with these keys; without keys, only the form to choose two."""
    known = {cell.key: cell for arena in grouping.arenas(usable_records.load(store)) for cell in arena.cells}
    title = '<h1>Two cells side by side</h1><p><a href="./">back to the report</a></p>'
    parts = [title, _choice(known, left, right)]
    if left and right:
        for key in (left, right):
            if key not in known:
                raise unknown("cell", key, known)
        parts.append(f"<h2>{html.escape(known[left].label)} and {html.escape(known[right].label)}</h2>")
        parts.append(page.table_html(_settings(known[left], known[right])))
        parts.append(page.table_html(of_cells(known[left], known[right])))
    return "".join(parts)


def _choice(known: dict[str, grouping.Cell], left: str, right: str) -> str:
    """A form without a script: the chosen cells are part of the address, which can be shared."""
    menus = []
    for name, chosen in (("left", left), ("right", right)):
        options = "".join(
            f'<option value="{key}"{" selected" * (key == chosen)}>{html.escape(cell.label)}</option>'
            for key, cell in known.items()
        )
        menus.append(f'<label>{name} <select name="{name}">{options}</select></label>')
    return f'<form method="get">{" ".join(menus)} <button type="submit">compare</button></form>'


def _settings(left: grouping.Cell, right: grouping.Cell) -> Table:
    """The settings in which two cells differ."""
    ours, theirs = left.settings, right.settings
    rows = [
        Row([key, grouping.plain(ours.get(key, "-")), grouping.plain(theirs.get(key, "-"))])
        for key in {**ours, **theirs}
        if ours.get(key) != theirs.get(key) and key not in grouping.SEED_AND_PLACE
    ]
    heads = "setting", f"left: {left.label}", f"right: {right.label}"
    columns = [Column(head, numeric=False) for head in heads]
    return Table("settings", "What differs", "", columns, rows, [] if rows else ["They do not differ."])
