"""embed the images of a folder"""

from pathlib import Path
from typing import TYPE_CHECKING

from ...base.errors import UserError, printable
from ..arguments import Command, Namespace, add_which, place

if TYPE_CHECKING:
    from ...serving import Index, Model

EXAMPLE = "embed runs/TRIAL photos --out photos.index"
PAGE = "serving"


def add_arguments(command: Command) -> None:
    command.takes("model", "a trial's folder, or the .json of an exported network", place)
    add_which(command)
    command.takes("images", "a folder of images; its subfolders are included", place)
    about = "the index to write: an .index; or for other programs a .npy, with the file names in a .json beside it, or a .parquet"
    command.takes("--out", about, place, Path("photos.index"))
    about = "begin with the images of this index; those that it has are not embedded again"
    command.takes("--add-to INDEX", about, place)


def run(arguments: Namespace) -> None:
    from ...serving import index_file, load

    index_file.check_ending(arguments.out)
    model = load(arguments.model, arguments.which, arguments.engine)
    begun = arguments.out.with_name(f".{arguments.out.stem}-begun.index")
    index = _begin(arguments, model, begun)
    new = index.add(arguments.images, keep=begun)
    written = index.save(arguments.out)
    begun.unlink(missing_ok=True)
    files = f"; the files are listed in {written[1]}" if written[1:] else ""
    size = f"{index.width} numbers each ({index.memory / 1e6:.1f} MB)"
    print(f"{written[0]}: {len(index)} images, {new} of them new, {size}{files}")
    if copies := index.copies():
        count, one = sum(map(len, copies)) - len(copies), printable(copies[0][1])
        print(f"{count} images are copies of others, such as {one}")


def _begin(arguments: Namespace, model: "Model", begun: Path) -> "Index":
    """What an interrupted run has left, or the index to add to, or an empty one."""
    from ...serving import Index

    if begun.exists():
        try:
            index = Index.open(begun, model)
            index.check()
        except UserError:  # of another model, or damaged
            begun.unlink()
        else:
            print(f"goes on after {len(index)} images that an interrupted run has embedded")
            return index
    return Index.open(arguments.add_to, model) if arguments.add_to else Index.make(model)
