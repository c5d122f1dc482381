"""run a grid of trials and report on it"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from itertools import chain
from pathlib import Path

from ...base import layout
from .. import run_summary, text
from ..arguments import add_executor, add_trial_options, place
from . import serve

EXAMPLE = "sweep quickstart --workers 2"
PAGE = "studies"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument(
        "file", help="an experiment file, or the name of a built-in one (such as quickstart)"
    )
    add_trial_options(command)
    command.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="run only these trials of the grid (repeatable; method=[margin, npairs] keeps several)",
    )
    command.add_argument("--store", type=place, help="where the records go (default: runs/NAME)")
    add_executor(command)
    command.add_argument("--retry-failed", action="store_true", help="run failed trials again")
    command.add_argument(
        "--serve",
        action="store_true",
        help=f"serve the live page at http://127.0.0.1:{serve.PORT}/ while the sweep runs",
    )
    command.add_argument(
        "--print-commands",
        action="store_true",
        help="print one command for each remaining trial, for any scheduler, and stop",
    )


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
        print(text.tally(chosen.tally()), file=sys.stderr)
        raise
    run_summary.report(chosen.store)
    states = chosen.tally()
    print(text.tally(states))
    if states["failed"]:
        print(f"run failed trials again: {_rerun(arguments, chosen.store)}")
    return 1 if states["failed"] or states["unreadable"] else 0


def _rerun(arguments: Namespace, store: Path) -> str:
    """The command that runs only the failed trials."""
    given = [("--where", rule) for rule in arguments.where] + [("--set", one) for one in arguments.set]
    words = ["sweep", arguments.file, "--store", str(store), *chain(*given), "--retry-failed"]
    return shlex.join(["dmlplayground", *words])
