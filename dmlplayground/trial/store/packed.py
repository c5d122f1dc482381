"""A store's records in one file, ``records.jsonl.gz``: for repositories, and to hand on. Whatever reads a store reads it
like folders of ``record.json``; a folder of the same trial counts before it.

It holds a record in each line, by id, with every epoch, and no weights and no pictures. The same records give the same bytes.
"""

import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...base import files
from ...base.errors import UserError

FILE = "records.jsonl.gz"


def write(store: Path, contents: Iterable[Mapping[str, Any]]) -> Path:
    """Write the file of a store with these records, as plain mappings."""
    path = store / FILE
    ordered = sorted(contents, key=lambda content: content["id"])
    with files.replacing(path, "wb") as target, gzip.GzipFile("", "wb", 9, target, mtime=0) as packed:
        for content in ordered:
            packed.write(json.dumps(content, separators=(",", ":")).encode() + b"\n")
    return path


def read(path: Path) -> Mapping[str, Any]:
    """The records in such a file by id, as plain mappings; none if there is no such file."""
    try:
        look = path.stat()
    except OSError:
        return {}
    return _read(path, look.st_mtime_ns, look.st_size)


@lru_cache(maxsize=8)  # a sweep asks for one trial after the other
def _read(path: Path, *_: int) -> Mapping[str, Any]:
    found = {}
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                content = json.loads(line)
                found[content["id"]] = content
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as problem:
        raise UserError(f"{path} is not a file of packed records, or is damaged: {problem}.") from None
    return found
