"""list the networks that images can go through"""

from __future__ import annotations

from .. import text

EXAMPLE = "backbones"


def add_arguments(command) -> None:
    pass


def run(arguments) -> None:
    from ... import backbones
    from ...backbones.conversion import count

    rows = [("backbone", "features", "parameters", "pixels", "ImageNet weights", "title")]
    for name in backbones.names():
        record = backbones.get(name)
        source = record.imagenet.describe() if record.imagenet else "-"
        size, parameters = str(record.preprocessing.size), f"{count(backbones.build(record)):,}"
        rows.append((name, str(record.features), parameters, size, source, record.title))
    print(
        text.columns(rows)
        + "\n\nand gluon:NAME and gluoncv:NAME, any network of those zoos that classifies images.\n"
        "backbone.pretrained is imagenet, none, or a file (see dmlplayground weights)."
    )
