"""make an image search of a folder of your own images

The folder holds one folder of images for each class, or two such folders called train and test. A ladder of steps is
climbed, cheap ones first: a trained network as it is, heads on its features, and the whole network trained on for the time
that is left. All are judged on the same classes, and the best is delivered: never less than the network one began with. If
the command is stopped, run it again to continue."""

import os
import shlex
import sys
from pathlib import Path
from typing import Any, Optional

from ...base import layout
from ..arguments import Command, Namespace, place, threads

EXAMPLE = "fit photos --out runs/photos"
PAGE = "own-images"


def minutes(text: str) -> float:
    """A number of minutes above 0."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(text)
    return number


def add_arguments(command: Command) -> None:
    command.takes("folder", "your images, in a folder for every class", place)
    command.takes("--out", "where to write everything (default: runs/fit-FOLDER)", place)
    command.takes("--minutes", "how long all of it may take", minutes, 10.0)
    command.takes("--seed", "which classes are kept for validation and test (default: 0)", int, 0)
    command.repeats("--set KEY=VALUE", "change a setting")
    command.takes("--threads", "CPU threads for MXNet (default: one per core)", threads)
    command.flag("--dry-run", "look and say what would be tried, but train nothing")
    command.flag("--quiet", "no progress bar")


def run(arguments: Namespace) -> int:
    from ...base.threads import cores
    from ...parts import backbones
    from ...parts.layers import merge
    from ...serving.fitting import choose, look
    from ...trial import config

    found = look.look(arguments.folder)
    out = arguments.out or Path("runs") / f"fit-{arguments.folder.resolve().name}"
    plan = choose.plan(found, out / "pictures.csv")
    changes = merge(*(config.expand(config.override(text)) for text in arguments.set))
    network = merge(plan.base["backbone"], changes.get("backbone", {}))
    if network.get("pretrained", "none") not in ("none", "imagenet"):
        backbones.weights_path(backbones.get(network["name"]), network["pretrained"])
    entries = choose.divided(found, arguments.seed)
    train, test = (len({one.label for one in entries if one.split == split}) for split in ("train", "test"))
    tried = f"{plan.base['backbone']['name']} at {' or '.join(map(str, plan.sizes))} pixels"
    print(found.describe())
    print(layout.prose(f"tries {tried}, as it is and trained, in about {arguments.minutes:g} minutes"))
    print(layout.prose(f"{train} classes to train on and to choose by, {test} others to test on"))
    if lacking := choose.lacking():
        print(layout.prose(lacking))
    sys.stdout.flush()
    if arguments.dry_run:
        return 0
    choose.write(out, found, arguments.seed)
    # Before MXNet is loaded: one trial has the machine.
    os.environ.setdefault("OMP_NUM_THREADS", str(cores()))
    return _climb(arguments, found, plan, out, changes)


def _climb(arguments: Namespace, found: Any, plan: Any, out: Path, changes: dict[str, Any]) -> int:
    from ... import reports
    from ...serving import load
    from ...serving.fitting import page
    from ...serving.fitting.ladder import Ladder, Rung
    from ...trial.store import records
    from ...trial.training import TrialFailed

    def say(rung: Optional[Rung], words: str) -> None:
        if rung is not None:
            scores = "  ".join(f"{name} {100 * value:5.1f}" for name, value in rung.scores.items())
            words = f"{rung.name:<32} {scores}  {rung.seconds:6.1f} s"
        print(words, flush=True)

    ladder = Ladder(plan, out, arguments.minutes, changes, say, arguments.quiet)
    try:
        record = ladder.climb()
    except TrialFailed as failure:
        print(f"{failure}\nthe traceback is in {out / failure.record.id / records.RECORD}")
        return 1
    folder = out / record.id
    measured = page.delivered(load(folder), record)
    words = (
        ("retrieve", folder, "QUERY.jpg", arguments.folder, "--match", "--picture", out / "found.png"),
        ("embed", folder, arguments.folder, "--out", out / "embeddings.npy"),
        ("export", folder, out / "network", "--format", "onnx"),
    )
    commands = [shlex.join(["dmlplayground", *map(str, line)]) for line in words]
    print(f"\n{reports.tables.terminal(page.table(ladder))}\n")
    for line in (f"delivered: {ladder.best.name}, in {folder}", *page.summary(measured)):
        print(layout.prose(line))
    title = f"A search among {arguments.folder.name}"
    written = page.write(out, title, ladder, measured, found.left_out, commands)
    print("\n  ".join([f"page: {written}\n\nwhat to do next:", *commands]))
    return 0
