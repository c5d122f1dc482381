"""see where a method stands in an arena of the findings, without training the others again"""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace

from ...base import layout
from .. import arguments as kinds

EXAMPLE = "place proxy_nca --in glyphs --quick"
PAGE = "place"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument(
        "method", metavar="METHOD", nargs="?", default="",
        help="a method, or a file with one of your own (my_loss.py); with --command: the name of its row",
    )  # fmt: skip
    command.add_argument("--command", metavar="LINE", help="the command of an external training, with {job}")
    command.add_argument(
        "--in", dest="arena", required=True, metavar="ARENA",
        help="an arena, such as glyphs, or a folder with search.yaml, finals.yaml and their records",
    )  # fmt: skip
    command.add_argument(
        "--quick", action="store_true", help="only a first idea, from the shortest trainings"
    )
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE",
        help="set an option of the method instead of searching it, or give it a range (repeatable)",
    )  # fmt: skip
    command.add_argument(
        "--store", type=kinds.place, help="where the records go (default: runs/place/ARENA/METHOD)"
    )
    kinds.add_executor(command)
    command.add_argument(
        "--dry-run", action="store_true", help="check everything, say what would be searched, and stop"
    )


def run(arguments: Namespace) -> None:
    from ... import reports
    from ...reports.place import place
    from ...sweeps import arenas
    from . import tune

    given = {key: getattr(arguments, key) for key in ("method", "arena", "command", "store")}
    given["overrides"] = arguments.set
    entry = arenas.enter(**given)
    if arguments.dry_run:
        tune.dry_run(entry.searches, entry.store / arenas.SEARCH)
        return
    print(f"{entry.name} in the arena {entry.arena.name}, records in {entry.store}", flush=True)
    how = {key: getattr(arguments, key) for key in ("quick", "workers", "executor", "address", "log")}
    found = place(**given, **how, quiet=False)
    print("\n".join(["", reports.terminal(found.table), "", *map(layout.fill, found.said)]))
    if found.page:
        print(f"\npage: {found.page}")
        print(f"hand it on: {shlex.join(['dmlplayground', 'bundle', str(entry.store / arenas.FINALS)])}")
