"""find a learning rate: train briefly while the rate rises"""

from pathlib import Path
from typing import TYPE_CHECKING

from .. import run_summary
from ..arguments import Command, Namespace, add_trial_options, count, place
from .train import given

if TYPE_CHECKING:
    from ...reports.figures import Figure
    from ...trial.config import Trial
    from ...trial.training.lr_finder import Rates

EXAMPLE = "lr npairs --set embed_dim=128"
PAGE = "configuration"


def add_arguments(command: Command) -> None:
    command.takes("config", "a YAML file with the trial's configuration, or a method's name")
    add_trial_options(command)
    command.takes("--low", "the rate of the first step", float, 1e-7)
    command.takes("--high", "the rate of the last step", float, 1.0)
    command.takes("--steps", "how many steps; fewer if the loss explodes", count, 100)
    command.takes("--out", "the figure, .png or .svg (default: lr-METHOD.svg in the current folder)", place)


def run(arguments: Namespace) -> None:
    from ...base.errors import UserError
    from ...trial import config

    trial = config.trial(given(arguments.config), arguments.set)
    path = arguments.out or Path(f"lr-{trial.method['name']}.svg")
    if path.suffix not in (".png", ".svg"):
        raise UserError(f"--out must end in .png or .svg, not {path}.")
    notes = run_summary.look([trial])
    from ...trial.training import lr_finder

    lr_finder.check(trial, arguments.low, arguments.high, arguments.steps)
    if arguments.dry_run:
        rates = f"rates from {arguments.low:g} to {arguments.high:g}"
        print("\n".join([*notes, f"{trial.id}: {arguments.steps} steps at {rates}, drawn in {path}"]))
        return
    from ...base import files
    from ...reports import figure_files

    found = lr_finder.find(trial, arguments.low, arguments.high, arguments.steps)
    path.parent.mkdir(parents=True, exist_ok=True)
    with files.replacing(path, "wb") as file:
        file.write(figure_files.draw(_figure(trial, found))[path.suffix])
    if found.rates[-1] < arguments.high * 0.999:
        print(f"The loss explodes above {found.rates[-1]:.1e}.")
    if found.suggestion is None:
        print("The loss does not fall at any of these rates; try others with --low and --high.")
    else:
        print(f"The loss falls fastest at {found.suggestion:.1e} and is lowest at {found.lowest:.1e}.")
        print(f"Suggested: --set optimizer.lr={found.suggestion:.1e}")
    print(f"drawn in {path}")


def _figure(trial: "Trial", found: "Rates") -> "Figure":
    from ...reports.figures import Figure, Series

    each = Series("each step", x=found.rates, y=found.losses)
    series = [each, Series("mean around it", x=found.rates, y=found.smoothed)]
    if (rate := found.suggestion) is not None:
        height = found.smoothed[found.rates.index(rate)]
        series.append(Series(f"suggested: {rate:.1e}", x=[rate], y=[height], colours=[1]))
    title = f"Loss of {trial.method['name']} while its learning rate rises"
    return Figure("lr", title, "lines", "learning rate", "loss", series, log=True)
