"""search for a method's best settings, or for those of many, judged on validation classes"""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ...base import layout
from ..arguments import add_executor, add_set, place
from . import hyperparams

if TYPE_CHECKING:
    from ...sweeps.search_space import Search
    from ...trial import hyperparams as settings

EXAMPLE = "tune search.yaml --workers 2"
PAGE = "studies"
ALL = "all"
EQUAL = Path("equal/search/tune_glyphs")


def add_arguments(command: ArgumentParser) -> None:
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
    add_set(command, "change a setting or its range")
    command.add_argument(
        "--store", type=place, help="where the records and the result go (default: runs/NAME)"
    )
    add_executor(command)
    command.add_argument(
        "--dry-run", action="store_true", help="check everything, say what would be searched, and stop"
    )


def run(arguments: Namespace) -> None:
    from ...sweeps import search_files

    names = [] if arguments.methods == ALL else [name.strip() for name in arguments.methods.split(",")]
    wanted = search_files.load_all(arguments.file, arguments.set, names)
    store = arguments.store or Path("runs") / arguments.file.stem
    if arguments.dry_run:
        dry_run(wanted, store)
        return
    from ...sweeps import executors, searches  # SciPy, which listing does without

    with executors.opened(arguments.executor, arguments.address, arguments.log) as executor:
        searches.tune_all(wanted, store, executor, workers=arguments.workers, quiet=False)
    print(winner(store) if "" in wanted else winners(store, wanted))


def dry_run(wanted: Mapping[str, Search], store: Path) -> None:
    """What would be searched, after trying both ends of every range."""
    for name, search in wanted.items():
        search.check()
        print(layout.columns([(key, str(one)) for key, one in search.parameters.items()]))
        trials = layout.plural(search.trials, "trial")
        print(f"{trials} of {search.title}{_rungs(search)}, into {store / name}")


def _rungs(search: Search) -> str:
    """How long the trials are, where that differs."""
    if not search.rungs:
        return ""
    rungs = (
        f"{rung.trials} of length {rung.share}" + f" on {rung.folds} folds" * (rung.folds > 1)
        for rung in search.rungs
    )
    passes = sum(rung.trials * rung.share * rung.folds for rung in search.rungs) * search.images
    return f" ({', '.join(rungs)}; {int(passes):,} images in all)"


def winner(store: Path) -> str:
    """What a search found, and what to do with it."""
    from ...sweeps.winners import BEST, REPEAT, REPEATS

    again = ["dmlplayground", "sweep", str(store / REPEAT), "--store", f"{store}-repeat"]
    return (
        f"\n{hyperparams.winner(store / BEST)}\n\nuse it: --hyperparams {shlex.quote(str(store / BEST))}"
        f"\ntrain it {REPEATS} times: {shlex.join(again)}"
    )


def winners(store: Path, wanted: Mapping[str, Search]) -> str:
    """The winners of several searches, the best on validation classes first."""
    from ...sweeps.winners import BEST
    from ...trial import hyperparams as settings

    found = [(name, settings.read(store / name / BEST)) for name in wanted]
    highest_first = next(iter(wanted.values())).direction == "maximize"
    found.sort(key=lambda pair: pair[1].search["value"], reverse=highest_first)
    rows = [
        (name, f"{file.search['value']:.4f}", file.search["criterion"], _edges(file)) for name, file in found
    ]
    table = layout.columns([("search" if "/" in rows[0][0] else "method", "value", "criterion", ""), *rows])
    return f"\n{table}\n\nuse them: --hyperparams {shlex.quote(str(store))}"


def _edges(file: settings.Hyperparams) -> str:
    """The values that stand at an end of their range, beyond which there may be better ones."""
    edges = file.search.get("edges", {})
    return f"at the edge: {', '.join(f'{key} ({edge})' for key, edge in edges.items())}" if edges else ""
