"""make an image search of a folder of your own images

The folder holds one folder of images for each class, or two such folders called train and test. A ladder of steps is
climbed, cheap ones first: a trained network as it is, heads on its features, and the whole network trained on for the time
that is left. All are judged on the same classes, and the best is delivered: never less than the network one began with. If
the command is stopped, run it again to continue."""

import os
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

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
    divided = {(one.split, one.label) for one in choose.divided(found, arguments.seed)}
    classes = Counter(split for split, _ in divided)
    sizes = " or ".join(map(str, plan.sizes))
    paragraphs = [
        f"tries {plan.base['backbone']['name']} at {sizes} pixels, as it is and trained, in about {arguments.minutes:g} minutes",
        f"{classes['train']} classes to train on and to choose by, {classes['test']} others to test on",
    ]
    if not choose.has_weights():
        paragraphs.append(choose.LACKING)
    print("\n".join([found.describe(), *map(layout.prose, paragraphs)]), flush=True)
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
    from ...serving.fitting.ladder import Ladder
    from ...trial.store import records
    from ...trial.training import TrialFailed

    ladder = Ladder(plan, out, arguments.minutes, changes, arguments.quiet)
    try:
        record = ladder.climb()
    except TrialFailed as failure:
        print(f"{failure}\nthe traceback is in {out / failure.record.id / records.RECORD}")
        return 1
    folder = out / record.id
    measured = page.Delivered(load(folder), record)
    print(f"\n{reports.tables.terminal(page.table(ladder))}\n")
    told = [f"delivered: {ladder.best.name}, in {folder}", *page.summary(measured)]
    print("\n".join(map(layout.prose, told)))
    images = arguments.folder
    commands = [
        shlex.join(map(str, ("dmlplayground", *words)))
        for words in (
            ("retrieve", folder, "QUERY.jpg", images, "--match", "--picture", out / "found.png"),
            ("embed", folder, images, "--out", out / "embeddings.npy"),
            ("export", folder, out / "network", "--format", "onnx"),
        )
    ]
    written = page.write(out, f"A search among {images.name}", ladder, measured, found.left_out, commands)
    print(f"page: {written}\n\nwhat to do next:\n" + "\n".join(f"  {command}" for command in commands))
    return 0
