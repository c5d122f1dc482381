"""train one trial"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...base.errors import neither
from .. import run_summary
from ..arguments import Command, Namespace, add_log, add_trial_options, place, threads

EXAMPLE = "train npairs --set embed_dim=128 --set seed=1 --store runs"
PAGE = "getting-started"


def add_arguments(command: Command) -> None:
    command.takes("config", "a YAML file with the trial's configuration, or a method's name")
    add_trial_options(command)
    command.takes("--store", "where the record goes", place, Path("runs"))
    command.takes("--threads", "CPU threads for MXNet; use more than one only on an idle machine", threads)
    command.flag("--quiet", "no progress bar")
    add_log(command)


def run(arguments: Namespace) -> int:
    from ...trial import config
    from ...trial.store import records

    wanted = given(arguments.config)
    trial = config.trial(wanted, arguments.set)
    recipe = config.recipe(wanted, arguments.set)
    if arguments.dry_run:
        run_summary.dry_run([trial], arguments.store, recipe)
        return 0
    folder = config.Places(arguments.store).folder(trial)
    known = records.find(folder)
    if known is None or known.status != "finished":  # finished results need no device
        known = None
        run_summary.look([trial])
    # Goes to standard error with the progress; results go to standard output.
    print(run_summary.conditions([trial], recipe), file=sys.stderr)
    if known:
        began = f"it began on {known.started}"
        print(f"nothing to do: this trial has finished already ({began}).", file=sys.stderr)
    from ...trial.training import TrialFailed, train

    try:
        record = train(trial, arguments.store, quiet=arguments.quiet, log=arguments.log)
    except TrialFailed as failure:
        print(f"{failure}\nthe traceback is in {folder / records.RECORD}", file=sys.stderr)
        return 1
    print(run_summary.results(record, folder))
    return 0


def given(text: str) -> Mapping[str, Any]:
    """A method's name, or a file with a configuration."""
    from ...parts import methods
    from ...trial import config

    if text in methods.names():
        return {"method": text}
    if text and Path(text).exists():
        return config.read(text)
    raise neither("method", text, methods.names())
