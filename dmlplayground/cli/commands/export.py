"""write a trained network for plain MXNet"""

from __future__ import annotations

from pathlib import Path

from ..arguments import add_model

EXAMPLE = "export runs/TRIAL exported/npairs"


def add_arguments(command) -> None:
    add_model(command, "a trial's folder")
    command.add_argument("out", type=Path, help="where to: OUT.json, OUT-symbol.json and OUT-0000.params")


def run(arguments) -> None:
    from ... import export
    from ...training import scoring

    for path in export.write(scoring.learners(arguments.model, arguments.which), arguments.out):
        print(path)
