"""Your own images, or a data set from a hub: Parquet files with the images inside."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...base import files, optional
from ...base.errors import UserError, unknown
from . import KIND
from .shared import cache
from .shared.catalogue import Catalogue, Entry, natural, own

LIST = "list.json"  # beside the images that are unpacked
LABELS = ("label", "target")
MARKS = {b"\xff\xd8": ".jpg", b"\x89PNG": ".png", b"RIFF": ".webp", b"GIF8": ".gif", b"BM": ".bmp"}


@KIND.register(title="Images in Parquet files, as hubs keep them", also=("Hugging Face",), yours=True)
def load(split: str, *, path: str, image: str = "image", label: str = "", **others: Any) -> Catalogue:
    """Images inside one or more Parquet files, which are unpacked once into the cache. Needs pyarrow: pip install
    'dmlplayground[parquet]'.

    path: a Parquet file, or a folder with some in it or below it. All of them are taken together, whatever splits they
        are for: metric learning divides classes, not images.
    image: the column of images, each the bytes of an image file, or a structure with such ``bytes``.
    label: the column of classes, words or numbers; empty: label or target. Where the file names the classes of its
        numbers, as hubs do, they are called by number and name, and keep the order of their numbers.
    """
    folder = _unpacked(_shards(files.expanded(path)), image, label)
    entries = [Entry(*row) for row in files.read_json(folder / LIST)]
    return own("parquet", split, folder, entries, **others)


def _shards(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found = {str(shard): shard for shard in path.rglob("*.parquet")}
    if not found:
        raise UserError(f"data set parquet: there is no Parquet file at {path}.")
    return [found[name] for name in natural(found)]


def _unpacked(shards: list[Path], image: str, label: str) -> Path:
    """The folder with the images of these files and a list of them, made now if it is not there."""
    home = cache.folder() / "parquet" / cache.short_digest([[*map(cache.look, shards)], image, label])
    if (home / LIST).is_file():
        return home
    try:
        with files.filling(home) as beside:
            rows = []
            for number, (content, of) in enumerate(_items(shards, image, label)):
                suffix = next((end for mark, end in MARKS.items() if content.startswith(mark)), ".jpg")
                file = f"{number // 1000:05d}/{number:08d}{suffix}"
                (beside / file).parent.mkdir(exist_ok=True)
                (beside / file).write_bytes(content)
                rows.append((file, of))
            files.write_json(beside / LIST, rows)
    except OSError as problem:
        raise UserError(f"cannot unpack images into {home.parent}: {problem.strerror or problem}.") from None
    return home


def _items(shards: list[Path], image: str, label: str) -> Iterator[tuple[bytes, str]]:
    """The content and the class of every image."""
    pyarrow, parquet = optional.load("pyarrow"), optional.load("pyarrow.parquet")
    for path in shards:
        try:
            shard = parquet.ParquetFile(path)
            columns = shard.schema_arrow.names
            column = label or next((name for name in LABELS if name in columns), LABELS[0])
            for wanted in (image, column):
                if wanted not in columns:
                    raise unknown(f"column of {path.name}:", wanted, columns)
            classes = _class_names(shard.schema_arrow.metadata, column)
            row = 0
            for batch in shard.iter_batches(256, columns=[image, column]):
                for picture, value in zip(*(batch.column(name).to_pylist() for name in (image, column))):
                    yield _item(picture, value, classes, f"{path}, row {row}")
                    row += 1
        except pyarrow.ArrowException as problem:
            raise UserError(f"{path} is not a Parquet file, or is damaged: {problem}.") from None


def _item(picture: Any, value: Any, classes: list[str], where: str) -> tuple[bytes, str]:
    content = picture.get("bytes") if isinstance(picture, dict) else picture
    if not isinstance(content, bytes):
        raise UserError(f"{where}: it holds no image.")
    if value is None or (classes and isinstance(value, int) and not 0 <= value < len(classes)):
        raise UserError(f"{where}: {value!r} is not a class.")
    if classes and isinstance(value, int):
        return content, f"{value:0{len(str(len(classes)))}d} {classes[value]}"
    return content, str(value)


def _class_names(metadata: Any, column: str) -> list[str]:
    """The names of numbered classes as hubs write them into a file, where there are some."""
    try:
        described = json.loads((metadata or {})[b"huggingface"])
        return [str(name) for name in described["info"]["features"][column]["names"]]
    except (KeyError, TypeError, ValueError, RecursionError):
        return []
