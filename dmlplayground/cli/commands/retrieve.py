"""find the images nearest to one"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Optional

from ...base import layout
from ..arguments import add_engine, add_model, count, place, png

if TYPE_CHECKING:
    from ...serving.index import Found
    from ...serving.matching import Threshold

EXAMPLE = "retrieve runs/TRIAL query.jpg photos --count 5 --picture found.png"
PAGE = "serving"


def add_arguments(command: ArgumentParser) -> None:
    add_model(command, "a trial's folder, or the .json of an exported network")
    command.add_argument("query", type=place, help="an image, or a folder whose images are all queries")
    command.add_argument(
        "gallery", type=place, help="a folder of images, or the index that embed has written"
    )
    command.add_argument("--count", type=count, default=10, help="how many images to find")
    command.add_argument(
        "--copies", action="store_true", help="also show the query's own file, and copies of images"
    )
    command.add_argument(
        "--expand",
        type=count,
        default=0,
        metavar="N",
        help="search once more, with the mean of the query and its N nearest; says what this brings on images of known classes",
    )
    command.add_argument("--picture", type=png, help="a PNG to write, showing the queries and what was found")
    command.add_argument(
        "--match",
        action="store_true",
        help="also say whether each image matches: whether it is nearer than a threshold set on images of known classes",
    )
    command.add_argument(
        "--match-on", type=place, metavar="FOLDER",
        help="images to set that threshold on, in one folder per class (default: the trial's validation or else test classes)",
    )  # fmt: skip
    command.add_argument(
        "--false-accepts",
        type=float,
        metavar="SHARE",
        help="share of pairs of different classes that may match (default: 0.01)",
    )
    add_engine(command)


def run(arguments: Namespace) -> None:
    from ...serving import Index, image_inputs, index_file, load

    model = load(arguments.model, arguments.which, arguments.engine)
    queries = image_inputs.images_in(arguments.query)
    threshold = None
    share = {} if arguments.false_accepts is None else {"false_accepts": arguments.false_accepts}
    if arguments.match or arguments.match_on or share:
        threshold = model.threshold(arguments.match_on, **share)
        print(layout.prose(str(threshold)))
    saved = arguments.gallery.suffix in index_file.FORMS
    index = Index.open(arguments.gallery, model) if saved else model.search(arguments.gallery)
    if arguments.expand:
        print(layout.prose(str(model.gain_of_expansion(arguments.expand))))
    found = index.find(queries, arguments.count, arguments.copies, arguments.expand)
    for query, hits in zip(queries, found):
        if len(queries) > 1:
            print(f"{query}:")
        print(layout.columns([_row(hit, threshold) for hit in hits]) if hits else "nothing found")
    if arguments.picture:
        from ...base.files import replacing
        from ...serving import results_sheet

        with replacing(arguments.picture, "wb") as file:
            results_sheet.draw(queries, found, threshold).save(file, "PNG")
        print(f"wrote {arguments.picture}")


def _row(hit: Found, threshold: Optional[Threshold]) -> tuple[str, ...]:
    matches = () if threshold is None else ("match" if hit.distance <= threshold.distance else "no match",)
    return (f"{hit.distance:.4f}", *matches, hit.label or "-", hit.name)
