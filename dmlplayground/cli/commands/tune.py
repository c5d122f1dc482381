"""search for a method's best settings, judged on validation classes"""

from __future__ import annotations

import shlex
from pathlib import Path

from ... import layout
from ..arguments import add_executor, place
from . import hyperparams

EXAMPLE = "tune search.yaml --workers 2"
PAGE = "studies"


def add_arguments(command) -> None:
    command.add_argument(
        "file",
        type=place,
        help="a search file (a configuration with ranges in place of values), or the name of a built-in one",
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
    from ...sweeps import search_space

    wanted = search_space.load(arguments.file, arguments.set)
    store = arguments.store or Path("runs") / arguments.file.stem
    if arguments.dry_run:
        wanted.check()
        print(layout.columns([(key, str(parameter)) for key, parameter in wanted.parameters.items()]))
        print(f"{layout.plural(wanted.trials, 'trial')} of {wanted.title}, into {store}")
        return
    from ...sweeps import optuna_search, tune

    print(f"{wanted.title}: {layout.plural(wanted.trials, 'trial')}, records in {store}", flush=True)
    winner = tune(
        wanted,
        store,
        workers=arguments.workers,
        executor=arguments.executor,
        address=arguments.address,
        log=arguments.log,
        quiet=False,
    )
    print(f"\n{hyperparams.winner(winner)}\n\nuse it: --hyperparams {shlex.quote(str(winner))}")
    repeat = winner.with_name(optuna_search.REPEAT)
    again = shlex.join(["dmlplayground", "sweep", str(repeat), "--store", f"{store}-repeat"])
    print(f"train it {optuna_search.REPEATS} times: {again}")
