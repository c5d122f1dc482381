"""list what the cache of data sets holds, and delete it

The cache is rebuilt when it is needed. Stores, data sets and weights are not touched."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from ...base import files, layout

EXAMPLE = "clean --yes"
PAGE = "getting-started"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("--yes", action="store_true", help="delete it without asking")


def run(arguments: Namespace) -> None:
    from ...parts.data.shared import cache

    found = list(_entries(cache.folder()))
    if not found:
        print(f"the cache {cache.folder()} is empty.")
        return
    sizes = [_bytes(entry) for entry in found]
    rows = [
        (f"{size / 1e6:,.1f} MB", str(entry.relative_to(cache.folder()))) for entry, size in zip(found, sizes)
    ]
    print(f"the cache {cache.folder()} holds\n{layout.columns(rows)}\n{sum(sizes) / 1e6:,.1f} MB in all")
    if arguments.yes or _agreed():
        for entry in found:
            files.remove(entry)
        print("freed.")
    else:
        print("nothing was deleted; --yes deletes it.")


def _entries(folder: Path) -> Iterator[Path]:
    """The entries of the cache, each of which has a list of its contents; the digests of data sets; what killed processes
    have left. Anything else there is not ours."""
    from ...parts.data import parquet
    from ...parts.data.shared import cache, decoded_cache

    for place, mark in ((".", cache.CHECKSUMS), ("images", decoded_cache.INDEX), ("parquet", parquet.LIST)):
        for path in sorted((folder / place).glob(f"*/{mark}")):
            if not path.parent.is_symlink() and not path.parent.name.startswith("."):
                yield path.parent
        yield from sorted(files.abandoned(folder / place))
        yield from filter(files.free_lock, sorted((folder / place).glob(".*.lock")))
    yield from sorted((folder / cache.CONTENTS).glob("*.json"))
    yield from sorted(files.abandoned(folder / cache.CONTENTS))


def _bytes(path: Path) -> int:
    return sum(one.stat().st_size for one in (path, *path.rglob("*")) if one.is_file())


def _agreed() -> bool:
    """Whether there is somebody to ask, and the answer is yes."""
    return sys.stdin.isatty() and input("delete all of it? [y/N] ").strip().lower() in ("y", "yes")
