"""find a learning rate: train briefly while the rate rises"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from .. import run_summary
from ..arguments import add_trial_options, count, place
from .train import given

if TYPE_CHECKING:
    from ...reports.figures import Figure
    from ...trial.config import Trial
    from ...trial.training.lr_finder import Rates

EXAMPLE = "lr npairs --set embed_dim=128"
PAGE = "configuration"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("config", help="a YAML file with the trial's configuration, or a method's name")
    add_trial_options(command)
    command.add_argument("--low", type=float, default=1e-7, help="the rate of the first step")
    command.add_argument("--high", type=float, default=1.0, help="the rate of the last step")
    command.add_argument(
        "--steps",
        type=count,
        default=100,
        help="how many steps; fewer if the loss explodes",
    )
    command.add_argument(
        "--out", type=place, help="the figure, .png or .svg (default: lr-METHOD.svg in the current folder)"
    )


def run(arguments: Namespace) -> int:
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
        return 0
    from ...base import files
    from ...reports import figure_files

    found = lr_finder.find(trial, arguments.low, arguments.high, arguments.steps)
    path.parent.mkdir(parents=True, exist_ok=True)
    with files.replacing(path, "wb") as file:
        file.write(figure_files.draw(_figure(trial, found))[path.suffix])
    print(_as_text(found, arguments.high))
    print(f"drawn in {path}")
    return 0


def _as_text(found: Rates, high: float) -> str:
    lines = []
    if found.rates[-1] < high * 0.999:
        lines.append(f"The loss explodes above {found.rates[-1]:.1e}.")
    if found.suggestion is None:
        return "\n".join(
            [*lines, "The loss does not fall at any of these rates; try others with --low and --high."]
        )
    lines.append(f"The loss falls fastest at {found.suggestion:.1e} and is lowest at {found.lowest:.1e}.")
    return "\n".join([*lines, f"Suggested: --set optimizer.lr={found.suggestion:.1e}"])


def _figure(trial: Trial, found: Rates) -> Figure:
    from ...reports.figures import Figure, Series

    each = Series("each step", x=found.rates, y=found.losses)
    mean = Series("mean around it", x=found.rates, y=found.smoothed)
    series = [each, mean]
    if found.suggestion is not None:
        at = found.rates.index(found.suggestion)
        series.append(
            Series(
                f"suggested: {found.suggestion:.1e}",
                x=[found.suggestion],
                y=[found.smoothed[at]],
                colours=[1],
            )
        )
    title = f"Loss of {trial.method['name']} while its learning rate rises"
    return Figure("lr", title, "lines", "learning rate", "loss", series, log=True)
