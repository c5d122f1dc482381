"""search for a method's best settings, or for those of many, judged on validation classes"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ...base import layout
from ..arguments import add_executor, place
from . import hyperparams

if TYPE_CHECKING:
    from ...sweeps.search_space import Search

EXAMPLE = "tune search.yaml --workers 2"
PAGE = "studies"
ALL = "all"
EQUAL = Path("equal/search/tune_glyphs")


def add_arguments(command) -> None:
    command.add_argument(
        "file",
        type=place,
        nargs="?",
        default=EQUAL,
        help="a search file (a configuration with ranges in place of values), or the name of a built-in one "
        f"(default: {EQUAL}, which tunes the methods of three studies alike)",
    )
    command.add_argument(
        "--methods",
        default=ALL,
        metavar="NAME,NAME",
        help="of a file that searches for many methods, those to search for (default: all that it names)",
    )
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a setting or its range (repeatable)",
    )
    command.add_argument(
        "--store", type=place, help="where the records and the result go (default: runs/NAME)"
    )
    add_executor(command)
    command.add_argument(
        "--dry-run", action="store_true", help="check everything, say what would be searched, and stop"
    )


def run(arguments) -> None:
    from ...sweeps import search_files

    names = [] if arguments.methods == ALL else [name.strip() for name in arguments.methods.split(",")]
    wanted = search_files.load_all(arguments.file, arguments.set, names)
    store = arguments.store or Path("runs") / arguments.file.stem
    if arguments.dry_run:
        dry_run(wanted, store)
        return
    for name, search in wanted.items():
        _search(search, store / name, arguments)
    print(winner(store) if "" in wanted else winners(store, wanted))


def dry_run(wanted: Mapping[str, Search], store: Path) -> None:
    """What would be searched, after trying both ends of every range."""
    for name, search in wanted.items():
        search.check()
        print(layout.columns([(key, str(parameter)) for key, parameter in search.parameters.items()]))
        print(f"{layout.plural(search.trials, 'trial')} of {search.title}, into {store / name}")


def _search(search: Search, store: Path, arguments) -> None:
    from ...sweeps import tune

    print(f"{search.title}: {layout.plural(search.trials, 'trial')}, records in {store}", flush=True)
    tune(
        search,
        store,
        workers=arguments.workers,
        executor=arguments.executor,
        address=arguments.address,
        log=arguments.log,
        quiet=False,
    )


def winner(store: Path) -> str:
    """What a search found, and what to do with it."""
    from ...sweeps.optuna_search import BEST, REPEAT, REPEATS

    again = ["dmlplayground", "sweep", str(store / REPEAT), "--store", f"{store}-repeat"]
    return (
        f"\n{hyperparams.winner(store / BEST)}\n\nuse it: --hyperparams {shlex.quote(str(store / BEST))}"
        f"\ntrain it {REPEATS} times: {shlex.join(again)}"
    )


def winners(store: Path, methods: Mapping[str, Search]) -> str:
    """The winners of several searches, the best on validation classes first."""
    from ...sweeps.optuna_search import BEST
    from ...trial import hyperparams as settings

    found = [settings.read(store / name / BEST) for name in methods]
    highest_first = next(iter(methods.values())).direction == "maximize"
    found.sort(key=lambda file: file.search["value"], reverse=highest_first)
    rows = [(file.method, f"{file.search['value']:.4f}", file.search["criterion"]) for file in found]
    table = layout.columns([("method", "value", "criterion"), *rows])
    return f"\n{table}\n\nuse them: --hyperparams {shlex.quote(str(store))}"
