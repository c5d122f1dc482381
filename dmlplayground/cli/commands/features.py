"""write the features that a pretrained network computes for a data set, for use as the data set "features" """

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..arguments import add_data_options, data_options, place

EXAMPLE = "features glyphs --backbone efficientnet_lite0 --out glyphs.npz --set size=96 --set classes=80"
PAGE = "features"


def add_arguments(command: ArgumentParser) -> None:
    command.add_argument("data", help="a data set (see dmlplayground data)")
    command.add_argument("--backbone", required=True, help="a network (see dmlplayground backbones)")
    command.add_argument(
        "--pretrained",
        default="imagenet",
        help="its weights: imagenet, none, or a file",
    )
    command.add_argument("--out", type=place, required=True, help="the .npz to write")
    add_data_options(command)


def run(arguments: Namespace) -> None:
    from ...parts.backbones.shared.frozen import extractor
    from ...parts.data.shared import feature_files

    feature_files.check_ending(arguments.out)
    options = data_options(arguments.data, arguments.set)
    extract = extractor(arguments.backbone, arguments.pretrained)
    shape = feature_files.write(arguments.out, arguments.data, options, extract)
    print(f"{arguments.out}: {shape[0]} images, {shape[1]} features each")
    print(
        f"train on them: dmlplayground train npairs --set data.name=features --set data.path={arguments.out}"
    )
