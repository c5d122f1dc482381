"""list the built-in experiments and searches, or describe one"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ...base import layout
from .. import text

EXAMPLE = "experiments fehervari2019/table2_cub200"
PAGE = "experiments"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument(
        "name", nargs="?", help="an experiment, a search, or an experiment file, to describe"
    )


def run(arguments: Namespace) -> None:
    from ...base import resources

    if not arguments.name:
        print(table())
    elif resources.SEARCH in arguments.name and not Path(arguments.name).exists():
        print(searched(arguments.name))
    else:
        print(as_text(arguments.name))


def table() -> str:
    from ...base import resources
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


def as_text(name: str) -> str:
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


def searched(name: str) -> str:
    """What a search is for, its ranges, and its file."""
    from ...base import resources
    from ...sweeps import search_files

    searches = search_files.load_all(name)
    path = resources.find_search(name)
    first = next(iter(searches.values()))
    trials = layout.plural(first.trials, "trial")
    if "" in searches:
        title = first.title
        rows = [(f"  {key}", str(parameter)) for key, parameter in first.parameters.items()]
        what = f"A search of {trials}:\n{layout.columns(rows)}"
    else:
        title = first.title.rpartition(": ")[0]
        what = layout.fill(
            f"A search of {trials} for each of {len(searches)} methods: {', '.join(searches)}."
        )
    parts = [f"{path.stem}: {title}", layout.fill(first.about), what, f"Its file: {path}"]
    return "\n\n".join(filter(None, parts))
