"""embed the images of a folder"""

from __future__ import annotations

from pathlib import Path

from ..arguments import add_engine, add_model

EXAMPLE = "embed runs/TRIAL photos --out photos.npy"


def add_arguments(command) -> None:
    add_model(command, "a trial's folder, or the .json of an exported network")
    command.add_argument(
        "images", type=Path, help="a folder of images; those in folders inside it are taken too"
    )
    command.add_argument(
        "--out",
        type=Path,
        default=Path("embeddings.npy"),
        help="the .npy to write; a .json beside it names the files (default: %(default)s)",
    )
    add_engine(command)


def run(arguments) -> None:
    from ... import retrieval

    model = retrieval.Model(arguments.model, arguments.which, arguments.engine)
    gallery = model.embed(retrieval.images_in(arguments.images))
    path, manifest = gallery.save(arguments.out, arguments.model)
    images, width = gallery.embeddings.shape
    print(f"{path}: {images} images, {width} numbers each; files in {manifest}")
