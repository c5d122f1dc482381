"""list the built-in experiments and searches, or describe one"""

from pathlib import Path

from ...base import layout
from ..arguments import Command, Namespace
from ..listing import below, value

EXAMPLE = "experiments fehervari2019/table2_cub200"
PAGE = "experiments"


def add_arguments(command: Command) -> None:
    command.takes("name", "an experiment, a search, or an experiment file, to describe", nargs="?")


def run(arguments: Namespace) -> None:
    from ...base import resources

    if not arguments.name:
        _list()
    elif resources.SEARCH in arguments.name and not Path(arguments.name).exists():
        print(_search(arguments.name))
    else:
        print(_experiment(arguments.name))


def _list() -> None:
    from ...base import resources
    from ...sweeps import grid

    rows = [(name, grid.load(name)[0].title) for name in resources.experiment_names()]
    print(layout.columns([("experiment", "title"), *rows]))
    print("\nDescribe one: dmlplayground experiments NAME")
    print("List its trials: dmlplayground sweep NAME --dry-run")
    print("Run it: dmlplayground sweep NAME")
    print("\nSearches (run one: dmlplayground tune NAME):")
    print(layout.fill(", ".join(resources.search_names()), "  "))


def _experiment(name: str) -> str:
    """What an experiment is for, its grid, and its file."""
    from ...sweeps import grid

    experiment, path = grid.load(name)
    rows = [(axis, value(values)) for axis, values in experiment.grid.items()]
    grid_of = below(f"A grid of {layout.plural(len(experiment.choices()), 'trial')}:", rows)
    return _described(path, experiment.title, experiment.about, *grid_of)


def _search(name: str) -> str:
    """What a search is for, its ranges, and its file."""
    from ...base import resources
    from ...sweeps import search_files

    searches = search_files.load_all(name)
    first = next(iter(searches.values()))
    size, title = f"A search of {layout.plural(first.trials, 'trial')}", first.title
    if "" in searches:
        what = below(f"{size}:", [(key, str(one)) for key, one in first.parameters.items()])
    else:
        what = [layout.fill(f"{size} for each of {len(searches)} methods: {', '.join(searches)}.")]
        title = title.rpartition(": ")[0]
    return _described(resources.find_search(name), title, first.about, *what)


def _described(path: Path, title: str, about: str, *what: str) -> str:
    paragraphs = [f"{path.stem}: {title}", layout.fill(about), *what, f"Its file: {path}"]
    return "\n\n".join(filter(None, paragraphs))
