"""find the images nearest to one"""

from __future__ import annotations

from pathlib import Path

from .. import text
from ..arguments import add_engine, add_model, count

EXAMPLE = "retrieve runs/TRIAL query.jpg photos --count 5 --picture found.png"


def add_arguments(command) -> None:
    add_model(command, "a trial's folder, or the .json of an exported network")
    command.add_argument("query", type=Path, help="an image")
    command.add_argument("gallery", type=Path, help="a folder of images, or the .npy that embed has written")
    command.add_argument("--count", type=count, default=10, help="how many (default: %(default)s)")
    command.add_argument("--picture", type=Path, help="a PNG to write, with the query and what was found")
    add_engine(command)


def run(arguments) -> None:
    from ... import retrieval

    model = retrieval.Model(arguments.model, arguments.which, arguments.engine)
    if arguments.gallery.suffix == ".npy":
        gallery = retrieval.Gallery.load(arguments.gallery)
    else:
        gallery = model.embed(retrieval.images_in(arguments.gallery))
    query = model.embed([arguments.query]).embeddings[0]
    found = retrieval.nearest(query, gallery, arguments.count)
    print(text.columns([(f"{distance:.4f}", str(path)) for path, distance in found]))
    if arguments.picture:
        retrieval.picture(arguments.query, found).save(arguments.picture)
        print(f"wrote {arguments.picture}")
