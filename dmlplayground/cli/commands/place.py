"""see where a method stands in an arena of the findings, without training the others again"""

import shlex

from ...base import layout
from ..arguments import Command, Namespace, add_executor
from ..arguments import place as a_place

EXAMPLE = "place proxy_nca --in glyphs --quick"
PAGE = "place"


def add_arguments(command: Command) -> None:
    about = "a method, or a file with one of your own (my_loss.py); with --command: the name of its row"
    command.takes("method METHOD", about, nargs="?", default="")
    command.takes("--command LINE", "the command of an external training, with {job}")
    about = "an arena, such as glyphs, or a folder with search.yaml, finals.yaml and their records"
    command.takes("--in ARENA", about, dest="arena", required=True)
    command.flag("--quick", "only a first idea, from the shortest trainings")
    about = "set an option of the method instead of searching it, or give it a range"
    command.repeats("--set KEY=VALUE", about)
    command.takes("--store", "where the records go (default: runs/place/ARENA/METHOD)", a_place)
    add_executor(command)
    command.flag("--dry-run", "check everything, say what would be searched, and stop")


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
