"""list what the cache of data sets holds, and delete it

The cache is rebuilt when it is needed. Stores, data sets and weights are not touched."""

import sys
from collections.abc import Iterator
from pathlib import Path

from ...base import files, layout
from ..arguments import Command, Namespace

EXAMPLE = "clean --yes"
PAGE = "getting-started"


def add_arguments(command: Command) -> None:
    command.flag("--yes", "delete it without asking")


def run(arguments: Namespace) -> None:
    from ...parts.data.shared import cache

    folder = cache.folder()
    found = {entry: _megabytes(entry) for entry in _entries(folder)}
    if not found:
        print(f"the cache {folder} is empty.")
        return
    rows = [(f"{size:,.1f} MB", str(entry.relative_to(folder))) for entry, size in found.items()]
    print(f"the cache {folder} holds\n{layout.columns(rows)}\n{sum(found.values()):,.1f} MB in all")
    agreed = arguments.yes
    if not agreed and sys.stdin.isatty():
        agreed = input("delete all of it? [y/N] ").strip().lower() in ("y", "yes")
    if agreed:
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


def _megabytes(path: Path) -> float:
    return sum(one.stat().st_size for one in (path, *path.rglob("*")) if one.is_file()) / 1e6
