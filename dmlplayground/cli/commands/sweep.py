"""run a grid of trials and report on it"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from .. import run_summary, text
from ..arguments import add_executor, add_trial_options
from . import serve

EXAMPLE = "sweep quickstart --workers 2"
PAGE = "studies"


def add_arguments(command) -> None:
    command.add_argument("file", help="an experiment file, or the name of one of ours (such as quickstart)")
    add_trial_options(command)
    command.add_argument(
        "--where", action="append", default=[], metavar="KEY=VALUE", help="only these trials of the grid"
    )
    command.add_argument("--store", type=Path, help="where the records go (default: runs/NAME)")
    add_executor(command)
    command.add_argument("--retry-failed", action="store_true", help="run again what failed before")
    command.add_argument(
        "--serve",
        action="store_true",
        help=f"serve the live page at http://127.0.0.1:{serve.PORT}/ while the sweep runs",
    )
    command.add_argument(
        "--print-commands",
        action="store_true",
        help="print a command for each trial that is left, for any scheduler, and stop",
    )


def run(arguments) -> int:
    from ...sweeps import executors, grid, runner, worklist

    experiment, path = grid.load(arguments.file)
    trials = experiment.trials(arguments.where, arguments.set)
    store = arguments.store or Path("runs") / path.stem
    if arguments.dry_run:
        run_summary.dry_run(trials, store, elsewhere=arguments.executor != "local")
        return 0
    worklist.write(store, experiment, path, trials, part=bool(arguments.where or arguments.set))
    if arguments.print_commands:
        print("\n".join(worklist.commands(store, worklist.jobs(store, trials, arguments.retry_failed))))
        return 0
    print(run_summary.conditions(trials))
    print(f"{experiment.title}: {text.plural(len(trials), 'trial')}, records in {store}", flush=True)
    executor = executors.create(arguments.executor, arguments.address, arguments.tensorboard)
    if arguments.serve:
        print(f"live page: {serve.beside(store)}", flush=True)
    try:
        runner.run(store, trials, executor, workers=arguments.workers, retry_failed=arguments.retry_failed)
    except KeyboardInterrupt:
        print(text.tally(worklist.tally(store, trials)), file=sys.stderr)
        raise
    run_summary.report(store)
    states = worklist.tally(store, trials)
    print(text.tally(states))
    if states["failed"]:
        print(f"run what failed again: {_rerun(arguments, store)}")
    return 1 if states["failed"] or states["unreadable"] else 0


def _rerun(arguments, store: Path) -> str:
    """The command that runs just what failed."""
    chosen = [part for rule in arguments.where for part in ("--where", rule)]
    chosen += [part for override in arguments.set for part in ("--set", override)]
    return shlex.join(
        ["dmlplayground", "sweep", arguments.file, "--store", str(store), *chosen, "--retry-failed"]
    )
