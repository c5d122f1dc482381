"""list the built-in experiments, or describe one"""

from __future__ import annotations

from ... import layout
from .. import text

EXAMPLE = "experiments fehervari2019/table2_cub200"
PAGE = "experiments"


def add_arguments(command) -> None:
    command.add_argument("name", nargs="?", help="an experiment, or a file of your own, to describe")


def run(arguments) -> None:
    print(told(arguments.name) if arguments.name else table())


def table() -> str:
    from ... import resources
    from ...sweeps import grid

    rows = [("experiment", "title")]
    for name in resources.experiment_names():
        rows.append((name, grid.load(name)[0].title))
    return layout.columns(rows) + (
        "\n\nDescribe one: dmlplayground experiments NAME"
        "\nList its trials: dmlplayground sweep NAME --dry-run"
        "\nRun it: dmlplayground sweep NAME"
        "\n\nSearches (run one: dmlplayground tune NAME):\n"
        + layout.fill(", ".join(resources.search_names()), "  ")
    )


def told(name: str) -> str:
    """What an experiment is for, its grid, and its file."""
    from ...sweeps import grid

    experiment, path = grid.load(name)
    size = len(experiment.choices())
    rows = [(f"  {axis}", text.value(values)) for axis, values in experiment.grid.items()]
    parts = [
        f"{path.stem}: {experiment.title}",
        layout.fill(experiment.about),
        f"A grid of {layout.plural(size, 'trial')}:\n{layout.columns(rows)}" if rows else "",
        f"Its file: {path}",
    ]
    return "\n\n".join(filter(None, parts))
