"""Your own images: a list of them."""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...base import files
from ...base.errors import UserError, unknown
from . import KIND
from .shared.catalogue import BOX, Catalogue, Entry, is_box, lines, own

COLUMNS = ("path", "label", "split", "box")
SPLITS = ("train", "test", "query", "gallery")


@KIND.register("list", title="Your own images: a list with their classes", yours=True)
def load(split: str, *, path: str, boxes: bool = False, **others: Any) -> Catalogue:
    """Images named in a file, CSV with a header or JSON lines (.jsonl), with the columns path, label and, if
    you like, split and box.

    A path is below the list's folder unless it is absolute. split is train, test, query or gallery; a row
    without one is left out if others have one. box is x, y, width and height in pixels: in CSV with spaces
    between them.

    path: the list.
    """
    file = files.expanded(path)
    entries = [_entry(row, f"{file}, line {number}") for number, row in _rows(file)]
    return own("list", split, file.parent, entries, boxes, **others)


def _rows(file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    text = lines(file)
    if file.suffix.lower() in (".jsonl", ".ndjson"):
        for number, line in enumerate(text, 1):
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                raise UserError(f"{file}, line {number} is not JSON.") from None
    else:
        rows = csv.DictReader(text, skipinitialspace=True)
        try:
            yield from enumerate(rows, 2)
        except csv.Error as problem:
            raise UserError(f"{file}, line {rows.line_num} is not valid CSV: {problem}.") from None


def _entry(row: Any, where: str) -> Entry:
    if not isinstance(row, Mapping):
        raise UserError(f"{where} is not a mapping of {', '.join(COLUMNS)}.")
    for name in row:
        if name not in COLUMNS:
            raise unknown(f"column in {where}:", name, COLUMNS)
    if row.get("path") in (None, "") or row.get("label") in (None, ""):
        raise UserError(f"{where} needs a path and a label.")
    split = row.get("split") or ""
    if split and split not in SPLITS:
        raise unknown(f"split in {where}:", split, SPLITS)
    return Entry(str(row["path"]), str(row["label"]), split, _box(row.get("box"), where))


def _box(given: Any, where: str) -> tuple[float, float, float, float] | None:
    if given in (None, ""):
        return None
    try:
        x, y, width, height = map(float, given.split() if isinstance(given, str) else given)
        if is_box((x, y, width, height)):
            return x, y, width, height
    except (TypeError, ValueError, OverflowError):
        pass
    raise UserError(f"{where}: {BOX}, not {given!r}.")
