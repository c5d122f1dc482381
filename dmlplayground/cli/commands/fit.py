"""train an image search on a folder of your own images

The folder holds one folder of images for each class, or two such folders called train and test. Everything else is chosen by
looking at the images. The choice is written down, and --set changes it. If the command is stopped, run it again to
continue."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...base import layout
from .. import run_summary
from ..arguments import place, threads

if TYPE_CHECKING:
    from ...trial.config import Trial

EXAMPLE = "fit photos --out runs/photos"
PAGE = "own-images"
CONFIG, CLASSES = "config.yaml", "classes.csv"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("folder", type=place, help="your images, in a folder for every class")
    command.add_argument("--out", type=place, help="where to write everything (default: runs/fit-FOLDER)")
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting (repeatable)"
    )
    command.add_argument("--threads", type=threads, help="CPU threads for MXNet (default: one per core)")
    command.add_argument(
        "--dry-run", action="store_true", help="look, choose and write the choice down, but do not train"
    )
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def run(arguments: Namespace) -> int:
    from ...base.threads import cores
    from ...serving.fitting import choose, look
    from ...trial import config

    found = look.look(arguments.folder)
    out = arguments.out or Path("runs") / f"fit-{arguments.folder.resolve().name}"
    changes = (config.expand(config.override(text)) for text in arguments.set)
    given = config.merge(config.expand(choose.configuration(found)), *changes)
    trial = config.trial(given)
    run_summary.look([trial])
    parts = choose.write_classes(out / CLASSES, trial)
    _write(out / CONFIG, given)
    print(
        f"{found.describe()}\n{run_summary.conditions([trial])}\n{layout.prose(_plan(trial))}\n"
        + layout.prose(
            f"{parts['train']} classes to train on, {parts['test']} others to test on: see {out / CLASSES}"
        )
        + f"\nthe same by hand: {_command('train', out / CONFIG, '--store', out)}",
        flush=True,
    )
    if lacking := choose.lacking(found):
        print(layout.prose(lacking), flush=True)
    if arguments.dry_run:
        return 0
    # Before MXNet is loaded: one trial has the machine.
    os.environ.setdefault("OMP_NUM_THREADS", str(cores()))
    return _train(trial, out, arguments.quiet)


def _plan(trial: Trial) -> str:
    """What will be trained, in a line."""
    from ...parts import transforms

    steps = f"{trial.iterations} steps of " if trial.iterations else "steps of "
    return (
        f"trains {trial.method['name']}: {layout.plural(trial.epochs, 'epoch')} of {steps}{trial.batch_size} images, "
        f"resized to {transforms.create(**trial.transform).stored.describe()}"
    )


def _train(trial: Trial, out: Path, quiet: bool) -> int:
    from ... import reports
    from ...serving.fitting import timing
    from ...sweeps.display import clock
    from ...trial.config import Places
    from ...trial.store import records
    from ...trial.training import TrialFailed, train

    folder = Places(out).folder(trial)
    known = records.find(folder)
    if known is None:
        about = " to ".join(dict.fromkeys(map(clock, timing.seconds(trial))))
        print(f"training takes about {about} on this machine.", flush=True)
    elif known.status == "finished":
        print(f"nothing to do: it has been trained already (on {known.started}).")
    try:
        record = train(trial, out, quiet=quiet)
    except TrialFailed as failure:
        print(f"{failure}\nthe traceback is in {folder / records.RECORD}")
        return 1
    print(run_summary.results(record, folder))
    print(f"report: {reports.report(out)}\n\n{_next(trial.data, folder, out)}")
    return 0


def _next(data: Mapping[str, Any], folder: Path, out: Path) -> str:
    """The commands that use the network."""
    images = data["path"]
    return "\n".join(
        [
            "what to do next:",
            "  " + _command("retrieve", folder, "QUERY.jpg", images, "--picture", out / "found.png"),
            "  " + _command("embed", folder, images, "--out", out / "embeddings.npy"),
            "  " + _command("export", folder, out / "network", "--format", "onnx"),
            "  " + _command("serve", out),
        ]
    )


def _command(*words: str | Path) -> str:
    return shlex.join(["dmlplayground", *map(str, words)])


def _write(path: Path, given: Mapping[str, Any]) -> None:
    import yaml

    from ...base import files

    with files.replacing(path) as file:
        yaml.safe_dump(dict(given), file, sort_keys=False, allow_unicode=True)
