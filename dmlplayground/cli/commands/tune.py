"""search for a method's best settings, or for those of many, judged on validation classes"""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ...base import layout
from ..arguments import Command, Namespace, add_executor, place
from . import hyperparams

if TYPE_CHECKING:
    from ...sweeps.search_space import Search

EXAMPLE = "tune search.yaml --workers 2"
PAGE = "studies"
ALL = "all"
EQUAL = Path("equal/search/tune_glyphs")


def add_arguments(command: Command) -> None:
    about = (
        "a search file (a configuration with ranges in place of values), or the name of a built-in one "
        f"(default: {EQUAL}, which tunes the methods of three studies alike)"
    )
    command.takes("file", about, place, EQUAL, nargs="?")
    about = "of a file that searches for many methods, those to search for (default: all that it names)"
    command.takes("--methods NAME,NAME", about, default=ALL)
    command.repeats("--set KEY=VALUE", "change a setting or its range")
    command.takes("--store", "where the records and the result go (default: runs/NAME)", place)
    add_executor(command)
    command.flag("--dry-run", "check everything, say what would be searched, and stop")


def run(arguments: Namespace) -> None:
    from ...sweeps import search_files

    names = [] if arguments.methods == ALL else [name.strip() for name in arguments.methods.split(",")]
    wanted = search_files.load_all(arguments.file, arguments.set, names)
    store = arguments.store or Path("runs") / arguments.file.stem
    if arguments.dry_run:
        dry_run(wanted, store)
        return
    from ...sweeps import executors, searches  # SciPy, which listing does without

    executor = executors.create(arguments.executor, arguments.address, arguments.log)
    searches.tune_all(wanted, store, executor, workers=arguments.workers, quiet=False)
    print(winner(store) if "" in wanted else winners(store, wanted))


def dry_run(wanted: "Mapping[str, Search]", store: Path) -> None:
    """What would be searched, after trying both ends of every range."""
    for name, search in wanted.items():
        search.check()
        print(layout.columns([(key, str(one)) for key, one in search.parameters.items()]))
        lengths = []
        for rung in search.rungs:
            folds = f" on {rung.folds} folds" if rung.folds > 1 else ""
            refined = f" and {rung.refine} more near the best" if rung.refine else ""
            lengths.append(f"{rung.trials} of length {rung.share}{refined}{folds}")
        images = sum(rung.images for rung in search.rungs) * search.images
        how = f" ({', '.join(lengths)}; {int(images):,} images in all)" if lengths else ""
        print(f"{layout.plural(search.trials, 'trial')} of {search.title}{how}, into {store / name}")


def winner(store: Path) -> str:
    """What a search found, and what to do with it."""
    from ...sweeps.winners import BEST, REPEAT, REPEATS

    again = ["dmlplayground", "sweep", str(store / REPEAT), "--store", f"{store}-repeat"]
    return (
        f"\n{hyperparams.winner(store / BEST)}\n\nuse it: --hyperparams {shlex.quote(str(store / BEST))}"
        f"\ntrain it {REPEATS} times: {shlex.join(again)}"
    )


def winners(store: Path, wanted: "Mapping[str, Search]") -> str:
    """The winners of several searches, the best on validation classes first."""
    from ...sweeps.winners import BEST
    from ...trial.hyperparams import read

    found = [(name, read(store / name / BEST)) for name in wanted]
    highest_first = next(iter(wanted.values())).direction == "maximize"
    found.sort(key=lambda pair: pair[1].search["value"], reverse=highest_first)
    rows = [("search" if "/" in found[0][0] else "method", "value", "criterion", "")]
    for name, file in found:
        # The values that stand at an end of their range, beyond which there may be better ones.
        edges = ", ".join(f"{key} ({edge})" for key, edge in file.search.get("edges", {}).items())
        value, criterion = f"{file.search['value']:.4f}", file.search["criterion"]
        rows.append((name, value, criterion, f"at the edge: {edges}" if edges else ""))
    return f"\n{layout.columns(rows)}\n\nuse them: --hyperparams {shlex.quote(str(store))}"
