"""run a grid of trials and report on it"""

import shlex
import sys
from itertools import chain
from pathlib import Path

from ...base import layout
from .. import run_summary
from ..arguments import Command, Namespace, add_executor, add_trial_options, place
from . import serve

EXAMPLE = "sweep quickstart --workers 2"
PAGE = "studies"


def add_arguments(command: Command) -> None:
    command.takes("file", "an experiment file, or the name of a built-in one (such as quickstart)")
    add_trial_options(command)
    about = "run only these trials of the grid; method=[margin, npairs] keeps several"
    command.repeats("--where KEY=VALUE", about)
    command.takes("--store", "where the records go (default: runs/NAME)", place)
    add_executor(command)
    command.flag("--retry-failed", "run failed trials again")
    command.flag("--serve", f"serve the live page at http://127.0.0.1:{serve.PORT}/ while the sweep runs")
    about = "print one command for each remaining trial, for any scheduler, and stop"
    command.flag("--print-commands", about)


def run(arguments: Namespace) -> int:
    from ...sweeps.chosen import choose

    chosen = choose(arguments.file, arguments.store, arguments.where, arguments.set)
    if arguments.dry_run:
        run_summary.dry_run(chosen.trials, chosen.store, elsewhere=arguments.executor != "local")
        return 0
    if arguments.print_commands:
        print("\n".join(chosen.commands(arguments.retry_failed)))
        return 0
    print(run_summary.conditions(chosen.trials))
    count = layout.plural(len(chosen.trials), "trial")
    print(f"{chosen.experiment.title}: {count}, records in {chosen.store}", flush=True)
    if arguments.serve:
        chosen.state()  # so that the page knows what is to come
        print(f"live page: {serve.beside(chosen.store)}", flush=True)
    try:
        where = arguments.executor, arguments.address, arguments.log
        chosen.run(*where, workers=arguments.workers, retry_failed=arguments.retry_failed)
    except KeyboardInterrupt:
        print(run_summary.tally(chosen.tally()), file=sys.stderr)
        raise
    run_summary.report(chosen.store, anew=False)
    states = chosen.tally()
    print(run_summary.tally(states))
    if states["failed"]:
        print(f"run failed trials again: {_rerun(arguments, chosen.store)}")
    return 1 if states["failed"] or states["unreadable"] else 0


def _rerun(arguments: Namespace, store: Path) -> str:
    """The command that runs only the failed trials."""
    given = [("--where", rule) for rule in arguments.where] + [("--set", one) for one in arguments.set]
    words = ["sweep", arguments.file, "--store", str(store), *chain(*given), "--retry-failed"]
    return shlex.join(["dmlplayground", *words])
