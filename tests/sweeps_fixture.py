"""What tests of sweeps share: a trial that takes a moment, a sweep of such trials, and what has come of it."""

import subprocess
import sys
from pathlib import Path

import yaml

from dmlplayground.sweeps import grid, search_files
from dmlplayground.trial.store import records

ROOT = Path(__file__).parents[1]
SMALL = {
    "data": {"name": "glyphs", "classes": 16, "images_per_class": 9, "size": 24, "strength": 0.3},
    "embed_dim": 8,
    "batch_size": 12,
    "evaluation": {"clustering": False},
}


def ready(name: str) -> bool:
    """Whether an experiment of ours can be run at once: those that begin with winners wait for all searches that find these."""
    made = grid.load(name)[0]
    for choice in made.choices():
        folder = choice.get("hyperparams", made.base.get("hyperparams", ""))
        if not folder.startswith("experiments/"):
            continue
        if not (ROOT / folder / str(choice["search"]) / choice["method"] / "best.yaml").is_file():
            return False
    return True


def only_search(given, overrides=()) -> search_files.Search:
    """The search of a file that holds just one."""
    (found,) = search_files.load_all(given, overrides).values()
    return found


def experiment(folder: Path, epochs: int, seeds: int) -> Path:
    """A file with so many trials of npairs."""
    file = folder / "long.yaml"
    base = {"method": "npairs", **SMALL, "epochs": epochs, "iterations": 6}
    file.write_text(yaml.safe_dump({"title": "Long", "base": base, "grid": {"seed": list(range(seeds))}}))
    return file


def command(file: Path, store: Path, *more: str) -> list[str]:
    """Sweep the experiment of this file, two trials at a time."""
    sweep = [sys.executable, "-m", "dmlplayground", "sweep", str(file)]
    return [*sweep, "--store", str(store), "--workers", "2", *more]


def sweep(store: Path, file: Path, *more: str, **options) -> subprocess.Popen:
    return subprocess.Popen(
        command(file, store, *more), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )


def numbers(store: Path) -> dict:
    """Every trial's epochs without the times; all are finished."""
    found = {}
    for record in records.load_store(store):
        assert record.status == "finished", record.error
        found[record.id] = [{k: v for k, v in entry.items() if "seconds" not in k} for entry in record.epochs]
    return found
