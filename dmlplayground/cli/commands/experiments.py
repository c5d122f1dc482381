"""list the built-in experiments and searches, or describe one"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ...base import layout
from .. import text

if TYPE_CHECKING:
    from ...sweeps.grid import Experiment
    from ...sweeps.search_space import Search

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
    rows = [(f"  {axis}", text.value(values)) for axis, values in experiment.grid.items()]
    size = layout.plural(len(experiment.choices()), "trial")
    return _described(
        path, experiment, f"A grid of {size}:\n{layout.columns(rows)}" if rows else "", experiment.title
    )


def _described(path: Path, one: Experiment | Search, what: str, title: str) -> str:
    parts = [f"{path.stem}: {title}", layout.fill(one.about), what, f"Its file: {path}"]
    return "\n\n".join(filter(None, parts))


def searched(name: str) -> str:
    """What a search is for, its ranges, and its file."""
    from ...base import resources
    from ...sweeps import search_files

    searches = search_files.load_all(name)
    first = next(iter(searches.values()))
    what, title = f"A search of {layout.plural(first.trials, 'trial')}", first.title
    if "" in searches:
        what += f":\n{layout.columns([(f'  {key}', str(one)) for key, one in first.parameters.items()])}"
    else:
        what = layout.fill(f"{what} for each of {len(searches)} methods: {', '.join(searches)}.")
        title = title.rpartition(": ")[0]
    return _described(resources.find_search(name), first, what, title)
