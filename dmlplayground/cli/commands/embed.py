"""embed the images of a folder"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ..arguments import add_engine, add_model, place

EXAMPLE = "embed runs/TRIAL photos --out photos.npy"
PAGE = "serving"


def add_arguments(command: ArgumentParser) -> None:
    add_model(command, "a trial's folder, or the .json of an exported network")
    command.add_argument("images", type=place, help="a folder of images; its subfolders are included")
    command.add_argument(
        "--out",
        type=place,
        default=Path("embeddings.npy"),
        help="the .npy to write, with the file names in a .json beside it; or a .parquet (default: %(default)s)",
    )
    command.add_argument("--add-to", type=place, metavar="INDEX", help="also keep the columns of this file")
    add_engine(command)


def run(arguments: Namespace) -> None:
    from ...serving import load
    from ...serving.index import Index, check_ending

    check_ending(arguments.out)
    model = load(arguments.model, arguments.which, arguments.engine)
    index = Index.load(arguments.add_to, model) if arguments.add_to else Index(model)
    index.add(arguments.images)
    written = index.save(arguments.out)
    print(
        f"{written[0]}: {len(index)} images, {model.width} numbers each ({index.memory / 1e6:.1f} MB); "
        f"the files are listed in {written[-1]}"
    )
    if copies := index.copies():
        print(f"{sum(map(len, copies)) - len(copies)} images are copies of others, such as {copies[0][1]}")
