"""find the images nearest to one"""

from ...base import layout
from ...base.files import replacing
from ..arguments import Command, Namespace, add_which, count, place, png

EXAMPLE = "retrieve runs/TRIAL query.jpg photos --count 5 --picture found.png"
PAGE = "serving"


def add_arguments(command: Command) -> None:
    command.takes("model", "a trial's folder, or the .json of an exported network", place)
    add_which(command)
    command.takes("query", "an image, or a folder whose images are all queries", place)
    command.takes("gallery", "a folder of images, or the index that embed has written", place)
    command.takes("--count", "how many images to find", count, 10)
    command.flag("--copies", "also show the query's own file, and copies of images")
    about = "search once more, with the mean of the query and its N nearest; says what this brings on images of known classes"
    command.takes("--expand N", about, count, 0)
    command.takes("--picture", "a PNG to write, showing the queries and what was found", png)
    about = "also say whether each image matches: whether it is nearer than a threshold set on images of known classes"
    command.flag("--match", about)
    about = "images to set that threshold on, in one folder per class (default: the trial's validation or else test classes)"
    command.takes("--match-on FOLDER", about, place)
    about = "share of pairs of different classes that may match (default: 0.01)"
    command.takes("--false-accepts SHARE", about, float)


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
        rows = []
        for hit in hits:
            near = threshold and hit.distance <= threshold.distance
            matches = ["match" if near else "no match"] if threshold else []
            rows.append([f"{hit.distance:.4f}", *matches, hit.label or "-", hit.name])
        print(layout.columns(rows) if hits else "nothing found")
    if arguments.picture:
        from ...serving import results_sheet

        with replacing(arguments.picture, "wb") as file:
            results_sheet.draw(queries, found, threshold).save(file, "PNG")
        print(f"wrote {arguments.picture}")
